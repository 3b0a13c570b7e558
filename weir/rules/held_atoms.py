"""The atoms that hold before a range, and those of the graph in it: all, or those looked up.

A small state is read whole. Of a large one, the rows with the words of rules of which there are few
(a schema) are read at once; others are looked up by their values, in an index if there is one.
Everything is read if very many are wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Lookup, Statement
from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    case,
    column,
    columns,
    number,
    one_of,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.engine.graph import restricted_graph, scope_log, stored_logs
from weir.engine.read_graph import changes_relation, looked_up, read_whole
from weir.lars.atoms import AtomPattern
from weir.lars.program import Program
from weir.lars.syntax import Literal
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.rules.atoms import during, facts_of, is_one_triple, predicates_read
from weir.rules.needed import Access, Key, Side
from weir.rules.relations import arguments
from weir.sparql.algebra.expressions import Constant
from weir.timeline.evaluation import EpochInputs

CELLS = ("v0", "v1", "v2")
"""The columns of the arguments of atoms, as they are stored."""
LEAST = 20_000
"""A state of fewer atoms is read whole."""
FEW = 5_000
"""So many atoms with a word are read at once."""
MOST_KEYS = 50_000
"""If more are wanted at once, all atoms are read."""
_TRIPLE = 3
_GRAPH_KEYS = {"subject": ("subject", "predicate"), "object": ("object", "predicate")}
_STORED_KEYS = {"a1": ("v0", "v1"), "a2": ("v1",), "a3": ("v2", "v1")}


def node_of(program: Program, name: str) -> str:
    """The node under which the atoms of a predicate are stored."""
    return ANSWER if name == program.answer else f"atoms of {name}"


def arity_of(program: Program, name: str) -> int:
    """How many arguments the atoms of a predicate have that rules derive."""
    rules = program.rules.rules
    return next(len(r.head.atom.arguments) for r in rules if r.head.atom.predicate == name)


def stored_atoms(program: Program, name: str, rows: str) -> exp.Select:
    """The atoms (a1, ..) of a predicate that rules derive which hold by some of the stored rows."""
    key = arguments(arity_of(program, name))
    cells = [alias(column(cell), own) for cell, own in zip(CELLS, key, strict=False)]
    return select(
        *cells,
        from_=rows_of(rows),
        where=[column("node").eq(text(node_of(program, name)))],
        group_by=columns(CELLS[: len(key)]),
        having=sum_of(column("weight")) > number(0),
    )


@dataclass(slots=True)
class HeldAtoms:
    """Atoms as relations, which grow by lookups.

    Attributes:
        program: its rules read them.
        scope: which triples it reads.
        leg: the range, and the rows that are stored.
        total: how many atoms that rules derive hold before the range.
        known: by predicate that rules derive, the relation of its atoms that hold before the range;
            those without any are missing.
        background: by predicate that is read, the interval relation of its atoms in the range.
    """

    program: Program
    scope: Scope
    leg: EpochInputs
    total: int = 0
    known: dict[str, str] = field(default_factory=dict)
    background: dict[str, str] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)
    _few: dict[str, frozenset[str]] = field(default_factory=dict)
    _parts: dict[str, list[str]] = field(default_factory=dict)
    _read: dict[Side, set[Key]] = field(default_factory=dict)
    _fetched: list[str] = field(default_factory=list)
    _changes: str = ""
    _graph: str = ""
    _names: int = 0

    @classmethod
    def of(cls, program: Program, scope: Scope, leg: EpochInputs) -> HeldAtoms:
        """Those of a range; of a large state, few are read yet.

        Args:
            program: its rules read them.
            scope: which triples.
            leg: the range, and the rows that are stored.
        """
        held = cls(program, scope, leg)
        facts = facts_of(leg.engine, program.rules.facts, leg.epochs.after, f"{leg.prefix}_held")
        held.background |= facts
        held._whole |= {*facts}
        counts = held._counts()
        held.total = sum(counts.values())
        patterns = [pattern for pattern in program.read_patterns if pattern.origin == "graph"]
        if (
            held.total < LEAST
            or not all(map(is_one_triple, patterns))
            or not leg.engine.is_on_driver(leg.stored)
            or leg.is_whole
        ):
            held._read_all(counts)
            return held
        held._begin(counts)
        return held

    @property
    def engine(self) -> SqlEngine:
        """Makes the relations."""
        return self.leg.engine

    def is_complete(self, literal: Literal) -> bool:
        """Whether all atoms that a literal may match are there."""
        name, atom = literal.atom.predicate, literal.atom
        if name in self._whole or (name not in self._derived and name not in self._patterns):
            return True
        if name not in self._few or len(atom.arguments) != _TRIPLE:
            return False
        word = atom.arguments[1]
        return isinstance(word, Constant) and word.term in self._few[name]

    def all_of(self, literal: Literal) -> Sequence[str]:
        """The relations of all atoms that a literal may match, of which `is_complete` is true."""
        name = literal.atom.predicate
        if name in self.background:
            return [self.background[name]]
        if name not in self._whole:
            # What was looked up later has other words.
            return self._parts.get(name, [])[:1]
        return [self.known[name]] if name in self.known else []

    def accesses(self, literal: Literal) -> Sequence[Access]:
        """The sides on which the atoms of a literal can be looked up, the best first."""
        name, terms = literal.atom.predicate, literal.atom.arguments
        if name in self._patterns:
            pattern = self._patterns[name]
            (triple,) = pattern.triples
            own = dict(zip(pattern.arguments, terms, strict=True))
            s, p, o = (
                node if isinstance(node, Constant) else own[node.name] for node in triple.nodes
            )
            return [Access(Side(name, "subject"), s, p), Access(Side(name, "object"), o, p)]
        match terms:
            case [only]:
                return [Access(Side(name, "a1"), only, None)]
            case [first, second]:
                by_second = Access(Side(name, "a2"), second, None)
                return [Access(Side(name, "a1"), first, second), by_second]
            case [s, p, o]:
                return [Access(Side(name, "a1"), s, p), Access(Side(name, "a3"), o, p)]
            case _:
                return []

    def look_up(self, keys: Mapping[Side, Iterable[Key]]) -> None:
        """Look up atoms by their values."""
        graph: dict[str, set[Key]] = {}
        for side, wanted in keys.items():
            if side.predicate in self._whole:
                continue
            is_graph = side.predicate in self._patterns
            # Atoms of several predicates may be made of the same triples.
            place = Side("", side.by) if is_graph else side
            read = self._read.setdefault(place, set())
            new = {key for key in wanted if key not in read and (key[0], None) not in read}
            if len(new) > MOST_KEYS:
                self.complete(side.predicate)
                continue
            read |= new
            if is_graph:
                graph.setdefault(side.by, set()).update(new)
            elif new:
                self._look_up_stored(side, new)
        graph = {by: wanted for by, wanted in graph.items() if wanted}
        # All may have been read meanwhile: that must not become what is looked up.
        if graph and not self._whole.issuperset(self._patterns):
            self._look_up_graph(graph)

    def complete(self, predicate: str) -> None:
        """Read all atoms of a predicate; of one that is read, those of all."""
        if predicate in self._whole:
            return
        if predicate in self._patterns:
            self._read_graph()
            return
        relation = self._make(stored_atoms(self.program, predicate, self.leg.stored))
        self._whole.add(predicate)
        self._set(predicate, [relation])

    @property
    def _derived(self) -> frozenset[str]:
        return frozenset(self.program.rules.derived)

    @property
    def _patterns(self) -> Mapping[str, AtomPattern]:
        return {
            pattern.predicate: pattern
            for pattern in self.program.read_patterns
            if pattern.origin == "graph"
        }

    def _counts(self) -> dict[tuple[str, str | None], int]:
        """How many atoms are stored, by node and the second value, if that is a word of rules."""
        word = column("v1")
        words = sorted(_words(self.program))
        own = case((one_of(word, words), word.copy())) if words else exp.null()
        named = select(
            column("node"), alias(own, "word"), column("weight"), from_=rows_of(self.leg.stored)
        )
        counted = select(
            *columns(("node", "word")),
            alias(sum_of(column("weight")), "atoms"),
            from_=subquery(named, "named"),
            group_by=columns(("node", "word")),
        )
        return {
            (str(node), None if own_ is None else str(own_)): int(str(atoms))
            for node, own_, atoms in self.engine.rows(counted)
        }

    def _read_all(self, counts: Mapping[tuple[str, str | None], int]) -> None:
        nodes = {node for node, _ in counts}
        for name in self.program.rules.derived:
            if node_of(self.program, name) in nodes:
                self.complete(name)
        self._whole |= self._derived
        self._read_graph()

    def _read_graph(self) -> None:
        self._set_graph(self.graph())
        self._whole |= {*self._patterns}

    def graph(self) -> str:
        """The interval relation of the whole graph."""
        if self.leg.is_whole:
            return self.leg.graph[self.scope]
        if not self._graph:
            known = predicates_read(self.program.read_patterns)
            name, epochs = f"{self.leg.prefix}_w", self.leg.epochs
            read = read_whole(self.engine, self.scope, epochs, name, known, reason="rules")
            self._graph = read.relation
        return self._graph

    def _begin(self, counts: Mapping[tuple[str, str | None], int]) -> None:
        """Read the changes of the graph, and atoms of which there are few."""
        leg = self.leg
        changes = leg.changes.get(self.scope)
        if changes is None:
            changes = f"{leg.prefix}_changes"
            known = predicates_read(self.program.read_patterns)
            changes_relation(self.engine, self.scope, leg.epochs, changes, known, "cache")
        self._changes = changes
        self._make_graph()
        by_node: dict[str, int] = {}
        for (node, _), atoms in counts.items():
            by_node[node] = by_node.get(node, 0) + atoms
        few: list[exp.Expr] = []
        names = []
        for name in self.program.rules.derived:
            node = node_of(self.program, name)
            is_node = column("node").eq(text(node))
            if by_node.get(node, 0) <= FEW:
                self._whole.add(name)
                if node in by_node:
                    few.append(is_node)
                    names.append(name)
            elif arity_of(self.program, name) == _TRIPLE:
                words = {
                    word for word in _words(self.program) if counts.get((node, word), 0) <= FEW
                }
                self._few[name] = frozenset(words)
                present = sorted(words & {own for _, own in counts if own is not None})
                if present:
                    few.append(all_of([is_node, one_of(column("v1"), present)]))
                    names.append(name)
        for name in self._few:
            self._parts[name] = []
        if few:
            read = self._make(select("*", from_=rows_of(leg.stored), where=[any_of(few)]))
            for name in names:
                self._add(name, stored_atoms(self.program, name, read))

    def _look_up_stored(self, side: Side, keys: set[Key]) -> None:
        own = _STORED_KEYS[side.by]
        wanted, rows = f"{self._new_name()}_keys", self._new_name()
        self.engine.load(wanted, _table(keys, own))
        query = select(*columns(own), from_=rows_of(wanted))
        is_pair, stored = len(own) > 1, self.leg.stored
        lookup = Lookup(rows, self.leg.table or "", own, query, is_pair, stored)
        if self.leg.table is None or not is_pair or not self.engine.look_up(lookup):
            node = column("node", "t").eq(text(node_of(self.program, side.predicate)))
            self.engine.make(Statement(rows, lookup.scan(stored).where(node), "cache"))
        self._add(side.predicate, stored_atoms(self.program, side.predicate, rows))

    def _look_up_graph(self, keys: Mapping[str, set[Key]]) -> None:
        for by, wanted_keys in keys.items():
            own, name = _GRAPH_KEYS[by], self._new_name()
            wanted = f"{name}_keys"
            self.engine.load(wanted, _table(wanted_keys, own))
            query = select(*columns(own), from_=rows_of(wanted))
            stored = dict(looked_up(self.engine, self.scope, name, own, query))
            for table, whole in stored_logs(self.scope).items():
                if stored[table] == whole:
                    stored[table] = self._make(Lookup(name, table, own, query, True).scan(whole))
            self._fetched.append(
                self._make(scope_log(self.scope, self.leg.epochs.last, None, stored))
            )
        self._make_graph()

    def _make_graph(self) -> None:
        graph = restricted_graph(
            self.scope, self._new_name(), self._fetched, self._changes, self.leg.epochs, "cache"
        )
        self.engine.make(graph)
        self._set_graph(graph.name)

    def _set_graph(self, graph: str) -> None:
        for name, pattern in self._patterns.items():
            self.background[name] = self._make(
                during(pattern, graph), "view" if is_one_triple(pattern) else "cache"
            )

    def _add(self, name: str, atoms: exp.Query) -> None:
        self._set(name, [*self._parts.get(name, ()), self._make(atoms)])

    def _set(self, name: str, parts: list[str]) -> None:
        self._parts[name] = parts
        key = columns(arguments(arity_of(self.program, name)))
        if len(parts) == 1:
            self.known[name] = parts[0]
        else:
            both = union_all([select(*key, from_=rows_of(part)) for part in parts])
            self.known[name] = self._make(both, "view")

    def _make(self, query: exp.Query, keep: Keep = "cache") -> str:
        name = self._new_name()
        self.engine.make(Statement(name, query, keep))
        return name

    def _new_name(self) -> str:
        self._names += 1
        return f"{self.leg.prefix}_held{self._names}"


def _words(program: Program) -> frozenset[str]:
    """The second arguments of literals with three, where they are constants."""
    literals = (literal for rule in program.rules.rules for literal in rule.literals)
    atoms = (one.atom.arguments for one in literals if len(one.atom.arguments) == _TRIPLE)
    return frozenset(word.term for _, word, _ in atoms if isinstance(word, Constant))


def _table(keys: Iterable[Key], names: Sequence[str]) -> pa.Table:
    rows = sorted(keys, key=repr)
    cells = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))]
    return pa.table(cells, [*names])
