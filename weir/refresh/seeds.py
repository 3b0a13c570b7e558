"""Where a traversal begins: IRIs of its declaration, of an answer, of patterns of queries."""

from __future__ import annotations

from collections.abc import Sequence

from weir.compute.connection import connect
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.definitions.plan_body import PlanBody
from weir.errors import ConfigurationError
from weir.files.yaml_file import place_of_entry
from weir.lake.delta.bindings import Bindings, quoted
from weir.lake.lake import Lake
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS
from weir.project import Project
from weir.text.near import meant
from weir.traversals.declarations import Declared, Traversal
from weir.traversals.matches import matches_of
from weir.traversals.rules import Match

_RELATION = "answer"
# A row holds if its weights do not sum to 0.
_ROWS = "SELECT {columns} FROM {relation} GROUP BY ALL HAVING sum(weight) <> 0"
_IRIS = """
SELECT DISTINCT substr(term, 2, length(term) - 2) AS iri
FROM (UNPIVOT ({rows}) ON {columns} INTO NAME variable VALUE term)
WHERE regexp_full_match(term, '<https?://[^>]*>') ORDER BY iri LIMIT {most}
"""


def matches_for(project: Project, declared: Declared) -> Sequence[Match]:
    """The patterns of the queries over a traversal, if they say which links are followed.

    Raises:
        ConfigurationError: it names a query that is not registered.
    """
    own = declared.traversal
    if own.follow != "match":
        return ()
    members = Catalog.of(project.settings).members
    for name in own.queries or ():
        _registered(project, own, members, name)
    bodies = (m.body for m in members if own.queries is None or m.name in own.queries)
    plans = (body.plan for body in bodies if isinstance(body, PlanBody) and _is_over(body, own))
    return matches_of(plans, own.name)


def seeds_of(
    project: Project, lake: Lake, declared: Declared, matches: Sequence[Match]
) -> tuple[str, ...] | None:
    """The seeds of a traversal, each once; None as long as the query that has them is unpublished.

    Raises:
        ConfigurationError: there is none; or their query is not registered, or reads the traversal.
    """
    own = declared.traversal
    first: Sequence[str] = own.own_seeds
    if own.seed_query is not None:
        members = Catalog.of(project.settings).members
        query = _registered(project, own, members, own.seed_query)
        if own.name in (named.name for named in query.traversals):
            raise ConfigurationError(
                f"the seeds of the traversal {own.name} are the answer of {query.name}, which reads"
                " that traversal",
                place_of_entry(project.settings.traversals, "traversals", own.name),
                "Take the seeds from a query over other graphs.",
            )
        if not lake.exists(ANSWERS.name(query.name)):
            return None
        first = _iris(project, lake, query.name, own.limits.documents)
    constants = (term[1:-1] for match in matches for term in match.constants if term[0] == "<")
    web = (iri for iri in constants if iri.startswith(("http://", "https://")))
    seeds = tuple(dict.fromkeys((*first, *web)))
    if not seeds and own.seed_query is None:
        raise ConfigurationError(
            f"the traversal {own.name} has no seed",
            str(project.settings.traversals),
            "Name `seeds`, or register a query over it with the IRI of a resource.",
        )
    return seeds


def _registered(
    project: Project, traversal: Traversal, members: Sequence[Definition], name: str
) -> Definition:
    by_name = {member.name: member for member in members}
    if name not in by_name:
        raise ConfigurationError(
            f"the traversal {traversal.name} names the query {name}, which is not registered",
            place_of_entry(project.settings.traversals, "traversals", traversal.name),
            f"{meant(name, by_name)}Queries: {', '.join(by_name) or 'none yet'}.",
        )
    return by_name[name]


def _is_over(body: PlanBody, traversal: Traversal) -> bool:
    """Whether a query reads a traversal; no plan is decoded for this."""
    return any(traversal.name in seed.scope.traversals for seed in body.seeds)


def _iris(project: Project, lake: Lake, query: str, most: int) -> list[str]:
    """The IRIs of the web in the published answer of a query, in order: the first ones."""
    table = lake.existing(ANSWERS.name(query))
    with lake.using(ANSWERS.name(query)), connect(project.settings) as connection:
        dataset = table.to_pyarrow_dataset()
        Bindings(connection).rows(_RELATION, dataset)
        names = [name for name in dataset.schema.names if name not in ANSWER_COLUMNS]
        columns = ", ".join(map(quoted, names))
        rows = _ROWS.format(columns=columns, relation=_RELATION)
        query_text = _IRIS.format(rows=rows, columns=columns, most=most)
        return [iri for (iri,) in connection.execute(query_text).fetchall()]
