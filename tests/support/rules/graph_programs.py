"""Random programs that give a graph, and what they derive of a set of triples, by the definition.

The evaluation shares no code with Weir: it matches every atom with every fact, until nothing is
added. A seed gives the same case everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.support.generators.basic_cases import NODES, PREFIX, Triple
from tests.support.generators.grammar_cases import History, history, random_quad

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_READ = {"t": 3, "p": 2, "q": 2, "a": 1}
_DERIVED = {"link": 2, "d": 3, "odd": 1}
"""Predicates that are read, and that rules derive, with their numbers of arguments."""
_VARIABLES = ("X", "Y", "Z", "W")

Fact = tuple[str, ...]
"""A predicate and its arguments."""


@dataclass(frozen=True)
class TextAtom:
    """An atom as it is written: an argument in upper case is a variable, others are names."""

    predicate: str
    arguments: tuple[str, ...]
    negated: bool = False

    @property
    def variables(self) -> list[str]:
        return [name for name in self.arguments if name.isupper()]

    def __str__(self) -> str:
        return f"{'not ' if self.negated else ''}{self.predicate}({','.join(self.arguments)})"


@dataclass(frozen=True)
class TextRule:
    """A rule as it is written; `differ`: two variables whose values must."""

    head: TextAtom
    body: tuple[TextAtom, ...]
    differ: tuple[str, str] | None = None

    def __str__(self) -> str:
        parts = [*map(str, self.body), *([" != ".join(self.differ)] if self.differ else [])]
        return f"{self.head} <- {', '.join(parts)}."


@dataclass(frozen=True)
class GraphProgramCase:
    """A program that gives a graph, and the history that it is maintained over."""

    seed: int
    levels: Mapping[str, int]
    rules: tuple[TextRule, ...]
    output: tuple[str, ...]
    history: History

    @property
    def text(self) -> str:
        """The file of the program."""
        head = ["%+ graph: urn:d:rules", f'%+ prefixes: {{"": "{PREFIX}"}}']
        head.append(f"%+ output: [{', '.join(self.output)}]")
        return "\n".join([*head, *map(str, self.rules), ""])


def graph_program_case(seed: int) -> GraphProgramCase:
    """The case of a seed."""
    rng = random.Random(f"graph program {seed}")
    names = rng.sample(sorted(_DERIVED), len(_DERIVED))
    # Predicates of one level may depend on each other.
    levels = {name: rng.choice((0, i)) for i, name in enumerate(names)}
    rules = [_rule(rng, name, levels) for name in names for _ in range(rng.randint(1, 3))]
    output = tuple(rng.sample(names, rng.choice((1, 1, 3))))
    pool = {random_quad(rng, NODES) for _ in range(rng.randint(8, 16))}
    pool |= {("", rng.choice(NODES), TYPE, f"<{PREFIX}a>") for _ in range(3)}
    return GraphProgramCase(seed, levels, tuple(rules), output, history(rng, sorted(pool)))


def _rule(rng: random.Random, head: str, levels: Mapping[str, int]) -> TextRule:
    positive = [name for name, level in levels.items() if level <= levels[head]]
    negative = [name for name, level in levels.items() if level < levels[head]]
    body = [_atom(rng, rng.choice([*_READ, *_READ, *positive])) for _ in range(rng.randint(1, 3))]
    bound = sorted({name for atom in body for name in atom.variables})
    if not bound:
        body.append(TextAtom("p", ("X", "Y")))
        bound = ["X", "Y"]
    if rng.random() < 0.4:
        name = rng.choice([*_READ, *negative])
        arguments = tuple(rng.choice(bound) for _ in range(_arity(name)))
        body.append(TextAtom(name, arguments, negated=True))
    differ = tuple(rng.sample(bound, 2)) if len(bound) > 1 and rng.random() < 0.3 else None
    values = [rng.choice((*bound, *bound, _name(rng))) for _ in range(_arity(head))]
    if head == "d":
        values[:2] = rng.choice(bound), rng.choice((*bound, "p", "q"))
    return TextRule(TextAtom(head, tuple(values)), tuple(body), differ)  # type: ignore[arg-type]


def _atom(rng: random.Random, name: str) -> TextAtom:
    arguments = [rng.choice(_VARIABLES) for _ in range(_arity(name))]
    if rng.random() < 0.3:
        place = rng.randrange(len(arguments))
        arguments[place] = rng.choice("pqr") if len(arguments) == 3 and place == 1 else _name(rng)
    return TextAtom(name, tuple(arguments))


def _arity(name: str) -> int:
    return {**_READ, **_DERIVED}[name]


def _name(rng: random.Random) -> str:
    return rng.choice("abcd")


def derived_triples(case: GraphProgramCase, triples: Iterable[Triple]) -> set[Triple]:
    """The triples that a program gives of the triples of the graph."""
    facts: set[Fact] = set()
    for s, p, o in triples:
        facts.add(("t", s, p, o))
        facts |= {(name, s, o) for name in ("p", "q") if p == f"<{PREFIX}{name}>"}
        if (p, o) == (TYPE, f"<{PREFIX}a>"):
            facts.add(("a", s))
    triples_only = case.output == ("d",)
    for level in sorted({*case.levels.values()}):
        rules = [rule for rule in case.rules if case.levels[rule.head.predicate] == level]
        while new := {*_derived(rules, facts, triples_only=triples_only)} - facts:
            facts |= new
    return {
        triple
        for name, *arguments in facts
        if name in case.output
        for triple in [_triple(name, arguments)]
        if _is_triple(triple)
    }


def _derived(
    rules: Sequence[TextRule], facts: Collection[Fact], *, triples_only: bool
) -> Iterator[Fact]:
    for rule in rules:
        solutions: list[dict[str, str]] = [{}]
        for atom in sorted(rule.body, key=lambda atom: atom.negated):
            if atom.negated:
                solutions = [s for s in solutions if not any(_matches(atom, facts, s))]
            else:
                solutions = [wider for s in solutions for wider in _matches(atom, facts, s)]
        for solution in solutions:
            if rule.differ is not None and len({solution[name] for name in rule.differ}) == 1:
                continue
            head = tuple(_value(name, solution) for name in rule.head.arguments)
            if rule.head.predicate != "d" or not triples_only or _is_triple(head):
                yield (rule.head.predicate, *head)


def _matches(
    atom: TextAtom, facts: Collection[Fact], solution: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    for name, *values in facts:
        if name != atom.predicate:
            continue
        wider = dict(solution)
        if all(
            value
            == (wider.setdefault(argument, value) if argument.isupper() else _value(argument, {}))
            for argument, value in zip(atom.arguments, values, strict=True)
        ):
            yield wider


def _value(argument: str, solution: Mapping[str, str]) -> str:
    return solution[argument] if argument.isupper() else f"<{PREFIX}{argument}>"


def _triple(name: str, arguments: Sequence[str]) -> Triple:
    match arguments:
        case [x]:
            return x, TYPE, f"<{PREFIX}{name}>"
        case [x, y]:
            return x, f"<{PREFIX}{name}>", y
        case _:
            s, p, o = arguments
            return s, p, o


def _is_triple(triple: Sequence[str]) -> bool:
    return not triple[0].startswith('"') and triple[1].startswith("<")
