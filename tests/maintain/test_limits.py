"""A query that takes more than a limit fails alone, and is tried again at growing intervals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.opened import statuses_of
from tests.support.oracles.projects import check_answers
from tests.support.projects.project import Project
from weir.errors import ConfigurationError, WeirError
from weir.maintain import stage as module
from weir.progress.completion import Completion
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

LONG = "a" * 25
TEXTS = (
    "A <urn:x> <urn:text> 'ab'".replace("'", '"') + " <urn:g>",
    f'A <urn:y> <urn:text> "{LONG}" <urn:g>',
    "A <urn:x> <urn:next> <urn:y> <urn:g>",
)
GOOD = "SELECT ?x ?t WHERE { ?x <urn:text> ?t }"
DOUBLED = (
    "SELECT ?x ?d WHERE { ?x <urn:text> ?a BIND(CONCAT(?a, ?a) AS ?b) BIND(CONCAT(?b, ?b) AS ?c)"
    " BIND(CONCAT(?c, ?c) AS ?d) }"
)
REPLACED = 'SELECT ?x ?d WHERE { ?x <urn:text> ?a BIND(REPLACE(?a, "a", "0123456789") AS ?d) }'
ENCODED = (
    "SELECT ?x ?d WHERE { ?x <urn:text> ?a"
    ' BIND(ENCODE_FOR_URI(ENCODE_FOR_URI(REPLACE(?a, "a", "é"))) AS ?d) }'
)
LISTED = (
    f'SELECT (GROUP_CONCAT(?a; SEPARATOR="{"-" * 40}") AS ?d) WHERE'
    " { <urn:x> <urn:text> ?a . ?y <urn:text> ?b . ?z <urn:text> ?c }"
)
BOMBS = {"doubled": DOUBLED, "replaced": REPLACED, "encoded": ENCODED, "listed": LISTED}
# Python takes a second or more, and RE2 pairs capitals otherwise.
BACKTRACKING = 'SELECT ?x WHERE { ?x <urn:text> ?t FILTER(!REGEX(?t, "^(a+)+!$", "i")) }'
EXPONENTIAL = r'SELECT ?x WHERE { ?x <urn:text> ?t FILTER(!REGEX(?t, "^(a+)+$")) }'


def failures(project: Project, *retry: str) -> str:
    """Run maintain; gives the message of what could not be maintained."""
    try:
        project.maintain(retry=retry)
    except WeirError as error:
        return str(error)
    return ""


class Clock:
    """The time of maintain."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def now(self, zone: object) -> datetime:
        assert zone is UTC
        return self.time

    @contextmanager
    def later(self, minutes: float) -> Iterator[None]:
        """Be so many minutes later, meanwhile."""
        before = self.time
        self.time += timedelta(minutes=minutes)
        yield
        self.time = before


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "datetime", clock)
    return clock


def test_a_literal_that_is_too_long_fails_its_query_until_the_limit_is_raised(
    project: Project,
) -> None:
    project.configure(literal_length=100)
    project.query("good", GOOD)
    for name, text in BOMBS.items():
        project.query(name, text)
    project.change(*TEXTS)
    message = failures(project)
    for name in BOMBS:
        assert f"{name}: an expression makes a literal of more than literal_length = 100" in message
    project.stages("validate", "publish")
    check_answers(project, "good", 1, 1)
    project.configure(literal_length=10_000)
    assert failures(project) == ""
    project.stages("validate", "publish")
    for name in BOMBS:
        check_answers(project, name, 1, 1)


def test_a_search_that_backtracks_fails_its_query_until_the_limit_is_raised(
    project: Project,
) -> None:
    project.configure(query_seconds=0.3)
    project.query("bomb", BACKTRACKING)
    project.change(*TEXTS)
    assert "bomb: it takes more than query_seconds = 0.3" in failures(project)
    project.configure(query_seconds=60)
    assert failures(project) == ""
    project.stages("validate", "publish")
    check_answers(project, "bomb", 1, 1)


def test_an_exponential_search_of_a_regular_language_takes_linear_time(project: Project) -> None:
    project.query("bomb", EXPONENTIAL)
    project.change(f'A <urn:x> <urn:text> "{"a" * 2_000}!" <urn:g>')
    assert failures(project) == ""
    assert len(project.table("embeddings/bomb")) == 1


PATHS = "SELECT (COUNT(*) AS ?k) WHERE { ?x <urn:next>+ ?y }"
PRODUCT = (
    "#+ allow_product: true\n"
    "SELECT (COUNT(*) AS ?k) WHERE { ?a <urn:e> ?b . ?c <urn:e> ?d . ?f <urn:e> ?g }"
)


def test_a_query_that_runs_too_long_fails_alone(project: Project) -> None:
    """A closure and a product are DuckDB's, a search is that of a process."""
    project.configure(query_seconds=1)
    project.query("good", "SELECT ?x WHERE { ?x <urn:e> <urn:3> }")
    project.query("paths", PATHS)
    project.query("product", PRODUCT)
    project.query("search", BACKTRACKING)
    edges = [f"A <urn:{i}> <urn:e> <urn:{j}> <urn:g>" for i in range(40) for j in range(40)]
    chain = [f"A <urn:{i}> <urn:next> <urn:{i + 1}> <urn:g>" for i in range(2_000)]
    project.change(*edges, *chain, f'A <urn:y> <urn:text> "{"a" * 40}" <urn:g>')
    message = failures(project)
    for name in ("paths", "product", "search"):
        assert f"{name}: it takes more than query_seconds = 1" in message
    project.stages("validate", "publish")
    check_answers(project, "good", 1, 1)


def test_of_queries_of_one_shape_only_the_one_that_takes_too_much_fails(project: Project) -> None:
    project.configure(literal_length=100)
    shape = 'SELECT ?x ?d WHERE {{ ?x <urn:text> ?a BIND(REPLACE(?a, "b", "{}") AS ?d) }}'
    for name, text in (("short", "0"), ("long", "0" * 100), ("other", "1")):
        project.query(name, shape.format(text))
    project.change(*TEXTS)
    message = failures(project)
    assert "long:" in message
    assert "short:" not in message
    project.stages("validate", "publish")
    for name in ("short", "other"):
        check_answers(project, name, 1, 1)


def test_a_stored_answer_stays_and_nothing_is_lost_when_the_limit_is_raised(
    project: Project,
) -> None:
    project.configure(literal_length=100)
    project.query("bomb", DOUBLED)
    project.change(TEXTS[0])
    assert failures(project) == ""
    for epoch in range(2, 5):
        project.change(f'A <urn:{epoch}> <urn:text> "{LONG}" <urn:g>', "D" + TEXTS[0][1:])
        assert "literal_length" in failures(project)
        assert project.watermark("bomb") == 1
    project.configure(literal_length=1_000)
    assert failures(project) == ""
    project.stages("validate", "publish")
    check_answers(project, "bomb", 1, 4)


class Attempts:
    """How often the bomb was computed."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def count(self) -> int:
        failed = Completion.read(open_lake(self.project.settings)).failed_attempts["bomb"]
        return failed.attempts


def test_a_failed_query_is_tried_again_over_new_changes_when_it_is_due(
    project: Project, clock: Clock
) -> None:
    project.configure(literal_length=10)
    project.query("bomb", DOUBLED)
    attempts = Attempts(project)
    for minute, count in ((0, 1), (0.9, 1), (1, 2), (2.9, 2), (3, 3)):
        project.change(f'A <urn:m{minute}> <urn:text> "aaa" <urn:g>')
        with clock.later(minute):
            assert "bomb:" in failures(project)
        assert attempts.count() == count


def test_a_failed_query_is_not_tried_again_over_the_same_changes(
    project: Project, clock: Clock
) -> None:
    project.configure(literal_length=10)
    project.query("bomb", DOUBLED)
    project.change(*TEXTS)
    failures(project)
    clock.time += timedelta(days=2)
    assert "by `weir run --retry bomb`" in failures(project)
    assert Attempts(project).count() == 1


def test_a_failed_query_is_tried_at_once_if_asked_for(project: Project) -> None:
    project.configure(literal_length=10)
    project.query("bomb", DOUBLED)
    project.change(*TEXTS)
    failures(project)
    failures(project, "bomb")
    assert Attempts(project).count() == 2


def test_a_failed_query_is_tried_at_once_if_it_was_edited(project: Project) -> None:
    project.configure(literal_length=10)
    project.query("bomb", DOUBLED)
    project.change(*TEXTS)
    failures(project)
    project.query("bomb", GOOD)
    assert failures(project) == ""


def test_a_query_to_be_tried_that_does_not_exist_is_an_error(project: Project) -> None:
    project.query("good", GOOD)
    project.change(*TEXTS)
    with pytest.raises(ConfigurationError, match="there is no query god"):
        project.maintain(retry=["god"])


def test_the_status_says_which_limit_and_when_it_is_tried_again(project: Project) -> None:
    project.configure(literal_length=10)
    project.query("bomb", DOUBLED)
    project.change(*TEXTS)
    failures(project)
    failures(project)
    (status,) = statuses_of(project.settings)
    assert status.state == "new"
    assert status.reason is not None
    assert "literal_length = 10" in status.reason
    assert "tried again with new changes after" in status.reason
