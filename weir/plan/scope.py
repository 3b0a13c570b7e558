"""Which triples a pattern reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Which triples a pattern reads: those of all graphs (`graphs` is None), or of some.

    It reads their merge, or, with `each`, every named graph by itself, with its name. Graph names
    are in N-Triples form; the empty string is the unnamed graph.

    With `window`, it reads the content of a window instead, which is one graph. The IRI, in
    N-Triples form, names a window of one query: that of another query may have another content.
    """

    graphs: tuple[str, ...] | None = None
    each: bool = False
    window: str | None = None

    def __post_init__(self) -> None:
        if self.window is not None and (self.graphs is not None or self.each):
            raise ValueError("a scope is a window or some graphs, not both")

    @property
    def is_union(self) -> bool:
        """Whether it is the union of all graphs, whose log is stored."""
        return self.graphs is None and not self.each and self.window is None

    @property
    def is_merge(self) -> bool:
        """Whether a triple that several graphs have is to be counted once."""
        return self.graphs is not None and len(self.graphs) > 1 and not self.each

    @property
    def name(self) -> str:
        """Its name for people."""
        if self.window is not None:
            return f"window {self.window}"
        if self.graphs is None:
            return "each named graph" if self.each else "union of all graphs"
        listed = ", ".join(graph or "the unnamed graph" for graph in self.graphs)
        return f"each of {listed}" if self.each else f"merge of {listed or 'no graph'}"
