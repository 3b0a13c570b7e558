"""Query forms: https://www.w3.org/TR/sparql11-query/#QueryForms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.patterns import Node, TriplePattern
from weir.sparql.algebra.queries import Ask, Construct, Query, Select
from weir.sparql.algebra.scoping import all_variables, is_hidden
from weir.sparql.algebra.services import with_keys
from weir.sparql.frontend.datasets import read_dataset
from weir.sparql.frontend.group_graph_patterns import read_group
from weir.sparql.frontend.presentation import read_presentation
from weir.sparql.frontend.prologue import Prologue
from weir.sparql.frontend.query_levels import read_modified, read_select
from weir.sparql.frontend.refusals import refusal
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Tree
from weir.sparql.frontend.triples_blocks import read_template

MAX_PATTERNS = 64


def read_query(
    tree: Tree,
    source: Source,
    prologue: Prologue,
    default_graph: Literal["union", "default"],
    text: str,
    *,
    push_filters: bool,
) -> Query:
    """The algebra of a whole query; `source` has the tokens of `text`.

    push_filters: whether remotes are given the filters around blocks of SERVICE.

    Raises:
        QuerySyntaxError: the grammar allows the query, but its notes forbid it.
        UnsupportedQuery: a production that the front end does not translate, or too many patterns.
    """
    if tree.name not in _FORMS:
        raise refusal(tree.name, source)
    translation = Translation(source, prologue, read_group)
    form = _FORMS[tree.name](tree, translation)
    if translation.patterns > MAX_PATTERNS:
        raise source.unsupported(
            "WHERE",
            source.first_word("WHERE"),
            f"{translation.patterns} triple patterns and paths are more than {MAX_PATTERNS}",
            "Split it into several queries.",
        )
    pattern, asked = with_keys(form.pattern, push_filters=push_filters)
    dataset = read_dataset(tree, default_graph, translation)
    return Query(
        replace(form, pattern=pattern),
        dataset,
        read_presentation(tree, source, text),
        asked=asked,
        remotes=tuple(
            (service.remote, token.line, token.column) for service, token in translation.services
        ),
        traversals=tuple(
            (name, token.line, token.column)
            for name, token in sorted(translation.traversals, key=lambda named: named[1].offset)
        ),
    )


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
    return Construct(_with_own_labels(template, all_variables(pattern)), pattern)


def _with_own_labels(
    template: tuple[TriplePattern, ...], taken: frozenset[str]
) -> tuple[TriplePattern, ...]:
    """`template` with blank nodes whose labels are not `taken`: each solution gets new nodes."""

    def own(node: Node) -> Node:
        if not isinstance(node, Variable) or not is_hidden(node.name):
            return node
        name = node.name
        while name in taken:
            name += ".new"
        return Variable(name)

    return tuple(TriplePattern(*(own(node) for node in pattern.nodes)) for pattern in template)


_FORMS: dict[str, Callable[[Tree, Translation], Select | Ask | Construct]] = {
    "SelectQuery": _select,
    "AskQuery": _ask,
    "ConstructQuery": _construct,
}
