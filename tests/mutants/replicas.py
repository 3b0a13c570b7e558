"""The mutants of refresh policies."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

REPLICA_MUTANTS = (
    Mutant(
        "the key that was asked last is refreshed first",
        "remotes/policies/rankings",
        "            return by_value(age(candidates, evaluation))",
        "            return by_value(-age(candidates, evaluation))",
    ),
    Mutant(
        "a key expires after its best-before time",
        "remotes/policies/rankings",
        "until <= evaluation.at",
        "until < evaluation.at",
    ),
    Mutant(
        "best-before times do not order keys of equal value",
        "remotes/policies/rankings",
        "np.lexsort((times.until, -times.value))",
        "np.argsort(-times.value, kind='stable')",
    ),
    Mutant(
        "an interval that has begun does not count",
        "remotes/policies/rankings",
        "np.ceil(since / interval) * interval - since",
        "np.floor(since / interval) * interval - since",
    ),
    Mutant(
        "the window is not part of what remains of a key",
        "remotes/policies/rankings",
        "candidates.last_seen + evaluation.window - evaluation.at",
        "candidates.last_seen - evaluation.at",
    ),
    Mutant(
        "ages are negative after the clock was set back",
        "remotes/policies/rankings",
        "np.maximum(evaluation.at - candidates.asked_at, 0.0)",
        "evaluation.at - candidates.asked_at",
    ),
    Mutant(
        "the first filter stands for all",
        "remotes/policies/rankings",
        "    least: Numbers = distances.min(axis=1, initial=np.inf)",
        "    least: Numbers = distances[:, 0]",
    ),
    Mutant(
        "positions count from the wrong end",
        "remotes/policies/aggregation",
        "np.arange(count, 0, -1)",
        "np.arange(1, count + 1)",
    ),
    Mutant(
        "a ranking of weight 0 breaks ties",
        "remotes/policies/aggregation",
        "if weight > 0]",
        "if weight >= 0]",
    ),
    Mutant(
        "the band excludes its border",
        "remotes/policies/election",
        "np.flatnonzero(distance <= fdt)",
        "np.flatnonzero(distance < fdt)",
    ),
    Mutant(
        "keys of unknown distance are never refreshed",
        "remotes/policies/election",
        "for rows in (band, unknown)",
        "for rows in (band,)",
    ),
    Mutant(
        "what has not expired comes first",
        "remotes/policies/election",
        "return np.flatnonzero(expired), np.flatnonzero(~expired)",
        "return np.flatnonzero(~expired), np.flatnonzero(expired)",
    ),
    Mutant(
        "budget is always filled",
        "remotes/policies/election",
        "return np.concatenate((first, rest)) if fill else first",
        "return np.concatenate((first, rest))",
    ),
    Mutant(
        "keys never asked take no budget that others leave",
        "remotes/policies/election",
        "first = first[: max(min(quota, budget), budget - len(others))]",
        "first = first[: min(quota, budget)]",
    ),
    Mutant(
        "a budget of one never reaches keys never asked",
        "remotes/policies/election",
        "quota = max(1, int(policy.first_share * budget)) if policy.first_share else 0",
        "quota = int(policy.first_share * budget)",
    ),
    Mutant(
        "ties are ordered by key alone",
        "remotes/policies/candidates",
        '    by_key.sort(key=attrgetter("tie"))\n',
        "",
    ),
    Mutant(
        "alpha weighs the other side",
        "remotes/policies/policies",
        'on_filter = alpha if side == "filter" else 1 - alpha',
        'on_filter = 1 - alpha if side == "filter" else alpha',
    ),
)
