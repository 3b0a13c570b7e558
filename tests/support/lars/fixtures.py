"""The golden fixtures of paper 004 (format: `examples/README.md` beside them)."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.lars.definitions import DataStream, is_counted
from tests.support.lars.notation import read_ground_atom, read_program
from tests.support.lars.programs import GroundAtom, Program

REPLAYS = 19
"""The fixtures with a program and a stream; 14 is refused, 13 a table, 22 parameters."""


@dataclass(frozen=True)
class LarsFixture:
    """A program, a stream, and what is expected of them.

    Attributes:
        name: of its folder.
        text: of the program, empty without one.
        arrivals: by point, the atoms in the order of arrival, each once.
        expected: the content of `expected.json`.
    """

    name: str
    text: str
    arrivals: Mapping[int, Sequence[GroundAtom]]
    expected: dict[str, Any]

    @property
    def program(self) -> Program:
        """The program, read by the notation's own reader."""
        return read_program(self.text)

    @property
    def timeline(self) -> tuple[int, int]:
        """The first and the last point; of 004-7 those of its convention."""
        first, last = self.expected.get("convention", self.expected)["timeline"]
        return first, last

    def data(self, last: int) -> DataStream[GroundAtom]:
        """The data stream up to a point."""
        first, _ = self.timeline
        known = {u: atoms for u, atoms in self.arrivals.items() if u <= last}
        return DataStream(first, last, known, frozenset, is_counted)

    @property
    def outputs(self) -> dict[int, frozenset[GroundAtom]]:
        """By point, the expected output (Definition 6)."""
        expected = self.expected
        if "steps" in expected:
            atoms_by_time = {step["t"]: step["output"] for step in expected["steps"]}
        elif "convention" in expected:
            atoms_by_time = expected["convention"]["output"]
        else:
            atoms_by_time = expected["with_data_tuples_only"]
        return {
            int(t): frozenset(map(read_ground_atom, atoms)) for t, atoms in atoms_by_time.items()
        }

    @property
    def answer_streams(self) -> dict[int, dict[int, set[GroundAtom]]]:
        """By point, the expected derived atoms by the point that they are at."""
        return {
            step["t"]: {
                int(u): {*map(read_ground_atom, atoms)}
                for u, atoms in step["answer_stream"].items()
            }
            for step in self.expected.get("steps", ())
        }


def read_fixtures(examples: Path) -> tuple[LarsFixture, ...]:
    """All fixtures of paper 004, in the order of their numbers."""
    folders = sorted(examples.glob("004-*"), key=lambda folder: int(folder.name.split("-")[1]))
    return tuple(map(_read, folders))


def replays(examples: Path) -> tuple[LarsFixture, ...]:
    """The fixtures with a program and a stream."""
    return tuple(replay for replay in read_fixtures(examples) if replay.text and replay.arrivals)


def fixture(examples: Path, number: int) -> LarsFixture:
    """The fixture 004-`number`."""
    return next(e for e in read_fixtures(examples) if e.name.startswith(f"004-{number}-"))


def _read(folder: Path) -> LarsFixture:
    program, stream = folder / "program.lars", folder / "stream.csv"
    arrivals: dict[int, list[GroundAtom]] = {}
    if stream.exists():
        rows = csv.DictReader(stream.read_text().splitlines())
        for row in sorted(rows, key=lambda row: int(row["seq"])):
            atoms, atom = arrivals.setdefault(int(row["t"]), []), read_ground_atom(row["atom"])
            if atom not in atoms:
                atoms.append(atom)
    return LarsFixture(
        folder.name,
        program.read_text() if program.exists() else "",
        arrivals,
        json.loads((folder / "expected.json").read_text()),
    )
