"""Whether a lake that was prepared by an earlier run of the benchmark can still be started from."""

from __future__ import annotations

import hashlib
from pathlib import Path

import weir.lake.tables
from bench.places import Project
from weir.definitions.catalog import Catalog
from weir.definitions.kinds import QUERY

_MARK = "ready"


def form_of(queries: Path | None, *what: str) -> str:
    """What the content of a prepared lake depends on, as a hexadecimal digest.

    That is the definition of the tables, and the fingerprint of every query: if one differs, the
    next run would rebuild that answer (`edited`) instead of maintaining it.

    Args:
        queries: the folder of the queries that have answers in the lake.
        what: further words, such as how much of a history was ingested.
    """
    digest = hashlib.sha256(Path(weir.lake.tables.__file__).read_bytes())
    for query in Catalog.of_folders({QUERY: queries}).members if queries else ():
        digest.update(f"{query.name} {query.fingerprint}\n".encode())
    digest.update("\n".join(what).encode())
    return digest.hexdigest()


def is_ready(made: Project, form: str) -> bool:
    """Whether the lake was prepared to the end, in this form."""
    mark = made.folder / _MARK
    return mark.is_file() and mark.read_text() == form


def ready(made: Project, form: str) -> None:
    """Mark the lake as prepared."""
    (made.folder / _MARK).write_text(form)
