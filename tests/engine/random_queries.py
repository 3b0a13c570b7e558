"""Random queries over the whole grammar of SPARQL 1.1, depth up to 5; `query(seed)` is the same
everywhere.

Not generated, because the judges differ from the specification or from each other there: see
`oracle.py` and `tests/sparql/test_evaluate_laws.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.engine.random_cases import (
    LITERALS,
    NODES,
    PREDICATES,
    XSD,
    Case,
    Triple,
    iri,
    random_history,
)

_NAMES = ("x", "y", "z", "w", "u")
_GRAPHS = (iri("g1"), iri("g2"), iri("g3"))


def whole_case(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(f"whole {seed}")
    default_graph = rng.choice(("union", "default", "default"))
    history = random_history(rng)
    seen = {quad for _, appear in history for quad in appear}
    triples = sorted({quad[1:] for quad in seen})
    return Case(seed, _Writer(rng, triples).query(), default_graph, history)


@dataclass
class _Writer:
    rng: random.Random
    triples: Sequence[Triple]
    fresh: int = 0
    used: list[str] = field(default_factory=list)

    def query(self) -> str:
        form = self.rng.random()
        if form < 0.08:
            return f"ASK {{ {self.group(3)} }}"
        if form < 0.16:
            body = self.group(3)
            template = f"?x {iri('made')} ?y . ?y {iri('of')} ?z"
            return f"CONSTRUCT {{ {template} }} WHERE {{ {body} }}"
        return self.select(self.rng.randint(1, 4), outermost=True)

    def select(self, depth: int, *, outermost: bool = False) -> str:
        """A SELECT, with grouping now and then."""
        rng = self.rng
        before, self.used = self.used, []
        body = self.group(depth)
        inside = sorted(set(self.used)) or ["x"]
        distinct = rng.choice(("", "", "DISTINCT "))
        if rng.random() < 0.25:
            text, shown = self.grouped(body, inside)
        else:
            shown = rng.sample(inside, rng.randint(1, len(inside)))
            text = f"{distinct}{' '.join(f'?{n}' for n in shown)} WHERE {{ {body} }}"
            if rng.random() < 0.15:
                order = " ".join(
                    rng.choice((f"?{n}", f"DESC(?{n})")) for n in rng.sample(shown, len(shown))
                )
                limit = rng.choice(("LIMIT 2", "LIMIT 3 OFFSET 1", "OFFSET 1", "LIMIT 1"))
                text += f" ORDER BY {order} {limit}"
        self.used = before + ([] if outermost else list(shown))
        return f"SELECT {text}"

    def grouped(self, body: str, inside: list[str]) -> tuple[str, list[str]]:
        rng = self.rng
        keys = rng.sample(inside, rng.randint(0, min(2, len(inside))))
        aggregates, names = [], []
        for _ in range(rng.randint(1, 2)):
            name = f"a{self.next()}"
            names.append(name)
            aggregates.append(f"({self.aggregate(inside)} AS ?{name})")
        shown = " ".join((*(f"?{k}" for k in keys), *aggregates))
        text = f"{shown} WHERE {{ {body} }}"
        if keys:
            text += " GROUP BY " + " ".join(f"?{k}" for k in keys)
        if rng.random() < 0.25:
            text += f" HAVING (COUNT(*) > {rng.choice((0, 1, 2))})"
        return text, [*keys, *names]

    def aggregate(self, inside: list[str]) -> str:
        rng = self.rng
        distinct = rng.choice(("", "", "DISTINCT "))
        if rng.random() < 0.25:
            return f"COUNT({distinct}*)"
        function = rng.choice(("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"))
        return f"{function}({distinct}?{rng.choice(inside)})"

    def next(self) -> int:
        self.fresh += 1
        return self.fresh

    def group(self, depth: int) -> str:
        """The inside of a group graph pattern."""
        rng = self.rng
        parts = [self.block()] if rng.random() < 0.9 else []
        elements: list[Callable[[int], str]] = [
            self.optional,
            self.union,
            self.minus,
            self.graph,
            self.nested,
            self.values,
            self.bind,
            self.path,
            self.subquery,
            self.block_of,
        ]
        for _ in range(rng.choice((0, 1, 1, 2)) if depth > 0 else 0):
            parts.append(rng.choice(elements)(depth - 1))
        if rng.random() < 0.35 and self.used:
            parts.append(f"FILTER({self.condition(2, depth)})")
        return " ".join(parts)

    def block_of(self, depth: int) -> str:
        del depth
        return self.block()

    def block(self) -> str:
        rng = self.rng
        return " ".join(self.pattern() for _ in range(rng.choice((1, 1, 2, 2, 3))))

    def pattern(self) -> str:
        rng = self.rng
        s, p, o = rng.choice(self.triples) if self.triples else (NODES[0], PREDICATES[0], NODES[1])
        predicate = self.variable() if rng.random() < 0.1 else p
        return f"{self.node(s)} {predicate} {self.node(o)} ."

    def node(self, term: str) -> str:
        return self.variable() if self.rng.random() < 0.75 else term

    def variable(self) -> str:
        name = self.rng.choice(_NAMES)
        self.used.append(name)
        return f"?{name}"

    def optional(self, depth: int) -> str:
        return f"OPTIONAL {{ {self.group(depth)} }}"

    def union(self, depth: int) -> str:
        return f"{{ {self.group(depth)} }} UNION {{ {self.group(depth)} }}"

    def minus(self, depth: int) -> str:
        before = list(self.used)
        text = f"MINUS {{ {self.group(depth)} }}"
        self.used = before
        return text

    def graph(self, depth: int) -> str:
        name = self.rng.choice((self.variable(), self.rng.choice(_GRAPHS)))
        return f"GRAPH {name} {{ {self.group(depth)} }}"

    def nested(self, depth: int) -> str:
        return f"{{ {self.group(depth)} }}"

    def values(self, depth: int) -> str:
        del depth
        rng = self.rng
        names = rng.sample(_NAMES, rng.randint(1, 2))
        self.used += names
        terms = (*NODES[:3], *LITERALS, "UNDEF")
        rows = " ".join(
            f"({' '.join(rng.choice(terms) for _ in names)})" for _ in range(rng.randint(1, 3))
        )
        return f"VALUES ({' '.join(f'?{n}' for n in names)}) {{ {rows} }}"

    def bind(self, depth: int) -> str:
        del depth
        name = f"b{self.next()}"
        value = self.value()
        self.used.append(name)
        return f"BIND({value} AS ?{name})"

    def value(self) -> str:
        rng = self.rng
        known = f"?{rng.choice(self.used)}" if self.used else NODES[0]
        return rng.choice(
            (
                f"STR({known})",
                f"{known} + 1",
                f"IF(isIRI({known}), 1, 2)",
                f"COALESCE({known}, 0)",
                f"DATATYPE({known})",
                known,
                '"x"',
                f"CONCAT(STR({known}), '!')",
            )
        )

    def path(self, depth: int) -> str:
        del depth
        rng = self.rng
        start, end = self.node(rng.choice(NODES)), self.node(rng.choice(NODES))
        return f"{start} {self.path_text(2)} {end} ."

    def path_text(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(PREDICATES)
        a, b = self.path_text(depth - 1), self.path_text(depth - 1)
        return rng.choice(
            (
                f"({a})+",
                f"({a})*",
                f"({a})?",
                f"({a}/{b})",
                f"({a}|{b})",
                f"^({a})",
                f"!({PREDICATES[0]}|^{PREDICATES[1]})",
                f"!({rng.choice(PREDICATES)})",
            )
        )

    def subquery(self, depth: int) -> str:
        return f"{{ {self.select(depth)} }}"

    def condition(self, depth: int, pattern_depth: int) -> str:
        rng = self.rng
        if depth and rng.random() < 0.35:
            left = self.condition(depth - 1, pattern_depth)
            right = self.condition(depth - 1, pattern_depth)
            return rng.choice((f"({left} && {right})", f"({left} || {right})", f"!({left})"))
        if pattern_depth > 0 and rng.random() < 0.2:
            before = list(self.used)
            text = f"{rng.choice(('', 'NOT '))}EXISTS {{ {self.group(0)} }}"
            self.used = before
            return text
        one, other = f"?{rng.choice(self.used)}", f"?{rng.choice(self.used)}"
        constant = rng.choice((*NODES, *LITERALS))
        return rng.choice(
            (
                f"{one} = {constant}",
                f"{one} != {constant}",
                f"{one} = {other}",
                f"(isNumeric({one}) && {one} < 2)",
                f"isIRI({one})",
                f"isLiteral({one})",
                f"BOUND({one})",
                f"!BOUND({one})",
                f"sameTerm({one}, {other})",
                f"DATATYPE({one}) = <{XSD}integer>",
                f"{one} IN ({constant}, {rng.choice(NODES)})",
            )
        )
