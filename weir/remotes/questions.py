"""A question to a remote about some keys, and what its answer says of each of them.

    SELECT variables { VALUES (key) { .. } { block } } LIMIT most + 1

By the algebra of SPARQL that is, of any block, the join of the keys with its solutions. One
solution more than is wanted shows that the answer was cut off.

An answer is by key the bag of its mappings, in a form that can be compared. An endpoint gives blank
nodes other labels in each answer, so they are labelled here by what they are in the mappings of
their key. An answer that holds a key that was not asked for is not believed at all.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.rdf.canonical_labelling import canonical_labelling

Key = tuple[str, ...]
"""The terms of the key's variables, in N-Triples form, none of them a blank node."""


@dataclass(frozen=True, slots=True)
class Block:
    """What is asked for: a block of SERVICE with its key (`weir.sparql.algebra.patterns.Service`).

    Attributes:
        remote: the IRI of the remote, in N-Triples form.
        pattern: its id.
        text: the block without its braces.
        variables: what its solutions may bind.
        certain: those that every solution binds.
        key: those by whose values it is asked.
    """

    remote: str
    pattern: str
    text: str
    variables: tuple[str, ...]
    certain: frozenset[str]
    key: tuple[str, ...]


def question(block: Block, keys: Sequence[Key], most: int) -> str:
    """The query for the mappings of some keys; of the whole block if it has no key.

    Args:
        block: what is asked for.
        keys: the keys, each once; the empty one if the block has no key.
        most: mappings that are wanted at most.
    """
    shown = " ".join(f"?{name}" for name in block.variables) or "*"
    values = ""
    if block.key:
        names = " ".join(f"?{name}" for name in block.key)
        rows = " ".join(f"({' '.join(key)})" for key in keys)
        values = f"VALUES ({names}) {{ {rows} }} "
    return f"SELECT {shown} WHERE {{ {values}{{ {block.text} }} }} LIMIT {most + 1}"


Solution = Mapping[str, str]
"""Terms in N-Triples form by variable; unbound ones are left out."""
Row = tuple[tuple[str, str], ...]
"""A mapping: variables and terms, in the order of the variables' names."""


class ForeignAnswer(Exception):  # noqa: N818  (named after what it is)
    """An answer that cannot be one to the question."""


@dataclass(frozen=True, slots=True)
class KeyAnswer:
    """The mappings of one key.

    Attributes:
        rows: each with how often it was given.
        content: SHA-256 of them, hexadecimal: equal for equal bags.
    """

    rows: Mapping[Row, int]
    content: str

    @property
    def size(self) -> int:
        """The number of mappings."""
        return sum(self.rows.values())


def answers_by_key(
    block: Block, asked: Sequence[Key], solutions: Sequence[Solution]
) -> dict[Key, KeyAnswer]:
    """The answer for each key that was asked for; without mappings where there are none.

    Raises:
        ForeignAnswer: a solution is of another key, has another variable, or leaves one unbound
            that every solution binds.
    """
    by_key: dict[Key, list[Solution]] = {key: [] for key in asked}
    for solution in solutions:
        others = solution.keys() - {*block.variables}
        if others:
            raise ForeignAnswer(f"a solution binds ?{min(others)}, which was not asked for")
        missing = block.certain - solution.keys()
        if missing:
            raise ForeignAnswer(f"a solution leaves ?{min(missing)} unbound")
        key = tuple(solution[name] for name in block.key)
        if key not in by_key:
            raise ForeignAnswer(f"a solution has the key {' '.join(key)}, which was not asked for")
        by_key[key].append(solution)
    return {key: _answer(block, key, rows) for key, rows in by_key.items()}


def _answer(block: Block, key: Key, solutions: Sequence[Solution]) -> KeyAnswer:
    labels = _labels(block, key, solutions)
    bag = Counter(
        tuple(sorted((name, labels.get(term, term)) for name, term in solution.items()))
        for solution in solutions
    )
    rows = {row: bag[row] for row in sorted(bag)}
    return KeyAnswer(rows, content_of(rows))


def content_of(rows: Mapping[Row, int]) -> str:
    """SHA-256 of a bag of mappings, hexadecimal."""
    listed = json.dumps(sorted(rows.items()), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(listed.encode()).hexdigest()


def _labels(block: Block, key: Key, solutions: Sequence[Solution]) -> dict[str, str]:
    """The label of each blank node of a key's mappings, which depends on the mappings only."""
    own: dict[str, list[str]] = defaultdict(list)
    edges: list[tuple[str, str, str]] = []
    blank: set[str] = set()
    for number, solution in enumerate(solutions):
        row = f"row {number}"
        own[row] = []
        for name, term in solution.items():
            if term.startswith("_:"):
                blank.add(term)
                own.setdefault(term, [])
                edges.append((row, name, term))
            else:
                own[row].append(f"{name} {term}")
    if not blank:
        return {}
    nodes = {node: tuple(sorted(properties)) for node, properties in own.items()}
    places = canonical_labelling(nodes, dict.fromkeys(nodes, ()), edges)
    scope = json.dumps([block.pattern, key])
    ordered = sorted(blank, key=places.__getitem__)
    return {term: _label(scope, number) for number, term in enumerate(ordered)}


def _label(scope: str, number: int) -> str:
    return f"_:s{hashlib.sha256(f'{scope} {number}'.encode()).hexdigest()[:32]}"
