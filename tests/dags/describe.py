"""Load the DAG folder as Airflow does and print its DAGs as JSON; run as a program."""

from __future__ import annotations

import json
import shlex
import sys
from copy import copy
from typing import Any

from airflow.dag_processing.dagbag import DagBag
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import (
    DAG,
    Asset,
    AssetAlias,
    AssetAny,
    AssetOrTimeSchedule,
    CronTriggerTimetable,
    Param,
)
from airflow.sdk.exceptions import ParamValidationError

RUN_ID = "scheduled__2026-01-01T00:00:00+00:00"


def command(task: object) -> str:
    """The command line of the task, one word a line; empty if it has none."""
    if isinstance(task, BashOperator):
        return "\n".join(shlex.quote(word) for word in shlex.split(str(task.bash_command)))
    if not isinstance(task, SparkSubmitOperator):
        return ""
    # A run that nobody starts by hand has the defaults of the parameters.
    params = task.dag.params.dump() if task.dag else {}
    task.render_template_fields({"run_id": RUN_ID, "params": params})
    hook = task._get_hook()
    return "\n".join(
        shlex.quote(word) for word in hook._build_spark_submit_command(task.application)
    )


def schedule(dag: DAG) -> str | list[str]:
    """The cron expression, the names of the assets that trigger the DAG, or one before the other.

    Any of the assets triggers it.
    """
    match dag.schedule:
        case str(cron):
            return cron
        case list(assets):
            return [asset.name for asset in assets if isinstance(asset, Asset)]
        case AssetOrTimeSchedule(asset_condition=AssetAny() as any_of) as either:
            assert isinstance(either.timetable, CronTriggerTimetable)
            names = [asset.name for asset in any_of.objects if isinstance(asset, Asset)]
            return [either.timetable.expression, *names]
        case other:
            raise TypeError(f"a schedule of another kind: {other}")


def form_field(param: Param) -> dict[str, bool]:
    """Whether the form of Airflow's page can be sent with a field as it opens, and emptied.

    The form takes a field whose type does not include null for a required one: it must have a
    value, and an empty text is none. Of a field that was emptied it makes null.
    """
    kind = param.schema.get("type")
    is_required = kind is not None and not (isinstance(kind, list) and "null" in kind)
    has_value = param.value not in (None, "")
    return {
        "is_sent": _is_valid(param, param.value) and (has_value or not is_required),
        "is_emptied": _is_valid(param, None) and not is_required,
    }


def _is_valid(param: Param, value: object) -> bool:
    try:
        copy(param).resolve(value)
    except ParamValidationError:
        return False
    return True


def describe(folder: str) -> dict[str, Any]:
    """Import errors, imported modules, and per DAG the attributes that are tested."""
    bag = DagBag(folder)
    return {
        "import_errors": bag.import_errors,
        "heavy_modules": sorted(
            {"pyspark", "great_expectations", "deltalake"} & sys.modules.keys()
        ),
        "dags": {
            dag.dag_id: {
                "schedule": schedule(dag),
                "catchup": dag.catchup,
                "max_active_runs": dag.max_active_runs,
                "doc": dag.doc_md,
                "params": {name: form_field(dag.params.get_param(name)) for name in dag.params},
                "tasks": {
                    task.task_id: {
                        "downstream": sorted(task.downstream_task_ids),
                        "aliases": [
                            outlet.name for outlet in task.outlets if isinstance(outlet, AssetAlias)
                        ],
                        "assets": {
                            outlet.name: {"group": outlet.group, **outlet.extra}
                            for outlet in task.outlets
                            if isinstance(outlet, Asset)
                        },
                        "retries": task.retries,
                        "pool": task.pool,
                        "trigger_rule": task.trigger_rule.value,
                        "hours": task.execution_timeout.total_seconds() / 3600
                        if task.execution_timeout
                        else None,
                        "command": command(task),
                    }
                    for task in dag.tasks
                },
            }
            for dag in bag.dags.values()
        },
    }


if __name__ == "__main__":
    print(json.dumps(describe(sys.argv[1])))
