"""pyoxigraph as the oracle: what an answer must be, and which triples it depends on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import pyoxigraph as ox
from deltalake import DeltaTable

from weir.lake.tables import ANSWER_COLUMNS

Row = tuple[str, ...]
PLACES = 9
"""Decimal places that count; Weir gives ten of a mean, pyoxigraph eighteen."""
_NUMBERS = {
    f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("integer", "decimal", "float", "double")
}


class Oracle:
    """The triples of a file of N-Triples, whose blank nodes keep their labels."""

    def __init__(self, head: Path) -> None:
        self._store = ox.Store()
        # The store returns values, not lexical forms.
        self._written: dict[tuple[str, str], list[str]] = {}
        self._store.bulk_extend(self._read(head))

    def _read(self, head: Path) -> Iterator[ox.Quad]:
        for triple in ox.parse(path=str(head), format=ox.RdfFormat.N_TRIPLES):
            if "^^" in (term := str(triple.object)):
                key = str(triple.subject), str(triple.predicate)
                self._written.setdefault(key, []).append(term)
            yield triple

    def answer(self, text: str) -> Counter[Row]:
        """The rows of a SELECT query, in the form of `published_answer`."""
        solutions = self._store.query(text)
        assert isinstance(solutions, ox.QuerySolutions)
        names = sorted(variable.value for variable in solutions.variables)
        return Counter(
            tuple("" if (term := solution[name]) is None else shown(term) for name in names)
            for solution in solutions
        )

    def triples_that_matter(
        self, text: str, predicates: frozenset[str], count: int, is_usable: Callable[[str], bool]
    ) -> list[str]:
        """The `count` triples, of twice as many candidates, whose removal changes the answer most.

        Those that are tried are about terms of the answer, taken at random but always the same.

        Args:
            text: the query.
            predicates: which its patterns have, in N-Triples form.
            count: how many are wanted.
            is_usable: whether a triple, in N-Triples form, may be taken.

        Raises:
            ValueError: so many are not found.
        """
        before = self.answer(text)
        effects: dict[str, int] = {}
        for triple in self._about(before, predicates):
            shown = self._as_written(triple)
            if shown in effects or not is_usable(shown):
                continue
            self._store.remove(triple)
            after = self.answer(text)
            self._store.add(triple)
            effect = ((before - after) + (after - before)).total()
            if effect:
                effects[shown] = effect
            if len(effects) == 2 * count:
                break
        if len(effects) < count:
            raise ValueError(f"only {len(effects)} triples of {count} matter")
        return sorted(effects, key=lambda shown: (-effects[shown], shown))[:count]

    def _as_written(self, triple: ox.Quad) -> str:
        subject, predicate = str(triple.subject), str(triple.predicate)
        value = shown(triple.object)
        for term in self._written.get((subject, predicate), ()):
            if canonical(term) == value:
                return f"{subject} {predicate} {term}"
        return f"{subject} {predicate} {triple.object}"

    def _about(self, answer: Counter[Row], predicates: frozenset[str]) -> Iterator[ox.Quad]:
        chance = random.Random(1)
        rows = sorted(answer)
        nodes = [ox.NamedNode(predicate[1:-1]) for predicate in sorted(predicates)]
        for row in chance.sample(rows, min(len(rows), 200)):
            terms = [ox.NamedNode(term[1:-1]) for term in row if term.startswith("<")]
            quads = [
                quad
                for predicate in nodes
                for term in terms
                for pattern in ((term, predicate, None), (None, predicate, term))
                for quad in self._store.quads_for_pattern(*pattern)
            ]
            if not terms:
                quads = [*self._store.quads_for_pattern(None, chance.choice(nodes), None)]
            if quads:
                yield chance.choice(sorted(quads, key=str))


def published_answer(lake: Path, query: str) -> Counter[Row]:
    """The rows of a published answer at the head, columns in the order of their names."""
    table = DeltaTable(lake / "answers" / query).to_pyarrow_dataset().to_table()
    names = sorted(name for name in table.column_names if name not in ANSWER_COLUMNS)
    weights = [int(weight or 0) for weight in table["weight"].to_pylist()]
    columns = [
        ["" if term is None else canonical(term) for term in table[name].to_pylist()]
        for name in names
    ]
    answer: Counter[Row] = Counter()
    for weight, *row in zip(weights, *columns, strict=True):
        answer[tuple(map(str, row))] += weight
    return Counter({row: count for row, count in answer.items() if count})


@lru_cache(maxsize=1_000_000)
def canonical(term: str) -> str:
    """A term in N-Triples form as pyoxigraph's store gives it back."""
    if "^^" not in term:
        return term
    store = ox.Store()
    line = f"<a:a> <a:a> {term} .".encode()
    store.extend(ox.parse(line, format=ox.RdfFormat.N_TRIPLES))
    (quad,) = store
    return shown(quad.object)


def shown(term: object) -> str:
    """A term of pyoxigraph's in the form of `published_answer`: numbers by their value."""
    if isinstance(term, ox.Literal) and term.datatype.value in _NUMBERS:
        return f"{round(Decimal(term.value), PLACES).normalize():f} ({term.datatype.value})"
    return str(term)
