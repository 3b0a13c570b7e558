"""Commands whose standard streams are closed, have another encoding, or are not read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.handmade import HandMadeLake, publish_by_hand

pytestmark = pytest.mark.usefixtures("sampled")

CODE = "import sys; from weir.cli import main; sys.exit(main())"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(lake: HandMadeLake) -> HandMadeLake:
    """q with the answer café; unit and there, which have no variables."""
    lake.query("q", "SELECT ?s WHERE { ?s <http://a/p> ?o }")
    lake.query("there", "SELECT * { <http://a/1> <http://a/p> 'o' }")
    lake.ingest(2)
    publish_by_hand(lake, "q", ["s"], [(1, 1, '"café"')], watermark=2)
    publish_by_hand(lake, "there", [], [(1, 1), (1, 1), (2, -1)], watermark=2)
    lake.settings.sources.write_text("sources: []\n")
    return lake


def _shell(command: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    weir = f"{sys.executable} -c '{CODE}'"
    return subprocess.run(
        ["bash", "-c", command.replace("weir", weir)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-"])
@pytest.mark.parametrize("command", ["show q", "status", "show q --debug"])
def test_a_command_without_standard_streams_does_what_it_does_with_them(
    project: HandMadeLake, closed: str, command: str
) -> None:
    del project
    done = _shell(f"weir {command} {closed}")
    assert (done.returncode, b"rror" in done.stderr) == (0, False)


@pytest.mark.usefixtures("initialised")
def test_a_run_without_standard_streams_publishes_what_it_would(weir: Weir) -> None:
    done = _shell("weir run >&-")
    assert (done.returncode, b"rror" in done.stderr) == (0, False)
    assert len(weir("show", "exhibits", "--output", "json").json) == 2
    assert _shell("weir run >&- 2>&-").returncode == 0


def test_a_command_that_fails_without_standard_streams_has_its_exit_code(
    project: HandMadeLake,
) -> None:
    del project
    assert _shell("weir show none >&- 2>&-").returncode == 2


@pytest.mark.parametrize(
    "entry", ["pending_work", "ingest_changes", "published_answers --run-id 1"]
)
def test_a_job_without_standard_streams_has_its_exit_code(
    project: HandMadeLake, entry: str
) -> None:
    del project
    job = f"{sys.executable} -m weir.jobs.{entry}"
    codes = {_shell(f"{job} {closed}").returncode for closed in ("", "<&- >&- 2>&-")}
    assert len(codes) == 1


def test_what_the_encoding_lacks_is_replaced_in_tables_and_escaped_in_json(
    project: HandMadeLake,
) -> None:
    del project
    for encoding in ("ascii", "latin-1", "cp437:strict", "utf-8"):
        table = _shell("weir show q", PYTHONIOENCODING=encoding)
        document = _shell("weir show q --output json", PYTHONIOENCODING=encoding)
        shown = b"caf?" if encoding == "ascii" else "café".encode(encoding.partition(":")[0])
        assert (table.returncode, shown in table.stdout) == (0, True)
        text = document.stdout.decode(encoding.partition(":")[0])
        assert (document.returncode, json.loads(text)) == (0, [{"s": "café", "weight": 1}])


def test_errors_and_progress_are_written_in_any_encoding(project: HandMadeLake) -> None:
    del project
    failed = _shell("weir show café", PYTHONIOENCODING="ascii")
    assert failed.returncode == 2
    assert rb"caf\xe9" in failed.stderr


def test_output_that_nobody_reads_changes_no_exit_code(project: HandMadeLake) -> None:
    del project
    done = _shell("weir show q --limit 0 | true; echo ${PIPESTATUS[0]}")
    failed = _shell("weir show none 2>&1 | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == (b"0\n", b"")
    assert failed.stdout == b"2\n"


def test_output_that_cannot_be_written_is_an_error(project: HandMadeLake) -> None:
    del project
    done = _shell("weir show q > /dev/full")
    assert done.returncode == 1
    assert done.stderr == b"error: the output cannot be written: No space left on device\n"


@pytest.mark.usefixtures("initialised")
def test_rounds_end_when_nobody_reads_what_they_print() -> None:
    done = _shell("timeout 60 weir run --every 1s --output json | head -c 1; echo ${PIPESTATUS[0]}")
    assert done.stdout.endswith(b"0\n")


def test_a_query_without_variables_is_shown(weir: Weir, project: HandMadeLake) -> None:
    del project
    one = [{"weight": 1}]
    for options in ((), ("--terms",), ("--limit", "0")):
        assert weir("show", "there", "--output", "json", *options).json == one
    assert weir("show", "there", "--at", "1", "--output", "json").json == [{"weight": 2}]
    assert weir("show", "there").code == 0
    changes = weir("log", "there", "--output", "json").json
    assert sorted((row["epoch"], row["weight"]) for row in changes) == [(1, 1), (1, 1), (2, -1)]
    for view in ("there_current", "there_changes"):
        assert weir("sql", f"SELECT * FROM {view}").code == 0
    assert weir("site").code == 0
