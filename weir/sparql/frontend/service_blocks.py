"""Blocks of SERVICE: https://www.w3.org/TR/sparql11-federated-query/#service.

The block is sent as it is written, with its names written out as IRIs. SILENT has no effect: a
replica does not fail, it becomes stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.rdf import terms
from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.patterns import Service
from weir.sparql.algebra.scoping import is_hidden
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Leaf, Tree


def read_service(tree: Tree, translation: Translation) -> Service:
    """The block of a SERVICE.

    Raises:
        UnsupportedQuery: its endpoint is a variable, or it is in another block.
    """
    source = translation.source
    leaf, group = tree.parts["term"], tree.parts["graph"]
    assert isinstance(leaf, Leaf), "SERVICE names an IRI or a variable"
    assert isinstance(group, Tree), "SERVICE has a group"
    assert leaf.token is not None, "it is written"
    if not isinstance(leaf.node, Constant):
        raise source.unsupported(
            "SERVICE",
            source.word_before(leaf.token, "SERVICE"),
            "which remote is asked has to be known before the query is evaluated",
            "Write the IRI of a remote that remotes.yml declares.",
        )
    if translation.in_service:
        raise source.unsupported(
            "SERVICE",
            source.word_before(leaf.token, "SERVICE"),
            "a remote is not asked to ask another one",
            "Write the two blocks side by side: they are joined here.",
        )
    labels, translation.labels, translation.in_service = translation.labels, set(), True
    pattern = translation.group(group)
    translation.labels, translation.in_service = labels, False
    service = Service(
        leaf.node.term,
        "".join(_written(_inside(source.tokens, leaf.token), translation.prologue)),
        tuple(name for name in pattern.in_scope if not is_hidden(name)),
        frozenset(name for name in pattern.certain if not is_hidden(name)),
    )
    translation.services.append((service, leaf.token))
    return service


def _inside(tokens: Sequence[Token], iri: Token) -> Iterator[Token]:
    """The tokens between the braces that follow the IRI."""
    depth = 0
    for token in tokens[tokens.index(iri) + 1 :]:
        is_punctuation = token.kind == "punctuation"
        if is_punctuation and token.text == "}":
            depth -= 1
            if not depth:
                return
        if depth:
            yield token
        if is_punctuation and token.text == "{":
            depth += 1


def _written(tokens: Iterator[Token], prologue: Prologue) -> Iterator[str]:
    """The texts of tokens with names as IRIs, so that they need no prologue.

    Tokens are separated by one space where the query has space, else by none.
    """
    end: int | None = None
    for token in tokens:
        if end is not None and end != token.offset:
            yield " "
        is_name = token.kind in ("iri", "name")
        yield terms.iri(prologue.iri(token)) if is_name else token.text
        end = token.end
