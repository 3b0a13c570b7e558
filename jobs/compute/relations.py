"""A relation: its name, the query that makes it, and how its rows are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

Keep = Literal["view", "cache", "small", "broadcast"]
"""How a relation is kept.

`view`: computed where it is read; `cache`: computed once; `small`: once and in one partition;
`broadcast`: like `small`, and sent to every reader.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation: its name, the query that makes it, and how it is kept."""

    name: str
    select: exp.Query
    keep: Keep = "view"
