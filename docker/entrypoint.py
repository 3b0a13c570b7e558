"""Start what a container of the image was given: a command, or a part of Spark on Kubernetes.

Spark starts its containers there with the word `driver` and the arguments of spark-submit, or with
the word `executor` and the rest in the environment.
https://spark.apache.org/docs/latest/running-on-kubernetes.html#docker-images

    python entrypoint.py COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

EXECUTOR = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
_OPTION = "SPARK_JAVA_OPT_"
"""What variables with options of the executor's Java begin with; a number follows."""
_FROM_ENVIRONMENT = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}


def command(arguments: Sequence[str], environment: Mapping[str, str], spark: Path) -> list[str]:
    """The command that a container runs.

    Args:
        arguments: those of the container.
        environment: its variables.
        spark: the folder of Spark.
    """
    match arguments:
        case ["driver", *rest]:
            address = environment["SPARK_DRIVER_BIND_ADDRESS"]
            here = ["--conf", f"spark.driver.bindAddress={address}", "--deploy-mode", "client"]
            return ["spark-submit", *here, *rest]
        case ["executor"]:
            memory = environment["SPARK_EXECUTOR_MEMORY"]
            numbered = (name for name in environment if name.startswith(_OPTION))
            options = sorted(numbered, key=lambda name: int(name.removeprefix(_OPTION)))
            first = [environment[name] for name in ("SPARK_CONF_DIR",) if name in environment]
            more = [
                environment[name]
                for name in ("SPARK_CLASSPATH", "SPARK_EXTRA_CLASSPATH")
                if environment.get(name)
            ]
            return [
                "java",
                *(environment[name] for name in options),
                *(f"-Xms{memory}", f"-Xmx{memory}"),
                *("-cp", ":".join([*first, *more, f"{spark}/jars/*"])),
                EXECUTOR,
                *(
                    word
                    for key, name in _FROM_ENVIRONMENT.items()
                    for word in (key, environment[name])
                ),
            ]
        case _:
            return [*arguments]


def main(arguments: Sequence[str]) -> None:
    """Replace this process by the command."""
    package = find_spec("pyspark")
    assert package is not None
    assert package.origin is not None
    if arguments[:1] in (["driver"], ["executor"]):
        # Where Spark puts the files that it sends; the image cannot be written to.
        local = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
        os.chdir(local or tempfile.mkdtemp())
    line = command(arguments, os.environ, Path(package.origin).parent)
    os.execvp(line[0], line)


if __name__ == "__main__":
    main(sys.argv[1:])
