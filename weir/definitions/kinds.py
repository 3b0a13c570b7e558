"""The kinds of definitions: one entry each, which is all that the rest of Weir knows of a kind.

A reader is named, not imported: Airflow reads the names of definitions twice a minute, and a
grammar takes longer to import than all that such a reading does.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from weir.definitions.compilation_cache import CompilationCache
    from weir.definitions.definition import Definition
    from weir.definitions.names import Declaration


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of definition.

    Attributes:
        name: in messages.
        suffix: of its files.
        folder: the setting that names the folder of its files.
        comment: begins a comment in its files; with `+` after it, a line of front matter.
        reader: the module with its function `read`.
        lexer: what Pygments calls its syntax; `text` for none.
        as_graph: how one that reads a stream would read the graph instead, for messages.
    """

    name: str
    suffix: str
    folder: Literal["queries", "programs", "shapes"]
    comment: str
    reader: str
    lexer: str
    as_graph: str

    def read(
        self, declaration: Declaration, source: bytes, cache: CompilationCache | None
    ) -> Definition:
        """The definition that a file declares.

        Args:
            declaration: the file.
            source: its content.
            cache: what earlier runs compiled; what is missing is added.

        Raises:
            ConfigurationError: the first thing that is wrong with the file.
        """
        definition: Definition = import_module(self.reader).read(declaration, source, cache)
        return definition


QUERY = Kind(
    "query",
    ".rq",
    "queries",
    "#",
    "weir.definitions.query",
    "sparql",
    "Read it without a window",
)
PROGRAM = Kind(
    "program",
    ".lars",
    "programs",
    "%",
    "weir.definitions.program",
    "text",
    "Read its atoms from the graph, {graph: pattern}",
)
SHAPES = Kind(
    "shapes graph",
    ".ttl",
    "shapes",
    "#",
    "weir.definitions.shapes",
    "turtle",
    "Read the graph",
)
KINDS = (QUERY, PROGRAM, SHAPES)


def kind_of(suffix: str) -> Kind:
    """The kind whose files have a suffix; a query, if no kind's have it."""
    return next((kind for kind in KINDS if kind.suffix == suffix), QUERY)
