"""The keys of a program's front matter, and what they declare of the meaning of its rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator

from weir.definitions.current_table import TableFrontMatter
from weir.definitions.derived_keys import Graph, Reads
from weir.definitions.front_matter import (
    Duration,
    Head,
    MaxRows,
    MinRows,
    Path,
    Time,
)
from weir.errors import ConfigurationError
from weir.lake.instants import INSTANT_0, microseconds
from weir.lake.names import FORM, is_name
from weir.lars.program import Declarations, DeclaredAtom
from weir.lars.rule_sets import RuleSetName
from weir.lars.syntax import Place
from weir.rdf.terms import TermError, parse_term
from weir.text.durations import parse_duration

STREAM_NAME = "name"
"""The key of `write_stream` that is no atom."""

STREAM_KEYS = ("unit", "origin", "starts", "time_terms", "write_stream", "corrects_back")
"""The keys that are for programs with streams."""

_PREFIX = re.compile(r"(?:[A-Za-z](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?)?")


def _streams(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list | tuple) else (value,)
    for name in names:
        if not isinstance(name, str) or not is_name(name):
            raise ValueError("write the name of a stream, or a list of names")
    if not names or len({*names}) < len(names):
        raise ValueError("write each stream once, and at least one")
    return tuple(names)


def _origin_of(value: object) -> str | dict[str, str]:
    match value:
        case str():
            return value
        case {"graph": str(pattern), **others} if not others:
            return {"graph": pattern}
        case _:
            raise ValueError('write "a pattern of SPARQL", or {graph: "a pattern of SPARQL"}')


_Pattern = Annotated[str | dict[str, str], BeforeValidator(_origin_of)]


class ProgramFrontMatter(TableFrontMatter):
    """What the `%+` lines of a program file may say."""

    description: str = Field("", description="what the program is for, one sentence")
    stream: Annotated[tuple[str, ...], BeforeValidator(_streams)] = Field(
        (), description="the stream that it reads, or a list of them; none if it gives a graph"
    )
    graph: Graph = None
    reads: Reads = ()
    rules: RuleSetName | None = Field(
        None,
        description="with `graph`: `rdfs` or `owl-rl`, [what follows](entailment.md#rule-sets) by"
        " these; rules of the file are added",
    )
    unit: Duration = Field("PT1S", description="with streams: the time from one point to the next")
    origin: Time = Field(INSTANT_0, description="with streams: the time of the point 0")
    starts: Time | None = Field(
        None,
        description="with streams: the first point is that of this time; without it, of the first"
        " event",
    )
    time_terms: Literal["integer", "dateTime"] = Field(
        "integer",
        description="with streams: what T of `@T` is: the number of the point, or its time",
    )
    prefixes: dict[str, str] = Field(
        {}, description="IRIs by prefix; `room` is `:room`, by the empty prefix"
    )
    atoms: dict[str, _Pattern] = Field(
        {},
        description="which triples are an atom: `p(X,Y): pattern` of the stream, `p(X,Y): {graph:"
        " pattern}` of the graph",
    )
    output: tuple[str, ...] | None = Field(
        None, description="the predicates that are published; without it, all that rules derive"
    )
    write_stream: dict[str, str] | None = Field(
        None,
        description="with streams: atoms as events of a stream: `name`, and for each atom the"
        " triples, `p(X): triples`",
    )
    default_graph: Literal["union", "default"] = Field(
        "union",
        description="which graph atoms of the graph are read in: all merged, or the unnamed",
    )
    corrects_back: Duration = Field(
        "PT0S",
        description="with streams: how far back a change of the graph may correct the answer",
    )
    max_rows: MaxRows = None
    min_rows: MinRows = None

    @field_validator("unit")
    @classmethod
    def _positive(cls, unit: str) -> str:
        if parse_duration(unit) == 0:
            raise ValueError("a unit is more than zero")
        return unit

    @field_validator("prefixes")
    @classmethod
    def _iris(cls, prefixes: dict[str, str]) -> dict[str, str]:
        for prefix, iri in prefixes.items():
            if not _PREFIX.fullmatch(prefix):
                raise ValueError(f"{prefix!r} is no prefix; write it without its colon")
            try:
                parse_term(f"<{iri}>")
            except TermError as error:
                raise ValueError(f"{prefix}: {error}") from error
        return prefixes

    @field_validator("write_stream")
    @classmethod
    def _named(cls, written: dict[str, str] | None) -> dict[str, str] | None:
        if written is not None:
            if not is_name(written.get(STREAM_NAME, "")):
                raise ValueError(f"{STREAM_NAME} is the name of a stream: {FORM}")
            if len(written) == 1:
                raise ValueError('write an atom and its triples, too: "alarm(X)": "?X a ex:Alarm"')
        return written

    @property
    def unit_us(self) -> int:
        """The microseconds from one point to the next."""
        return parse_duration(self.unit)

    @property
    def origin_us(self) -> int:
        """Microseconds from 1970-01-01T00:00:00Z to the point 0."""
        return microseconds(self.origin)

    @property
    def corrects_back_us(self) -> int:
        """The microseconds of `corrects_back`."""
        return parse_duration(self.corrects_back)


def check_program_keys(head: Head[ProgramFrontMatter]) -> None:
    """Refuse the keys that are for other programs.

    Raises:
        ConfigurationError: the head has such a key, with its line; or it says neither what it reads
            of streams nor which graph it gives.
    """
    said = head.values
    if said.stream:
        head.refuse(
            {
                key: f"{key} is for programs without streams, and this one reads {said.stream[0]}"
                for key in ("graph", "rules")
            },
            "Delete the line; `write_stream` makes a stream of atoms.",
        )
        return
    if said.graph is None:
        raise ConfigurationError(
            "it says neither which stream it reads nor which graph it gives",
            head.place(()),
            "Write `stream: name`, or `graph: IRI`: then its rules are evaluated at each epoch.",
        )
    head.refuse(
        {key: f"{key} is for programs with streams, and this one has none" for key in STREAM_KEYS},
        "Delete the line.",
    )
    for atom, pattern in said.atoms.items():
        if isinstance(pattern, str):
            raise ConfigurationError(
                f"{atom}: its pattern is of a stream, and the program reads none",
                head.place(("atoms", atom)),
                f'Write {{graph: "{pattern}"}}.',
            )


def declarations(head: Head[ProgramFrontMatter]) -> Declarations:
    """What a front matter says of the meaning of its program.

    Raises:
        ConfigurationError: a program that writes a stream that it reads.
    """
    said, places = head.values, head.places
    written = said.write_stream or {}
    name = written.get(STREAM_NAME)
    if name in said.stream:
        raise ConfigurationError(
            f"the program reads the stream {name}, and cannot write it",
            f"{head.file}:{_place(places, ('write_stream', STREAM_NAME))}",
            "Give the stream that it writes another name.",
        )
    return Declarations(
        streams=said.stream,
        prefixes=said.prefixes,
        atoms=tuple(
            DeclaredAtom(atom, pattern, _place(places, ("atoms", atom)), "stream")
            if isinstance(pattern, str)
            else DeclaredAtom(atom, pattern["graph"], _place(places, ("atoms", atom)), "graph")
            for atom, pattern in said.atoms.items()
        ),
        output=None
        if said.output is None
        else tuple(
            (predicate, _place(places, ("output", str(i))))
            for i, predicate in enumerate(said.output)
        ),
        written=tuple(
            DeclaredAtom(atom, triples, _place(places, ("write_stream", atom)))
            for atom, triples in written.items()
            if atom != STREAM_NAME
        ),
        written_stream=name,
        rules=said.rules,
    )


def _place(places: Mapping[Path, tuple[int, int]], path: Path) -> Place:
    return Place(*places.get(path, (1, 1)))
