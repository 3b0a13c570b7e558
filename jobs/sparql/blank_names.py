"""Names for the blank nodes of a query that depend on their places, not on their labels."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Atom:
    """Terms and variables that stand together, as text, and what they stand in.

    `kind` is the same for the atoms of one unordered set (a basic graph pattern), and tells apart
    what is not interchangeable (its place in the query, a path).
    """

    kind: str
    nodes: tuple[str, ...]


def blank_names(atoms: Iterable[Atom]) -> dict[str, str]:
    """A name for each node that begins with `_:`, the same for queries that differ in labels only.

    Colour refinement: a node's colour is made of the atoms it occurs in, with the colours of the
    others. Of nodes that still look alike one is marked, and the colours are refined again.
    """
    found = tuple(atoms)
    blanks = sorted({node for atom in found for node in atom.nodes if node.startswith("_:")})
    colours = _refined(dict.fromkeys(blanks, "_:"), found)
    while len(set(colours.values())) < len(blanks):
        alike = Counter(colours.values())
        colour = min(colour for colour, count in alike.items() if count > 1)
        marked = next(blank for blank in blanks if colours[blank] == colour)
        colours = _refined({**colours, marked: f"{colour}'"}, found)
    ranked = sorted(blanks, key=lambda blank: colours[blank])
    return {blank: f"_:{rank}" for rank, blank in enumerate(ranked)}


def _refined(colours: dict[str, str], atoms: tuple[Atom, ...]) -> dict[str, str]:
    """Colours refined until no more nodes are told apart."""
    while True:
        finer = {
            blank: _digest(
                colour,
                sorted(
                    _text(atom, {**colours, blank: "_:this"})
                    for atom in atoms
                    if blank in atom.nodes
                ),
            )
            for blank, colour in colours.items()
        }
        if len(set(finer.values())) == len(set(colours.values())):
            return finer
        colours = finer


def _text(atom: Atom, colours: dict[str, str]) -> str:
    return " ".join([atom.kind, *(colours.get(node, node) for node in atom.nodes)])


def _digest(colour: str, texts: list[str]) -> str:
    return "_:" + hashlib.sha256("\n".join([colour, *texts]).encode()).hexdigest()
