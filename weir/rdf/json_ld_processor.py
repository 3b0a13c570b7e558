"""PyLD's JSON-LD processor, changed so that a context may clear a value that is not set."""

from __future__ import annotations

from typing import Any

from pyld.jsonld import JsonLdProcessor


class _Context(dict[str, Any]):
    """An active context; deleting a missing key is no error."""

    def __delitem__(self, key: str) -> None:
        self.pop(key, None)


class Processor(JsonLdProcessor):  # type: ignore[misc] # PyLD has no types
    """Expands documents.

    In PyLD's own processor, `"@language": null`, `"@vocab": null` and `"@direction": null` are a
    KeyError if the context has no such value to clear. By the specification they are allowed:
    https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm, steps 5.8 to 5.10.
    """

    def _clone_active_context(self, active_ctx: Any) -> _Context:
        return _Context(super()._clone_active_context(active_ctx))
