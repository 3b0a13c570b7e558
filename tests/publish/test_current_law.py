"""The law of `current/<name>`: through any life and any deaths, it is the sum of its log.

So is what a reader of its change feed has put together, at every version.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.support.dying import dies_after
from tests.support.opened import call
from tests.support.projects.handmade import HandMadeLake
from tests.support.projects.project import PATCHES, Project
from weir.compact.stage import compact_lake
from weir.errors import QualityError, WeirError
from weir.lake.delta import hashed_files
from weir.lake.ledger.runs import RETYPED
from weir.lake.tables import ANSWERS, CURRENT, EMBEDDINGS
from weir.progress.completion import ABOUT_CURRENT, Completion
from weir.project import open_lake
from weir.publish.stage import publish_answers
from weir.stage import claimed
from weir.typed.layout import Layout, TypedColumn
from weir.validate.stage import validate_answers

Row = tuple[str | None, ...]
XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS = (
    *("<http://a/a>", "<http://a/b>", "_:c", None, '"x"', '"x"@en', '"1"'),
    *(f'"{n}"^^<{XSD}integer>' for n in ("1", "01", "7", "x")),
    *(f'"{n}"^^<{XSD}decimal>' for n in ("1.5", "1.50")),
    f'"2026-01-01"^^<{XSD}date>',
)
TEXTS = {
    "SELECT ?s ?o { ?s <http://a/p> ?o }": 2,
    "SELECT DISTINCT ?s ?o { ?s <http://a/p> ?o }": 2,
    "SELECT ?o ?s { ?s <http://a/q> ?o }": 2,
    "SELECT ?s ?o ?t { ?s <http://a/p> ?o OPTIONAL { ?s <http://a/t> ?t } }": 3,
    "SELECT DISTINCT ?t { ?s <http://a/t> ?t }": 1,
}
"""Texts with the numbers of their columns."""
HEADS = ("", "", "#+ types: {o: text, s: text}\n", "#+ types: {t: text}\n")
STEPS = 6
CHECKPOINTS = 9
"""As many as a run of publish mostly reaches at most."""
EVENTS: Mapping[str, int] = {
    "change": 8,
    "edit": 2,
    "compute again": 1,
    "untouched": 1,
    "decide types again": 1,
    "lose the table": 1,
    "lose the log": 1,
    "do without": 1,
    "compact": 1,
}


@pytest.fixture(autouse=True)
def _small_files_with_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, which are off by default, with files that are split and merged all the time."""
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "1000000")
    monkeypatch.setattr(hashed_files, "MOST_ROWS", 3)
    monkeypatch.setattr(hashed_files, "MOST_FILES", 2)


@pytest.mark.law("killed tables")
def test_a_table_and_its_change_feed_are_its_log_through_lives_and_deaths(
    tmp_path: Path, seeds: Iterable[int]
) -> None:
    for seed in seeds:
        folder = tmp_path / str(seed)
        Life(HandMadeLake(Project(folder).declare(PATCHES)), random.Random(f"life {seed}")).live()
        shutil.rmtree(folder)


@dataclass
class Life:
    """A query whose answer, text and tables change, while publish dies now and then.

    Attributes:
        lake: has it.
        chance: makes every random choice.
        answer: its rows, by how often the answer has them.
        deaths: how often publish died, by the checkpoint.
    """

    lake: HandMadeLake
    chance: random.Random
    answer: Counter[Row] = field(default_factory=Counter)
    deaths: Counter[str] = field(default_factory=Counter)
    _text: str = ""
    _head: str = ""
    _base: int = 0

    def live(self) -> None:
        """Live for some steps; the law holds after each."""
        self._edit()
        self._publish()
        for _ in range(STEPS):
            (event,) = self.chance.choices([*EVENTS], [*EVENTS.values()])
            self._happen(event)
            self._publish()
            self._check(event)

    def _happen(self, event: str) -> None:
        settings = self.lake.settings
        match event:
            case "change":
                self._change()
            case "edit":
                self._edit()
            case "compute again":
                self._compute("rebased")
            case "untouched":
                self.lake.ingest(1)
                self.lake.leave_untouched("q", self.lake.epochs - 1)
            case "decide types again":
                self._decide_again()
            case "lose the table":
                self._lose(CURRENT.name("q"))
            case "lose the log":
                self._lose(EMBEDDINGS.name("q"), ANSWERS.name("q"))
                self._compute("initial")
            case "do without":
                self._write("#+ materialize: none\n")
                self._publish()
                assert not open_lake(settings).exists(CURRENT.name("q"))
                self._write(self._head)
            case "compact":
                call(compact_lake, settings, "c")
            case _:
                raise AssertionError(event)

    def _change(self) -> None:
        """Some rows appear or vanish, in one epoch or two."""
        epochs = self.chance.choice((1, 1, 2))
        self.lake.ingest(epochs)
        changes = []
        for row in sorted({self._row() for _ in range(self.chance.randint(0, 6))}, key=repr):
            weight = self.chance.randint(-self.answer[row], self._most - self.answer[row])
            if weight:
                self.answer[row] += weight
                changes.append((self.lake.epochs - self.chance.randrange(epochs), weight, *row))
        self.lake.maintain("q", changes, base=self._base)

    def _edit(self) -> None:
        """Another text or head, with any answer."""
        self._text, self._head = self.chance.choice([*TEXTS]), self.chance.choice(HEADS)
        columns = self._text.partition("{")[0]
        if any(f"{name}: " in self._head and f"?{name}" not in columns for name in "sot"):
            self._head = ""
        self._write(self._head)
        self.answer.clear()
        for _ in range(self.chance.randint(0, 12)):
            self.answer[self._row()] = self.chance.randint(1, self._most)
        self._compute("edited" if self.lake.epochs else "initial")

    def _compute(self, mode: str) -> None:
        """The embeddings are the whole answer."""
        self.lake.ingest(1)
        self._base = epoch = self.lake.epochs
        rows = [(epoch, weight, *row) for row, weight in (+self.answer).items()]
        self.lake.maintain("q", rows, base=epoch, mode=mode)

    def _write(self, head: str) -> None:
        self.lake.query("q", f"{head}{self._text}")

    @property
    def _most(self) -> int:
        return 1 if "DISTINCT" in self._text else 3

    def _row(self) -> Row:
        return tuple(self.chance.choice(TERMS) for _ in range(TEXTS[self._text]))

    def _lose(self, *tables: str) -> None:
        for name in tables:
            shutil.rmtree(Path(self.lake.settings.lake) / name, ignore_errors=True)

    def _decide_again(self) -> None:
        """As `weir retype` has it."""
        lake = open_lake(self.lake.settings)
        with claimed(lake, "publish", "retype", 60) as run:
            stored = Completion.read(lake).current("q")
            version = None if stored is None else stored.version
            run.note(ABOUT_CURRENT, "q", mode=RETYPED, table_version=version)

    def _publish(self) -> None:
        """Check and publish, after some runs that die."""
        settings = self.lake.settings
        try:
            call(validate_answers, settings, "v")
        except QualityError as error:
            if "values_fit_their_types" not in str(error):
                raise
            self._decide_again()
            call(validate_answers, settings, "v")
        for _ in range(self.chance.choice((0, 1, 1, 2, 3))):
            with dies_after(self.chance.randrange(CHECKPOINTS)) as death:
                self._run_publish()
            self.deaths[death.at] += 1
        self._run_publish()

    def _run_publish(self) -> None:
        try:
            call(publish_answers, self.lake.settings, "p")
        except WeirError as error:
            # A type that is decided is kept by the columns that an edit keeps.
            if "current/q is as before" not in str(error):
                raise
            self._decide_again()
            call(publish_answers, self.lake.settings, "p")

    def _check(self, event: str) -> None:
        lake = open_lake(self.lake.settings)
        log = Counter[Row]()
        names = self._text.partition("{")[0].replace("DISTINCT", "").replace("?", "").split()[1:]
        for row in lake.rows(ANSWERS.name("q")).to_pylist():
            log[tuple(row[name] for name in names)] += row["weight"]
        assert +log == +self.answer, event
        layout = Completion.read(lake).layout("q")
        assert layout is not None, event
        table = DeltaTable(lake.location(CURRENT.name("q")))
        rows = table.to_pyarrow_table().to_pylist()
        assert exact(layout, rows) == +self.answer, event
        *_, last = replayed(table)
        assert last == Counter(cells(row, row.keys()) for row in rows), event


def replayed(table: DeltaTable) -> Iterator[Counter[Any]]:
    """The rows of a table by its change feed, after each version; so they are in the version."""
    state = Counter[Any]()
    feed = pa.table(table.load_cdf(0)).to_pylist()
    # A reader sees the columns of the newest version, and older cells as values of its types.
    names = {field.name for field in table.schema().fields}
    for version in sorted({row["_commit_version"] for row in feed}):
        for row in feed:
            if row["_commit_version"] == version:
                sign = 1 if row["_change_type"] in ("insert", "update_postimage") else -1
                state[cells(row, names)] += sign
        then = DeltaTable(table.table_uri, version=version).to_pyarrow_table().to_pylist()
        assert state == Counter(cells(row, names) for row in then), version
        yield state
    if not feed:
        yield state


def cells(row: Mapping[str, Any], names: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The cells of some columns of a row that have a value, as text in every type of a column."""
    return tuple(
        sorted(
            (name, str(cell)) for name, cell in row.items() if name in names and cell is not None
        )
    )


def exact(layout: Layout, rows: Iterable[Mapping[str, Any]]) -> Counter[Row]:
    """The terms of typed rows, by how often there are."""
    counts = Counter[Row]()
    for row in rows:
        terms = tuple(_term(column, row) for column in layout.columns)
        counts[terms] += 1 if layout.count is None else row[layout.count]
    return counts


def _term(column: TypedColumn, row: Mapping[str, Any]) -> str | None:
    value, term = row[column.name], column.term and row[column.term]
    language = column.language and row[column.language]
    if term is not None or value is None:
        return term
    if language is not None:
        return f'"{value}"@{language}'
    match column.type.datatype:
        case "":
            return value if value.startswith("_:") else f"<{value}>"
        case datatype if datatype == f"{XSD}string":
            return f'"{value}"'
        case datatype:
            lexical = f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
            return f'"{lexical}"^^<{datatype}>'
