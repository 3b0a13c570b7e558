"""The rows of a published answer as entities that have versions: how often each is there.

A row of a CONSTRUCT is a triple, which is in the answer once or not at all, as in `triples`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from sqlglot import exp

from weir.answers.logs import AnswerLog, existing_log, require_published
from weir.compute.connection import connect
from weir.compute.sql import (
    alias,
    ascending,
    bigint,
    case,
    coalesce,
    column,
    columns,
    concatenated,
    equal,
    left_join,
    number,
    over,
    rows_of,
    same_row,
    select,
    semi_join,
    subquery,
    sum_of,
    text,
)
from weir.definitions.catalog import Catalog
from weir.export.changed_at import change_times, was_edited_at
from weir.export.triples import TRIPLE, is_triple
from weir.lake.delta.bindings import Bindings
from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS, TRANSACTIONS
from weir.progress.completion import Completion
from weir.project import Project

_LOG, _KNOWN, _BATCH = "log", "known", 100_000
_SCHEMA = pa.schema(dict[str, pa.DataType](key=pa.string(), times=pa.int64()))


@dataclass(frozen=True, slots=True)
class Version:
    """What a row of an answer is after a change.

    Attributes:
        epoch: of the change.
        key: identifies the row: a hash of the names and terms of its bound variables.
        terms: of its variables, in N-Triples form; None for unbound ones.
        before: how often the answer had it; 0 for not at all.
        after: how often the answer has it now.
    """

    epoch: int
    key: str
    terms: tuple[str | None, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Versions:
    """The published answer of a query, opened to be read.

    Attributes:
        query: its name.
        lake: has it.
        published: the epoch up to which it is published.
        log_id: identifies its log; another one if the query was dropped and computed again.
        is_graph: whether it is the answer of a CONSTRUCT.
        variables: the columns of all texts that the query has had.
    """

    query: str
    lake: Lake
    published: int
    log_id: str
    is_graph: bool
    variables: tuple[str, ...]
    _bindings: Bindings
    _log: AnswerLog

    def was_edited_at(self, epoch: int) -> bool:
        """As of `weir.export.changed_at`."""
        return was_edited_at(self.lake, self.query, epoch)

    def since(self, first: int, known: Mapping[str, int]) -> Generator[Version]:
        """The versions at the epochs from `first` on, by epoch; of an epoch, rows that go first.

        Args:
            first: the first epoch.
            known: by key, how often the answer has a row by what a reader has of this epoch. What
                is given of it leads from there to the answer.
        """
        with self._bindings.scope():
            said = [{"key": key, "times": times} for key, times in known.items()]
            self._bindings.rows(_KNOWN, pa.Table.from_pylist(said, schema=_SCHEMA))
            names = ("epoch", "key", "before", "after", *self.variables)
            statement = self._ordered(first).sql(dialect="duckdb")
            with self.lake.using(ANSWERS.name(self.query)):
                reader = self._bindings.connection.sql(statement).to_arrow_reader(_BATCH)
                # What is left of it must not be open when names are released.
                with closing(reader):
                    for batch in reader:
                        cells = zip(*(batch[name].to_pylist() for name in names), strict=True)
                        for epoch, key, before, after, *terms in cells:
                            yield Version(epoch, key, tuple(terms), before, after)

    def times(self, first: int) -> dict[int, tuple[datetime, datetime | None]]:
        """Of the epochs from `first` on: when it was ingested, and when its changes happened."""
        happened = change_times(self._bindings, self.lake, self._log, first, self.published)
        names = ["epoch", "ingested_at"]
        rows = self.lake.rows(TRANSACTIONS.name, names, [("epoch", ">=", first)]).to_pylist()
        return {row["epoch"]: (row["ingested_at"], happened.get(row["epoch"])) for row in rows}

    def _ordered(self, first: int) -> exp.Select:
        said = case(
            (column("epoch", "m").eq(number(first)), column("times", _KNOWN)),
            otherwise=exp.null(),
        )
        versions = select(
            *columns(("epoch", "key", *self.variables, "after"), "m"),
            alias(coalesce(said, column("before", "m")), "before"),
            from_=subquery(self._moved(first), "m"),
            joins=[left_join(rows_of(_KNOWN), *equal(("key",), "m", _KNOWN))],
        )
        return select(
            *columns(("epoch", "key", "before", "after", *self.variables)),
            from_=subquery(versions, "versions"),
            where=[column("before").neq(column("after"))],
            order_by=[
                ascending(column("epoch")),
                ascending(exp.Paren(this=column("after") > number(0))),
                ascending(column("key")),
            ],
        )

    def _moved(self, first: int) -> exp.Select:
        """The rows that have a change at an epoch from `first` on, with their multiplicities."""
        net = select(
            *columns(("epoch", *self.variables), _LOG),
            alias(bigint(sum_of(column("weight", _LOG))), "weight"),
            from_=rows_of(self._log.relation, _LOG),
            joins=[semi_join(subquery(self._changed(first), "c"), *self._same("c"))],
            where=self._wanted(_LOG, column("epoch", _LOG) <= number(self.published)),
            group_by=columns(("epoch", *self.variables), _LOG),
        )
        held = over(sum_of(column("weight")), columns(self.variables), [ascending(column("epoch"))])
        summed = select(
            *columns(("epoch", *self.variables, "weight")),
            alias(bigint(held), "held"),
            from_=subquery(net, "net"),
        )
        before, after = map(self._times, (column("held") - column("weight"), column("held")))
        return select(
            *columns(("epoch", *self.variables)),
            alias(self._key(), "key"),
            alias(bigint(before), "before"),
            alias(bigint(after), "after"),
            from_=subquery(summed, "summed"),
            where=[column("epoch") >= number(first)],
        )

    def _times(self, weight: exp.Expr) -> exp.Expr:
        """How often the answer has a row with a weight."""
        if not self.is_graph:
            return weight
        return case((exp.Paren(this=weight) > number(0), number(1)), otherwise=number(0))

    def _changed(self, first: int) -> exp.Select:
        return select(
            *columns(self.variables),
            from_=rows_of(self._log.relation),
            where=self._wanted(None, column("epoch") >= number(first)),
            distinct=True,
        )

    def _wanted(self, table: str | None, condition: exp.Expr) -> list[exp.Expr]:
        return [condition, *(is_triple(table) if self.is_graph else ())]

    def _same(self, relation: str) -> list[exp.Expr]:
        certain = self.variables if self.is_graph else ()
        return same_row(self.variables, _LOG, relation, certain)

    def _key(self) -> exp.Expr:
        """The hash of a row; columns that a later text adds, which are null, do not change it."""
        cells = [concatenated(text(f"?{name} "), column(name)) for name in self.variables]
        whole = exp.func("concat_ws", text(" "), *cells, dialect="duckdb")
        return exp.Left(this=exp.func("sha256", whole, dialect="duckdb"), expression=number(32))


@contextmanager
def published_versions(project: Project, query: str) -> Iterator[Versions]:
    """The published answer of a query, open until the block ends.

    Raises:
        QualityError: it is held back, and none was published before.
        ConfigurationError: there is no such query, or nothing of it is published.
    """
    require_published(project.settings, query)
    lake = project.open_lake()
    published = Completion.read(lake).published(query)
    with closing(connect(project.settings)) as connection:
        bindings = Bindings(connection)
        log = existing_log(bindings, lake, query)
        newest = {name.lower() for name in log.variables_at(lake, None)}
        is_graph = newest == {*TRIPLE} and _may_be_construct(project, query)
        yield Versions(
            query,
            lake,
            # A run that was killed may have left a table without rows.
            0 if published is None else published.epoch,
            str(lake.existing(ANSWERS.name(query)).metadata().id),
            is_graph,
            TRIPLE if is_graph else log.variables,
            bindings,
            log,
        )


def _may_be_construct(project: Project, query: str) -> bool:
    """Whether a query is a CONSTRUCT; of what is not declared, or is broken, the columns decide."""
    catalog = Catalog.of(project.settings)
    if query not in catalog.names or not catalog.is_usable(query):
        return True
    return catalog.member(query).output.form == "construct"
