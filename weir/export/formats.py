"""The formats in which triples and rows are written.

The template of a CONSTRUCT names no graph: TriG and N-Quads would have nothing more.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from weir.errors import ConfigurationError


class Format(StrEnum):
    """How triples are written."""

    turtle = "turtle"
    ntriples = "ntriples"


_OF_ENDING = {".ttl": Format.turtle, ".nt": Format.ntriples}


def format_of(file: Path) -> Format:
    """The format of a file by its ending.

    Raises:
        ConfigurationError: the ending names none that is written.
    """
    format_ = _OF_ENDING.get(file.suffix.lower())
    if format_ is None:
        raise ConfigurationError(
            f"its ending names no format that is written: {' or '.join(_OF_ENDING)}",
            str(file),
            "A CONSTRUCT makes no named graphs, which TriG and N-Quads are for. `--format` chooses"
            " the format of a file with another ending.",
        )
    return format_


class TableFormat(StrEnum):
    """How rows are written."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"
    arrow = "arrow"


class Dialect(StrEnum):
    """Whose statements are printed."""

    duckdb = "duckdb"
    spark = "spark"
    trino = "trino"


def table_format_of(file: Path) -> TableFormat:
    """The format of a file by its ending.

    Raises:
        ConfigurationError: the ending names none that is written.
    """
    try:
        return TableFormat(file.suffix.lower().removeprefix("."))
    except ValueError:
        endings = ", ".join(f".{name}" for name in TableFormat)
        raise ConfigurationError(
            f"its ending names no format that is written: {endings}",
            str(file),
            "`--format` chooses the format of a file with another ending.",
        ) from None
