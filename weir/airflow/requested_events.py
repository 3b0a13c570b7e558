"""Tasks that produce assets, and emit an event of one only where they say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow.sdk import Asset, AssetAlias, BaseOperator


class ProducesOnRequest(BaseOperator):
    """A task whose assets Airflow shows as produced by it, without an event by every success.

    Args:
        alias: of the events, by `context["outlet_events"][self.events].add(asset)`.
        assets: those that may get an event.
        wiring: `task_id` and other arguments of the task.
    """

    def __init__(self, *, alias: str, assets: Sequence[Asset], **wiring: Any) -> None:
        self.events = AssetAlias(alias)
        super().__init__(outlets=[self.events, *assets], **wiring)

    def emit_on_request(self) -> None:
        """To be called by `execute`: what is left in `outlets` gets an event when it succeeds."""
        self.outlets = [self.events]
