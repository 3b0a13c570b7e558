"""Groups of queries of one shape: made at random, and maintained together in one DuckDB."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.support.generators.basic_cases import LITERALS as BASIC_LITERALS
from tests.support.generators.basic_cases import NODES, PREDICATES, PREFIX, Case
from tests.support.generators.basic_cases import case as basic_case
from tests.support.generators.constant_cases import variants
from tests.support.generators.grammar import LITERALS as GRAMMAR_LITERALS
from tests.support.generators.grammar_cases import WholeCase, case_of, whole_case
from tests.support.harness import WHOLE, History, Memory
from weir.definitions.fingerprint import shape
from weir.engine.members import members_table
from weir.engine.relations import Inputs
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, Seed
from weir.plan.lower import lower
from weir.plan.members import plan_of_members
from weir.plan.parameterized import parameterized, with_constants
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.sparql.frontend.translate import translate

HISTORIES = 3
"""Of those of a random query."""
_IRIS = (*NODES, *PREDICATES)
_LITERALS = tuple(dict.fromkeys((*BASIC_LITERALS, *GRAMMAR_LITERALS)))


@dataclass(frozen=True)
class GroupCase:
    """Plans of one shape and a history: per epoch, the quads that vanish and that appear."""

    seed: int
    query: str
    members: Mapping[str, Plan]
    history: History


_A, _B, _C = "<{x}a>", "<{x}b>", "<{x}c>"
_VALUES = ("1", "2", "2.5", "1.0", '"1"', '"a b"', '"x"@en', "true")
_CONDITIONS = ("true", "false", "1", '""', '"x"', "0.0")
GIVEN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "equal constants": ("SELECT ?p ?o {{ {0} ?p ?o }}", (_A, _A, _B)),
    "the same constant twice": ("SELECT ?p {{ {0} ?p {0} }}", (_A, _B, _C)),
    "a predicate": ("SELECT * {{ ?s {0} ?o . ?o <{x}p> ?t }}", ("<{x}q>", "<{x}r>")),
    "nothing in common": ("SELECT * {{ <{x}a> {0} {1} }}", ("<{x}p>", "<{x}q>")),
    "compared by value": ("SELECT * {{ ?s <{x}r> ?o FILTER(?o = {0}) }}", _VALUES),
    "not equal": ("SELECT * {{ ?s ?p ?o FILTER(?o != {0} || ?s = {1}) }}", (_A, _B, _C)),
    "ordered": ("SELECT * {{ ?s <{x}r> ?o FILTER(?o < {0}) }}", ("1", "2", "2.5")),
    "one of": ("SELECT * {{ ?s ?p ?o FILTER(?o IN ({0}, {1})) }}", (_A, _B, _C)),
    "none of": ("SELECT * {{ ?s ?p ?o FILTER(?o NOT IN ({0}, true)) }}", _VALUES[:3]),
    "a condition of an optional": (
        "SELECT * {{ ?s <{x}p> ?o OPTIONAL {{ ?s ?q ?n FILTER(?n != {0} && ?o != ?n) }} }}",
        (_A, _B, _C),
    ),
    "a condition of EXISTS": (
        "SELECT * {{ ?s <{x}p> ?o FILTER EXISTS {{ ?o ?q ?n FILTER(?n != {0} || ?s = ?n) }} }}",
        (_A, _B, _C),
    ),
    "EXISTS as a value": (
        "SELECT * {{ ?s <{x}p> ?o BIND(EXISTS {{ ?o <{x}q> {0} }} AS ?e) }}",
        (_A, _B, _C),
    ),
    "MINUS": ("SELECT * {{ ?s ?p ?o MINUS {{ ?s <{x}q> {0} }} }}", (_A, _B, _C)),
    "MINUS of what may be unbound": (
        "SELECT * {{ ?s <{x}p> ?o OPTIONAL {{ ?o <{x}q> ?n }} MINUS {{ ?n <{x}p> {0} }} }}",
        (_A, _B, _C),
    ),
    "a condition that is a constant": ("SELECT * {{ ?s <{x}r> ?o FILTER({0}) }}", _CONDITIONS),
    "a condition of no pattern": ("SELECT * {{ FILTER({0}) }}", _CONDITIONS),
    "a constant as the condition of an optional": (
        "SELECT * {{ ?s <{x}p> ?o OPTIONAL {{ ?s ?q ?n FILTER({0}) }} }}",
        _CONDITIONS,
    ),
    "a constant as the condition of EXISTS": (
        "SELECT * {{ ?s <{x}p> ?o FILTER EXISTS {{ ?o ?q ?n FILTER({0}) }} }}",
        _CONDITIONS,
    ),
    "HAVING of a constant": (
        "SELECT (SUM(?o) AS ?t) {{ ?s <{x}r> ?o }} HAVING({0})",
        _CONDITIONS,
    ),
    "BIND": ("SELECT * {{ ?s ?p {0} BIND({1} AS ?v) BIND(?v = {0} AS ?w) }}", (_A, _B, _C)),
    "inline data": ("SELECT * {{ VALUES (?s ?n) {{ ({0} 1) (UNDEF 2) }} ?s <{x}p> ?o }}", (_A, _B)),
    "inline data alone": ("SELECT * {{ VALUES ?v {{ {0} {1} 1 }} }}", (_A, _B, _C)),
    "ASK": ("ASK {{ ?s ?p {0} . {0} <{x}p> ?o }}", (_A, _B, _C, "<{x}none>")),
    "COUNT without rows": ("SELECT (COUNT(*) AS ?n) {{ ?s ?p {0} }}", (_A, _B, "<{x}none>")),
    "aggregates without rows": (
        "SELECT (SUM(?o) AS ?n) (GROUP_CONCAT(?o) AS ?t) {{ {0} <{x}r> ?o }}",
        (_A, _B, "<{x}none>"),
    ),
    "aggregates of different values": (
        "SELECT ?p (COUNT(DISTINCT *) AS ?n) (MAX(?o) AS ?m) {{ ?s ?p ?o FILTER(?s != {0}) }} "
        "GROUP BY ?p",
        (_A, _B, _C),
    ),
    "DISTINCT": ("SELECT DISTINCT ?p {{ {0} ?p ?o }}", (_A, _B, _C)),
    "LIMIT": ("SELECT * {{ ?s ?p ?o FILTER(?s != {0}) }} ORDER BY ?o LIMIT 2", (_A, _B, _C)),
    "OFFSET": ("SELECT ?o {{ {0} ?p ?o }} ORDER BY DESC(?o) OFFSET 1", (_A, _B, _C)),
    "a product": ("SELECT * {{ {0} <{x}p> ?o . ?s <{x}q> {0} . ?c <{x}r> ?d }}", (_A, _B, _C)),
    "a union": ("SELECT * {{ {{ ?s <{x}p> {0} }} UNION {{ {0} <{x}q> ?o }} }}", (_A, _B, _C)),
    "a path from": ("SELECT ?o {{ {0} (<{x}p>|<{x}q>)+ ?o }}", (_A, _B, _C)),
    "a path to": ("SELECT ?s {{ ?s (<{x}p>/<{x}q>?)* {0} }}", (_A, _B, "<{x}none>")),
    "a path between": ("ASK {{ {0} (<{x}p>|^<{x}q>)* {1} }}", (_A, _B, _C)),
    "steps": ("SELECT * {{ ?s ({0}/{1})+ ?o }}", ("<{x}p>", "<{x}q>")),
    "CONSTRUCT": (
        "CONSTRUCT {{ _:b <{x}of> {0} . _:b {1} ?s . ?s <{x}is> {0} }} {{ ?s ?p {0} }}",
        (_A, _B, _C),
    ),
    "GRAPH": ("SELECT * {{ GRAPH ?g {{ {0} ?p ?o }} }}", (_A, _B, _C)),
    "a subquery": (
        "SELECT * {{ ?s <{x}p> ?o {{ SELECT ?s (COUNT(*) AS ?n) {{ ?s ?p {0} }} GROUP BY ?s }} }}",
        (_A, _B, _C),
    ),
}
"""Queries with places for constants, and the constants that their members have there in turn."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_OBJECTS = (
    *(f'"{number}"^^<{_XSD}{kind}>' for number in ("1", "01") for kind in ("integer", "decimal")),
    *(f'"{number}"^^<{_XSD}decimal>' for number in ("2.0", "2.50")),
    *('"1"', '"a b"', '"x"@en', f'"1"^^<{_XSD}boolean>', f'"true"^^<{_XSD}boolean>'),
)
_OF_OBJECTS = frozenset(
    ("", f"<{PREFIX}{subject}>", f"<{PREFIX}r>", term) for subject in "ab" for term in _OBJECTS
)
_SPELT: History = ((frozenset(), _OF_OBJECTS), (frozenset(sorted(_OF_OBJECTS)[::3]), frozenset()))
"""The values of `_VALUES`, in more than one spelling: those of a random history are IRIs mostly."""


def given_case(name: str) -> GroupCase:
    """The group of the queries `GIVEN` under a name."""
    text, constants = GIVEN[name]
    count, members = len(constants), {}
    for i in range(count):
        terms = (constants[(i + place) % count].format(x=PREFIX) for place in range(2))
        query = text.format(*terms, x=PREFIX)
        members[f"m{i}"] = lower(translate(query, "union"), allow_product=True)
    seed = sorted(GIVEN).index(name)
    return GroupCase(seed, name, members, [*case_of(text, "union", seed, None).history, *_SPELT])


def group_cases(seed: int) -> list[GroupCase]:
    """The groups of a seed: a random query, and the same with other constants.

    Two members may have the same constants, or share some.
    """
    rng = random.Random(f"group {seed}")
    if seed % 2:
        return _of_one_shape(seed, rng)
    if seed % 3:
        whole = whole_case(seed)
        case: Case | WholeCase = replace(whole, histories=whole.histories[:HISTORIES])
    else:
        case = basic_case(seed)
    plan = lower(translate(case.query, case.default_graph), allow_product=True)  # type: ignore[arg-type]
    general, constants = parameterized(plan)
    members = {"a": plan}
    for name in "bc"[: rng.randint(1, 2)]:
        members[name] = with_constants(general, _others(rng, constants))
    if rng.random() < 0.3:
        members["z"] = plan
    return [GroupCase(seed, case.query, members, case.history)]


def _of_one_shape(seed: int, rng: random.Random) -> list[GroupCase]:
    """The groups that the product makes of two or three queries with other constants."""
    default_graph = rng.choice(("union", "default"))
    texts = variants(rng, rng.choice((2, 3)))
    history = case_of(texts[0], default_graph, seed, None).history
    groups: dict[str, dict[str, Plan]] = {}
    for name, text in zip("abc", texts, strict=False):
        plan = lower(translate(text, default_graph), allow_product=True)  # type: ignore[arg-type]
        groups.setdefault(shape(plan), {})[name] = plan
    query = " | ".join(texts)
    return [GroupCase(seed, query, members, history) for members in groups.values()]


def _others(rng: random.Random, constants: Sequence[str]) -> list[str]:
    """Other constants, some of them the same; different ones stay different."""
    chosen = list(constants)
    for i, constant in enumerate(constants):
        pool = _IRIS if constant.startswith("<") else _LITERALS
        free = [term for term in pool if term not in chosen]
        if free and rng.random() < 0.6:
            chosen[i] = rng.choice(free)
    if rng.random() < 0.3:
        # The same terms in other places.
        iris = [i for i, term in enumerate(chosen) if term.startswith("<")]
        for i, term in zip(iris, rng.sample([chosen[i] for i in iris], len(iris)), strict=True):
            chosen[i] = term
    return chosen


class GroupMemory(Memory):
    """A graph's log and the embeddings of a group of queries, in memory."""

    def __init__(
        self, members: Mapping[str, Plan], history: History, *, optimized: bool = True
    ) -> None:
        self.members = members
        general, constants = shape_of(members)
        self.group = plan_of_members(general, constants)
        super().__init__(self.group.plan, history, optimized=optimized)
        self.engine.load("members", members_table([*members], self.group))

    @property
    def tables(self) -> tuple[str, ...]:
        """The relations that statements read."""
        return (*super().tables, "members")

    @property
    def texts(self) -> list[str]:
        """The columns of text that stored rows have."""
        return ["member", *super().texts]

    @property
    def components(self) -> Sequence[Component]:
        """The segments of all members."""
        return [part for plan in self.members.values() for part in plan.components]

    @property
    def lookups(self) -> Sequence[Lookup]:
        """What changes of all members lead to."""
        return [lookup for plan in self.members.values() for lookup in plan.lookups]

    def inputs(self, graphs: dict[Scope, str], _: Collection[Seed] | None) -> Inputs:
        """What the plan reads, given the graph of each scope."""
        return Inputs(graphs, "stored", "members")

    def stored_by(self, member: str) -> list[tuple[object, ...]]:
        """Every stored row of a member, sorted."""
        query = "SELECT * EXCLUDE (member) FROM stored WHERE member = ?"
        return sorted(self.connection.execute(query, [member]).fetchall(), key=repr)


def shape_of(members: Mapping[str, Plan]) -> tuple[Plan, list[tuple[str, ...]]]:
    """The parameterized plan of all `members`, and the constants of each."""
    plans = [parameterized(plan) for plan in members.values()]
    (general,) = {plan for plan, _ in plans}
    return general, [constants for _, constants in plans]


def broken_laws(case: GroupCase) -> list[str]:
    """What the members of a group store otherwise than they do one by one; none if nothing."""
    rng = random.Random(case.seed)
    last = len(case.history)
    first = rng.randint(1, last)
    base = rng.randint(1, last)
    runs: dict[str, list[tuple[int, int, dict[str, object]]]] = {
        "from nothing in one run": [(0, last, {})],
        "in runs of one epoch": [
            (0, first, {}),
            *((e, e + 1, {}) for e in range(first, min(last, first + 3))),
        ],
        "registered late": [(0, base, {"initial": True}), (base, last, {"thresholds": WHOLE})],
    }
    broken = []
    # One of them for each random group, in turn.
    laws = [*runs] if case.query in GIVEN else [[*runs][case.seed // 3 % len(runs)]]
    for law in laws:
        broken += [
            f"{law}, {difference}"
            for difference in _differences(case, rng.random() < 0.5, runs[law])
        ]
    constants = shape_of(case.members)[1]
    return [f"seed {case.seed}: {case.query} with {constants}]: {what}" for what in broken]


def _differences(
    case: GroupCase, optimized: bool, parts: Sequence[tuple[int, int, dict[str, object]]]
) -> Iterator[str]:
    together = GroupMemory(case.members, case.history, optimized=optimized)
    _run(together, parts)
    for name, plan in case.members.items():
        alone = Memory(plan, case.history, optimized=False)
        _run(alone, parts)
        if (expected := alone.stored()) != (shared := together.stored_by(name)):
            extra = [row for row in shared if row not in expected][:3]
            missing = [row for row in expected if row not in shared][:3]
            yield f"member {name}: {extra} too many, {missing} missing"


def _run(memory: Memory, parts: Sequence[tuple[int, int, dict[str, object]]]) -> None:
    for after, last, options in parts:
        if after < last:
            memory.run(after, last, **options)  # type: ignore[arg-type]
