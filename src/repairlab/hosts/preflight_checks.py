"""Single checks of a preflight: tools, reasoning, counts, length, seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repairlab.contract.canonical import Json, canonical_json
from repairlab.contract.errors import InfrastructureFailure, RefuseToStart
from repairlab.hosts.chat import ChatReply, DeadlineReached, RawToolCall
from repairlab.hosts.preflight_asking import (
    REPLY_SECONDS,
    Asker,
    Finding,
    Opening,
    Probe,
    by_table,
    failed,
    text_at,
)
from repairlab.hosts.preflight_texts import CODE, COUNT_AGAIN, COUNT_UP, DENSE, numbered

OPENING_TOKENS = 2048
"""Completion limit of a first reply: room for some reasoning and a call."""
CYCLE_TOKENS = 256
SEED_TOKENS = 256
COUNTED_TOKENS = 16
LONG_TOKENS = 4096 + 256
"""A little above a limit that servers are known to have, whatever a request allows."""
_CAP_TOKENS = 1024
"""An end of its own below this is taken for the model's, not for a limit's."""
_SLACK = 0.02
_PROMPT_CHARACTERS = 16_000
_SEEDS = 2**31


def round_trips(asker: Asker, openings: Sequence[Opening]) -> Iterator[Finding]:
    """For each opening a first reply, and a second one after a call and its result."""
    firsts: list[tuple[Opening, Probe]] = []
    for opening in openings:
        what = f"tools of {opening.name}"
        try:
            first, second = _round_trip(asker, opening)
        except (RefuseToStart, InfrastructureFailure) as failure:
            yield failed(what, failure)
            continue
        firsts.append((opening, first))
        yield _tool_finding(asker, what, opening, first, second)
    marked = [opening.name for opening, probe in firsts if "call-in-content" in probe.conditions]
    if marked and len(marked) == len([opening for opening, _ in firsts if opening.tools]):
        yield by_table(
            asker.rules, "calls are read by the host", "call-in-content", f"in {', '.join(marked)}"
        )


def _round_trip(asker: Asker, opening: Opening) -> tuple[Probe, Probe | None]:
    conversation = asker.conversation()
    first = asker.ask(opening.messages, opening.tools, OPENING_TOKENS, conversation=conversation)
    if not opening.tools:
        return first, None
    name, arguments = _call_to_show(first, opening)
    function: Json = {"name": name, "arguments": arguments}
    call: Json = {"id": "call_0", "type": "function", "function": function}
    said = first.reply.content if first.reply else ""
    messages = [
        *opening.messages,
        {"role": "assistant", "content": said, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": numbered(CODE)},
        {"role": "user", "content": asker.terms.reminder.strip()},
    ]
    return first, asker.ask(messages, opening.tools, CYCLE_TOKENS, conversation=conversation)


def _call_to_show(first: Probe, opening: Opening) -> tuple[str, str]:
    """The model's own call where it made a good one, else one of the first tool without arguments."""
    for call in first.reply.tool_calls if first.reply else ():
        if _readable(call) and call.name in _names(opening):
            return call.name, call.arguments or "{}"
    return _names(opening)[0], "{}"


def _names(opening: Opening) -> list[str]:
    return [text_at(tool, "function", "name") for tool in opening.tools]


def _readable(call: RawToolCall) -> bool:
    try:
        return isinstance(json.loads(call.arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _tool_finding(asker: Asker, what: str, opening: Opening, first: Probe, second: Probe | None) -> Finding:
    conditions = list(dict.fromkeys((*first.conditions, *(second.conditions if second else ()))))
    if "think-tags" in conditions:
        return by_table(asker.rules, what, "think-tags", "the content holds <think>")
    names = [call.name for call in first.reply.tool_calls] if first.reply else []
    called = any(
        _readable(call) and call.name in _names(opening)
        for call in (first.reply.tool_calls if first.reply else ())
    )
    parts = [f"called {', '.join(names)}" if names else _without_call(first)]
    parts += ["then answered a result"] if second and second.reply else []
    parts += [f"noticed: {', '.join(conditions)}"] if conditions else []
    good = (called or not opening.tools) and not set(conditions) - {"finish-reason-differs", "reply-cut"}
    repair = "such replies are scored as the model's; see whether this model can do the work at all"
    return Finding(what, good, "; ".join(parts), repair, needed=False)


def _without_call(probe: Probe) -> str:
    if probe.reply is None:
        late = isinstance(probe.outcome, DeadlineReached)
        return f"no reply within {REPLY_SECONDS:g} s" if late else "wrote a call that the host cannot read"
    return f"no call within {OPENING_TOKENS} tokens" if probe.reply.finish_reason == "length" else "no call"


def reasoning(asker: Asker, default: str | None) -> Finding:
    """Whether replies reason as the pinned default says; a cut or failed reply counts too."""
    what = "reasoning as pinned"
    replies = [probe.reply for probe in asker.probes if probe.reply]
    reasoned = [
        reply for reply in replies if reply.reasoning or (reply.usage and reply.usage.reasoning_tokens)
    ]
    pinned = f"the pinned default is {default}" if default else "no default is pinned"
    found = f"{len(reasoned)} of {len(replies)} replies reason; {pinned}"
    switched_off = default == "off"
    wrong = bool(reasoned) if switched_off else bool(replies) and not reasoned
    if default is None or not wrong:
        return Finding(what, True, found)
    return by_table(asker.rules, what, "reasoning-differs", found)


def long_output(asker: Asker) -> Finding:
    """Whether output ends below what a request allows. Two counts that stop alike were stopped."""
    what = "no limit on output below the budget"
    wanted = min(LONG_TOKENS, asker.terms.completion_tokens)
    beyond = (
        ""
        if wanted == asker.terms.completion_tokens
        else f"; not looked beyond, up to {asker.terms.completion_tokens}"
    )
    try:
        one = _length(asker.ask([{"role": "user", "content": COUNT_UP}], (), wanted))
        if one is None:
            return Finding(what, False, "the length of a reply is not counted", "see usage", needed=False)
        if one.cut:
            if one.tokens >= wanted * (1 - _SLACK) - 1:
                return Finding(what, True, f"{one.tokens} tokens written{beyond}")
            return by_table(asker.rules, what, "stopped-early", f"cut after {one.tokens} of {wanted} tokens")
        if one.tokens < _CAP_TOKENS:
            return Finding(
                what, True, f"ended by itself after {one.tokens} tokens; no limit seen up to there"
            )
        two = _length(asker.ask([{"role": "user", "content": COUNT_AGAIN}], (), wanted))
    except (RefuseToStart, InfrastructureFailure) as failure:
        return failed(what, failure)
    if two and not two.cut and abs(one.tokens - two.tokens) <= max(one.tokens, two.tokens) * _SLACK:
        found = f"two long replies ended after {one.tokens} and {two.tokens} of {wanted} tokens"
        return by_table(asker.rules, what, "stopped-early", found)
    return Finding(what, True, f"ended by itself after {one.tokens} tokens{beyond}")


@dataclass(frozen=True, slots=True)
class _Length:
    tokens: int
    cut: bool


def _length(probe: Probe) -> _Length | None:
    reply = probe.reply
    if reply is None or reply.usage is None:
        return None
    return _Length(reply.usage.completion_tokens, reply.finish_reason == "length")


def counted(asker: Asker) -> Iterator[Finding]:
    """The token rule against the host's counts: for all that was asked so far, source code, and numbers.

    A short prompt proves nothing, since a template adds tokens of its own; let there be none so far.
    """
    what, dense = "token rule is above the host's counts", "token rule on rows of numbers"
    openings = list(asker.probes)
    try:
        asker.prompts.append(asker.ask([_long_prompt()], (), COUNTED_TOKENS))
        code = [asker.prompts[-1], asker.ask([{"role": "user", "content": CODE}], (), COUNTED_TOKENS)]
        numbers = [asker.ask([{"role": "user", "content": DENSE}], (), COUNTED_TOKENS)]
    except (RefuseToStart, InfrastructureFailure) as failure:
        yield failed(what, failure)
        return
    uncounted = [probe for probe in (*openings, *code, *numbers) if probe.reply and not probe.reply.usage]
    if uncounted:
        found = f"{len(uncounted)} replies without a credible usage"
        yield Finding("replies count their tokens", False, found, "use a server version that sends usage")
    repair = "lower generation.bytes_per_token of the shared controls before the freeze"
    yield _rule(what, [*openings, *code], repair, needed=True)
    unseen = "such prompts may overflow the context, which a host that cuts prompts does not tell: " + repair
    yield _rule(dense, numbers, unseen, needed=False)


def _rule(what: str, probes: Sequence[Probe], repair: str, *, needed: bool) -> Finding:
    known = [
        (probe, probe.reply.usage.prompt_tokens) for probe in probes if probe.reply and probe.reply.usage
    ]
    if not known:
        found, cure = "no prompt was counted", "use a server version that sends usage"
        return Finding(what, False, found, cure, needed)
    below = [
        f"{tokens} tokens where the rule allows {probe.bound}"
        for probe, tokens in known
        if tokens > probe.bound
    ]
    least = min(probe.bytes / tokens for probe, tokens in known)
    share = max(tokens / probe.bound for probe, tokens in known)
    found = f"at least {least:.2f} bytes a token, at most {share:.0%} of the rule; prompts: {len(known)}"
    return Finding(what, not below, "; ".join([found, *below[:1]]), repair, needed=needed)


def seeds(asker: Asker, opening: Opening, before: Probe | None) -> Iterator[Finding]:
    """The first request after a fresh load, twice; and once with another seed."""
    probes = (
        before,
        asker.try_once(opening, SEED_TOKENS, asker.terms.seed),
        asker.try_once(opening, SEED_TOKENS, (asker.terms.seed + 1) % _SEEDS),
    )
    replies = [probe.reply for probe in probes if probe and probe.reply]
    what = "one seed, one reply"
    if len(replies) < len(probes):
        found = f"only {len(replies)} of {len(probes)} requests got a whole reply"
        yield Finding(what, False, found, "see the other checks of this model", asker.terms.deterministic)
        return
    said, again, other = (_said(reply) for reply in replies)
    characters = len(canonical_json(said))
    if said == again:
        yield Finding(what, True, f"equal after two fresh loads, {characters} characters")
    elif asker.terms.deterministic:
        yield by_table(asker.rules, what, "seed-ignored", "two replies differ after two fresh loads")
    else:
        found = "two replies differ after two fresh loads: seed_honoured is false"
        yield Finding(what, False, found, "claim no seeded runs; repetitions are draws", needed=False)
    found = f"another seed gives {'the same' if again == other else 'another'} reply"
    greedy = asker.terms.temperature == 0
    meant = "at temperature 0 a seed should change nothing" if greedy else "draws may all be the same draw"
    yield Finding("another seed", (again == other) == greedy, found, meant, needed=False)


def _said(reply: ChatReply) -> Json:
    """What a model wrote, without the ids that a host gives."""
    calls: list[Json] = [[call.name, call.arguments] for call in reply.tool_calls]
    return [reply.content, reply.reasoning, calls, reply.finish_reason]


def _long_prompt() -> dict[str, Json]:
    copies = math.ceil(_PROMPT_CHARACTERS / len(CODE))
    text = "\n".join(CODE.replace("total", f"total_{number}") for number in range(copies))
    return {"role": "user", "content": f"Say which function is the longest.\n\n{numbered(text)}"}
