"""A text as a definition that is not registered, and its answer now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from sqlglot import exp

from weir.answers.logs import Printed, Rows, fetch
from weir.compute.sql import (
    alias,
    bigint,
    column,
    columns,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
)
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.kinds import QUERY, kind_of
from weir.definitions.names import Declaration, declarations, folders_of
from weir.errors import ConfigurationError, WeirError
from weir.files.text import read_bytes
from weir.ingest.undeclared import undeclared
from weir.lake.delta.bindings import Bindings
from weir.lake.tables import ANSWERS, EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.project import Project
from weir.review.computed import Computed, computed, newest_epoch
from weir.stage import Progress
from weir.typed.column_type import TermType
from weir.typed.rows import decided_types

_FROM_INPUT = Path("stdin.rq")
"""What errors call a text from standard input."""
_ROWS = "tried rows"


@dataclass(frozen=True, slots=True)
class Given(Declaration):
    """A text that is no file of the project.

    source: its bytes.
    """

    source: bytes = b""

    def check_name(self) -> None:
        """Nothing is wrong with its name, which no table gets."""

    def read(self) -> bytes:
        """The text."""
        return self.source


@dataclass(frozen=True, slots=True)
class Tried:
    """An answer that was computed and is in no lake.

    Attributes:
        definition: whose answer it is.
        epoch: of the graph.
        computed: has its rows.
    """

    definition: Definition
    epoch: int
    computed: Computed

    @property
    def table(self) -> str:
        """The table that has the rows."""
        return EMBEDDINGS.name(self.definition.name)

    def rows(self, printed: Printed) -> tuple[Rows, int]:
        """The first rows of the answer, and how many different rows it has."""
        values = [printed.value(own, name) for name, own in self.definition.columns]
        rows = self._answer(*values, alias(bigint(sum_of(column("weight"))), "weight"))
        with self._bindings(printed) as bindings:
            number = select(exp.Count(this=exp.Star()), from_=subquery(rows.copy(), "answer"))
            ((total,),) = bindings.connection.execute(number.sql(dialect="duckdb")).fetchall()
            order = printed.order([own for _, own in self.definition.columns], _ROWS)
            return fetch(bindings.connection, rows, printed.limit, order=order), int(total)

    def types(self) -> dict[str, TermType]:
        """The types that the columns of a table `current/<name>` with this answer would have.

        Raises:
            WrongType: a term does not fit a type of the front matter.
        """
        pins, types = self.definition.current.pins, dict[str, TermType]()
        quotients = self.definition.body.quotients
        with self._bindings(Printed(limit=0)) as bindings:
            for name, own in self.definition.columns:
                answer = subquery(self._answer(alias(column(own), name)), "answer")
                terms = select(column(name), from_=answer, group_by=[column(name)])
                known = bindings.connection.sql(terms.sql(dialect="duckdb")).to_arrow_table()
                types |= decided_types(known, pins, quotients)
        return types

    def stored_rows(self) -> dict[str, int]:
        """How many rows a lake would store of each node of the plan."""
        number = alias(exp.Count(this=exp.Star()), "number")
        by_node = select(column("node"), number, from_=rows_of(_ROWS), group_by=[column("node")])
        with self._bindings(Printed(limit=0)) as bindings:
            rows = bindings.connection.execute(by_node.sql(dialect="duckdb")).fetchall()
        return {str(node): int(rows_) for node, rows_ in sorted(rows)}

    def _answer(self, *values: exp.Expr) -> exp.Select:
        """Some values of each row of the answer."""
        return select(
            *values,
            from_=rows_of(_ROWS),
            where=[column("node").eq(text(ANSWER))],
            # Without columns, as of ASK, the weights of all rows are one.
            group_by=columns([own for _, own in self.definition.columns]),
            having=sum_of(column("weight")).neq(0),
        )

    @contextmanager
    def _bindings(self, printed: Printed) -> Iterator[Bindings]:
        lake = self.computed.lake
        bindings = printed.bindings(self.computed.project.settings)
        bindings.rows(_ROWS, lake.existing(self.table).to_pyarrow_dataset())
        with lake.using(self.table):
            yield bindings


def given(project: Project, file: Path | None, standard_input: bytes = b"") -> Definition:
    """The definition of a file of any name, or of standard input.

    Raises:
        ConfigurationError: there is no such file; or the first thing that is wrong with the text.
    """
    if file is None:
        source, file = standard_input, _FROM_INPUT
    else:
        try:
            source = read_bytes(file)
        except FileNotFoundError:
            raise ConfigurationError("there is no such file", str(file)) from None
    folders = folders_of(project.settings)
    others = declarations(folders) if folders[QUERY].is_dir() else ()
    taken = {*(d.name for d in others), *project.open_lake().owners(ANSWERS)}
    name = next(name for i in count() if (name := f"tried{i or ''}") not in taken)
    own = Given(name, kind_of(file.suffix), file, source=source)
    # A file of the project that registers the same stream would be its rival.
    apart = [d for d in others if d.file.absolute() != file.absolute()]
    member = Catalog((*apart, own)).member(name)
    wrong = undeclared([member], project.settings).get(name)
    if wrong is not None:
        raise wrong
    return member


@contextmanager
def tried(project: Project, definition: Definition, progress: Progress) -> Iterator[Tried]:
    """Compute the answer of a definition at the newest epoch.

    Raises:
        ConfigurationError: nothing was ingested yet.
        WeirError: it exceeds a limit, or cannot be computed yet.
    """
    epoch = newest_epoch(project.open_lake())
    with computed(project, [definition], progress) as rows:
        if definition.name in rows.errors:
            raise WeirError(rows.errors[definition.name], str(definition.file))
        yield Tried(definition, epoch, rows)
