"""A definition: what every stage asks of it, and the body that computes its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weir.definitions.current_table import CurrentTable
from weir.definitions.kinds import Kind
from weir.definitions.services import NO_SERVICES, Services
from weir.definitions.traversals import TraversalName
from weir.lake.tables import DERIVED
from weir.plan.lookups import Lookup, Seed, Shape, seeds
from weir.sparql.algebra.windows import Registration
from weir.timeline.axis import EPOCHS, Axis

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from weir.engine.plan_delta import PlanDelta
    from weir.lars.rule_sets import RuleSetName
    from weir.plan.leaves import Component
    from weir.plan.origins import Origins
    from weir.timeline.evaluation import LegInputs

Form = Literal["select", "ask", "construct", "report"]
"""What the rows of an answer are: solutions, one truth value, triples, or results of shapes."""


@dataclass(frozen=True, slots=True)
class Guards:
    """What an answer must keep to be published.

    Attributes:
        max_rows: it has no more rows; None for any number.
        min_rows: it has no fewer; None for any number.
        max_change: no larger share of its published rows is deleted at once; None for any.
        places: file and line that say so, or only the file, by attribute.
    """

    max_rows: int | None = None
    min_rows: int | None = None
    max_change: float | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        file: Path,
        lines: Mapping[str, int],
        max_rows: int | None,
        min_rows: int | None,
        max_change: float | None = None,
    ) -> Guards:
        """The guards of a file whose front matter has some of them in these lines."""
        shown = f"{file.parent.name}/{file.name}"
        places = {key: f"{shown}:{lines[key]}" if key in lines else shown for key in _GUARDS}
        return cls(max_rows, min_rows, max_change, places)


_GUARDS = ("max_rows", "min_rows", "max_change")
NO_GUARDS = Guards()


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition of an answer under which others are held.

    Attributes:
        stops: the names of the others; None for those of all queries and programs.
        rows: SQL of the rows of the answer that hold them.
        what: that there are none, a sentence.
        place: file and line that say so.
    """

    stops: tuple[str, ...] | None
    rows: str
    what: str
    place: str


@dataclass(frozen=True, slots=True)
class Door:
    """Results of a report that no change set may open.

    Attributes:
        sources: whose change sets are stopped; None for those of all.
        severities: of the results, IRIs.
        place: file and line that say so.
    """

    sources: tuple[str, ...] | None
    severities: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Output:
    """The published table, `answers/<name>`.

    Attributes:
        columns: its columns but those that every answer table has, in order.
        form: what its rows are.
        guards: what its answer must keep.
    """

    columns: tuple[str, ...]
    form: Form
    guards: Guards = NO_GUARDS


@dataclass(frozen=True, slots=True)
class DerivedPredicate:
    """What rules derive: the names of a predicate's arguments, and line and column of its head."""

    arguments: tuple[str, ...]
    place: str


class Body(ABC):
    """What computes the rows of a definition; a frozen value.

    A body has one obligation, `delta`. The rest is what it can say of itself so that it costs less,
    or that people can read.
    """

    @property
    def seeds(self) -> Sequence[Seed]:
        """The patterns of the graph whose changes concern it; without a match, nothing changes."""
        return seeds(self.components)

    @property
    def components(self) -> Sequence[Component]:
        """What it reads of the graph: the parts whose neighbourhood of the changes it needs."""
        return ()

    @property
    def lookups(self) -> Sequence[Lookup]:
        """What the changes of the graph lead to in it, beside themselves."""
        return ()

    @property
    def whole_reads(self) -> Sequence[str]:
        """The ids of the nodes that look at all of their children's stored rows."""
        return ()

    @property
    def reads_stored(self) -> bool:
        """Whether a delta needs the rows that are stored."""
        return True

    @property
    def variables(self) -> Sequence[str]:
        """What its columns are called in messages: `v<i>` is the i-th."""
        return ()

    @property
    def shape(self) -> str | None:
        """Equal for bodies that can be computed together; None for one that is computed alone."""
        return None

    @property
    def origins(self) -> Origins:
        """Where the terms of its answer come from, by published column, as far as it is known."""
        from weir.plan.origins import Origins

        return Origins({})

    @property
    def quotients(self) -> frozenset[str]:
        """The columns of its answer that have quotients, whose digits are not bounded."""
        return frozenset()

    def over(self, derived: Mapping[str, str]) -> Body:  # noqa: ARG002
        """The same, in which some graphs are derived.

        Args:
            derived: by their IRIs, in N-Triples form, the names of the definitions that give them.
        """
        return self

    @abstractmethod
    def delta(self, leg: LegInputs) -> PlanDelta:
        """The statements that make the new rows of a leg, as rows of the embedding table."""

    def together(self, members: Mapping[str, Body]) -> Members:
        """Bodies of one shape, by the names of their definitions, to be computed together."""
        raise NotImplementedError("it has no shape")

    def elements(self, embeddings: str, columns: Sequence[tuple[str, str]]) -> exp.Query:
        """The elements of its output stream in a relation of embeddings: their columns, `LOG`.

        Args:
            embeddings: the relation; its rows are of the answer.
            columns: the published columns, each with that of the embedding table.
        """
        from weir.compute.sql import alias, column, rows_of, select
        from weir.compute.sql import columns as named
        from weir.timeline.elements import LOG

        shown = [alias(column(stored), name) for name, stored in columns]
        return select(*shown, *named(LOG), from_=rows_of(embeddings))


@dataclass(frozen=True, slots=True)
class Members:
    """Bodies of one shape, which are computed together.

    Attributes:
        table: the relation (member, ..) of them.
        delta: gives the statements that make the new rows of all of them, with the column `member`,
            from the inputs of a leg, whose stored rows have it, too, and the name of the relation.
    """

    table: pa.Table
    delta: Callable[[LegInputs, str], PlanDelta]


@dataclass(frozen=True)
class Definition:
    """A definition whose published answers follow the graph, or streams, at every epoch.

    Attributes:
        name: of its tables and views: `embeddings/<name>`, `answers/<name>`.
        kind: what its file declares.
        file: the file that declares it.
        text: the text of that file.
        description: what it is for, one sentence, or empty.
        fingerprint: of what its stored rows depend on; another one has them recomputed.
        columns: the published columns in order, each with the column of the embedding table that
            has its values, `v<i>`.
        width: how many such columns the embedding table has.
        is_set: whether the answer has each row once.
        output: the table that it publishes.
        reads: the logs of the graph in the lake whose changes concern it, by table name.
        patterns: the shapes of its triple patterns, each with the windows that may have such
            triples; none for the graph. Those that read traversals are left out, and all of what
            is over triples that follow from others.
        body: computes its rows.
        axis: the times at which its answer changes, and the streams that it reads.
        history: what it starts with: the current answer as one delta, or one delta per epoch.
        presentation: parts of the text without effect on the maintained answer.
        predicates: what it derives, by name; of a query none.
        registration: the stream that it publishes, None if its text says nothing of one.
        writes_triples: whether the elements of that stream are triples.
        services: what it reads of remotes.
        traversals: the traversals whose documents it reads, in the order of its text.
        owner: who to ask about it, or empty.
        tags: words to find it by.
        current: the table with its answer as it is now.
        is_entailed: whether it is over triples that follow from others, too.
        gate: which other answers are held because of its own; None if none is.
        door: which of its rows no change set may open; None if any may.
        graph: the IRI, in N-Triples form, of the graph that it gives, whose triples are its answer;
            None if it gives none.
        derived: the definitions whose graphs it reads.
        rules: the rule set that its graph follows by; None if none.
    """

    name: str
    kind: Kind
    file: Path
    text: str
    description: str
    fingerprint: str
    columns: tuple[tuple[str, str], ...]
    width: int
    is_set: bool
    output: Output
    reads: frozenset[str]
    patterns: tuple[tuple[frozenset[str], Shape], ...]
    body: Body
    axis: Axis = EPOCHS
    history: Literal["current", "full"] = "current"
    presentation: tuple[str, ...] = ()
    predicates: Mapping[str, DerivedPredicate] = field(default_factory=dict)
    registration: Registration | None = None
    writes_triples: bool = False
    services: Services = NO_SERVICES
    traversals: tuple[TraversalName, ...] = ()
    owner: str = ""
    tags: tuple[str, ...] = ()
    current: CurrentTable = field(default_factory=CurrentTable)
    is_entailed: bool = False
    gate: Gate | None = None
    door: Door | None = None
    graph: str | None = None
    derived: tuple[Definition, ...] = ()
    rules: RuleSetName | None = None

    @property
    def upstreams(self) -> tuple[str, ...]:
        """The names of the definitions whose streams or graphs it reads."""
        streams = (upstream.query for upstream in self.axis.upstreams)
        return (*streams, *(giver.name for giver in self.derived))

    def read_of(self, upstream: str) -> Literal["stream", "graph"]:
        """What it reads of one of `upstreams`; of a query whose stream it depends on, that."""
        return "graph" if any(upstream == giver.name for giver in self.derived) else "stream"

    @property
    def logs(self) -> tuple[str, ...]:
        """The tables with triples that it reads: of the graph, and of derived graphs."""
        return (*sorted(self.reads), *(DERIVED.name(giver.name) for giver in self.derived))

    @property
    def has_full_history(self) -> bool:
        """Whether its answer starts with one delta per epoch; over windows there is no choice."""
        return self.axis.has_states and self.history == "full"
