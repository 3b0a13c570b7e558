"""The catalog of a folder of queries, without a project around it."""

from __future__ import annotations

from pathlib import Path

from weir.definitions.catalog import Catalog
from weir.definitions.kinds import QUERY


def catalog_of(folder: Path, cache: Path | None = None) -> Catalog:
    """The catalog of a folder; without `cache` every process compiles it again."""
    return Catalog.of_folders({QUERY: folder}, cache)
