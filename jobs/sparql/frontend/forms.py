"""Query forms: syntax tree to algebra.

https://www.w3.org/TR/sparql11-query/#QueryForms
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, takewhile
from typing import Literal

from jobs.sparql.algebra.expressions import Variable
from jobs.sparql.algebra.patterns import Node, TriplePattern
from jobs.sparql.algebra.queries import Ask, Construct, Query, Select
from jobs.sparql.algebra.scoping import is_hidden, mentioned
from jobs.sparql.frontend.blocks import read_template
from jobs.sparql.frontend.datasets import read_dataset
from jobs.sparql.frontend.groups import read_group
from jobs.sparql.frontend.lexer import Token
from jobs.sparql.frontend.modifiers import read_modified, read_select
from jobs.sparql.frontend.refusals import refusal
from jobs.sparql.frontend.translation import Translation
from jobs.sparql.frontend.tree import Source, Tree

MAX_PATTERNS = 64


def query(
    tree: Tree,
    source: Source,
    base: str | None,
    default_graph: Literal["union", "default"],
    text: str,
) -> Query:
    """The algebra of a whole query.

    Raises:
        QuerySyntaxError: something the grammar allows and its notes forbid.
        UnsupportedQuery: a production that is not in the tables of these modules, or too many
            patterns.
    """
    if tree.name not in _FORMS:
        raise refusal(tree.name, source)
    translation = Translation(source, base, read_group)
    form = _FORMS[tree.name](tree, translation)
    if translation.patterns > MAX_PATTERNS:
        raise source.unsupported(
            "WHERE",
            source.first_word("WHERE"),
            f"{translation.patterns} triple patterns and paths are more than {MAX_PATTERNS}",
            "Split it into several queries.",
        )
    return Query(form, read_dataset(tree, default_graph), _presentation(tree, source, text))


def _select(tree: Tree, translation: Translation) -> Select:
    return Select(*read_select(tree, translation))


def _ask(tree: Tree, translation: Translation) -> Ask:
    return Ask(read_modified(tree, translation))


def _construct(tree: Tree, translation: Translation) -> Construct:
    pattern = read_modified(tree, translation)
    where = tree.get("where")
    flats = tree.all("template")
    if isinstance(where, Tree) and where.name == "FakeGroupGraphPatten":
        # CONSTRUCT WHERE: the pattern is the template.
        blocks = [part for part in where.all("part") if isinstance(part, Tree)]
        flats = tuple(flat for block in blocks for flat in block.all("triples"))
    template = tuple(triple for flat in flats for triple in read_template(flat, translation))
    if not template:
        raise translation.source.unsupported(
            "CONSTRUCT", None, "an empty template makes no triple", "Write a template."
        )
    return Construct(_with_own_labels(template, mentioned(pattern)), pattern)


def _with_own_labels(
    template: tuple[TriplePattern, ...], taken: frozenset[str]
) -> tuple[TriplePattern, ...]:
    """`template` with blank nodes of its own: they are new for each solution."""

    def own(node: Node) -> Node:
        if not isinstance(node, Variable) or not is_hidden(node.name):
            return node
        name = node.name
        while name in taken:
            name += ".new"
        return Variable(name)

    return tuple(TriplePattern(*(own(node) for node in pattern.nodes)) for pattern in template)


def _presentation(tree: Tree, source: Source, text: str) -> tuple[str, ...]:
    """What of the outermost level has no effect on a maintained answer."""
    notes = ["REDUCED"] if tree.get("modifier") == "REDUCED" else []
    if tree.get("orderby") is not None and tree.get("limitoffset") is None:
        outermost = list(_outside_braces(source.tokens))
        start = max(
            i
            for i, (token, following) in enumerate(pairwise(outermost))
            if token.is_word("ORDER") and following.is_word("BY")
        )
        clause = list(takewhile(lambda t: not t.is_word("VALUES"), outermost[start:]))
        # A condition may end in a group: ORDER BY EXISTS { ... }.
        end = next((t.offset for t in outermost if t.offset > clause[-1].offset), None)
        last = [t for t in source.tokens if end is None or t.offset < end][-1]
        notes.append(" ".join(text[clause[0].offset : last.end].split()))
    return tuple(notes)


def _outside_braces(tokens: Iterable[Token]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "punctuation" else 0
        if depth == 0 and token.text != "}":
            yield token


_FORMS: dict[str, Callable[[Tree, Translation], Select | Ask | Construct]] = {
    "SelectQuery": _select,
    "AskQuery": _ask,
    "ConstructQuery": _construct,
}
