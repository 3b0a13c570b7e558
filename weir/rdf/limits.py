"""The limits of parsing an untrusted RDF file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from weir.settings import Limits


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits per file. The fields are those of `Limits` in the configuration."""

    line_bytes: int = 1_048_576
    """Longest line of a line format, bytes without the line feed."""
    document_bytes: int = 2_147_483_648
    """Largest Turtle, TriG, RDF/XML or JSON-LD document, bytes after decompression."""
    nesting: int = 256
    """Deepest nesting of a term or a document."""
    parse_seconds: int = 600
    """CPU seconds of the parser process per file."""
    parse_memory_mb: int = 3_000
    """Memory of the parser process, MiB in addition to what it has when it starts."""
    parsed_rows: int = 100_000_000
    """Most rows of a file."""
    parsed_bytes: int = 20_000_000_000
    """Most bytes of the rows of a file."""
    parsed_memory_bytes: int = 64_000_000
    """Most bytes of a file's rows in memory; the others are in a temporary file."""
    rejected_rows: int = 100_000
    """Most rejected lines of a file."""
    raw_bytes: int = 4_096
    """Most recorded bytes of a rejected line."""

    @classmethod
    def of(cls, limits: Limits) -> Self:
        """Those of the configuration."""
        return cls(**{field.name: getattr(limits, field.name) for field in fields(cls)})
