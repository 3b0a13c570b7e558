"""Derived graphs that shapes read, of all kinds, and their triples by oracles."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyoxigraph as ox

from tests.support.generators.basic_cases import PREFIX, Triple
from tests.support.oracles.owl_closure import owl_closure
from tests.support.oracles.rdfs_closure import (
    DOMAIN,
    RANGE,
    SUBCLASS,
    SUBPROPERTY,
    closure,
)
from tests.support.rules.graph_programs import (
    GraphProgramCase,
    derived_triples,
    graph_program_case,
)
from tests.support.shacl.cases import Change, Quad, ShapesCase, shapes_case

_CONSTRUCTS = (
    "{ ?b x:p ?a } WHERE { ?a x:q ?b }",
    "{ ?a x:q ?c } WHERE { ?a x:p ?b . ?b x:r ?c }",
    "{ ?a a x:A } WHERE { ?a x:p ?b MINUS { ?a x:q ?c } }",
    "{ ?a x:r ?a } WHERE { ?a x:q+ ?b }",
    "{ ?a a x:B ; x:p 7 } WHERE { ?a a x:A OPTIONAL { ?a x:p ?b } FILTER(!BOUND(?b)) }",
    "{ x:n1 x:p ?n } WHERE { SELECT (COUNT(?a) AS ?n) { ?a x:q ?b } }",
)
_OWN = "http://x/"
_PREFIX = f"PREFIX x: <{_OWN}>\n"


@dataclass(frozen=True, slots=True)
class DerivedShapesCase:
    """Shapes that read a derived graph.

    Attributes:
        case: the shapes, and the history of the data.
        key: of the shapes, by which they read it.
        files: what gives it, by path.
        triples: what it has, of the triples of the data.
    """

    case: ShapesCase
    key: str
    files: Mapping[str, str]
    triples: Callable[[Iterable[Triple]], Collection[Triple]]

    def seen(self, data: frozenset[Quad]) -> frozenset[Quad]:
        """The data and the derived graph, as quads of the unnamed graph."""
        own = [(s, p, o) for _, s, p, o in data]
        return frozenset(("", *triple) for triple in (*own, *self.triples(own)))


def derived_shapes_case(seed: int) -> DerivedShapesCase:
    """The case of a seed: a fifth each by two rule sets, a query, two queries, a program."""
    rng, case = random.Random(f"derived shapes {seed}"), shapes_case(seed)
    match seed % 5:
        case 0:
            files = {"programs/owl.lars": "%+ rules: owl-rl\n%+ graph: urn:d:owl\n"}
            return DerivedShapesCase(with_schemas(case, rng), "entailment: owl-rl", files, _owl)
        case 1:
            files = {"programs/follows.lars": "%+ rules: rdfs\n%+ graph: urn:d:rdfs\n"}
            return DerivedShapesCase(with_schemas(case, rng), "entailment: follows", files, closure)
        case 2:
            one = rng.choice(_CONSTRUCTS)
            files = {"queries/up.rq": _giver("up", one)}
            return DerivedShapesCase(
                case, "reads: [up]", files, lambda data: constructed(one, data)
            )
        case 3:
            one, other = rng.sample(_CONSTRUCTS, 2)
            files = {
                "queries/up.rq": _giver("up", one),
                "queries/top.rq": f"#+ reads: [up]\n{_giver('top', other)}",
            }

            def of_two(data: Iterable[Triple]) -> Collection[Triple]:
                return constructed(other, [*data, *constructed(one, data)])

            return DerivedShapesCase(case, "reads: [top]", files, of_two)
        case _:
            one, program = rng.choice(_CONSTRUCTS), _program(seed)
            files = {
                "queries/up.rq": _giver("up", one),
                "programs/rules.lars": f"%+ reads: [up]\n{program.text}".replace(PREFIX, _OWN),
            }

            def of_rules(data: Iterable[Triple]) -> Collection[Triple]:
                given = {*data, *constructed(one, data)}
                named = {_renamed(triple, _OWN, PREFIX) for triple in given}
                return {_renamed(t, PREFIX, _OWN) for t in derived_triples(program, named)}

            return DerivedShapesCase(case, "reads: [rules]", files, of_rules)


def _giver(name: str, query: str) -> str:
    return f"#+ graph: urn:d:{name}\n{_PREFIX}CONSTRUCT {query}"


def _owl(given: Iterable[Triple]) -> Collection[Triple]:
    """What follows and has a subject that a graph may have: a range may give a literal a type."""
    follows = _with_iris([*given], owl_closure)
    return [triple for triple in follows if not triple[0].startswith('"')]


def constructed(query: str, given: Iterable[Triple]) -> set[Triple]:
    """The triples of a CONSTRUCT query, without its first word, by pyoxigraph."""

    def of(data: Collection[Triple]) -> Iterator[Triple]:
        store = ox.Store()
        text = "".join(f"{' '.join(triple)} .\n" for triple in data)
        store.load(text.encode(), ox.RdfFormat.N_TRIPLES)
        result = store.query(f"{_PREFIX}CONSTRUCT {query}")
        assert isinstance(result, ox.QueryTriples)
        return ((str(t.subject), str(t.predicate), str(t.object)) for t in result)

    return {*_with_iris([*given], of)}


def _with_iris(
    data: Sequence[Triple], oracle: Callable[[Collection[Triple]], Iterable[Triple]]
) -> Iterator[Triple]:
    """What an oracle gives that gives blank nodes other labels: they are IRIs meanwhile."""

    def iri(term: str) -> str:
        return f"<urn:blank:{term[2:]}>" if term.startswith("_:") else term

    labels = {iri(term): term for triple in data for term in triple}
    for s, p, o in oracle([(iri(s), p, iri(o)) for s, p, o in data]):
        yield labels.get(s, s), p, labels.get(o, o)


def _renamed(triple: Triple, before: str, after: str) -> Triple:
    s, p, o = (term.replace(before, after) for term in triple)
    return s, p, o


def _program(seed: int) -> GraphProgramCase:
    """A program that derives triples with the predicates of the shapes."""
    cases = (graph_program_case(seed + 1_000_003 * attempt) for attempt in range(100))
    return next(case for case in cases if "d" in case.output)


def with_schemas(case: ShapesCase, rng: random.Random) -> ShapesCase:
    """A case with statements of a schema that come and go."""
    return replace(case, history=(*_with_schemas(case, rng),))


def _with_schemas(case: ShapesCase, rng: random.Random) -> Iterator[Change]:
    def some(names: str) -> str:
        return f"<http://x/{rng.choice(names)}>"

    present: frozenset[Quad] = frozenset()
    for data in case.states():
        statements = (
            (some("pqr"), SUBPROPERTY, some("pqrs")),
            (some("pqr"), rng.choice((DOMAIN, RANGE)), some("ABC")),
            (some("ABC"), SUBCLASS, some("ABC")),
        )
        state_ = data | {("", *rng.choice(statements)) for _ in range(rng.randint(0, 4))}
        yield present - state_, state_ - present
        present = state_
