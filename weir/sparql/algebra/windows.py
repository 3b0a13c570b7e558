"""Windows over streams, and what becomes of the answer, as frozen values: RSP-QL.

https://doi.org/10.4018/IJSWIS.2014100102 (RSP-QL, the windows and the operators from a relation to
a stream). An instant is a number of microseconds since 1970-01-01T00:00:00Z, a duration a number of
microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StreamOperator = Literal["rstream", "istream", "dstream"]
"""What a stream has of the answer at each instant: all rows, the new ones, or those that left."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`RANGE r STEP s`: what appeared in the last `range_us` microseconds.

    Its content changes every `step_us` microseconds; without a step, at every instant.
    """

    range_us: int
    step_us: int | None = None

    def __post_init__(self) -> None:
        _check_positive(self.range_us, self.step_us)


@dataclass(frozen=True, slots=True)
class CountWindow:
    """`ELEMENTS n STEP m`: the last `elements` triples of the stream.

    Its content changes with every `step` further triples; without a step, with each.
    """

    elements: int
    step: int | None = None

    def __post_init__(self) -> None:
        _check_positive(self.elements, self.step)


WindowContent = TimeWindow | CountWindow


@dataclass(frozen=True, slots=True)
class WindowClause:
    """`FROM NAMED WINDOW name ON stream [content]`; both names are IRIs in N-Triples form."""

    name: str
    stream: str
    content: WindowContent


@dataclass(frozen=True, slots=True)
class Registration:
    """What is published beside the relation: nothing (`operator` is None), or a stream.

    `stream` is the IRI of the stream in N-Triples form; None where the query does not name it.
    """

    operator: StreamOperator | None
    stream: str | None = None


def _check_positive(size: int, step: int | None) -> None:
    if size < 1 or (step is not None and step < 1):
        raise ValueError("the size and the step of a window are more than zero")
