"""Which policies look at the change intervals of keys."""

from __future__ import annotations

from typing import assert_never

from weir.remotes.policies.policies import Aggregated, Alone, Banded, Rule, Wbm


def needs_intervals(rule: Rule) -> bool:
    """Whether the change intervals of keys have an effect: only WBM looks at them."""
    match rule:
        case Alone(ranking) | Banded(ranking):
            return isinstance(ranking, Wbm)
        case Aggregated(weighted):
            return rule.expired_first or any(
                isinstance(weighted_ranking, Wbm) for _, weighted_ranking in weighted
            )
        case _:
            assert_never(rule)
