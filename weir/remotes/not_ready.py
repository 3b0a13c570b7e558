"""Why an answer that depends on remotes is not published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why an answer is not published.

    Attributes:
        mode: `waiting` for what the next refreshes and runs bring; `held` because it is too old.
        reason: in a sentence.
    """

    mode: Literal["waiting", "held"]
    reason: str
