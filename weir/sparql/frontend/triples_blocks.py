"""Triples blocks: triple patterns, path patterns, and the scope of blank node labels.

https://www.w3.org/TR/sparql11-query/#sparqlTriplePatterns
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.patterns import Bgp, PathPattern, Pattern, TriplePattern
from weir.sparql.algebra.scoping import is_hidden
from weir.sparql.frontend.property_paths import expand, read_path
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Branch, Leaf, Tree

Atom = TriplePattern | PathPattern


def read_block(tree: Tree, labels: set[str], translation: Translation) -> list[Atom]:
    """The patterns of a triples block that continues a basic graph pattern.

    `labels` has the blank node labels of that basic graph pattern; those of the block are added.
    A label may not occur in two basic graph patterns:
    https://www.w3.org/TR/sparql11-query/#grammarBNodes.
    """
    atoms: list[Atom] = []
    for flat in tree.all("triples"):
        for subject, predicate, object_ in _in_threes(flat, translation):
            _check_labels(subject, labels, translation)
            _check_labels(object_, labels, translation)
            atoms += _patterns(subject, predicate, object_, translation)
    translation.patterns += len(atoms)
    return atoms


def read_template(flat: Branch, translation: Translation) -> tuple[TriplePattern, ...]:
    """The triples of a CONSTRUCT template."""
    patterns = [
        pattern
        for subject, predicate, object_ in _in_threes(flat, translation)
        for pattern in _patterns(subject, predicate, object_, translation)
    ]
    return tuple(pattern for pattern in patterns if isinstance(pattern, TriplePattern))


def as_patterns(atoms: Iterable[Atom]) -> Iterable[Pattern]:
    """Adjacent triple patterns as one basic graph pattern, each path pattern by itself."""
    for is_triple, run in groupby(atoms, lambda atom: isinstance(atom, TriplePattern)):
        if is_triple:
            yield Bgp(tuple(atom for atom in run if isinstance(atom, TriplePattern)))
        else:
            yield from (atom for atom in run if isinstance(atom, PathPattern))


def _in_threes(flat: Branch, translation: Translation) -> Iterable[tuple[Leaf, Branch, Leaf]]:
    """Subject, predicate and object of each triple of the parser's flat sequence."""
    assert isinstance(flat, tuple), "the parser gives a sequence"
    if len(flat) % 3:
        raise translation.source.malformed("triple pattern", None, "an incomplete triple")
    for i in range(0, len(flat), 3):
        subject, predicate, object_ = flat[i : i + 3]
        assert isinstance(subject, Leaf), "subjects are terms"
        assert isinstance(object_, Leaf), "objects are terms"
        yield subject, predicate, object_


def _patterns(
    subject: Leaf, predicate: Branch, object_: Leaf, translation: Translation
) -> Iterator[Atom]:
    source = translation.source
    path = read_path(predicate, source)
    return expand(
        source.term(subject), path, source.term(object_), lambda: translation.fresh("path")
    )


def _check_labels(leaf: Leaf, labels: set[str], translation: Translation) -> None:
    if not isinstance(leaf.node, Variable) or not is_hidden(leaf.node.name):
        return
    name = leaf.node.name
    if name in translation.labels and name not in labels:
        raise translation.source.malformed(
            name,
            leaf.token,
            "the label of a blank node is used in two basic graph patterns",
            "Use a variable.",
        )
    translation.labels.add(name)
    labels.add(name)
