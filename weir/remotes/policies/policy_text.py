"""Policies as users write them: a name such as `LRU.F+` and options beside it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from weir.remotes.policies.policies import (
    ALPHA,
    ALPHAS,
    DEFAULT_SIDE,
    FIRST_SHARE,
    LEARNING_RATE,
    Aggregated,
    Alone,
    Banded,
    Declared,
    FilterDistance,
    Learning,
    Lru,
    Mode,
    Online,
    Policy,
    Ranking,
    Rate,
    Rnd,
    Side,
    Wbm,
    aggregated,
)
from weir.remotes.policies.policy_options import Options, PolicyError

RANKINGS = ("LRU", "WBM", "RND", "Filter")
NAMES = (
    *RANKINGS,
    *(f"{name}.F" for name in RANKINGS[:3]),
    *(f"{name}.F+" for name in RANKINGS[:3]),
    "WBM.F*",
)
SHAPES = f"one of {', '.join(NAMES)}, or rankings joined by +, as in LRU+WBM+Filter"


def policy_of(text: str, options: Mapping[str, object] | None = None) -> Policy:
    """The policy of a name and its options.

    | option | of | default |
    | --- | --- | --- |
    | `first_share` | all | 0.5 |
    | `rate`: `online` or `declared`, the latter with `interval`, seconds | all | `online` |
    | `seed` | RND | 0 |
    | `fill` | WBM, WBM.F, WBM.F* | true |
    | `fdt` | .F | required |
    | `mode`: `minmax` or `positions` | .F+, .F*, A+B | `minmax` |
    | `alpha`: a number from 0 to 1, or `dynamic` | .F+, .F* | 0.2 |
    | `alpha_on`: `acqua` or `filter` | .F+, .F* | by `mode`: `acqua`, `filter` |
    | `grid`, `learning_rate` | `alpha: dynamic` | `ALPHAS`, 3 |
    | `weights`: a number per ranking | A+B | 1 each |

    Raises:
        PolicyError: the name is unknown, or an option is not known, missing or out of its range.
    """
    reader = Options(text, {} if options is None else options)
    share = reader.number("first_share", FIRST_SHARE, 0, 1)
    rate = _rate(reader)
    head, dot, kind = text.partition(".")
    if text in RANKINGS:
        policy = Policy(text, Alone(_ranking(text, reader)), share, rate)
    elif "+" in text and not dot:
        policy = Policy(text, _several(text, reader), share, rate)
    elif head in RANKINGS[:3] and kind == "F":
        ranking = _ranking(head, reader)
        policy = Policy(text, Banded(ranking, reader.number("fdt", None, 0, math.inf)), share, rate)
    elif (head in RANKINGS[:3] and kind == "F+") or text == "WBM.F*":
        policy = _two_sided(text, _ranking(head, reader, kind), reader)
        policy = replace(policy, first_share=share, rate=rate)
    else:
        raise _unknown_name(text)
    reader.refuse_others()
    return policy


def _two_sided(text: str, acqua: Ranking, reader: Options) -> Policy:
    mode: Mode = reader.choice("mode", ("minmax", "positions"))
    default = DEFAULT_SIDE[mode]
    side: Side = reader.choice("alpha_on", (default, "filter" if default == "acqua" else "acqua"))
    learning = None
    if reader.value("alpha") == "dynamic":
        grid = reader.numbers("grid", ALPHAS)
        learning = Learning(side, grid, reader.number("learning_rate", LEARNING_RATE, 0, math.inf))
        alpha = sorted(grid)[(len(grid) - 1) // 2]
    else:
        alpha = reader.number("alpha", ALPHA, 0, 1, " or dynamic")
    rule = aggregated(acqua, alpha, side, mode)
    if text.endswith("*"):
        rule = replace(rule, expired_first=True, fill=reader.flag("fill", True))
    return Policy(text, rule, learning=learning)


def _several(text: str, reader: Options) -> Aggregated:
    names = text.split("+")
    if not all(names):
        raise _unknown_name(text)
    for name in names:
        if name not in RANKINGS:
            raise PolicyError(
                "",
                f"{name!r} is not a ranking that can be aggregated",
                f"Use {', '.join(RANKINGS)}, joined by +.",
            )
        if names.count(name) > 1:
            raise PolicyError("", f"{name} occurs twice", "Give it a larger weight instead.")
    weights = reader.weights(names)
    weighted = tuple((weights[name], _ranking(name, reader, "+")) for name in names)
    return Aggregated(weighted, reader.choice("mode", ("minmax", "positions")))


def _ranking(name: str, reader: Options, kind: str = "") -> Ranking:
    match name:
        case "LRU":
            return Lru()
        case "WBM":
            # Aggregated, WBM is an order of all keys: there is nothing to fill.
            return Wbm(reader.flag("fill", True)) if kind in ("", "F") else Wbm()
        case "RND":
            return Rnd(reader.whole("seed", 0))
        case _:
            return FilterDistance()


def _rate(reader: Options) -> Rate:
    known: Literal["online", "declared"] = reader.choice("rate", ("online", "declared"))
    if known == "online":
        return Online()
    return Declared(reader.number("interval", None, 0, math.inf, above=True))


def _unknown_name(text: str) -> PolicyError:
    what = f"{text!r} is not a policy"
    if text.upper() == "WSJ":
        return PolicyError(
            "", what, "WSJ proposes the candidates of every policy; name how to rank them."
        )
    exact = {name.lower(): name for name in NAMES}
    near = difflib.get_close_matches(text.lower(), exact, n=1)
    hint = f"Did you mean {exact[near[0]]}? " if near else ""
    return PolicyError("", what, f"{hint}Use {SHAPES}.")
