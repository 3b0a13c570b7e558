"""Random queries over the whole grammar that read one dataset, and random edits of them.

A seed gives the same queries, edits and changes everywhere.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Literal

import pyoxigraph as ox

from tests.support.generators.basic_cases import NODES, PREDICATES, Quad
from tests.support.generators.grammar import GRAPHS, LITERALS
from tests.support.generators.grammar_cases import history, quads, query_over
from tests.support.oracles.oxigraph import Oxigraph
from weir.errors import WeirError
from weir.plan.lower import lower
from weir.sparql.frontend.translate import translate

ATTEMPTS = 20
"""Edits of a text that are tried for one that changes the answer."""
_VARIABLE = re.compile(r"\?(\w+)")
_TRIPLE = re.compile(r"(?<=[{.] )[?<]\S* <\S+> \S+ \.")
_OTHERS = {
    "FILTER EXISTS": "FILTER NOT EXISTS",
    "FILTER NOT EXISTS": "FILTER EXISTS",
    "OPTIONAL {": "MINUS {",
    "MINUS {": "OPTIONAL {",
    "SELECT DISTINCT": "SELECT",
    "SELECT ": "SELECT DISTINCT ",
    "COUNT(": "SAMPLE(",
    "MIN(": "MAX(",
    "MAX(": "MIN(",
    "SUM(": "COUNT(",
    " < ": " >= ",
    " = ": " != ",
    " != ": " = ",
    " && ": " || ",
    " || ": " && ",
}
"""What an edit writes instead of what it reads."""


@dataclass
class Dataset:
    """A dataset that changes, and the queries of it.

    Attributes:
        rng: makes every random choice.
        default_graph: what patterns without FROM read.
        pool: the quads that the dataset may have.
    """

    rng: random.Random
    default_graph: Literal["union", "default"] = field(init=False)
    pool: list[Quad] = field(init=False)

    def __post_init__(self) -> None:
        self.default_graph = self.rng.choice(("union", "default"))
        self.pool = quads(self.rng)

    def change_sets(self) -> Iterator[tuple[str, ...]]:
        """Change sets without end: lines of RDF Patches. The first has most quads of the pool."""
        most = self.rng.sample(self.pool, len(self.pool) * 4 // 5)
        yield tuple(map(_line("A"), sorted(most)))
        for vanish, appear in chain.from_iterable(history(self.rng, self.pool) for _ in repeat(0)):
            yield (*map(_line("D"), sorted(vanish)), *map(_line("A"), sorted(appear)))

    def query(self) -> str:
        """A random query that can be maintained, mostly one that some quads of the pool answer."""
        while True:
            text = query_over(self.rng, self.pool, self.default_graph)
            if self._is_usable(text) and (self._answer(text) or self.rng.random() < 0.1):
                return text

    def edited(self, text: str) -> str:
        """Another query: mostly one that differs in a word, a term or a pattern, and in its answer.

        So it does if all quads of the pool are there.
        """
        edits = (_with_other_words, _with_another_term, _with_swapped_variables, _with_less)
        answer = self._answer(text)
        for attempt in range(ATTEMPTS):
            other = self.rng.choice(edits)(self.rng, text)
            is_other = other != text and self._is_usable(other)
            if is_other and (self._answer(other) != answer or attempt == ATTEMPTS - 1):
                return other
        return self.query()

    def file(self, text: str) -> str:
        """The file of a query."""
        return f"#+ {{default_graph: {self.default_graph}, allow_product: true}}\n{text}\n"

    def _answer(self, text: str) -> frozenset[str]:
        """The answer on all quads of the pool."""
        oxigraph = Oxigraph(self.default_graph)
        oxigraph.apply((frozenset(), frozenset(self.pool)))
        answer = oxigraph.store.query(text)
        if isinstance(answer, ox.QueryBoolean):
            return frozenset({str(bool(answer))})
        return frozenset(map(str, answer))

    def _is_usable(self, text: str) -> bool:
        try:
            lower(translate(text, self.default_graph), allow_product=True)
        except WeirError:
            return False
        return True


def _line(sign: str) -> Callable[[Quad], str]:
    def line(quad: Quad) -> str:
        graph, *triple = quad
        return " ".join(filter(None, (sign, *triple, graph)))

    return line


def _with_other_words(rng: random.Random, text: str) -> str:
    words = [word for word in _OTHERS if word in text]
    if not words:
        return text
    word = rng.choice(words)
    place = rng.choice([match.start() for match in re.finditer(re.escape(word), text)])
    return text[:place] + _OTHERS[word] + text[place + len(word) :]


def _with_another_term(rng: random.Random, text: str) -> str:
    kinds = (NODES, PREDICATES, GRAPHS, LITERALS)
    terms = [(term, kind) for kind in kinds for term in kind if term in text]
    if not terms:
        return text
    term, kind = rng.choice(terms)
    return text.replace(term, rng.choice(kind), rng.choice((1, -1)))


def _with_swapped_variables(rng: random.Random, text: str) -> str:
    names = sorted({*_VARIABLE.findall(text)})
    if len(names) < 2:
        return text
    one, other = rng.sample(names, 2)
    others = {one: other, other: one}
    return _VARIABLE.sub(lambda match: f"?{others.get(match[1], match[1])}", text)


def _with_less(rng: random.Random, text: str) -> str:
    triples = [*_TRIPLE.finditer(text)]
    if not triples:
        return text
    gone = rng.choice(triples)
    return text[: gone.start()] + text[gone.end() :]
