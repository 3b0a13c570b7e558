"""The comparison with pyoxigraph: load the head, evaluate every query; in its own process.

python -m bench.oxigraph HEAD.nt QUERIES_FOLDER REPEATS RESULT.json
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyoxigraph
from deltalake import DeltaTable

from bench.recompute import state_sql


def write_head(triples: Path, file: Path) -> int:
    """Write the triples that hold at the head of a log as N-Triples; returns their number."""
    connection = duckdb.connect()
    connection.register("log", DeltaTable(triples).to_pyarrow_dataset())
    state = state_sql("log").replace("LEFT ANTI JOIN", "ANTI JOIN")
    lines = f"SELECT subject || ' ' || predicate || ' ' || object || ' .\n' AS line FROM ({state})"
    count = 0
    with file.open("wb") as output:
        for batch in connection.sql(lines).to_arrow_reader(1_000_000):
            column = batch.column(0)
            count += len(column)
            output.write("".join(column.to_pylist()).encode())
    return count


def main(argv: Sequence[str]) -> int:
    """Time the load and each evaluation; the answers are serialized and thrown away."""
    head, queries, repeats, result = Path(argv[0]), Path(argv[1]), int(argv[2]), Path(argv[3])
    started = time.monotonic()
    store = pyoxigraph.Store()
    store.bulk_load(path=str(head), format=pyoxigraph.RdfFormat.N_TRIPLES)
    load = time.monotonic() - started
    texts = {file.stem: file.read_text() for file in sorted(queries.glob("*.rq"))}
    times: list[dict[str, float]] = []
    rows: dict[str, int] = {}
    with Path(os.devnull).open("wb") as nowhere:
        for _ in range(repeats):
            times.append({})
            for name, text in texts.items():
                started = time.monotonic()
                _solutions(store, text).serialize(nowhere, format=pyoxigraph.QueryResultsFormat.TSV)
                times[-1][name] = time.monotonic() - started
    for name, text in texts.items():
        rows[name] = sum(1 for _ in _solutions(store, text))
    result.write_text(json.dumps({"load": load, "times": times, "rows": rows}))
    return 0


def _solutions(store: pyoxigraph.Store, text: str) -> pyoxigraph.QuerySolutions:
    solutions = store.query(text)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return solutions


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
