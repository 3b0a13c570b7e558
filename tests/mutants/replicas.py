"""The mutants of refresh policies."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

REPLICA_MUTANTS = (
    Mutant(
        "the key that was asked last is refreshed first",
        "refresh/rankings",
        "            return by_value(age(candidates, evaluation))",
        "            return by_value(-age(candidates, evaluation))",
    ),
    Mutant(
        "a key expires after its best-before time",
        "refresh/rankings",
        "until <= evaluation.at",
        "until < evaluation.at",
    ),
    Mutant(
        "best-before times do not order keys of equal value",
        "refresh/rankings",
        "np.lexsort((times.until, -times.value))",
        "np.argsort(-times.value, kind='stable')",
    ),
    Mutant(
        "an interval that has begun does not count",
        "refresh/rankings",
        "np.ceil(since / interval) * interval - since",
        "np.floor(since / interval) * interval - since",
    ),
    Mutant(
        "the window is not part of what remains of a key",
        "refresh/rankings",
        "candidates.last_seen + evaluation.window - evaluation.at",
        "candidates.last_seen - evaluation.at",
    ),
    Mutant(
        "ages are negative after the clock was set back",
        "refresh/rankings",
        "np.maximum(evaluation.at - candidates.asked_at, 0.0)",
        "evaluation.at - candidates.asked_at",
    ),
    Mutant(
        "the first filter stands for all",
        "refresh/rankings",
        "    least: Numbers = distances.min(axis=1, initial=np.inf)",
        "    least: Numbers = distances[:, 0]",
    ),
    Mutant(
        "positions count from the wrong end",
        "refresh/aggregation",
        "np.arange(count, 0, -1)",
        "np.arange(1, count + 1)",
    ),
    Mutant(
        "a ranking of weight 0 breaks ties",
        "refresh/aggregation",
        "if weight > 0]",
        "if weight >= 0]",
    ),
    Mutant(
        "the band excludes its border",
        "refresh/election",
        "np.flatnonzero(distance <= fdt)",
        "np.flatnonzero(distance < fdt)",
    ),
    Mutant(
        "keys of unknown distance are never refreshed",
        "refresh/election",
        "for rows in (band, unknown)",
        "for rows in (band,)",
    ),
    Mutant(
        "what has not expired comes first",
        "refresh/election",
        "return np.flatnonzero(expired), np.flatnonzero(~expired)",
        "return np.flatnonzero(~expired), np.flatnonzero(expired)",
    ),
    Mutant(
        "budget is always filled",
        "refresh/election",
        "return np.concatenate((first, rest)) if fill else first",
        "return np.concatenate((first, rest))",
    ),
    Mutant(
        "keys never asked take no budget that others leave",
        "refresh/election",
        "first = first[: max(min(quota, budget), budget - len(others))]",
        "first = first[: min(quota, budget)]",
    ),
    Mutant(
        "a budget of one never reaches keys never asked",
        "refresh/election",
        "quota = max(1, int(policy.first_share * budget)) if policy.first_share else 0",
        "quota = int(policy.first_share * budget)",
    ),
    Mutant(
        "ties are ordered by key alone",
        "refresh/candidates",
        '    by_key.sort(key=attrgetter("tie"))\n',
        "",
    ),
    Mutant(
        "alpha weighs the other side",
        "refresh/policies",
        'on_filter = alpha if side == "filter" else 1 - alpha',
        'on_filter = 1 - alpha if side == "filter" else alpha',
    ),
)
