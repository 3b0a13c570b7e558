"""Regressions: queries and histories that once broke a law, or that kill a mutant.

A case is a file of `tests/engine/regressions`, which does not change with the generator.
`test_grammar_laws` runs all of them; `tests.mutants` runs them before its other tests.

    python -m tests.support.regressions whole 39 a-short-name "What was wrong."

adds case 39 of `grammar_cases` (`simple`: of `basic_cases`).
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


def regression_files() -> list[Path]:
    """The files, by name."""
    return sorted(FOLDER.glob("*.json"))


def read(file: Path) -> WholeCase:
    """The case of a file."""
    stored = json.loads(file.read_text())
    history = tuple(
        (
            frozenset(tuple(quad) for sign, *quad in changes if sign == "-"),
            frozenset(tuple(quad) for sign, *quad in changes if sign == "+"),
        )
        for changes in ([line.split(_TAB) for line in lines] for lines in stored["history"])
    )
    return WholeCase(
        stored["seed"], stored["query"], stored["default_graph"], (history,), stored["departure"]
    )


def write(whole: WholeCase, name: str, why: str) -> Path:
    """Add a case."""
    file = FOLDER / f"{name}.json"
    content = {
        "why": why,
        "seed": whole.seed,
        "query": whole.query,
        "default_graph": whole.default_graph,
        "departure": whole.departure,
        "history": [_signed(change) for change in whole.history],
    }
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return file


def _signed(change: Change) -> list[str]:
    """A line per quad: sign, graph, subject, predicate, object."""
    vanish, appear = change
    signed = [("-", *quad) for quad in sorted(vanish)] + [("+", *quad) for quad in sorted(appear)]
    return [_TAB.join(cells) for cells in signed]


def main() -> None:
    """See the module."""
    kind, seed, name, why = sys.argv[1:]
    if kind == "whole":
        whole = whole_case(int(seed))
    else:
        pair = case(int(seed))
        whole = WholeCase(pair.seed, pair.query, pair.default_graph, (pair.history,), None)
    print(write(whole, name, why))


if __name__ == "__main__":
    main()
