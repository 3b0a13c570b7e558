"""An audit finds what is wrong in a lake, and names the table and the check."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.damage import append_foreign, data_files, flip_a_bit, newest_commit
from tests.support.laws import Seeds
from tests.support.opened import call
from tests.support.projects.project import SNAPSHOTS, Project
from weir.audit.checked import table_of
from weir.audit.recomputed import RECOMPUTED
from weir.audit.repair import repair_lake
from weir.audit.stage import AuditResult, audit_lake, examined
from weir.errors import EXIT_QUALITY, QualityError
from weir.lake.lake import Lake
from weir.project import Project as OpenProject
from weir.project import open_lake
from weir.site.writing import write_site

TABLES = (
    "answers/rooms",
    "embeddings/rooms",
    "quads",
    "quality",
    "runs",
    "transactions",
    "triples",
)


def audit(project: Project, *, full: bool = False) -> AuditResult:
    """The result of an audit, which must need no Spark."""
    return call(examined, project.settings, "audit", full=full)


def failed(result: AuditResult) -> set[tuple[str, str]]:
    """The tables and names of failed checks."""
    return {(table_of(check), check.expectation) for check in result.failed}


def row(project: Project, table: str, **changed: object) -> dict[str, object]:
    """A row of a table, changed."""
    return {**project.table(table)[0], **changed}


def wrong_answer(project: Project, lake: Lake) -> None:
    wrong = row(project, "answers/rooms", t='"never"', weight=1)
    append_foreign(lake, "answers/rooms", [wrong])


def wrong_embedding(project: Project, lake: Lake) -> None:
    wrong = row(project, "embeddings/rooms", v0='"never"', weight=1)
    append_foreign(lake, "embeddings/rooms", [wrong])


def negative_embedding(project: Project, lake: Lake) -> None:
    wrong = row(project, "embeddings/rooms", v0='"never"', weight=-1)
    append_foreign(lake, "embeddings/rooms", [wrong])


def wrong_triple(project: Project, lake: Lake) -> None:
    append_foreign(lake, "triples", [row(project, "triples", object='"never"', weight=1)])


def triple_twice(project: Project, lake: Lake) -> None:
    (once,) = [r for r in project.table("triples") if r["object"] == '"2"']
    append_foreign(lake, "triples", [{**once, "epoch": 3}])


def wrong_quad(project: Project, lake: Lake) -> None:
    append_foreign(lake, "quads", [row(project, "quads", object='"never"', weight=1)])


def epoch_twice(project: Project, lake: Lake) -> None:
    append_foreign(lake, "transactions", [row(project, "transactions", epoch=2)])


def lost_file(_: Project, lake: Lake) -> None:
    data_files(lake, "quads")[0].unlink()


def garbled_commit(_: Project, lake: Lake) -> None:
    newest_commit(lake, "triples").write_text("{")


DAMAGES: dict[str, tuple[Callable[[Project, Lake], None], tuple[str, str], bool]] = {
    "a row of an answer": (wrong_answer, ("answers/rooms", "equals_the_embeddings"), False),
    "a commit of another program": (wrong_answer, ("answers/rooms", "commits_are_ours"), False),
    "a row of embeddings": (
        wrong_embedding,
        ("embeddings/rooms", "is_the_answer_of_the_graph"),
        True,
    ),
    "a negative multiplicity": (
        negative_embedding,
        ("embeddings/rooms", "multiplicity_is_not_negative"),
        False,
    ),
    "a triple that no graph has": (wrong_triple, ("triples", "is_the_union"), True),
    "a triple that appears twice": (triple_twice, ("triples", "log_is_of_a_set"), False),
    "a quad that no epoch counts": (wrong_quad, ("transactions", "counts_agree_with_quads"), False),
    "an epoch that is there twice": (epoch_twice, ("transactions", "epochs_have_no_holes"), False),
    "a lost data file": (lost_file, ("quads", "files_are_whole"), False),
    "a garbled commit": (garbled_commit, ("triples", "log_is_whole"), False),
}


def test_a_lake_as_it_was_written_passes_every_check(project: Project) -> None:
    result = audit(project, full=True)
    assert failed(result) == set()
    checks = {check.expectation for check in result.results}
    assert checks >= {check for _, (_, check), _ in DAMAGES.values()}


@pytest.mark.parametrize(("only", "tables"), [(["rooms"], {"embeddings/rooms"}), ([], set())])
def test_the_answers_of_a_selection_alone_are_computed_again(
    project: Project, only: list[str], tables: set[str]
) -> None:
    result = call(examined, project.settings, "audit", full=True, only=only)
    again = [check for check in result.results if check.expectation == RECOMPUTED.name]
    assert {table_of(check) for check in again} == tables


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", DAMAGES)
def test_each_kind_of_damage_fails_the_check_that_looks_for_it(project: Project, name: str) -> None:
    damage, expected, full = DAMAGES[name]
    damage(project, open_lake(project.settings))
    assert expected in failed(audit(project, full=full))


@pytest.mark.law("flips of a lake")
def test_no_flipped_bit_of_any_table_is_silent(project: Project, seeds: Seeds) -> None:
    """The audit names the table, and no reader takes another row from it."""
    for number, seed in enumerate(seeds):
        rng = random.Random(f"flip {seed}")
        lake = open_lake(project.settings)
        table = rng.choice(TABLES)
        expected = sorted(map(repr, lake.rows(table).to_pylist()))
        file = rng.choice(data_files(lake, table))
        before = file.read_bytes()
        flip_a_bit(file, rng)
        again = open_lake(project.settings)
        try:
            rows = sorted(map(repr, again.rows(table).to_pylist()))
        except Exception:  # noqa: BLE001  (any error is not silent)
            rows = expected
        assert rows == expected, (number, table)
        if number < 10:
            # A whole audit of each takes long; that of the files is the same for all.
            assert any(damaged == table for damaged, _ in failed(audit(project))), (number, table)
        file.write_bytes(before)


def test_a_version_that_was_edited_after_it_was_read_is_found(tmp_path: Path) -> None:
    project = Project(tmp_path).declare(SNAPSHOTS)
    for number, room in ((1, "1"), (2, "2")):
        project.write(f"versions/{number}.nt", f'<urn:a> <urn:room> "{room}" .\n')
    project.ingest()
    assert failed(audit(project, full=True)) == set()
    project.write("versions/2.nt", '<urn:a> <urn:room> "3" .\n')
    (failure,) = audit(project, full=True).failed
    assert (table_of(failure), failure.expectation) == ("quads", "is_what_sources_say")
    assert failure.detail.startswith("source s, 2.nt: ")
    with pytest.raises(QualityError, match="quads: the source has other content than was read"):
        call(repair_lake, project.settings, "repair", full=True)


def test_results_of_an_audit_are_in_the_table_quality_and_on_its_page(
    project: Project, tmp_path: Path
) -> None:
    wrong_answer(project, open_lake(project.settings))
    audit(project)
    rows = [r for r in project.table("quality") if r["run_id"] == "audit"]
    assert {(r["table"], r["expectation"]) for r in rows if not r["success"]} == {
        ("answers/rooms", "commits_are_ours"),
        ("answers/rooms", "equals_the_embeddings"),
    }
    write_site(OpenProject(project.settings), tmp_path / "site")
    page = (tmp_path / "site/audit.html").read_text()
    assert "the answer is that of the embeddings" in page


def test_an_audit_with_a_failed_check_ends_with_its_exit_code(project: Project) -> None:
    wrong_answer(project, open_lake(project.settings))
    with pytest.raises(QualityError, match="answers/rooms: commits_are_ours") as raised:
        call(audit_lake, project.settings, "audit")
    assert raised.value.exit_code == EXIT_QUALITY


def test_an_answer_that_waits_for_its_publication_is_not_wrong(project: Project) -> None:
    project.query("rooms", "SELECT ?t WHERE { ?x <urn:title> ?t }")
    project.maintain()
    assert failed(audit(project, full=True)) == set()
