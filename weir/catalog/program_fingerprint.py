"""The fingerprint of a program: what its answer log depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from weir.catalog.windowing import Windowing
from weir.lars.atoms import AtomPattern
from weir.lars.program import Program, WrittenAtom
from weir.lars.syntax import (
    Assignment,
    At,
    Atom,
    Box,
    Condition,
    Diamond,
    Head,
    Literal,
    Rule,
    Stratified,
    Stratum,
    TimeWindow,
    TupleWindow,
)
from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern

PROGRAM_FORMAT = 1
"""Raised to have all programs recomputed, where an earlier version stored wrong rows."""

_TAGS: Mapping[type, str] = {
    Assignment: "assignment",
    At: "at",
    Atom: "atom",
    AtomPattern: "pattern",
    Box: "box",
    Call: "call",
    Condition: "condition",
    Constant: "constant",
    Diamond: "diamond",
    Head: "head",
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
"""The names of classes in lakes, which last; fields go by their order."""

_Json = str | int | bool | None | list["_Json"]


def program_fingerprint(
    program: Program, windowing: Windowing, time_terms: str, default_graph: str
) -> str:
    """SHA-256 of what the stored rows of a program depend on, hexadecimal.

    An edit of white space, comments, or the places of statements keeps the stored rows.

    Args:
        program: the program.
        windowing: what it reads of its streams.
        time_terms: as what terms points are.
        default_graph: which graph atoms of the graph are read in.
    """
    read = {literal.atom.predicate for rule in program.rules.rules for literal in rule.literals}
    depends_on: _Json = [
        PROGRAM_FORMAT,
        _plain(program.rules),
        [_plain(program.patterns[name]) for name in sorted(read & program.patterns.keys())],
        [*program.output],
        [*program.answer_columns],
        _plain(program.written),
        time_terms,
        default_graph if program.reads_graph else "",
        windowing.stored_form(),
    ]
    text = json.dumps(depends_on, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object) -> _Json:
    """A value as JSON; what does not count in comparisons, its place, is left out.

    Raises:
        TypeError: a program holds something that has no tag.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case tuple():
            return [_plain(item) for item in value]
        case _ if is_dataclass(value) and type(value) in _TAGS:
            compared = [field.name for field in fields(value) if field.compare]
            return [_TAGS[type(value)], *(_plain(getattr(value, name)) for name in compared)]
        case _:
            raise TypeError(f"a {type(value).__name__} has no place in a fingerprint")
