"""The examples of paper 004 as programs, streams and what they give."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.generators.basic_cases import Triple
from tests.support.streams.histories import Epochs, StreamBatch
from weir.lars.program import Declarations, DeclaredAtom, Program, read_program
from weir.lars.syntax import Place

NAMES = "http://example.org/"
_IT = f"<{NAMES}it>"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
Event = tuple[int, str]
"""A point and an atom."""


@dataclass(frozen=True)
class PaperExample:
    """An example.

    Attributes:
        program: its rules.
        events: of the stream, in the order of arrival.
        first: the first point of the timeline.
        last: the last one.
        expected: what is said of it.
        text: of the program.
    """

    program: Program
    events: tuple[Event, ...]
    first: int
    last: int
    expected: dict[str, Any]
    text: str = ""

    @property
    def changes(self) -> set[tuple[int, int, str]]:
        """Point, weight, atom: how the output differs from that of the point before."""
        return {
            (step["t"], delta["delta"], delta["atom"])
            for step in self.expected["steps"]
            for delta in step["deltas"]
        }

    def epochs(self, *, at_once: bool) -> Epochs:
        """The history: one epoch with all events, or one for each point."""
        triples = [(triple_of(atom), point) for point, atom in self.events]
        if at_once:
            return (StreamBatch("s", tuple(triples), self.last + 1),)
        return tuple(
            StreamBatch("s", tuple(triple for triple in triples if triple[1] == point), point + 1)
            for point in range(self.first, self.last + 1)
        )


def paper_example(folder: Path) -> PaperExample:
    """The example of a folder."""
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / "stream.csv").open() as file:
        events = tuple((int(row["t"]), row["atom"]) for row in csv.DictReader(file))
    text = (folder / "program.lars").read_text()
    first, last = expected["timeline"]
    program = program_of(text, {atom for _, atom in events})
    return PaperExample(program, events, first, last, expected, text)


def program_of(text: str, atoms: set[str]) -> Program:
    """A program whose text names things by bare words, over a stream that has such `atoms`."""
    arities = {atom.partition("(")[0]: len(_arguments(atom)) for atom in atoms}
    heads = {head[1] for head in re.finditer(r"^(?:@\w+ )?([a-z]\w*)", text, re.MULTILINE)}
    declared = tuple(
        _declared(name, arity)
        for name, arity in arities.items()
        if arity < 2 and name not in heads and re.search(rf"\b{name}\b", text)
    )
    return read_program(text, Declarations(("s",), {"": NAMES}, declared))


def _declared(name: str, arity: int) -> DeclaredAtom:
    pattern = f"{_IT} <{NAMES}{name}> ?X" if arity else f"{_IT} a <{NAMES}{name}>"
    return DeclaredAtom(f"{name}(X)" if arity else name, pattern, Place(1, 1))


def triple_of(atom: str) -> Triple:
    """The triple that is an atom of at most two arguments."""
    predicate = f"<{NAMES}{atom.partition('(')[0]}>"
    match [term_of(argument) for argument in _arguments(atom)]:
        case []:
            return (_IT, _TYPE, predicate)
        case [only]:
            return (_IT, predicate, only)
        case [first, second]:
            return (first, predicate, second)
    raise ValueError(f"too many arguments: {atom}")


def term_of(word: str) -> str:
    """The term of a name or a number."""
    if re.fullmatch(r"-?\d+", word):
        return f'"{word}"^^<{_INTEGER}>'
    return f"<{NAMES}{word}>"


def atom_of(row: tuple[str, ...]) -> str:
    """An atom of an answer as the paper writes it."""
    predicate, *terms = row
    words = [_word(term) for term in terms]
    return f"{predicate}({','.join(words)})" if words else predicate


def _arguments(atom: str) -> list[str]:
    parts = re.fullmatch(r"\w+(?:\((.*)\))?", atom)
    assert parts is not None, atom
    return parts[1].split(",") if parts[1] else []


def _word(term: str) -> str:
    if term.startswith("<"):
        return term.removeprefix(f"<{NAMES}").removesuffix(">")
    return term.split('"')[1]
