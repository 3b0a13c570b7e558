"""Whether maintain, validate or publish has anything to do (no Spark)."""

from __future__ import annotations

from jobs.plans import fingerprint, plan_of
from jobs.registry import load_registry
from jobs.settings import Settings
from jobs.unpublished import unpublished
from jobs.validated import graph_validated_to
from jobs.watermarks import head, mark, untouched


def is_anything_unfinished(settings: Settings) -> bool:
    """Whether an epoch is not validated, or a query is new, edited, behind or wrong.

    Raises:
        ConfigurationError: the folder of queries is not there.
    """
    registry = load_registry(settings.queries)
    newest = head(settings)
    if registry.errors or graph_validated_to(settings) < newest:
        return True
    ranges = untouched(settings, "maintain")
    for query in registry.queries:
        found = mark(settings, f"embeddings/{query.name}", "maintain", ranges.get(query.name, ()))
        if newest and (
            found is None
            or found.watermark < newest
            or found.metadata.fingerprint != fingerprint(plan_of(query))
        ):
            return True
    return bool(unpublished(settings, [query.name for query in registry.queries]))
