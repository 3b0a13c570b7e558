"""The stored quads that a batch is compared with, as relations."""

from __future__ import annotations

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Lookup, Statement
from weir.compute.sql import column, columns, number, rows_of, select, text
from weir.ingest import netting
from weir.lake.delta.commit import arrow_schema
from weir.lake.tables import QUADS


def quads_about(
    engine: Engine, name: str, assertions: str, until: int, literal_predicates: int
) -> None:
    """Make the relation `name` of the log of the quads whose triples `assertions` names.

    Args:
        engine: makes it.
        name: of the relation.
        assertions: relation with the columns of a triple.
        until: later epochs are left out.
        literal_predicates: up to so many predicates are written out as literals, by which the files
            of others are skipped.
    """
    if not until:
        # Before the first epoch there are none, which Spark would look for in all assertions.
        engine.load(name, arrow_schema(QUADS).empty_table())
        return
    upto: exp.Expr = column("epoch") <= number(until)
    candidates, stored = f"candidates_of_{name}", f"{name}_stored"
    wanted = select(column("subject"), column("predicate")).distinct().from_(rows_of(assertions))
    if engine.look_up(Lookup(stored, QUADS.name, ("subject", "predicate"), wanted)):
        engine.make(Statement(candidates, select("*").from_(rows_of(stored)).where(upto)))
    else:
        # Sent to every reader if they are few: Spark does not know how many the assertions are, and
        # would shuffle the whole log.
        about = f"{name}_about"
        triples = select(*columns(netting.TRIPLE)).distinct().from_(rows_of(assertions))
        engine.make(Statement(about, triples, "broadcast"))
        assertions = about
        distinct = select(column("predicate")).distinct().from_(rows_of(assertions))
        predicates = [str(row[0]) for row in engine.rows(distinct.limit(literal_predicates + 1))]
        if len(predicates) <= literal_predicates:
            upto = exp.and_(upto, column("predicate").isin(*map(text, sorted(predicates))))
        engine.open(candidates, QUADS.name, where=upto)
    engine.make(Statement(name, netting.rows_about(candidates, assertions)))


def quads_of(engine: Engine, name: str, source: str, owners: str, until: int) -> None:
    """Make the relation `name` of the log of the graphs that `source` owns.

    Args:
        engine: makes it.
        name: of the relation.
        source: name of the source.
        owners: relation graph, source.
        until: later epochs are left out.
    """
    engine.open(f"candidates_of_{name}", QUADS.name, where=column("epoch") <= number(until))
    owned = select(column("graph")).from_(rows_of(owners))
    owned = owned.where(column("source").eq(text(source)))
    in_graphs = (
        select("*")
        .from_(rows_of(f"candidates_of_{name}").as_("stored"))
        .join(
            owned.subquery("owned"),
            on=column("graph", "stored").eq(column("graph", "owned")),
            join_type="left semi",
        )
    )
    engine.make(Statement(name, in_graphs))


def quads_between(engine: Engine, name: str, after: int, until: int) -> None:
    """Make the relation `name` of the log of the quads of the epochs (after, until]."""
    within = exp.and_(column("epoch") > number(after), column("epoch") <= number(until))
    engine.open(name, QUADS.name, where=within)
