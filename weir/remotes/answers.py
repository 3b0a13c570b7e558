"""What a remote answered: by key the bag of its mappings, in a form that can be compared.

An endpoint gives blank nodes other labels in each answer, so they are labelled here by what they
are in the mappings of their key. An answer that holds a key that was not asked for is not believed
at all.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.rdf.canonical_labelling import canonical_labelling
from weir.remotes.questions import Block, Key

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
    found: dict[Key, list[Solution]] = {key: [] for key in asked}
    for solution in solutions:
        others = solution.keys() - {*block.variables}
        if others:
            raise ForeignAnswer(f"a solution binds ?{min(others)}, which was not asked for")
        missing = block.certain - solution.keys()
        if missing:
            raise ForeignAnswer(f"a solution leaves ?{min(missing)} unbound")
        key = tuple(solution[name] for name in block.key)
        if key not in found:
            raise ForeignAnswer(f"a solution has the key {' '.join(key)}, which was not asked for")
        found[key].append(solution)
    return {key: _answer(block, key, rows) for key, rows in found.items()}


def _answer(block: Block, key: Key, solutions: Sequence[Solution]) -> KeyAnswer:
    labels = _labels(block, key, solutions)
    bag = Counter(
        tuple(sorted((name, labels.get(term, term)) for name, term in each.items()))
        for each in solutions
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
