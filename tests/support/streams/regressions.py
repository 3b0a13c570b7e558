"""Regressions: queries over streams and histories that once broke a law, or that kill a mutant.

A case is a file of `tests/timeline/regressions`, which does not change with the generator.
`tests/timeline/test_laws.py` runs all of them.

    python -m tests.support.streams.regressions 39 a-short-name "What was wrong."

adds case 39 of `tests.support.streams.cases`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.support.generators.basic_cases import Triple
from tests.support.streams.cases import StreamCase, stream_case
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window

FOLDER = Path(__file__).parents[2] / "timeline" / "regressions"
_KINDS = {kind.__name__: kind for kind in (SlidingWindow, SteppedWindow, LastElements)}
_TAB = "\t"


def regression_files() -> list[Path]:
    """The files, by name."""
    return sorted(file for file in FOLDER.iterdir() if file.suffix == ".json")


def read(file: Path) -> StreamCase:
    """The case of a file."""
    stored = json.loads(file.read_text())
    return StreamCase(
        stored["seed"],
        stored["query"],
        stored["oracle_query"],
        {name: _window(**window) for name, window in stored["windows"].items()},
        stored["streams"],
        tuple(map(_epoch, stored["epochs"])),
        stored["corrects_back"],
        stored["departure"],
        stored.get("non_empty", False),
        stored.get("construct"),
    )


def write(case: StreamCase, name: str, why: str, folder: Path = FOLDER) -> Path:
    """Add a case."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.json"
    content = {
        "why": why,
        "seed": case.seed,
        "query": case.query,
        "oracle_query": case.oracle_query,
        "windows": {
            name: {"kind": type(window).__name__, **asdict(window)}
            for name, window in case.windows.items()
        },
        "streams": dict(case.streams),
        "corrects_back": case.corrects_back,
        "departure": case.departure,
        "non_empty": case.non_empty,
        "construct": case.construct,
        "epochs": _epochs(case.epochs),
    }
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return file


def _window(kind: str, **parameters: Any) -> Window:
    window: Window = _KINDS[kind](**parameters)
    return window


def _epochs(epochs: Epochs) -> list[dict[str, Any]]:
    """Events as instant and triple, changes as sign and triple, in lines."""
    stored: list[dict[str, Any]] = []
    for epoch in epochs:
        match epoch:
            case StreamBatch(stream, events, frontier):
                lines = [_TAB.join((str(instant), *triple)) for triple, instant in events]
                stored.append({"stream": stream, "frontier": frontier, "events": lines})
            case GraphChange(vanish, appear, event_time):
                lines = [_TAB.join(("-", *triple)) for triple in sorted(vanish)]
                lines += [_TAB.join(("+", *triple)) for triple in sorted(appear)]
                stored.append({"event_time": event_time, "changes": lines})
    return stored


def _epoch(stored: dict[str, Any]) -> StreamBatch | GraphChange:
    if "stream" in stored:
        events = tuple((triple, int(instant)) for instant, triple in map(_cells, stored["events"]))
        return StreamBatch(stored["stream"], events, stored["frontier"])
    signed = [*map(_cells, stored["changes"])]
    return GraphChange(
        frozenset(triple for sign, triple in signed if sign == "-"),
        frozenset(triple for sign, triple in signed if sign == "+"),
        stored["event_time"],
    )


def _cells(line: str) -> tuple[str, Triple]:
    first, subject, predicate, object_ = line.split(_TAB)
    return first, (subject, predicate, object_)


def main() -> None:
    """See the module."""
    seed, name, why = sys.argv[1:]
    print(write(stream_case(int(seed)), name, why))


if __name__ == "__main__":
    main()
