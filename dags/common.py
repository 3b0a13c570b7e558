"""Shared by all DAGs: the project, its assets, and the tasks that submit a stage to Spark.

Environment of the Airflow processes:

* `WEIR_PROJECT`: folder of `weir.toml` (default: the parent of this folder).
* `WEIR_INGEST_SCHEDULE`, `WEIR_COMPACT_SCHEDULE`, `WEIR_AUDIT_SCHEDULE`, `WEIR_REFRESH_SCHEDULE`:
  cron expressions.
* `WEIR_REFRESH_POOL`: one pool for all refreshes, in place of one per remote.
* `WEIR_STORAGE_CONNECTION`: the connection with the credentials of the lake's object store.
* `WEIR_RETRIES`: retries of a failed task (default: 2).
* `WEIR_PY_FILES`: the archive of `make zip`, for executors that cannot import our packages.
* `PYSPARK_PYTHON`: Python of the executors (default: the one that runs Airflow).

The Airflow connection `spark_default` alone decides where Spark runs.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pendulum
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import Asset, AssetAny, AssetOrTimeSchedule, CronTriggerTimetable

import weir
from dags.stage_task import SubmitStage
from dags.store_credentials import LakeCommand
from weir.catalog.described import Described, described
from weir.catalog.names import folders_of
from weir.errors import EXIT_NOTHING_TO_DO, ConfigurationError
from weir.lake.tables import QUADS, replica
from weir.lake.tables import answers as answers_table
from weir.remotes.names import DeclaredRemote, cron_of, declared_remotes
from weir.settings import CONFIG_FILE, Settings

CODE = Path(__file__).resolve().parent.parent
JOBS = (Path(weir.__file__).parent / "jobs").resolve()
CONFIG = Path(os.environ.get("WEIR_PROJECT", CODE)).resolve() / CONFIG_FILE
SETTINGS = Settings.load(CONFIG)

START = pendulum.datetime(2026, 1, 1, tz="UTC")

RETRYING: dict[str, Any] = {
    # A retry continues where the failed attempt stopped: at the stage's own watermark.
    "retries": int(os.environ.get("WEIR_RETRIES", "2")),
    "retry_delay": timedelta(minutes=1),
    "retry_exponential_backoff": True,
    # A task that hangs renews its claim, too.
    "execution_timeout": timedelta(seconds=SETTINGS.limits.task_seconds),
}
"""Arguments of the tasks of all stages."""


def schedule(stage: str, default: str) -> str:
    """The cron expression of a stage: `WEIR_<STAGE>_SCHEDULE`, or the default."""
    return os.environ.get(f"WEIR_{stage.upper()}_SCHEDULE", default)


def asset(table: str, **about: Any) -> Asset:
    """The asset of a table of the lake.

    Its URI does not contain the location of the lake: Airflow binds a name to its first URI, and
    would refuse to run the tasks of an asset after the lake has moved.

    Args:
        table: name of the table.
        about: what Airflow's page of the asset shows besides.
    """
    extra = {"location": f"{SETTINGS.lake}/{table}", **about}
    group = table.partition("/")[0]
    return Asset(name=table, uri=f"x-weir://lake/{table}", group=group, extra=extra)


@cache
def _described() -> dict[str, Described]:
    try:
        return described(folders_of(SETTINGS))
    except ConfigurationError:
        # The task itself says what is wrong.
        return {}


def answer(query: str) -> Asset:
    """The asset of a published answer, with what the file of the query says about it."""
    about = _described().get(query, Described())
    said = {name: value for name, value in about.model_dump(mode="json").items() if value}
    return asset(answers_table(query, ()).name, **said)


def answers() -> list[Asset]:
    """The assets of the answers of all declared queries and programs."""
    return [*map(answer, _described())]


def quads() -> Asset:
    """The asset whose event means: there may be new changes."""
    return asset(QUADS.name)


def submit(stage: str, *arguments: str, **wiring: Any) -> SubmitStage:
    """The task that runs `jobs/<stage>.py` on Spark.

    Args:
        stage: name of the task and of the entry point.
        arguments: of the entry point, beside those that all have; templates.
        wiring: `retries` and other arguments of the task.
    """
    return SubmitStage(
        task_id=stage,
        name=f"weir {stage}",
        conn_id="spark_default",
        application=str(JOBS / f"{stage}.py"),
        application_args=["--config", str(CONFIG), "--run-id", "{{ run_id }}", *arguments],
        driver_memory=SETTINGS.spark.driver_memory,
        conf={
            "spark.pyspark.driver.python": sys.executable,
            "spark.pyspark.python": os.environ.get("PYSPARK_PYTHON", sys.executable),
            # Airflow stores all of Spark's output; at INFO that is thousands of lines.
            "spark.log.level": "WARN",
            # Options of the driver's JVM must be known when it starts. None is a secret: the
            # settings refuse those.
            **SETTINGS.spark.conf,
        },
        py_files=os.environ.get("WEIR_PY_FILES"),
        **{**RETRYING, **wiring},
    )


def remotes() -> tuple[DeclaredRemote, ...]:
    """The declared remotes.

    Raises:
        ConfigurationError: their file is wrong; Airflow shows it as an error of the DAG.
    """
    return declared_remotes(SETTINGS.remotes)


def refresh_schedule(declared: Sequence[DeclaredRemote]) -> str:
    """The cron expression that comes as often as the shortest `every`, once a minute at most."""
    return cron_of(min(each.every_us for each in declared))


def refresh_pool(remote: DeclaredRemote) -> str:
    """The pool of a remote's task; Airflow leaves a task in the queue whose pool does not exist."""
    return os.environ.get("WEIR_REFRESH_POOL", remote.pool)


def ingest_schedule() -> str | AssetOrTimeSchedule:
    """By the clock, and at once where a refresh has found changes."""
    cron = schedule("ingest", "*/15 * * * *")
    try:
        inboxes = [asset(replica(each.name).name) for each in remotes()]
    except ConfigurationError:
        # The task itself says what is wrong.
        inboxes = []
    if not inboxes:
        return cron
    timetable = CronTriggerTimetable(cron, timezone="UTC")
    return AssetOrTimeSchedule(timetable=timetable, assets=AssetAny(*inboxes))


def check_freshness() -> LakeCommand:
    """The task that fails if a replica is too old, or a check of it does not hold.

    It comes after the refreshes, whether they succeeded or not, and is not retried.
    """
    command = [sys.executable, "-P", "-m", "weir.jobs.check_freshness", "--config", str(CONFIG)]
    return LakeCommand(
        task_id="check_freshness",
        # Not as a part of the command: the name of a run may have any character.
        bash_command=f'{shlex.join(command)} --run-id "$RUN_ID"',
        env={"RUN_ID": "{{ run_id }}"},
        append_env=True,
        cwd=str(CODE),
        retries=0,
        trigger_rule="all_done",
    )


def child_environment() -> dict[str, str]:
    """The environment of a task's child process, without what belongs to Airflow.

    A connection or a key of Airflow in its environment is not passed on.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}


def announce(table: Asset) -> LakeCommand:
    """The task that emits the asset event of `table` if there is pending work; else it is skipped.

    The tables decide, not the outcome of the tasks before it.
    """
    command = [sys.executable, "-P", "-m", "weir.jobs.pending_work", "--config", str(CONFIG)]
    return LakeCommand(
        task_id="announce_changes",
        bash_command=shlex.join(command),
        cwd=str(CODE),
        skip_on_exit_code=EXIT_NOTHING_TO_DO,
        trigger_rule="all_done",
        outlets=[table],
    )


def all_succeeded() -> EmptyOperator:
    """The last task, which makes the run fail if any task failed: by default only the last count.

    It succeeds without doing anything if no task before it failed. If one did, it is not run, and
    its state is `upstream_failed`, which is a failure of the run.
    """
    return EmptyOperator(task_id="all_succeeded", trigger_rule="none_failed", retries=0)
