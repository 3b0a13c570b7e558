"""Which triples a pattern reads."""

from __future__ import annotations

from dataclasses import dataclass

from weir.rdf.reserved_graphs import traversal_with


@dataclass(frozen=True, slots=True)
class Scope:
    """Which triples a pattern reads: those of all graphs (`graphs` is None), or of some.

    It reads their merge, or, with `each`, every named graph by itself, with its name. Graph names
    are in N-Triples form; the empty string is the unnamed graph.

    With `webs`, the documents of these traversals are named graphs, too, each under its own IRI. A
    document that several of them have, or that has the name of one of the graphs, is one graph.

    With `window`, it reads the content of a window instead, which is one graph. The IRI, in
    N-Triples form, names a window of one query: that of another query may have another content.
    """

    graphs: tuple[str, ...] | None = None
    each: bool = False
    window: str | None = None
    webs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.webs and not self.each:
            raise ValueError("documents are named graphs: their merge is a graph of its own")
        if self.window is not None and (self.graphs is not None or self.each):
            raise ValueError("a scope is a window or some graphs, not both")

    @property
    def is_union(self) -> bool:
        """Whether it is the union of all graphs, whose log is stored."""
        return self.graphs is None and not self.each and self.window is None

    @property
    def is_merge(self) -> bool:
        """Whether a triple that several graphs have is to be counted once."""
        if self.each:
            return len(self.webs) + bool(self.graphs) > 1 and bool(self.webs)
        return self.graphs is not None and len(self.graphs) > 1

    @property
    def traversals(self) -> tuple[str, ...]:
        """The traversals whose documents it has, merged or by themselves."""
        of_graphs = (traversal_with(graph) for graph in self.graphs or ())
        return tuple(dict.fromkeys((*self.webs, *(web for web in of_graphs if web is not None))))

    @property
    def name(self) -> str:
        """The scope's name in messages."""
        if self.window is not None:
            return f"the window {self.window}"
        if self.graphs is None:
            return "each named graph" if self.each else "the union of all graphs"
        documents = (f"the documents of {web}" for web in self.webs)
        graphs = (graph or "the unnamed graph" for graph in self.graphs)
        listed = ", ".join((*graphs, *documents))
        return f"each of {listed}" if self.each else f"the merge of {listed or 'no graph'}"
