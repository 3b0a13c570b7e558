"""A message to a channel: its id and its text, JSON."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any


def new_id(now: datetime) -> str:
    """The id of a new message; later ones are sorted after it."""
    return f"{now:%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:12]}"


def body_of(
    message: str,
    channel: str,
    recorded_at: datetime,
    answers: Sequence[dict[str, Any]],
    *,
    is_test: bool = False,
) -> bytes:
    """The text of a message.

    Args:
        message: its id.
        channel: to which it goes.
        recorded_at: when it was recorded.
        answers: what changed, by answer.
        is_test: whether it only tries the channel; then it says so.
    """
    body = {
        "id": message,
        "channel": channel,
        "recorded_at": recorded_at.isoformat(),
        **({"test": True} if is_test else {}),
        "answers": answers,
    }
    return json.dumps(body, ensure_ascii=False, indent=1).encode()
