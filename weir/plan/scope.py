"""Which triples a pattern reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from weir.rdf.reserved_graphs import is_reserved, traversal_with


@dataclass(frozen=True, slots=True)
class Scope:
    """Which triples a pattern reads: those of all graphs (`graphs` is None), or of some.

    It reads their merge, or, with `each`, every named graph by itself, with its name. Graph names
    are in N-Triples form; the empty string is the unnamed graph.

    With `webs`, the documents of these traversals are named graphs, too, each under its own IRI. A
    document that several of them have, or that has the name of one of the graphs, is one graph.

    With `derived`, it is the merge of these and of the graphs that queries or programs with these
    names give.

    With `window`, it reads the content of a window instead, which is one graph. The IRI, in
    N-Triples form, names a window of one query: that of another query may have another content.
    """

    graphs: tuple[str, ...] | None = None
    each: bool = False
    window: str | None = None
    webs: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.webs and not self.each:
            raise ValueError("documents are named graphs: their merge is a graph of its own")
        if self.derived and self.each:
            raise ValueError("a derived graph is no named graph")
        if self.window is not None and (self.graphs is not None or self.each or self.derived):
            raise ValueError("a scope is a window or some graphs, not both")

    @property
    def has_union(self) -> bool:
        """Whether it has the union of all graphs, whose log is stored."""
        return self.graphs is None and not self.each and self.window is None

    @property
    def is_union(self) -> bool:
        """Whether it is the union of all graphs, and nothing else."""
        return self.has_union and not self.derived

    @property
    def is_derived(self) -> bool:
        """Whether it has derived graphs, and nothing that is stored of the graph."""
        return bool(self.derived) and self.graphs == ()

    @property
    def names_graphs(self) -> bool:
        """Whether it names graphs that sources do not write alone: neither unnamed nor reserved."""
        named = any(graph and not is_reserved(graph) for graph in self.graphs or ())
        return named or bool(self.derived)

    @property
    def is_merge(self) -> bool:
        """Whether a triple that several graphs have is to be counted once."""
        if self.each:
            return len(self.webs) + bool(self.graphs) > 1 and bool(self.webs)
        return self.has_union + len(self.graphs or ()) + len(self.derived) > 1

    @property
    def parts(self) -> tuple[Scope, ...]:
        """The scopes that it is the merge of: itself, if there is nothing to be merged."""
        if not self.is_merge or self.each:
            return (self,)
        stored = () if self.is_derived else (replace(self, derived=()),)
        return (*stored, *(Scope((), derived=(name,)) for name in self.derived))

    def over(self, names: Mapping[str, str]) -> Scope:
        """The scope in which some graphs are derived ones.

        Args:
            names: of derived graphs: by their IRIs in N-Triples form, or by what else stands for
                them in `derived`.
        """
        if self.each:
            return self
        named = [graph for graph in self.graphs or () if graph in names]
        own = {names.get(name, name) for name in (*self.derived, *named)}
        if own == {*self.derived}:
            return self
        left = tuple(graph for graph in self.graphs or () if graph not in names)
        graphs = None if self.graphs is None else left
        return replace(self, graphs=graphs, derived=tuple(sorted(own)))

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
        if self.graphs is None and not self.derived:
            return "each named graph" if self.each else "the union of all graphs"
        documents = (f"the documents of {web}" for web in self.webs)
        union = ("the union of all graphs",) if self.has_union else ()
        graphs = (graph or "the unnamed graph" for graph in self.graphs or ())
        derived = (f"the graph of {name}" for name in self.derived)
        parts = [*union, *graphs, *derived, *documents]
        if self.each:
            return f"each of {', '.join(parts)}"
        return parts[0] if len(parts) == 1 else f"the merge of {', '.join(parts) or 'no graph'}"
