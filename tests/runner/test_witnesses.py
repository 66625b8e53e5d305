"""Outside timestamps with real signatures: of git by an SSH key, of a time-stamp authority of our own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from repairlab.runner.witnesses import Witness, token_file, witnesses

needs_keys = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


def call(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record in a committed study inside a repository that signs with a key of its own."""
    root = tmp_path / "repository"
    folder = root / "study" / "preregistration"
    folder.mkdir(parents=True)
    path = folder / "small.freeze.json"
    path.write_text('{"frozen": true}\n')
    call("git", "init", "--quiet", cwd=root)
    call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key"), cwd=root)
    public = (tmp_path / "key.pub").read_text()
    (tmp_path / "allowed").write_text(f"a@example.org {public}")
    for name, value in (
        ("user.name", "A"),
        ("user.email", "a@example.org"),
        ("gpg.format", "ssh"),
        ("user.signingkey", str(tmp_path / "key.pub")),
        ("gpg.ssh.allowedSignersFile", str(tmp_path / "allowed")),
    ):
        call("git", "config", name, value, cwd=root)
    call("git", "add", ".", cwd=root)
    call("git", "commit", "--quiet", "--message", "freeze", cwd=root)
    return path


def only(path: Path, tag: str = "frozen", authority: Path | None = None) -> Witness:
    (found,) = witnesses(path, tag, authority)
    return found


@needs_keys
def test_a_signed_tag_over_the_record_holds(record: Path) -> None:
    call("git", "tag", "--sign", "--message", "freeze", "frozen", cwd=record.parent)
    found = only(record)
    assert (found.state, found.file) == ("holds", "small.freeze.json")
    assert "good signature, and its commit holds the file" in found.line


@needs_keys
def test_a_tag_that_is_missing_unsigned_or_lightweight_fails(record: Path) -> None:
    assert only(record).state == "fails"
    call("git", "tag", "light", cwd=record.parent)
    assert "lightweight" in only(record, "light").line
    call("git", "tag", "--annotate", "--message", "x", "annotated", cwd=record.parent)
    found = only(record, "annotated")
    assert (found.state, "no signature" in found.said) == ("fails", True)


@needs_keys
def test_a_record_that_was_changed_after_the_tag_fails(record: Path) -> None:
    call("git", "tag", "--sign", "--message", "freeze", "frozen", cwd=record.parent)
    record.write_text('{"frozen": false}\n')
    assert only(record) == (
        "small.freeze.json",
        "fails",
        "tag frozen: its commit holds other bytes of the file",
    )
    other = record.with_name("other.freeze.json")
    other.write_text("{}")
    assert "does not hold the file" in only(other).said


@needs_keys
def test_a_signature_by_an_unknown_key_is_not_taken_for_good(record: Path, tmp_path: Path) -> None:
    call("git", "tag", "--sign", "--message", "freeze", "frozen", cwd=record.parent)
    (tmp_path / "allowed").write_text("")
    found = only(record)
    assert found.state == "not checked"
    assert "cannot be verified here" in found.said


def test_no_timestamp_is_said_aloud(record: Path) -> None:
    assert only(record, "") == (
        "small.freeze.json",
        "not checked",
        "there is none; only this machine says when",
    )


AUTHORITY = """
[req]
distinguished_name = name
x509_extensions = stamping
prompt = no
[name]
CN = an authority for tests
[stamping]
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = own
[own]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/ca.pem
signer_key = {folder}/ca.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""


@needs_openssl
def test_a_token_of_an_authority_holds_for_the_bytes_that_it_was_given_for(
    record: Path, tmp_path: Path
) -> None:
    (tmp_path / "ca.cnf").write_text(AUTHORITY.format(folder=tmp_path))
    (tmp_path / "serial").write_text("01")
    files = ("-keyout", "ca.key", "-out", "ca.pem", "-config", "ca.cnf")
    call("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *files, cwd=tmp_path)
    query, token, authority = tmp_path / "query", token_file(record), tmp_path / "ca.pem"
    call(
        "openssl", "ts", "-query", "-data", str(record), "-sha256", "-cert", "-out", str(query), cwd=tmp_path
    )
    call(
        "openssl",
        "ts",
        "-reply",
        "-config",
        "ca.cnf",
        "-queryfile",
        str(query),
        "-out",
        str(token),
        cwd=tmp_path,
    )
    assert only(record, "").state == "not checked"
    assert "no certificate of its authority was given" in only(record, "").said
    found = only(record, "", authority)
    assert found.state == "holds"
    assert "GMT" in found.said
    record.write_text('{"frozen": false}\n')
    assert only(record, "", authority).state == "fails"
