"""PyLD's processor of JSON-LD, in which a context may clear what is not set."""

from __future__ import annotations

from typing import Any

from pyld.jsonld import JsonLdProcessor


class _Context(dict[str, Any]):
    """An active context; to delete what it has not is no error."""

    def __delitem__(self, key: str) -> None:
        self.pop(key, None)


class Processor(JsonLdProcessor):  # type: ignore[misc] # PyLD has no types
    """Expands documents.

    With PyLD's own, `"@language": null`, `"@vocab": null` and `"@direction": null` are a KeyError
    in a context that has none to clear: https://www.w3.org/TR/json-ld11-api/#context-processing-algorithm,
    steps 5.8 to 5.10.
    """

    def _clone_active_context(self, active_ctx: Any) -> _Context:
        return _Context(super()._clone_active_context(active_ctx))
