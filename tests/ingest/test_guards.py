"""Change sets beyond the guards of their source stop it, until they are accepted."""

from __future__ import annotations

import gzip
import os
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.opened import call
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.errors import EXIT_QUALITY, ConfigurationError, WeirError
from weir.ingest.parsing import parse_on_driver
from weir.ingest.reading import ChangeSetReading
from weir.ingest.sources.errors import SourceError
from weir.ingest.sources.guards import FEW_QUADS, Guards, Tolerance
from weir.ingest.stage import IngestResult, ingest_or_fail


def lines(*numbers: int) -> str:
    return "".join(f'<urn:s> <urn:p> "{number}" .\n' for number in numbers)


def accept(project: Project, *names: str) -> IngestResult:
    return project.ingest(accept=names)


def only_error(result: IngestResult) -> WeirError:
    (error,) = result.errors
    assert error.exit_code == EXIT_QUALITY
    return error


def held(project: Project) -> int:
    return len(project.state(99))


def with_versions(project: Project, *texts: str, **keys: Any) -> None:
    """A snapshot source, of which all versions but the last are ingested, beside a good source."""
    project.declare(SNAPSHOTS | keys, PATCHES)
    project.patch("changes/1.rdfp", 'A <urn:s> <urn:p> "good" .')
    for number, text in enumerate(texts, start=1):
        if number == len(texts):
            assert project.ingest().errors == ()
        project.write(f"versions/{number}.nt", text)


def test_an_empty_version_stops_its_source_and_no_other(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    project.patch("changes/2.rdfp", 'A <urn:s> <urn:p> "better" .')
    error = only_error(project.ingest())
    assert "source s: 2.nt leaves nothing of 2 quads (allow_empty: false)" in str(error)
    assert str(project.folder / "versions/2.nt") in str(error)
    assert "--accept s" in error.hint
    assert held(project) == 4


def test_an_empty_first_version_deletes_nothing(project: Project) -> None:
    project.declare(SNAPSHOTS)
    project.write("versions/1.nt", "")
    project.write("versions/2.nt", "")
    assert project.ingest().to_epoch == 2


def test_an_empty_version_is_taken_where_it_is_allowed(project: Project) -> None:
    with_versions(project, lines(1, 2), "", allow_empty=True)
    assert project.ingest().errors == ()
    assert held(project) == 1


def test_patches_may_delete_everything_by_name_unless_that_is_forbidden(project: Project) -> None:
    project.declare(PATCHES, PATCHES | {"name": "q", "location": "other", "allow_empty": False})
    for folder in ("changes", "other"):
        project.patch(f"{folder}/1.rdfp", "A <urn:s> <urn:p> <urn:o> .")
        project.patch(f"{folder}/2.rdfp", "D <urn:s> <urn:p> <urn:o> .")
    assert "source q: 2.rdfp leaves nothing" in str(only_error(project.ingest()))
    assert held(project) == 1


def test_a_version_that_lost_most_of_its_lines_stops_its_source(project: Project) -> None:
    with_versions(project, lines(*range(300)), lines(*range(100)))
    error = only_error(project.ingest())
    assert "2.nt deletes 200 of 300 quads (max_deleted_share: 0.5)" in str(error)
    assert held(project) == 301


def test_the_deletions_of_a_change_set_are_counted_from_the_one_before_it(project: Project) -> None:
    """Each version deletes less than half of what the one before it left, all of them more."""
    project.declare(SNAPSHOTS)
    for version, count in enumerate((400, 250, 150, 110), start=1):
        project.write(f"versions/{version}.nt", lines(*range(count)))
    assert project.ingest().errors == ()
    project.write("versions/5.nt", lines(*range(54)))
    assert "deletes 56 of 110 quads" in str(only_error(project.ingest()))


def test_patches_may_delete_most_quads_by_name_unless_that_is_forbidden(project: Project) -> None:
    project.declare(PATCHES, PATCHES | {"name": "q", "max_deleted_share": 0.5})
    numbers = range(200)
    project.patch("changes/1.rdfp", *(f'A <urn:s> <urn:p> "{n}" .' for n in numbers))
    project.patch("changes/2.rdfp", *(f'D <urn:s> <urn:p> "{n}" .' for n in numbers[:101]))
    assert "source q: 2.rdfp deletes 101 of 200 quads" in str(only_error(project.ingest()))
    assert held(project) == 99 + 200


def test_a_rejected_line_of_a_version_stops_its_source_and_is_recorded(project: Project) -> None:
    with_versions(project, lines(1, 2, 3), lines(1) + "<urn:s> <urn:p> oops .\n" + lines(3))
    for _ in range(2):
        error = only_error(project.ingest())
        assert "2.nt has 1 rejected of 3 lines (max_rejected: 0)" in str(error)
        assert project.rows("rejected", "source", "position", "line") == [("s", "2.nt", 2)]
    assert held(project) == 4


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("tolerance", "is_taken"), [(1, True), ("33%", False), ("34%", True), ("0%", False)]
)
def test_as_many_lines_may_be_rejected_as_are_declared(
    project: Project, tolerance: int | str, is_taken: bool
) -> None:
    broken = lines(1) + "<urn:s> <urn:p> oops .\n" + lines(3)
    with_versions(project, lines(1, 2, 3), broken, max_rejected=tolerance)
    result = project.ingest()
    assert (result.errors == ()) == is_taken
    assert held(project) == (3 if is_taken else 4)


@pytest.mark.parametrize("kind", ["snapshots", "patches"])
def test_a_file_that_ends_in_the_middle_of_a_line_stops_its_source(
    project: Project, kind: str
) -> None:
    project.declare({"name": "s", "kind": kind, "location": "files", "max_rejected": "100%"})
    text = lines(1, 2).replace("<urn:s>", "A <urn:s>" if kind == "patches" else "<urn:s>")
    project.write("files/1." + ("rdfp" if kind == "patches" else "nt"), text[:-5])
    error = only_error(project.ingest())
    assert "is cut off: it ends in the middle of a line: " in str(error)
    assert project.rows("transactions") == []


def test_a_last_line_without_a_line_feed_is_whole_if_it_parses(project: Project) -> None:
    project.declare(SNAPSHOTS)
    project.write("versions/1.nt", lines(1, 2)[:-1])
    assert project.ingest().errors == ()
    assert held(project) == 2


def test_a_line_that_is_too_long_and_ends_the_file_is_cut_off(project: Project) -> None:
    project.declare(SNAPSHOTS | {"max_rejected": 5}, line_bytes=1024)
    project.write("versions/1.nt", lines(1) + f'<urn:s> <urn:p> "{"x" * 3_000_000}')
    assert "is cut off" in str(only_error(project.ingest()))


def test_a_compressed_version_that_is_cut_off_stops_its_source(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    (project.folder / "versions/2.nt").unlink()
    packed = gzip.compress(lines(1, 2, 3).encode())
    (project.folder / "versions/2.nt.gz").write_bytes(packed[:-9])
    error = only_error(project.ingest())
    assert "2.nt.gz is cut off: the compressed file is broken" in str(error)
    (project.folder / "versions/2.nt.gz").write_bytes(packed)
    assert project.ingest().errors == ()
    assert held(project) == 4


def test_the_change_set_that_is_accepted_is_taken_and_the_next_one_is_not(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    project.write("versions/3.nt", lines(3, 4))
    project.write("versions/4.nt", "")
    project.ingest()
    assert "4.nt leaves nothing" in str(only_error(accept(project, "s")))
    assert {row[3] for row in project.state(99)} == {'"3"', '"4"', '"good"'}


def test_nothing_is_accepted_that_was_not_reported(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    assert "2.nt leaves nothing of 2 quads" in str(only_error(accept(project, "s")))
    project.write("versions/2.nt", "oops\n")
    assert "1 rejected of 1 lines" in str(only_error(accept(project, "s")))
    assert accept(project, "s").errors == ()
    assert held(project) == 1


def test_an_accepted_source_stays_guarded(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    project.ingest()
    assert accept(project, "s").errors == ()
    project.write("versions/3.nt", lines(1))
    project.write("versions/4.nt", "")
    assert "4.nt leaves nothing of 1 quads" in str(only_error(project.ingest()))


def test_a_source_that_is_not_declared_cannot_be_accepted(project: Project) -> None:
    project.declare(SNAPSHOTS)
    project.write("versions/1.nt", lines(1))
    with pytest.raises(ConfigurationError, match="no source is named t"):
        accept(project, "t")


def test_a_corrected_file_continues_the_source(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    project.ingest()
    assert [row[0] for row in project.rows("stopped_sources", "source")] == ["s"]
    project.write("versions/2.nt", lines(2))
    assert project.ingest().errors == ()
    assert project.rows("stopped_sources") == []
    assert held(project) == 2


def test_a_graph_that_only_a_stopped_change_set_writes_stays_free(project: Project) -> None:
    project.folders("changes")
    project.declare(SNAPSHOTS | {"location": "quads"}, PATCHES)
    project.write("quads/1.nq", "<urn:s> <urn:p> <urn:o> <urn:g> .\noops\n")
    only_error(project.ingest())
    project.patch("changes/1.rdfp", "A <urn:s> <urn:p> <urn:o> <urn:g> .")
    project.ingest()
    assert project.rows("graphs", "graph", "source") == [("<urn:g>", "p")]


def test_a_stopped_run_fails_as_a_check_does(project: Project) -> None:
    with_versions(project, lines(1, 2), "")
    with pytest.raises(SourceError) as caught:
        call(ingest_or_fail, project.settings, "run")
    assert caught.value.exit_code == EXIT_QUALITY
    project.declare(SNAPSHOTS, PATCHES | {"location": "nowhere"})
    with pytest.raises(SourceError) as caught:
        call(ingest_or_fail, project.settings, "run")
    assert caught.value.exit_code == 1


def test_rejected_input_is_reported_with_its_source(project: Project) -> None:
    project.patch("changes/1.rdfp", "A nonsense .", "A <urn:s> <urn:p> <urn:o> .")
    reported: list[str] = []
    call(ingest_or_fail, project.settings, "run", reported.append)
    assert [line for line in reported if line.startswith("WARNING: source p: 1 rejected")]


EVENTS = {
    "name": "e",
    "kind": "patches",
    "location": "events",
    "stream": {"time": {"predicate": "urn:time"}},
}
EVENT = 'A <urn:{0}> <urn:time> "2026-01-01T00:00:00Z" .'


def test_a_stream_may_have_rejected_lines_unless_it_is_guarded(project: Project) -> None:
    project.declare(EVENTS, EVENTS | {"name": "f", "max_rejected": 1})
    undated = "A <urn:x> <urn:p> <urn:o> ."
    project.patch("events/1.rdfp", EVENT.format(1), undated)
    project.patch("events/2.rdfp", EVENT.format(2), undated, "oops")
    error = only_error(project.ingest())
    assert "source f: 2.rdfp has 2 rejected of 3 lines (max_rejected: 1)" in str(error)
    assert len(project.rows("streams/e")) == 2
    assert len(project.rows("streams/f")) == 1
    assert len([row for row in project.rows("rejected", "source") if row == ("f",)]) == 3
    assert accept(project, "f").errors == ()
    assert len(project.rows("streams/f")) == 2
    assert len(project.rows("rejected")) == 6


def test_files_that_were_written_just_now_wait_where_they_shall_settle(project: Project) -> None:
    project.declare(SNAPSHOTS | {"settle": 60})
    for version in (1, 2, 3):
        project.write(f"versions/{version}.nt", lines(version))
    settled = time.time() - 61
    os.utime(project.folder / "versions/1.nt", (settled, settled))
    os.utime(project.folder / "versions/3.nt", (settled, settled))
    result = project.ingest()
    assert result.errors == ()
    assert result.to_epoch == 1
    (warning,) = result.warnings
    assert warning.startswith("source s waits: ")
    assert re.search(r"versions/2.nt was written at [-\d]+ [:\d]+ UTC \(settle: 60\)", warning)
    assert project.rows("stopped_sources", "source", "state") == [("s", "waiting")]
    os.utime(project.folder / "versions/2.nt", (settled, settled))
    assert project.ingest().to_epoch == 3


def test_a_file_that_is_written_again_waits_since_it_was_first_found(project: Project) -> None:
    project.declare(SNAPSHOTS | {"settle": 60})
    project.write("versions/1.nt", lines(1))
    project.ingest()
    first = project.rows("stopped_sources", "since", "reason")
    seconds_ago = time.time() - 20
    os.utime(project.folder / "versions/1.nt", (seconds_ago, seconds_ago))
    project.ingest()
    again = project.rows("stopped_sources", "since", "reason")
    assert [since for since, _ in again] == [since for since, _ in first]
    assert again != first


def test_another_file_waits_since_it_was_found(project: Project) -> None:
    project.declare(SNAPSHOTS | {"settle": 60})
    project.write("versions/1.nt", lines(1))
    project.ingest()
    first = project.rows("stopped_sources", "since")
    settled = time.time() - 61
    os.utime(project.folder / "versions/1.nt", (settled, settled))
    project.write("versions/2.nt", lines(2))
    project.ingest()
    assert project.rows("stopped_sources", "since") != first


def test_a_file_that_grows_while_it_is_read_waits(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.declare(SNAPSHOTS, PATCHES)
    project.write("versions/1.nt", lines(1, 2))
    project.patch("changes/1.rdfp", 'A <urn:s> <urn:p> "good" .')

    def parse_and_append(*given: Any) -> Any:
        rows = parse_on_driver(*given)
        with (project.folder / "versions/1.nt").open("a") as file:
            file.write(lines(3))
        return rows

    monkeypatch.setattr("weir.ingest.reading.parse_on_driver", parse_and_append)
    result = project.ingest()
    assert (result.errors, result.to_epoch) == ((), 1)
    assert result.sources[0].waiting is not None
    monkeypatch.undo()
    assert project.ingest().errors == ()
    assert held(project) == 4


@given(
    rejected=st.integers(0, 50),
    good=st.integers(0, 50),
    before=st.integers(0, 300),
    inserted=st.integers(0, 10),
    deleted=st.integers(0, 300),
    share=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_a_change_set_is_within_its_guards_if_and_only_if_each_of_them_holds(
    rejected: int, good: int, before: int, inserted: int, deleted: int, share: float
) -> None:
    deleted = min(deleted, before)
    reading = ChangeSetReading(None, None, good, rejected, malformed=rejected)
    guards = Guards(allow_empty=False, max_deleted_share=share, max_rejected=Tolerance.of("10%"))
    holds = (
        10 * rejected <= rejected + good
        and not (before and before == deleted and not inserted)
        and (before <= FEW_QUADS or deleted <= share * before)
    )
    assert (guards.exceeded_by(reading, before, inserted, deleted) == []) == holds


@pytest.mark.parametrize("name", ["1.rdfp.gz", "1.nt.gz"])
def test_an_archive_without_a_byte_is_cut_off(project: Project, name: str) -> None:
    kind = "patches" if "rdfp" in name else "snapshots"
    project.declare({"name": "s", "kind": kind, "location": "files"})
    project.write(f"files/{name}", "")
    (error,) = project.ingest().errors
    assert "the compressed file is broken: it is empty" in str(error)
    assert project.rows("transactions") == []
