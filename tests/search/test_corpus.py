from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repairlab.contract.controls import Corpus as CorpusRules
from repairlab.contract.errors import BadInput, IntegrityViolation
from repairlab.search.blobs import check_blob
from repairlab.search.corpus import build_corpus, corpus_path, open_corpus
from repairlab.search.exact import Mode
from repairlab.search.selection import Skipped, SkipReason, select


def naive_lines(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    return pieces[:-1] if pieces[-1] == b"" else pieces


FILES = st.dictionaries(
    st.text("abc/é", min_size=1, max_size=5).map(lambda name: name + ".py"),
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\xff", "é".encode(), b"word_1 "]), max_size=12).map(
        b"".join
    ),
    max_size=5,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES)
def test_a_corpus_gives_back_every_byte_and_every_line(memory_corpus, files):
    corpus = memory_corpus(files)

    assert [file.path for file in corpus.files] == sorted(files, key=str.encode)
    for number, file in enumerate(corpus.files):
        data = files[file.path]
        lines = naive_lines(data)
        assert corpus.data(number) == data
        assert file.size == len(data)
        assert file.lines == len(lines)
        assert corpus.lines(number, 1, file.lines + 3) == tuple(lines)
        for offset in range(len(data)):
            assert corpus.line_of(number, offset) == data.count(b"\n", 0, offset) + 1


def test_s01_every_encoding_is_kept_as_bytes(git_corpus):
    files = {
        "bom.py": b"\xef\xbb\xbfdef first_after_bom():\n    return 1\n",
        "cr_only.py": b"def one():\r    return 1\r",
        "crlf.py": b"a = 1\r\nb = 2\r\n",
        "empty.py": b"",
        "latin1.py": b"def caf\xe9_total(x):\n    return x\n\n\ndef after_bad_byte():\n    return 1\n",
        "no_final_newline.py": b"x = 1\ny = 2",
        "only_newline.py": b"\n",
        "utf16.py": "def in_utf16(): pass\n".encode("utf-16"),
    }
    corpus = git_corpus(files)

    assert {file.path: file.lines for file in corpus.files} == {
        "bom.py": 2,
        "cr_only.py": 1,
        "crlf.py": 2,
        "empty.py": 0,
        "latin1.py": 6,
        "no_final_newline.py": 2,
        "only_newline.py": 1,
    }
    assert all(corpus.data(number) == files[file.path] for number, file in enumerate(corpus.files))
    assert corpus.skipped == (Skipped("utf16.py", SkipReason.BINARY),)
    assert corpus.lines(corpus.id_of("crlf.py"), 2, 2) == (b"b = 2\r",)


def test_s02_a_file_with_a_nul_is_listed_and_not_half_indexed(git_corpus, exact):
    corpus = git_corpus({"nul.py": b"before_nul = 1\nX = 'a\0b'\nafter_nul = 2\n", "fine.py": b"fine = 1\n"})

    assert [file.path for file in corpus.files] == ["fine.py"]
    assert corpus.skipped == (Skipped("nul.py", SkipReason.BINARY),)
    assert exact(corpus).find("before_nul", Mode.LITERAL).matching_files == 0


def test_s04_a_file_over_the_limit_is_listed_and_its_bytes_are_not_read(git_corpus, rules, exact):
    limit = rules.model_copy(update={"file_bytes": 2000})
    corpus = git_corpus({"at.py": b"x" * 2000, "over.py": b"x" * 2001}, changed=limit)

    assert [file.path for file in corpus.files] == ["at.py"]
    assert corpus.skipped == (Skipped("over.py", SkipReason.TOO_LARGE),)


def test_s05_links_and_submodules_are_not_followed(git_tree, rules, tmp_path, exact):
    mirror, commit = git_tree(
        {
            "real/mod.py": b"def only_once():\n    return 1\n",
            "alias.py": ("120000", b"real/mod.py"),
            "dangling.py": ("120000", b"nowhere.py"),
            "outside.py": ("120000", b"/etc/passwd"),
            "run.py": ("100755", b"executable = 1\n"),
        }
    )
    corpus = build_corpus(mirror, commit, "python", rules, cache=tmp_path / "cache")

    assert [file.path for file in corpus.files] == ["real/mod.py", "run.py"]
    assert [(item.path, item.reason) for item in corpus.skipped] == [
        (path, SkipReason.LINK) for path in ("alias.py", "dangling.py", "outside.py")
    ]
    found = exact(corpus).find("only_once", Mode.LITERAL)
    assert [hit.path for hit in found.hits] == ["real/mod.py"]


def test_s08_hostile_names_are_kept_apart_and_exact(git_corpus):
    names = [
        b"-rf.py",
        b"Mod.py",
        b"mod.py",
        unicodedata.normalize("NFC", "nfc_\u00e9.py").encode(),
        unicodedata.normalize("NFD", "nfc_\u00e9.py").encode(),
        b"with\nnewline.py",
        b"not_utf8_\xff.py",
    ]
    corpus = git_corpus({name: b"A = %d\n" % number for number, name in enumerate(names)})

    assert [os.fsencode(file.path) for file in corpus.files] == sorted(names)
    for number, name in enumerate(names):
        path = name.decode("utf-8", "surrogateescape")
        assert corpus.data(corpus.id_of(path)) == b"A = %d\n" % number


def test_only_the_suffixes_of_the_language_are_searched(git_corpus, git_tree):
    corpus = git_corpus({"a.py": b"", "b.go": b"", "c.PY": b"", "py": b"", "d.py/e.txt": b""}, language="go")

    assert [file.path for file in corpus.files] == ["b.go"]


def test_the_digest_moves_with_tree_and_rules_and_with_nothing_else(memory_source, rules):
    def digest(files, language="python", changed=rules):
        return select(memory_source(files).entries(""), language, changed).digest

    files = {"a.py": b"1", "b.py": b"2"}
    same = digest(files)
    assert digest(dict(reversed(files.items()))) == same
    assert digest({**files, "c.txt": b"not searched"}) == same
    others = {
        digest({"a.py": b"1", "b.py": b"3"}),
        digest({"a.py": b"1", "c.py": b"2"}),
        digest({"a.py": b"1"}),
        digest(files, changed=rules.model_copy(update={"file_bytes": 1024})),
        digest(files, changed=rules.model_copy(update={"python_suffixes": (".py", ".pyi")})),
        digest({}, language="python"),
        digest({}, language="go"),
    }
    assert len(others) == 7
    assert same not in others


def test_the_digest_has_a_golden_value(memory_source):
    rules = CorpusRules(
        python_suffixes=(".py",),
        go_suffixes=(".go",),
        file_bytes=4194304,
        generated="behind-all-others",
        generated_lines=40,
    )
    entries = memory_source({"a.py": b"x = 1\n", "\udcff.py": b""}).entries("")

    golden = "26a6c3088788d4743d34b965191a252199d529885afbc45a03c359e9b5411ee8"
    assert select(entries, "python", rules).digest == golden


def test_a_mode_alone_changes_the_digest_since_it_changes_what_is_skipped(git_tree, rules):
    mirror, commit = git_tree({"a.py": ("120000", b"b"), "b.py": b"b"})
    entries = mirror.entries(commit)
    plain = [type(entry)(entry.path, "100644", entry.blob_id, entry.size) for entry in entries]

    assert select(entries, "python", rules).digest != select(plain, "python", rules).digest


STORED = {"a.py": b"one\ntwo", "b.py": b"\0"}


class TestStored:
    @pytest.fixture
    def stored(self, memory_source, rules, tmp_path) -> tuple[Path, str]:
        corpus = build_corpus(memory_source(STORED), "", "python", rules, cache=tmp_path)
        return corpus_path(tmp_path, corpus.digest), corpus.digest

    def test_it_is_written_once_read_only_and_without_leftovers(self, stored, memory_source, rules):
        path, digest = stored
        before = path.stat()
        again = build_corpus(memory_source(STORED), "", "python", rules, cache=path.parent)

        assert again.digest == digest
        assert path.stat().st_ino == before.st_ino
        assert stat.S_IMODE(before.st_mode) == 0o444
        assert [item.name for item in path.parent.iterdir()] == [path.name]

    def test_the_same_corpus_has_the_same_bytes(self, stored, memory_source, rules, tmp_path_factory):
        path, _ = stored
        other = tmp_path_factory.mktemp("other")
        corpus = build_corpus(memory_source(STORED), "", "python", rules, cache=other)

        assert corpus_path(other, corpus.digest).read_bytes() == path.read_bytes()

    def test_opening_needs_no_repository(self, stored):
        path, digest = stored
        corpus = open_corpus(path.parent, digest)
        corpus.verify()

        assert corpus.data(0) == b"one\ntwo"
        assert corpus.skipped == (Skipped("b.py", SkipReason.BINARY),)

    def test_a_changed_byte_is_found_by_verify(self, stored):
        path, digest = stored
        path.chmod(0o644)
        path.write_bytes(path.read_bytes().replace(b"two", b"too"))

        with pytest.raises(IntegrityViolation, match="differ"):
            open_corpus(path.parent, digest).verify()

    def test_a_damaged_byte_anywhere_is_found_and_the_corpus_built_again(self, stored, memory_source, rules):
        path, digest = stored
        whole = path.read_bytes()
        for place in range(0, len(whole), 7):
            path.chmod(0o644)
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            again = build_corpus(memory_source(STORED), "", "python", rules, cache=path.parent)

            assert path.read_bytes() == whole
            assert (again.digest, again.data(0)) == (digest, b"one\ntwo")

    @pytest.mark.parametrize("name", [b"sections", b"sha256", b"digest", b"facts"])
    def test_a_header_that_lacks_a_field_is_damage_and_no_key_error(self, stored, name):
        path, digest = stored
        whole = path.read_bytes()
        size = int.from_bytes(whole[16:24], "little")
        header = whole[56 : 56 + size].replace(b'"%s"' % name, b'"%s"' % name[::-1], 1)
        path.chmod(0o644)
        path.write_bytes(whole[:24] + hashlib.sha256(header).digest() + header + whole[56 + size :])

        with pytest.raises(IntegrityViolation):
            open_corpus(path.parent, digest)

    @pytest.mark.parametrize("keep", [0, 10, 30, 200, -1])
    def test_r01_a_file_cut_short_is_refused(self, stored, keep):
        path, digest = stored
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:keep])

        with pytest.raises(IntegrityViolation):
            open_corpus(path.parent, digest)

    def test_r04_a_corpus_under_the_name_of_another_is_refused(self, stored):
        path, _ = stored
        other = "0" * 64
        path.rename(corpus_path(path.parent, other))

        with pytest.raises(IntegrityViolation, match="digest"):
            open_corpus(path.parent, other)


def test_a_damaged_mirror_is_found_before_it_is_indexed(memory_source, rules, tmp_path):
    source = memory_source({"a.py": b"x = 1\n"})
    source.entries("")
    (name,) = source.blobs

    class Damaged(memory_source):
        def read_blobs(self, ids):
            return [(name, b"x = 2\n") for name in ids]

    with pytest.raises(IntegrityViolation, match=name):
        build_corpus(Damaged({"a.py": b"x = 1\n"}), "", "python", rules, cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_object_that_the_mirror_does_not_give_is_an_integrity_violation(memory_source, rules, tmp_path):
    class Lacking(memory_source):
        def read_blobs(self, ids):
            return []

    with pytest.raises(IntegrityViolation, match="lacks 1 object"):
        build_corpus(Lacking({"a.py": b"x = 1\n"}), "", "python", rules, cache=tmp_path)


def test_a_blob_that_a_filtered_clone_lacks_stops_the_build(git_tree, rules, tmp_path):
    mirror, commit = git_tree({"a.py": b"x = 1\n"})
    (entry,) = mirror.entries(commit)
    for stored in (mirror.path / "objects").rglob("*"):
        if stored.is_file() and stored.name == entry.blob_id[2:]:
            stored.unlink()
    assert mirror.entries(commit)[0].size is None

    with pytest.raises(BadInput, match=entry.blob_id):
        build_corpus(mirror, commit, "python", rules, cache=tmp_path / "cache")


def test_names_of_sha256_repositories_are_checked_too():
    check_blob("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", b"")
    with pytest.raises(IntegrityViolation):
        check_blob("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", b"x")


def test_skipped_files_are_listed_by_path_whatever_the_reason(git_corpus):
    corpus = git_corpus({"a.py": b"\0", "b.py": ("120000", b"a.py"), "c.py": b"\0"})

    assert [item.path for item in corpus.skipped] == ["a.py", "b.py", "c.py"]
