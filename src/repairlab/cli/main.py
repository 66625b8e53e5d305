"""The command line. Commands are thin: they resolve settings, call a room, print a result.

Nothing heavy is imported before a command needs it, so that help and status answer at once.
"""

from __future__ import annotations

import sys

import typer

from repairlab.cli import commands_analysis as analysis
from repairlab.cli import commands_groups as groups
from repairlab.cli import commands_looking as looking
from repairlab.cli import commands_records as records
from repairlab.cli import commands_running as running
from repairlab.contract.errors import RepairlabError

app = typer.Typer(
    name="repairlab",
    help="Preregistered experiments on code-repair agents with local language models.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="A study is a directory with contracts/, experiments/, preregistration/, raw/ and incomplete/.",
)

_IN_THE_ORDER_OF_A_STUDY = (
    records.freeze,
    running.doctor,
    running.prepare,
    running.run,
    running.status,
    records.verify,
    records.audit,
    records.show,
    records.diff,
    analysis.report,
    analysis.export,
    records.carry_over,
    running.demo,
    analysis.simulate,
    analysis.power,
    looking.search,
    looking.skeleton,
    looking.cache,
)
"""The life of an experiment first; `--help` lists commands as they stand here, and the groups last."""

for command in _IN_THE_ORDER_OF_A_STUDY:
    app.command()(command)
app.add_typer(groups.deviations, name="deviations")
app.add_typer(groups.models, name="models")
app.add_typer(groups.host, name="host")


def entry() -> None:
    """Run the command line; every error of repairlab becomes one message and its exit status."""
    try:
        app()
    except RepairlabError as error:
        print(f"repairlab: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            print("repairlab: interrupted; run the command again to go on", file=sys.stderr)
        raise


_INTERRUPTED = 130
"""What the framework makes of a keyboard interrupt, without a word."""
