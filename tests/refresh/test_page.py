"""The page about freshness: from the tables to one file without anything from elsewhere."""

from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support.opened import call
from tests.support.replicas.written import REMOTES, RemoteTables, remote_project
from weir.compute.connection import connect
from weir.lake.delta.bindings import Bindings
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import FRESHNESS
from weir.project import open_lake
from weir.refresh.check import check_freshness
from weir.refresh.current import current_states
from weir.refresh.history import EVALUATIONS, STALEST, RemoteHistory, remote_history
from weir.refresh.page import PAGE, write_page

HOSTILE = "</td><script>alert(1)</script><img src=http://evil.example.org/>\"'&"


@pytest.fixture
def tables(tmp_path: Path) -> RemoteTables:
    return remote_project(tmp_path)


def history(tables: RemoteTables, minutes: float = 1) -> RemoteHistory:
    now = tables.evaluation(tables.rounds) + timedelta(minutes=minutes)
    (state,) = current_states(tables.settings, now)
    with connect(tables.settings) as connection:
        return remote_history(Bindings(connection), open_lake(tables.settings), state, now)


class _Elements(HTMLParser):
    """The names of elements, and the addresses that they load."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "xlink:href")]


def test_the_page_has_every_part_and_loads_nothing(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',), "b": ('"1"',)}, stale_sampled=0.5)
    tables.refresh({"a": None, HOSTILE: ('"1"',)}, policy=HOSTILE, state="warn")
    now = tables.evaluation(2) + timedelta(minutes=1)
    file = write_page(tables.settings, current_states(tables.settings, now), now)
    assert file == str(tables.folder / "lake" / PAGE)
    text = Path(file).read_text()
    elements = _Elements()
    elements.feed(text)
    assert elements.names & {"script", "img", "link", "iframe", "object", "image"} == set()
    assert elements.addresses == []
    assert "url(" not in text
    titles = ("Age over time", "(CCDF)", "Budget and staleness", "Outcomes", "Heat map of age")
    assert all(title in text for title in titles)
    assert "The stalest keys" in text
    assert "&lt;script&gt;" in text
    assert "2 of 20" in text, "keys used"


def test_the_stalest_keys_are_listed_oldest_first(tables: RemoteTables) -> None:
    tables.refresh(dict.fromkeys("abc", ('"1"',)))
    tables.refresh({"b": ('"1"',), "d": None})
    shown = history(tables)
    keys = [re.sub(r"[^a-d]", "", row["key"].removeprefix('["<urn:')) for row in shown.stalest]
    assert keys == ["d", "a", "c", "b"]
    assert [row["age"] for row in shown.stalest] == [None, 660.0, 656.0, 60.0]


def test_a_key_that_is_no_candidate_any_more_is_left_out(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',), "b": ('"1"',)})
    for _ in range(3):
        tables.refresh({"b": ('"1"',)}, oldest_seconds=0.0, p95_seconds=0.0, median_seconds=0.0)
    assert [row["key"] for row in history(tables).stalest] == ['["<urn:b>"]']


def test_ages_are_quantiles_and_cells_of_all_keys(tables: RemoteTables) -> None:
    tables.refresh(dict.fromkeys("abcd", ('"1"',)))
    tables.refresh({"a": ('"1"',)})
    shown = history(tables)
    assert (shown.quantiles[0], shown.quantiles[-1]) == (60.0, 658.0)
    assert [*shown.quantiles] == sorted(shown.quantiles)
    by_time = [
        sum(cell["keys"] for cell in shown.cells if cell["place"] == place)
        for place in range(len(shown.times))
    ]
    # At the instant of an evaluation, of the keys that it asks for only the first was answered.
    assert by_time == [1, 4, 4]


def test_the_page_has_a_bounded_number_of_evaluations_and_keys(tables: RemoteTables) -> None:
    tables.refresh({f"k{number}": ('"1"',) for number in range(STALEST + 10)})
    rows = open_lake(tables.settings).rows(FRESHNESS.name).to_pylist()
    more = [
        rows[0] | {"round": number, "evaluation": tables.evaluation(number)}
        for number in range(2, EVALUATIONS + 50)
    ]
    write(open_lake(tables.settings), FRESHNESS, more, Metadata("r", "refresh:wd", 0))
    tables.rounds = EVALUATIONS + 49
    shown = history(tables)
    assert len(shown.evaluations) == EVALUATIONS
    assert shown.evaluations[-1]["evaluation"] == tables.evaluation(EVALUATIONS + 49)
    tables.rounds = 1
    assert len(history(tables).stalest) == STALEST


def test_a_remote_that_was_never_evaluated_has_a_page(tables: RemoteTables) -> None:
    assert history(tables) == RemoteHistory()
    now = tables.evaluation(1)
    page = write_page(tables.settings, current_states(tables.settings, now), now)
    assert page is not None
    assert "<h1>Freshness: 1 never evaluated</h1>" in Path(page).read_text()


def test_the_check_writes_the_page(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',)})
    call(check_freshness, tables.settings, "c", now=tables.evaluation(1))
    assert "<h1>Freshness: 1 fresh</h1>" in (tables.folder / "lake" / PAGE).read_text()


def test_the_headline_hides_no_remote_that_is_not_fresh(tables: RemoteTables) -> None:
    second = REMOTES.partition("\n")[2].replace("wd", "unused")
    (tables.folder / "remotes.yml").write_text(REMOTES.replace("min_fresh: 0.5", "") + second)
    now = tables.evaluation(1) + timedelta(minutes=1)
    until = now + timedelta(minutes=15)
    tables.refresh({"a": None}, not_before=until, not_before_reason="throttled", share_fresh=0.0)
    page = write_page(tables.settings, current_states(tables.settings, now), now)
    assert page is not None
    verdict = "Freshness: 1 backing off, 1 unused"
    assert f"<title>{verdict}</title>" in Path(page).read_text()
    assert f"<h1>{verdict}</h1>" in Path(page).read_text()


def test_only_text_of_any_length_is_broken_within_words(tables: RemoteTables) -> None:
    tables.refresh({"a": ('"1"',)})
    now = tables.evaluation(1)
    page = write_page(tables.settings, current_states(tables.settings, now), now)
    assert page is not None
    text = Path(page).read_text()
    rules = re.findall(r"([^{}\n]+) \{([^}]*)\}", text)
    assert [names for names, rule in rules if "anywhere" in rule] == [
        "td.broken",
        "pre",
    ]
    (cells,) = (rule for names, rule in rules if names == "td")
    assert "white-space: nowrap" in cells
    assert re.findall(r'<td class="broken">([^<]*)</td>', text)
