"""What Weir maintains, as the stages see it: a query, or another kind of definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from weir.catalog.names import Kind
from weir.catalog.services import Services
from weir.catalog.windowing import Windowing
from weir.plan.lookups import Shape
from weir.sparql.algebra.windows import Registration

Form = Literal["select", "ask", "construct"]
"""What the rows of an answer are: solutions, one truth value, or triples."""


@dataclass(frozen=True, slots=True)
class Limits:
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


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Output:
    """A published table.

    Attributes:
        table: its name in the lake, `answers/<name>`.
        columns: its columns but those that every answer table has, in order.
        form: what its rows are.
        limits: what its answer must keep.
    """

    table: str
    columns: tuple[str, ...]
    form: Form
    limits: Limits


class Maintained(Protocol):
    """A definition whose published answers follow the graph at every epoch.

    Attributes:
        name: of its tables and views: `embeddings/<name>`, `answers/<name>`.
        kind: what its file declares.
        file: the file that declares it.
        text: the text of that file.
        description: what it is for, one sentence, or empty.
        presentation: parts of the text without effect on the maintained answer.
        history: what it starts with: the current answer as one delta, or one delta per epoch.
        fingerprint: of what its stored rows depend on; another one has them recomputed.
        columns: the published columns in order, each with the column of the embedding table that
            has its values, `v<i>`.
        width: how many such columns the embedding table has.
        is_set: whether the answer has each row once.
        predicates: the names of the arguments of each predicate that it derives; of a query none.
        outputs: the tables that it publishes.
        reads: the logs of the graph in the lake whose changes concern it, by table name.
        patterns: the shapes of its triple patterns, each with the windows that may have such
            triples; none for the graph.
        windowing: the windows over streams that it reads, None without any.
        registration: the stream that it publishes, None if its text says nothing of one.
        services: what it reads of remotes.
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> Kind: ...

    @property
    def file(self) -> Path: ...

    @property
    def text(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def presentation(self) -> tuple[str, ...]: ...

    @property
    def history(self) -> Literal["current", "full"]: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def columns(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def width(self) -> int: ...

    @property
    def is_set(self) -> bool: ...

    @property
    def predicates(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def outputs(self) -> tuple[Output, ...]: ...

    @property
    def reads(self) -> frozenset[str]: ...

    @property
    def patterns(self) -> tuple[tuple[frozenset[str], Shape], ...]: ...

    @property
    def windowing(self) -> Windowing | None: ...

    @property
    def registration(self) -> Registration | None: ...

    @property
    def services(self) -> Services: ...
