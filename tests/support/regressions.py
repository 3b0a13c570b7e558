"""Cases kept as a query and its history in `kept/*.json`: random ones that once broke a law, and
those that tell a mutation (`tests.mutants`) of which random cases seldom tell.

    python -m tests.support.regressions whole 39 a-short-name "What was wrong."

keeps case 39 of `whole_cases` (`simple`: of `random_cases`). A file stays what it is when the
generator changes; `test_whole_laws` runs them all.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.support.generators.basic_cases import case
from tests.support.generators.grammar_cases import WholeCase, whole_case
from tests.support.oracles.histories import Change

FOLDER = Path(__file__).parents[1] / "engine" / "regressions"
_TAB = "\t"


def kept_cases() -> list[Path]:
    """The files, by name."""
    return sorted(FOLDER.glob("*.json"))


def read(file: Path) -> WholeCase:
    """The case of a file."""
    found = json.loads(file.read_text())
    history = tuple(
        (
            frozenset(tuple(quad) for sign, *quad in changes if sign == "-"),
            frozenset(tuple(quad) for sign, *quad in changes if sign == "+"),
        )
        for changes in ([line.split(_TAB) for line in lines] for lines in found["history"])
    )
    return WholeCase(
        found["seed"], found["query"], found["default_graph"], (history,), found["departure"]
    )


def write(kept: WholeCase, name: str, why: str) -> Path:
    """Keep a case."""
    file = FOLDER / f"{name}.json"
    content = {
        "why": why,
        "seed": kept.seed,
        "query": kept.query,
        "default_graph": kept.default_graph,
        "departure": kept.departure,
        "history": [_signed(change) for change in kept.history],
    }
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return file


def _signed(change: Change) -> list[str]:
    """One line a quad: sign, graph, subject, predicate, object."""
    vanish, appear = change
    signed = [("-", *quad) for quad in sorted(vanish)] + [("+", *quad) for quad in sorted(appear)]
    return [_TAB.join(cells) for cells in signed]


def main() -> None:
    """See the module."""
    kind, seed, name, why = sys.argv[1:]
    if kind == "whole":
        found = whole_case(int(seed))
    else:
        pair = case(int(seed))
        found = WholeCase(pair.seed, pair.query, pair.default_graph, (pair.history,), None)
    print(write(found, name, why))


if __name__ == "__main__":
    main()
