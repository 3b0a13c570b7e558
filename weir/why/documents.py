"""Explanations as documents of JSON."""

from __future__ import annotations

from typing import Any

from weir.definitions.definition import Definition
from weir.why.explanation import Explanation, Triple


def document(definition: Definition, epoch: int, cause: str, one: Explanation) -> dict[str, Any]:
    """Why a row changed at an epoch.

    Args:
        definition: whose row it is.
        epoch: the epoch.
        cause: the change set of the epoch.
        one: the explanation.
    """
    return {
        "epoch": epoch,
        "changed by": cause,
        "weight": one.weight,
        "row": dict(zip((name for name, _ in definition.columns), one.row, strict=True)),
        "changes": [
            {"weight": change.weight, "graph": change.graph, **_positions(change.triple)}
            for change in one.changes
        ],
        "all_changes": one.is_all,
        "match": one.match and [_positions(triple) for triple in one.match.triples],
        "whole_match": one.match and one.match.is_all and not one.match.is_beside_stored,
    }


def _positions(triple: Triple) -> dict[str, str]:
    return dict(zip(("subject", "predicate", "object"), triple, strict=True))
