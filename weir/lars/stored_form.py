"""The stored form of the rules of a program: what fingerprints in lakes are made of.

Names of classes last; fields go by their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from weir.lars.atoms import AtomPattern
from weir.lars.program import WrittenAtom
from weir.lars.syntax import (
    Assignment,
    At,
    Atom,
    Box,
    Condition,
    CountedAtom,
    Diamond,
    FilteredTupleWindow,
    Head,
    HoppingWindow,
    Literal,
    Rule,
    Stratified,
    Stratum,
    TimeWindow,
    TupleWindow,
)
from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

_TAGS: Mapping[type, str] = {
    Assignment: "assignment",
    At: "at",
    Atom: "atom",
    AtomPattern: "pattern",
    Box: "box",
    Call: "call",
    Condition: "condition",
    Constant: "constant",
    CountedAtom: "counted",
    Diamond: "diamond",
    FilteredTupleWindow: "filtered",
    Head: "head",
    HoppingWindow: "hopping",
    Literal: "literal",
    Rule: "rule",
    Stratified: "rules",
    Stratum: "stratum",
    TimeWindow: "time",
    TriplePattern: "triple",
    TupleWindow: "tuples",
    Variable: "variable",
    WrittenAtom: "written",
}


def stored_form(value: object) -> tuple[str, tuple[object, ...]]:
    """The tag of a value of a program, and its fields; its place, which is not compared, is none.

    Raises:
        TypeError: a program holds something that has no tag.
    """
    tag = _TAGS.get(type(value))
    if tag is None:
        raise TypeError(f"a {type(value).__name__} has no place in a fingerprint")
    compared = (field for field in fields(value) if field.compare)  # type: ignore[arg-type]
    return tag, tuple(getattr(value, field.name) for field in compared)
