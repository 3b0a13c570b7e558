"""The site of a project: what is on it, and that it costs what changed."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import weir
from tests.support.built import AsBuilt
from tests.support.projects.museum import HOSTILE, Museum
from weir.ingest.stage import ingest_changes
from weir.project import Project
from weir.settings import CONFIG_FILE, Settings
from weir.site import history
from weir.site.files import value_of
from weir.site.writing import Site, write_site
from weir.text.secret_values import hide


def site(museum: Museum, folder: Path | None = None, now: datetime | None = None) -> Site:
    project = Project(Settings.load(museum.folder / CONFIG_FILE))
    try:
        return write_site(project, folder, now)
    finally:
        project.close()


def page(museum: Museum, path: str) -> str:
    return (museum.folder / "site" / path).read_text()


def data(museum: Museum, name: str, folder: str = "site") -> dict[str, Any]:
    value = value_of((museum.folder / folder / f"data/answers/{name}.js").read_text())
    assert isinstance(value, dict)
    return value


@pytest.fixture
def museum(tmp_path: Path) -> Museum:
    return Museum(tmp_path / "museum")


def _build(folder: Path) -> Museum:
    museum = Museum(folder)
    museum.live(1)
    return museum


@pytest.fixture
def lived(as_built: AsBuilt) -> Museum:
    """A museum that published one version."""
    return as_built(_build)


def test_a_page_has_the_rows_of_the_answer_and_all_its_changes(lived: Museum) -> None:
    lived.live(3)
    site(lived)
    shown = data(lived, "exhibits")
    with weir.Project(lived.folder) as project:
        answer = project.answers["exhibits"]
        current, changes = answer.current(), answer.changes()
    titles = Counter(row[1][0] for row in shown["rows"])
    assert titles == Counter(current["title"].to_pylist())
    assert shown["total"] == current.num_rows
    expected: dict[int, list[int]] = {}
    marks: list[list[Any]] = [changes[name].to_pylist() for name in ("epoch", "weight")]
    for epoch, weight in zip(*marks, strict=True):
        expected.setdefault(epoch, [0, 0])[weight < 0] += abs(weight)
    epochs = {epoch: [*counts] for epoch, *counts, _at, _cause in shown["history"]["epochs"]}
    assert epochs == expected
    causes = [cause for *_, cause in shown["history"]["epochs"]]
    assert causes[0] == "register: 001.ttl"


def test_a_site_that_was_extended_is_that_which_is_written_at_once(museum: Museum) -> None:
    for _ in range(5):
        museum.live(1)
        site(museum)
    with (museum.folder / "queries/loans.rq").open("a") as file:
        file.write("# An edit that changes nothing but the text.\n")
    (museum.folder / "queries/rooms.rq").write_text(
        "PREFIX : <http://example.org/> SELECT ?room ?e { ?e :room ?room }"
    )
    museum.run()
    site(museum)
    site(museum, museum.folder / "at_once")
    for name in ("exhibits", "rooms", "loans"):
        assert data(museum, name) == data(museum, name, "at_once")


def test_only_pages_of_what_changed_are_written(lived: Museum) -> None:
    lived.live(1)
    assert site(lived).written == site(lived, lived.folder / "at_once").files
    before = {file: file.stat().st_mtime_ns for file in lived.folder.glob("site/**/*.*")}
    written = site(lived, now=datetime.now(UTC) + timedelta(hours=1)).written
    lived.exhibits[1]["lent_to"] = "getty"
    lived.live(1)
    assert written == 1, "the time of the site itself"
    site(lived)
    rewritten = {
        str(file.relative_to(lived.folder / "site"))
        for file, time in before.items()
        if file.stat().st_mtime_ns != time
    }
    assert "answers/loans.html" in rewritten
    assert not {path for path in rewritten if "assets/" in path}


def test_an_answer_whose_state_alone_changed_has_the_same_data(lived: Museum) -> None:
    site(lived)
    file = lived.folder / "site/data/answers/loans.js"
    before = file.stat().st_mtime_ns
    lived.deliver()
    with weir.Project(lived.folder) as project:
        ingest_changes(project._project, "ingest")
    site(lived)
    assert 'class="badge behind">behind' in page(lived, "answers/loans.html")
    assert file.stat().st_mtime_ns == before


def test_the_start_page_says_that_all_is_well(lived: Museum) -> None:
    lived.live(1)
    site(lived)
    assert "All 3 answers are right and up to date." in page(lived, "index.html")
    assert "What needs attention" not in page(lived, "index.html")


def test_the_start_page_says_what_is_wrong_why_and_what_to_do(lived: Museum) -> None:
    lived.exhibits[1]["insured"] = -5
    (lived.folder / "queries/broken.rq").write_text("SELECT ?x { ?x :p ?y }")
    lived.live(1)
    site(lived)
    start = page(lived, "index.html")
    assert "2 things need attention: 1 held back, 1 stopped." in start
    assert "check insured_is_positive: 1 unexpected (expectations/exhibits.yml:3)" in start
    assert "<code>weir show --held exhibits</code>" in start
    assert "queries/broken.rq:1:16: :p: the prefix : is not declared" in start
    assert str(lived.folder) not in start
    assert 'class="badge failed">failed' in page(lived, "answers/exhibits.html")


def test_an_answer_that_a_check_of_values_holds_is_not_said_to_be_acceptable(
    lived: Museum,
) -> None:
    lived.exhibits[1]["insured"] = -5
    lived.live(1)
    site(lived)
    assert "--accept" not in page(lived, "index.html")


def test_a_check_that_only_warns_is_no_failure_and_one_that_was_removed_is_not_shown(
    museum: Museum,
) -> None:
    file = museum.folder / "expectations/exhibits.yml"
    museum.live(1)
    file.write_text(
        "answers: exhibits\nexpectations:\n  - {type: expect_table_row_count_to_be_between,"
        " kwargs: {max_value: 0}, severity: warn, name: none}\n"
    )
    museum.exhibits[1]["room"] = 9
    museum.live(1)
    site(museum)
    checks = page(museum, "checks.html")
    assert 'class="verdict well">0 of ' in checks
    assert "checks failed, 1 warned." in checks
    assert 'class="badge warned">warned' in checks
    file.unlink()
    site(museum)
    assert "1 warned" not in page(museum, "checks.html")


def test_an_answer_that_a_guard_holds_is_said_to_be_acceptable(museum: Museum) -> None:
    expectation = "{type: expect_few_rows_to_vanish, kwargs: {rows: 0}, name: all_stay}"
    museum.live(1)
    (museum.folder / "expectations/exhibits.yml").write_text(
        f"answers: exhibits\nexpectations:\n  - {expectation}\n"
    )
    museum.exhibits[1]["room"] = 9
    museum.live(1)
    site(museum)
    assert "<code>weir run --accept exhibits</code>" in page(museum, "index.html")


def test_what_stops_a_run_comes_before_what_is_behind_for_it(lived: Museum) -> None:
    (lived.folder / "queries/loans.rq").write_text(
        (lived.folder / "queries/loans.rq").read_text() + "# edited\n"
    )
    (lived.folder / "queries/broken.rq").write_text("SELECT ?x { ?x :p ?y }")
    (lived.folder / "expectations/exhibits.yml").write_text("answers: [\n")
    lived.deliver()
    site(lived)
    start = page(lived, "index.html")
    assert start.index('class="badge stopped"') < start.index('class="badge behind"')
    assert "once what stops it is corrected." in start


def test_a_page_of_an_answer_that_is_held_says_that_its_rows_are_older(lived: Museum) -> None:
    lived.exhibits[1]["insured"] = -5
    lived.live(1)
    site(lived)
    assert "without the newest changes" in page(lived, "answers/exhibits.html")
    assert "without the newest changes" not in page(lived, "answers/loans.html")


def test_a_page_of_an_answer_without_rows_says_where_to_look_and_has_no_history(
    museum: Museum,
) -> None:
    (museum.folder / "queries/empty.rq").write_text("SELECT ?x { ?x <urn:typo> ?y }")
    museum.live(1)
    site(museum)
    empty = page(museum, "answers/empty.html")
    assert "<code>weir check</code>" in empty
    assert "How it changed" not in empty


def test_what_changed_is_said_by_change_set(lived: Museum) -> None:
    lived.exhibits[1]["room"] = 9
    lived.deliver()
    lived.run()
    site(lived)
    start = page(lived, "index.html")
    assert "register: 002.ttl" in start
    assert "→ Room 9" in start


def test_a_project_without_a_run_has_a_site(museum: Museum) -> None:
    site(museum)
    assert "Nothing was published yet." in page(museum, "index.html")
    assert "not published yet" in page(museum, "answers/loans.html")


def test_files_that_are_wrong_are_named_and_the_site_is_written(lived: Museum) -> None:
    (lived.folder / "sources.yml").write_text("sources: 7\n")
    (lived.folder / "expectations/exhibits.yml").write_text("answers: [\n")
    site(lived)
    start = page(lived, "index.html")
    assert "sources.yml:1" in start
    assert "expectations/exhibits.yml" in start


def test_a_page_of_a_query_that_was_removed_goes(lived: Museum) -> None:
    site(lived)
    (lived.folder / "queries/loans.rq").unlink()
    site(lived)
    assert not (lived.folder / "site/answers/loans.html").exists()
    answers = value_of(page(lived, "data/site.js"))["answers"]
    (loans,) = (answer for answer in answers if answer["name"] == "loans")
    assert (loans["state"], loans["page"]) == ("removed", False)


def test_a_damaged_answer_is_said_on_its_page(lived: Museum) -> None:
    for file in (lived.folder / "lake/answers/loans/_delta_log").glob("*.json"):
        file.write_text("{")
    for file in (lived.folder / "lake/current/loans/_delta_log").glob("*.json"):
        file.write_text("{")
    site(lived)
    assert 'class="badge broken">broken' in page(lived, "answers/loans.html")


def test_a_damaged_answer_that_was_restored_is_shown_again(museum: Museum) -> None:
    museum.exhibits[1]["lent_to"] = "getty"
    museum.live(1)
    files = (museum.folder / "lake").glob("*/loans/**/*.parquet")
    contents = {file: file.read_bytes() for file in files}
    for file, content in contents.items():
        file.write_bytes(content[:-100])
    site(museum)
    assert data(museum, "loans").get("damage")
    for file, content in contents.items():
        file.write_bytes(content)
    site(museum)
    assert not data(museum, "loans").get("damage")


def test_a_history_that_is_longer_than_its_page_has_the_number_of_rows(
    museum: Museum, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_EPOCHS", 2)
    for number in (1, 2, 3, 4):
        museum.exhibits[number]["lent_to"] = "getty"
        museum.deliver()
        museum.run()
        site(museum)
    shown = data(museum, "loans")
    assert [epoch for epoch, *_ in shown["history"]["epochs"]] == [3, 4]
    assert [point["rows"] for point in shown["charts"]["rows"]["data"]["values"]] == [3, 4]


def test_what_an_edit_changed_at_an_epoch_is_added_to_what_its_change_set_did(
    museum: Museum,
) -> None:
    museum.exhibits[1]["lent_to"] = "getty"
    museum.live(1)
    site(museum)
    query = museum.folder / "queries/loans.rq"
    query.write_text(query.read_text().replace(":lent_to ?museum }", ":room ?museum }"))
    museum.run()
    site(museum)
    ((epoch, appeared, vanished, *_),) = data(museum, "loans")["history"]["epochs"]
    assert (epoch, appeared, vanished) == (1, 1 + 30, 1)


class _Scripts(HTMLParser):
    """The addresses that a page loads, and scripts that are in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inside = 0
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.loaded += [str(values[name]) for name in ("src", "srcset") if name in values]
        if tag == "link":
            self.loaded.append(str(values["href"]))
        self.inside += tag in ("script", "iframe", "object", "img") and "src" not in values
        self.handlers += [name for name in values if name.startswith("on")]


def test_pages_load_their_own_files_alone_and_no_value_is_markup(museum: Museum) -> None:
    museum.exhibits[1]["title"] = HOSTILE
    quoted = json.dumps(HOSTILE)
    (museum.folder / "queries/hostile.rq").write_text(
        f"#+ description: {quoted}\n#+ owner: {quoted}\n#+ tags: [{quoted}]\n"
        f"# {HOSTILE}\nSELECT ?title {{ ?e <http://example.org/title> ?title }}"
    )
    museum.live(2)
    site(museum)
    pages = [*(museum.folder / "site").glob("**/*.html")]
    assert len(pages) > 8
    for file in pages:
        read = _Scripts(file.read_text())
        assert (read.inside, read.handlers) == (0, [])
        outside = [path for path in read.loaded if path != "data:," and ":" in path]
        assert outside == []
        for path in read.loaded:
            assert path == "data:," or (file.parent / path).exists()


def test_secrets_are_on_no_page(museum: Museum) -> None:
    (museum.folder / "queries/secret.rq").write_text(
        "# canary-77ab-not-a-real-key\nSELECT ?s { ?s <http://example.org/title> ?t }"
    )
    museum.live(1)
    hide(["canary-77ab-not-a-real-key"])
    site(museum)
    for file in (museum.folder / "site").glob("**/*.*"):
        assert b"canary-77ab" not in file.read_bytes()


def test_a_run_writes_the_site_if_the_settings_say_so(museum: Museum) -> None:
    with (museum.folder / "weir.toml").open("r+") as file:
        text = file.read()
        file.seek(0)
        file.write(f'site = "pages"\n{text}')
    museum.deliver()
    with weir.Project(museum.folder) as project:
        run = project.run()
    assert [stage.stage for stage in run.stages][-1] == "site"
    assert (museum.folder / "pages/index.html").exists()
