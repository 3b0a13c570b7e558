"""Build the image without a daemon, and run it as compose.yaml does: without privileges, read-only.

    python docker/try_image.py                 # as root; the base is made of Debian's packages
    python docker/try_image.py --base FILE     # the files of a base image, as a tar
    python docker/try_image.py --image FILE    # nothing is built: an image from `podman save`

Prints each step with its seconds; the first one that fails ends it. Everything is in one temporary
folder, which is removed. Variables of proxies reach the build, the certificates in SSL_CERT_FILE
and the index of pip (PIP_INDEX_URL) go into the base of the trial alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

CODE = Path(__file__).parents[1]
TOOLS = ("buildah", "podman", "runc", "mmdebstrap")
BASE, IMAGE, NAME = "localhost/weir-trial-base", "localhost/weir-trial", "weir-trial"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
LARGEST = 1_300_000_000
"""Bytes of the image, uncompressed and with its base."""
USER = 50_000
PATIENCE = 1_800
"""Seconds after which a step is killed."""
PACKAGES = "ca-certificates,netbase,tzdata,python3-venv,python-is-python3,usr-is-merged"
LEFT_OUT = tuple(f"path-exclude=/usr/share/{name}/*" for name in ("doc", "info", "locale", "man"))
PERL = "usrmerge perl 'perl-modules-*' 'libperl5*'"
"""What mmdebstrap adds to Debian's smallest system, and images of Debian do not have."""
CONTAINERS = """\
[containers]
default_ulimits = ["nofile=10000:10000", "nproc=20000:20000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
COMPILERS = ("as", "c++", "cc", "clang", "g++", "gcc", "javac", "ld", "make", "pip", "uv")
LOCKED = f"""\
import os, shutil
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines()
              if ":\\t" in line)
assert os.getuid() == {USER}, os.getuid()
assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status
assert status["NoNewPrivs"] == "1", status
for folder in ("/opt/weir", "/usr/bin", "/etc", "/"):
    assert os.statvfs(folder).f_flag & os.ST_RDONLY, folder
print([name for name in {COMPILERS} if shutil.which(name)])
"""
CLASSES = (
    "org.apache.hadoop.fs.s3a.S3AFileSystem",
    "software.amazon.awssdk.services.s3.S3Client",
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.spark.deploy.k8s.submit.KubernetesClientApplication",
)
LOADED = f"""\
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
for name in {CLASSES}:
    loader.loadClass(name)
assert spark.range(5).selectExpr("sum(id)").first()[0] == 10
spark.stop()
"""
SPARK = {
    "WEIR_LIMITS__DRIVER_ROWS": "0",
    "WEIR_LIMITS__DRIVER_PARSE_BYTES": "0",
    "WEIR_SPARK__DRIVER_MEMORY": "1g",
}
"""Spark computes everything."""
AIRFLOW = {
    "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(
        {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}
    ),
    "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
    "WEIR_RETRIES": "0",
}
CHANGES = "patches"


class StepError(Exception):
    """A step that failed; the message has the end of what it printed."""


class Trial:
    """Images and containers in a folder.

    Args:
        folder: where everything is, storage and configuration of podman and buildah, too.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        configuration = folder / "containers.conf"
        configuration.write_text(CONTAINERS)
        self._environment = {**os.environ, "CONTAINERS_CONF": str(configuration)}
        self._where = ["--root", str(folder / "storage"), "--runroot", str(folder / "run")]

    def call(self, *command: str | Path, cwd: Path | None = None) -> str:
        """What a command prints.

        Raises:
            StepError: it failed, or took longer than `PATIENCE` seconds.
        """
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise StepError(f"{command[0]} took more than {PATIENCE} s") from None
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode:
            raise StepError(f"exit code {process.returncode}:\n{output[-4_000:]}")
        return output

    def buildah(self, *arguments: str | Path, cwd: Path | None = None) -> str:
        """What a command of buildah prints."""
        return self.call("buildah", *self._where, *arguments, cwd=cwd)

    def podman(self, *arguments: str | Path) -> str:
        """What a command of podman prints."""
        tmpdir = str(self.folder / "podman")
        return self.call("podman", *self._where, "--tmpdir", tmpdir, *arguments)

    def inside(
        self, *command: str, variables: Mapping[str, str] | None = None, folder: str = "/project"
    ) -> str:
        """What a command in the container prints."""
        return self.podman("exec", f"--workdir={folder}", *_given(variables), NAME, *command)

    def in_background(self, *command: str, variables: Mapping[str, str] | None = None) -> None:
        """Start a command in the container, which ends with it at the latest."""
        self.podman("exec", "--detach", *_given(variables), NAME, *command)

    def remove(self) -> None:
        """Remove containers and images; folders of layers are mounts as long as one runs."""
        for arguments in (
            ["rm", "--all", "--force", "--time", "1"],
            ["volume", "rm", "--all", "--force"],
            ["rmi", "--all", "--force"],
        ):
            with suppress(StepError):
                self.podman(*arguments)


def _given(variables: Mapping[str, str] | None) -> list[str]:
    return [f"--env={name}={value}" for name, value in (variables or {}).items()]


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print what was done, and its seconds."""
    start = time.monotonic()
    try:
        yield
    except (AssertionError, StepError) as error:
        raise SystemExit(f"{what} failed: {error}") from error
    print(f"{time.monotonic() - start:7.1f} s  {what}", flush=True)


def make_base(trial: Trial, given: Path | None) -> None:
    """Make the base image: from a tar, or of Debian's packages."""
    files = trial.folder / "base"
    files.mkdir()
    if given:
        trial.call("tar", "--extract", "--file", given, "--directory", files)
    else:
        options = [f"--dpkgopt={option}" for option in LEFT_OUT]
        purge = f'chroot "$1" apt-get purge --yes {PERL}'
        trial.call(
            "mmdebstrap",
            *("--variant=minbase", f"--include={PACKAGES}", f"--customize-hook={purge}"),
            *("--aptopt=APT::Install-Recommends false", *options),
            *("bookworm", files),
            *sorted(Path("/etc/apt/sources.list.d").glob("debian.sources")),
        )
    settings_of_machine(trial, files)
    container = trial.buildah("from", "scratch").strip()
    trial.buildah("add", "--quiet", container, files, "/")
    if "SSL_CERT_FILE" in os.environ:
        # pip, uv and Node.js know other certificates than the system's without these.
        names = ("SSL_CERT_FILE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")
        variables = (f"--env={name}={CERTIFICATES}" for name in names)
        trial.buildah("config", *variables, container)
    trial.buildah("commit", "--quiet", "--rm", container, BASE)
    shutil.rmtree(files)


def settings_of_machine(trial: Trial, files: Path) -> None:
    """Write into the base how this machine reaches others."""
    if bundle := os.environ.get("SSL_CERT_FILE"):
        certificates = re.findall(
            r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n",
            Path(bundle).read_text(),
            re.DOTALL,
        )
        folder = files / "usr" / "local" / "share" / "ca-certificates"
        folder.mkdir(parents=True, exist_ok=True)
        for number, certificate in enumerate(certificates):
            (folder / f"machine-{number}.crt").write_text(certificate)
        # Programs in the base do not have this machine's folder of temporary files.
        trial.call("chroot", files, "env", "TMPDIR=/tmp", "update-ca-certificates")
    if index := os.environ.get("PIP_INDEX_URL"):
        (files / "etc" / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
        (files / "etc" / "uv").mkdir(exist_ok=True)
        (files / "etc" / "uv" / "uv.toml").write_text(f'index-url = "{index}"\n')


def build(trial: Trial) -> None:
    """Build the image of the files that Git knows or does not ignore."""
    listed = trial.call(
        "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=CODE
    )
    context = trial.folder / "context"
    for name in filter(None, listed.split("\0")):
        if (CODE / name).is_file() or (CODE / name).is_symlink():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CODE / name, context / name, follow_symlinks=False)
    # This buildah applies Dockerfile.dockerignore to copies between stages, too.
    nothing = trial.folder / "nothing"
    nothing.touch()
    trial.buildah(
        *("build", "--isolation", "chroot", "--pull-never", "--network", "host"),
        *("--ignorefile", nothing, "--build-arg", f"PYTHON_IMAGE={BASE}", "--tag", IMAGE),
        *("--file", context / "docker" / "Dockerfile", context),
    )


def check_size(trial: Trial) -> int:
    """The bytes of the image."""
    size = int(trial.podman("image", "inspect", "--format", "{{.Size}}", IMAGE))
    assert size <= LARGEST, f"{size:,} bytes, more than {LARGEST:,}"
    return size


def start(trial: Trial) -> None:
    """Start the container with a project."""
    shutil.copytree(CODE / "tests" / "dags" / "project", trial.project)
    for path in (trial.project, *trial.project.rglob("*")):
        os.chown(path, USER, 0)
    trial.podman(
        *("run", "--detach", "--name", NAME, "--network", "none", "--read-only"),
        *("--read-only-tmpfs=false", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        # Podman gives a tmpfs to root; a volume takes the owner of its folder.
        *("--tmpfs", "/tmp:mode=1777", "--volume", "airflow:/var/lib/airflow"),
        *("--volume", "home:/home/weir", "--volume", "cache:/cache", "--volume", "lake:/lake"),
        *("--volume", f"{trial.project}:/project", "--workdir", "/project"),
        *("--env", "SPARK_LOCAL_IP=127.0.0.1", IMAGE, "sleep", str(2 * PATIENCE)),
    )


def give_change(trial: Trial, name: str) -> None:
    """Give the project a change set that replaces the name of a person."""
    before = newest(trial.project / CHANGES)
    number = int(before.stem) + 1
    file = before.with_name(f"{number}.rdfp")
    old = re.findall(r'A <http://example.org/bob> \S+ "(\w+)"', before.read_text())[-1]
    triple = "<http://example.org/bob> <http://xmlns.com/foaf/0.1/name>"
    file.write_text(
        f"H id <urn:uuid:{number}> .\nH prev <urn:uuid:{number - 1}> .\nTX .\n"
        f'D {triple} "{old}" .\nA {triple} "{name}" .\nTC .\n'
    )
    os.chown(file, USER, 0)


def newest(folder: Path) -> Path:
    """The last change set of a folder."""
    return max(folder.glob("*.rdfp"), key=lambda path: int(path.stem))


def expect_name(trial: Trial, name: str) -> None:
    """Check that the published answer has a name."""
    shown = trial.inside("weir", "show", "names")
    assert name in shown, f"the answer has no {name}:\n{shown}"


def run_by(trial: Trial, name: str, run: Callable[[], str]) -> None:
    """Give a change set, run, and look for it in the answer."""
    give_change(trial, name)
    run()
    expect_name(trial, name)


def by_spark(trial: Trial, **variables: str) -> str:
    """Run Weir, with Spark for everything, and check that its event log has tasks."""
    events = f"/tmp/events-{len(variables)}"
    trial.inside("mkdir", events)
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{events}",
    }
    given = {**SPARK, **variables, "WEIR_SPARK__CONF": json.dumps(conf)}
    printed = trial.inside("weir", "run", variables=given)
    logged = trial.inside("grep", "-rlE", "SparkListenerTaskEnd", events)
    assert logged, printed
    return printed


def healthy(trial: Trial, *arguments: str) -> None:
    """Wait until the program of the health checks accepts a service."""
    end = time.monotonic() + 120
    while True:
        try:
            trial.inside("python", "/opt/weir/docker/health.py", *arguments)
        except StepError:
            if time.monotonic() > end:
                raise
            time.sleep(2)
        else:
            return


def cluster(trial: Trial) -> None:
    """Start a master and a worker of Spark, as compose.yaml does."""
    spark = {"SPARK_WORKER_DIR": "/tmp/worker", "SPARK_LOCAL_DIRS": "/tmp/spark"}
    names = "org.apache.spark.deploy"
    master, address = f"{names}.master.Master", "spark://127.0.0.1:7077"
    options = ("--host", "127.0.0.1", "--port", "7077", "--webui-port", "8090")
    trial.in_background("spark-class", master, *options)
    healthy(trial, "http://127.0.0.1:8090/json/", "status", "ALIVE")
    worker = ("--host", "127.0.0.1", "--webui-port", "8091", "--memory", "1g", address)
    trial.in_background("spark-class", f"{names}.worker.Worker", *worker, variables=spark)
    healthy(trial, "http://127.0.0.1:8091/json/", "masterurl", address)


def dags(trial: Trial) -> str:
    """Run both DAGs."""
    return "".join(
        trial.inside("airflow", "dags", "test", name, variables=AIRFLOW)
        for name in ("ingest_changes", "maintain_queries")
    )


def run_weir(trial: Trial) -> None:
    """Start the container, and run Weir without Spark."""
    with step("container started"):
        start(trial)
    with step("no privileges, nothing to write to, no compiler"):
        compilers = trial.inside("python", "-c", LOCKED).strip()
        assert compilers == "[]", compilers
    with step("weir --version"):
        trial.inside("weir", "--version")
    with step("weir init, run and show"):
        own = {"WEIR_LAKE": "/tmp/lake", "WEIR_CACHE": "/tmp/cache"}
        trial.inside("weir", "init", "/tmp/sample")
        trial.inside("weir", "run", variables=own, folder="/tmp/sample")
        assert trial.inside("weir", "show", "exhibits", variables=own, folder="/tmp/sample")
    with step("weir run, three change sets"):
        trial.inside("weir", "run")
        expect_name(trial, "Robert")
    with step("weir run, one change set more"):
        run_by(trial, "Bert", lambda: trial.inside("weir", "run"))
    with step("weir doctor"):
        trial.inside("weir", "doctor")
    with step("weir site"):
        trial.inside("weir", "site", "--to", "/tmp/site")
        trial.inside("test", "-s", "/tmp/site/index.html")


def run_spark(trial: Trial) -> None:
    """Run Weir by Spark."""
    with step("jars for S3, Delta and Kubernetes load"):
        trial.inside("python", "-c", LOADED)
    with step("weir run, by Spark in the driver's process"):
        run_by(trial, "Rupert", lambda: by_spark(trial))
    with step("master and worker of Spark healthy"):
        cluster(trial)
    with step("weir run, by this cluster"):
        master = "spark://127.0.0.1:7077"
        run_by(trial, "Ruprecht", lambda: by_spark(trial, WEIR_SPARK__MASTER=master))


def run_airflow(trial: Trial) -> None:
    """Run the DAGs of Weir."""
    with step("airflow db migrate"):
        trial.inside("airflow", "db", "migrate", variables=AIRFLOW)
    with step("airflow dags reserialize and list"):
        trial.inside("airflow", "dags", "reserialize", variables=AIRFLOW)
        listed = trial.inside("airflow", "dags", "list", variables=AIRFLOW)
        assert "maintain_queries" in listed, listed
    with step("DAGs ingest_changes and maintain_queries"):
        run_by(trial, "Robin", lambda: dags(trial))
    with step("Airflow's page healthy"):
        trial.in_background("airflow", "api-server", variables=AIRFLOW)
        healthy(
            trial, "http://127.0.0.1:8080/api/v2/monitor/health", "metadatabase.status", "healthy"
        )


def main(arguments: Sequence[str]) -> None:
    """Build and run; see the text of this module."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", type=Path, help="tar with the files of the base image")
    parser.add_argument("--image", type=Path, help="an image that was built, from `podman save`")
    given = parser.parse_args(arguments)
    if missing := what_is_missing():
        raise SystemExit(f"not tried: {missing}")
    with tempfile.TemporaryDirectory(prefix="weir-image-", ignore_cleanup_errors=True) as folder:
        trial = Trial(Path(folder))
        try:
            if given.image:
                with step("image loaded"):
                    trial.podman("load", "--input", given.image)
            else:
                with step("base"):
                    make_base(trial, given.base)
                with step("image"):
                    build(trial)
            with step("size"):
                size = check_size(trial)
            print(f"           {size / 1e6:,.0f} MB", flush=True)
            run_weir(trial)
            run_spark(trial)
            run_airflow(trial)
        finally:
            trial.remove()


def what_is_missing() -> str:
    """Why the image cannot be tried on this machine; empty if it can."""
    if os.geteuid() != 0:
        return "only root makes a base and starts containers here"
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    return f"no {', '.join(absent)}" if absent else ""


if __name__ == "__main__":
    main(sys.argv[1:])
