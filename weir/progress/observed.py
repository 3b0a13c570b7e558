"""What a check saw, as the table `quality` has it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Observed:
    """What a check saw.

    Attributes:
        sentence: what must hold.
        examples: a few of the rows that break it.
    """

    sentence: str
    examples: Sequence[Any]

    def to_json(self) -> str:
        """The column `observed`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | None) -> Self:
        """From that column."""
        said = json.loads(text or "{}")
        return cls(said.get("sentence", ""), said.get("examples", ()))
