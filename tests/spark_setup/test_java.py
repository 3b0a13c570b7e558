"""The launcher of Java, tested with a script in place of Java."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from setup.java import LAUNCHER
from setup.steps import CACHE
from weir.spark_setup.commands import SetupError
from weir.spark_setup.java import TRUST_PASSWORD, Launcher, major_version
from weir.spark_setup.trust import write_trust_store

REQUESTED_BY_SPARK = "--add-modules=jdk.incubator.vector"


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The launcher of the packaged JRE, which prints its arguments instead of being a JRE."""
    printing = _script(tmp_path / "java", 'printf "%s\\n" "$@"')
    monkeypatch.setattr(Launcher, "_trust_options", lambda _: "")
    launcher = Launcher(tmp_path / "home", printing, Path(sys.executable), tmp_path / "temporary")
    return _script(tmp_path / "launcher", launcher.packaged_script().partition("\n")[2])


def test_the_module_that_the_packaged_jre_lacks_is_not_requested(launcher: Path) -> None:
    assert REQUESTED_BY_SPARK not in _arguments(launcher, REQUESTED_BY_SPARK, "Main")


def test_arguments_keep_their_order_and_their_blanks(launcher: Path) -> None:
    given = ["-Dname=a b", REQUESTED_BY_SPARK, "Main", "", "*", "--add-modules=other"]
    expected = [word for word in given if word != REQUESTED_BY_SPARK]
    assert _arguments(launcher, *given)[-len(expected) :] == expected


def test_temporary_files_of_java_go_where_they_are_sent(launcher: Path, tmp_path: Path) -> None:
    assert f"-Djava.io.tmpdir={tmp_path / 'temporary'}" in _arguments(launcher, "Main")


def test_temporary_files_of_java_stay_in_the_checkout() -> None:
    assert f"-Djava.io.tmpdir={CACHE / 'tmp'}" in LAUNCHER.file.read_text()


def test_the_first_supported_java_of_the_machine_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("old", "1.8.0"), ("new", "21.0.8")):
        (tmp_path / name / "bin").mkdir(parents=True)
        _script(tmp_path / name / "bin" / "java", f"echo 'version \"{version}\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'new' / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    launcher = Launcher(tmp_path / "home", tmp_path / "absent", Path(sys.executable))
    assert launcher.write() == f"21: {tmp_path / 'new' / 'bin' / 'java'}, of this machine"
    assert major_version(launcher.file) == 21


def test_without_any_java_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    launcher = Launcher(tmp_path / "home", tmp_path / "absent", Path(sys.executable))
    with pytest.raises(SetupError, match=r"no Java 17 or 21.*weir\[java\]"):
        launcher.write()


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21.0.8" 2025-07-15 LTS', 21),
        ('java version "1.8.0_412"', 1),
        ('openjdk version "25" 2025-09-16', 25),
        ("no Java here", None),
    ],
)
def test_the_major_version_of_a_java_is_found(
    tmp_path: Path, printed: str, version: int | None
) -> None:
    fake = _script(tmp_path / "java", f"echo '{printed}' >&2")
    assert major_version(fake) == version


def test_a_missing_java_has_no_version(tmp_path: Path) -> None:
    assert major_version(tmp_path / "java") is None


def test_the_packaged_jre_reads_the_trust_store(tmp_path: Path) -> None:
    pem, store = tmp_path / "certificates.pem", tmp_path / "trusted.p12"
    pem.write_bytes(_certificate("one") + _certificate("two"))
    write_trust_store(pem, store, TRUST_PASSWORD)
    said = subprocess.run(
        [
            LAUNCHER.packaged.with_name("keytool"),
            "-list",
            "-keystore",
            store,
            "-storepass",
            TRUST_PASSWORD,
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.count("trustedCertEntry") == 2


def _certificate(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )


def _script(file: Path, body: str) -> Path:
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


def _arguments(launcher: Path, *given: str) -> list[str]:
    said = subprocess.run([launcher, *given], capture_output=True, text=True, check=True).stdout
    return said.splitlines()
