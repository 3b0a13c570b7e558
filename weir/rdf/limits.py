"""The limits of parsing untrusted RDF, checked before and during parsing."""

from __future__ import annotations

from dataclasses import dataclass


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
    """Memory of the parser process, MiB beyond what it has when it starts."""
    parsed_rows: int = 100_000_000
    """Rows that a file may give."""
    parsed_bytes: int = 20_000_000_000
    """Bytes of the rows that a file may give."""
    parsed_memory_bytes: int = 64_000_000
    """Bytes of a file's rows that are held in memory; others are in a temporary file."""
    rejected_rows: int = 100_000
    """Rejected lines that a file may have."""
    raw_bytes: int = 4_096
    """Bytes of a rejected line that are recorded."""
