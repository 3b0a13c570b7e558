"""The DuckDB of a process: engines of several threads are opened and closed at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from weir.compute.database import Database
from weir.settings import Settings

THREADS, ENGINES = 4, 50


def test_threads_open_and_close_engines_at_once() -> None:
    with closing(Database(Settings())) as database, ThreadPoolExecutor(THREADS) as threads:

        def used(number: int) -> int:
            with closing(database.engine()) as engine:
                engine.connection.execute(f"CREATE TABLE rows AS SELECT * FROM range({number})")
                return engine.count("rows")

        numbers = range(THREADS * ENGINES)
        assert [*threads.map(used, numbers)] == [*numbers]
