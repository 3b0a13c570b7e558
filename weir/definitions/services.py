"""Blocks of SERVICE as stages see them: what each asks of its remote, and where the keys are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from weir.plan.operators import Distinct, PlanNode
from weir.plan.plan import Plan
from weir.sparql.algebra.bounds import Top
from weir.sparql.algebra.filter_distances import Bound
from weir.sparql.algebra.pushed_filters import Pushing
from weir.sparql.algebra.queries import Query
from weir.sparql.algebra.services import Asked, pattern_id


@dataclass(frozen=True, slots=True)
class RemoteName:
    """The IRI of a remote in a query, in N-Triples form, and where it stands in the text."""

    iri: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class AskedBlock:
    """A block of SERVICE and its keys.

    Attributes:
        remote: the IRI of the remote, in N-Triples form.
        pattern: its id (`weir.sparql.algebra.services.pattern_id`).
        text: the block without its braces, with whole IRIs.
        variables: what its solutions may bind.
        certain: those that every solution binds.
        key: those by whose values it is asked; none: it is asked for as a whole.
        node: the node of the query whose rows are the keys to ask for; None without a key.
        seen: the node whose rows show when a window had a key; None without a key.
        columns: the columns of the key's variables in the embedding table.
        bounds: conditions on what it binds, without which a solution is in no answer.
        top: the answer has the solutions with the first values of what it binds.
        pushing: what becomes of the filters around it.
    """

    remote: str
    pattern: str
    text: str
    variables: tuple[str, ...]
    certain: frozenset[str]
    key: tuple[str, ...]
    node: str | None
    seen: str | None
    columns: tuple[str, ...]
    bounds: tuple[Bound, ...]
    top: Top | None
    pushing: Pushing


@dataclass(frozen=True, slots=True)
class Services:
    """What a definition reads of remotes.

    Attributes:
        blocks: what it asks of them.
        remotes: the remotes that it names, in the order of the text.
        max_staleness: how old what it reads may be when its answer is published; None: of any age.
    """

    blocks: tuple[AskedBlock, ...] = ()
    remotes: tuple[RemoteName, ...] = ()
    max_staleness: timedelta | None = None


NO_SERVICES = Services()


def asked_blocks(query: Query, plan: Plan) -> tuple[AskedBlock, ...]:
    """The blocks of a query; blocks of one pattern may have keys from several nodes."""
    nodes = iter(plan.asked)
    blocks = [
        _block(asked, plan, None if asked.keys is None else next(nodes)[1]) for asked in query.asked
    ]
    return tuple(dict.fromkeys(blocks))


def remote_names(query: Query) -> tuple[RemoteName, ...]:
    """The remotes that a query names, in the order of the text."""
    return tuple(RemoteName(*remote) for remote in query.remotes)


def _block(asked: Asked, plan: Plan, keys: PlanNode | None) -> AskedBlock:
    service = asked.service
    node = seen = None
    columns: tuple[str, ...] = ()
    if keys is not None:
        assert isinstance(keys, Distinct), "each key is there once"
        node, seen = plan.ids[keys], plan.ids[keys.child]
        by_name = {plan.names[int(column[1:])]: column for column in keys.variables}
        columns = tuple(by_name[name] for name in service.key)
    return AskedBlock(
        service.remote,
        pattern_id(service),
        service.block,
        service.variables,
        service.certain,
        service.key,
        node,
        seen,
        columns,
        asked.bounds,
        asked.top,
        asked.pushing,
    )
