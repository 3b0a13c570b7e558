"""Random elections: few and small numbers, so that ties and missing values are frequent."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.oracles.elections import Instant, Key
from weir.remotes.policies.candidates import Candidate, Evaluation
from weir.remotes.policies.policies import Policy
from weir.remotes.policies.policy_text import policy_of

Written = tuple[str, Mapping[str, object]]


@dataclass(frozen=True)
class ElectionCase:
    """Candidates at an instant, and a policy as it is written."""

    keys: tuple[Key, ...]
    now: Instant
    written: Written

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates as the project has them."""
        return [
            Candidate(key.name, key.asked, key.seen, key.interval, key.distances, key.tie)
            for key in self.keys
        ]

    @property
    def evaluation(self) -> Evaluation:
        """The instant as the project has it."""
        return Evaluation(self.now.at, self.now.window, self.now.slide)

    @property
    def policy(self) -> Policy:
        """The policy as the project reads it."""
        return policy_of(*self.written)


def election_case(seed: int) -> ElectionCase:
    """The case of a seed. Distinct names, ties of all kinds."""
    pick = random.Random(seed)
    at = pick.randrange(40, 60)
    window = pick.choice((None, 10, 30))
    filters = pick.choice((1, 1, 1, 0, 2))
    missing = pick.choice((0.0, 0.0, 0.2))
    never = pick.choice((0.0, 0.0, 0.3, 1.0))
    ties = pick.choice((1, 3, 1000))
    spread = pick.choice((4, 40, 100_000))

    def sometimes(value: int, probability: float) -> int | None:
        return None if pick.random() < probability else value

    names = pick.sample(range(1000), pick.choice((0, 1, 2, 5, 12)))
    keys = tuple(
        Key(
            f"k{name:03}",
            sometimes(pick.randrange(at - 20, at + 2), never),
            None if window is None else pick.randrange(at - window + 1, at + 1),
            sometimes(pick.randrange(1, pick.choice((4, 50))), missing),
            tuple(sometimes(pick.randrange(spread), missing) for _ in range(filters)),
            pick.randrange(ties),
        )
        for name in names
    )
    return ElectionCase(keys, Instant(at, window, pick.choice((1, 7))), written_policy(pick))


def written_policy(pick: random.Random) -> Written:
    """A policy other than RND, with options."""
    alphas = (0, 0.167, 0.2, 0.333, 0.5, 0.667, 0.833, 1)
    options: dict[str, object] = {}
    text = pick.choice(
        ("LRU", "WBM", "Filter", "LRU.F", "WBM.F", "LRU.F+", "LRU.F+", "WBM.F+", "WBM.F*", "+")
    )
    if text == "+":
        names = pick.sample(("LRU", "WBM", "Filter"), pick.choice((2, 3)))
        text = "+".join(names)
        weights = {name: pick.choice((0, 0.5, 1, 2)) for name in names}
        if any(weights.values()):
            options["weights"] = weights
    if text.endswith(".F"):
        options["fdt"] = pick.choice((0, 3, 20, 50_000, math.inf))
    if text.startswith("WBM") and text[3:] in ("", ".F", ".F*"):
        options["fill"] = pick.choice((True, False))
    if text.endswith((".F+", ".F*")):
        options["alpha"] = pick.choice(alphas)
        if pick.random() < 0.5:
            options["alpha_on"] = pick.choice(("acqua", "filter"))
    if "+" in text or text.endswith("*"):
        options["mode"] = pick.choice(("minmax", "positions"))
    if pick.random() < 0.3:
        options["first_share"] = pick.choice((0, 0.25, 1))
    return text, options
