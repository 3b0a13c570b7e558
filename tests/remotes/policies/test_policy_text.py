"""Policies as users write them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from weir.errors import EXIT_USAGE
from weir.remotes.policies.policies import (
    Aggregated,
    Alone,
    Banded,
    Declared,
    FilterDistance,
    Lru,
    Online,
    Rnd,
    Wbm,
)
from weir.remotes.policies.policy_options import PolicyError
from weir.remotes.policies.policy_text import NAMES, policy_of


def test_every_name_is_read_with_its_defaults() -> None:
    for name in NAMES:
        policy = policy_of(name, {"fdt": 500} if name.endswith(".F") else {})
        assert (policy.name, policy.first_share, policy.rate) == (name, 0.5, Online())


def test_names_stand_for_their_rules() -> None:
    assert policy_of("LRU").rule == Alone(Lru())
    assert policy_of("WBM", {"fill": False}).rule == Alone(Wbm(fill=False))
    assert policy_of("RND.F", {"fdt": 9, "seed": 3}).rule == Banded(Rnd(3), 9.0)
    assert policy_of("LRU.F+", {"alpha": 0.25}).rule == Aggregated(
        ((0.75, FilterDistance()), (0.25, Lru())), "minmax"
    )
    assert policy_of("WBM.F*", {"alpha": 0.25, "fill": False}).rule == Aggregated(
        ((0.75, FilterDistance()), (0.25, Wbm())), "minmax", expired_first=True, fill=False
    )
    assert policy_of("LRU+WBM+Filter", {"weights": {"LRU": 2, "WBM": 0, "Filter": 1}}).rule == (
        Aggregated(((2, Lru()), (0, Wbm()), (1, FilterDistance())))
    )


def test_alpha_is_on_the_filter_for_positions_and_on_the_other_side_for_minmax() -> None:
    def weight_of_filter(**options: object) -> float:
        rule = policy_of("LRU.F+", {"alpha": 0.25} | options).rule
        assert isinstance(rule, Aggregated)
        return rule.weighted[0][0]

    assert weight_of_filter() == 0.75
    assert weight_of_filter(mode="positions") == 0.25
    assert weight_of_filter(alpha_on="filter") == 0.25
    assert weight_of_filter(mode="positions", alpha_on="acqua") == 0.75


def test_rates_are_online_or_declared() -> None:
    declared = policy_of("WBM", {"rate": "declared", "interval": 600})
    assert declared.rate == Declared(600)
    assert policy_of("WBM", {"rate": "online"}).rate == Online()


@pytest.mark.parametrize(
    ("text", "options", "option", "message"),
    [
        ("LRUF+", {}, "", "'LRUF+' is not a policy. Did you mean LRU.F+? Use one of LRU, WBM"),
        ("lru.f+", {}, "", "Did you mean LRU.F+?"),
        ("LRU.F*", {}, "", "'LRU.F*' is not a policy"),
        ("Filter.F", {}, "", "'Filter.F' is not a policy"),
        ("", {}, "", "'' is not a policy"),
        ("WSJ", {}, "", "WSJ proposes the candidates of every policy"),
        ("LRU+FIFO", {}, "", "'FIFO' is not a ranking that can be aggregated"),
        ("LRU+", {}, "", "'LRU+' is not a policy. Did you mean LRU?"),
        ("LRU+LRU", {}, "", "LRU occurs twice. Give it a larger weight instead."),
        ("LRU.F", {}, "fdt", "LRU.F needs fdt. Add `fdt`, a number >= 0."),
        ("LRU.F", {"fdt": -1}, "fdt", "fdt is -1. Write a number >= 0."),
        ("LRU", {"alpha": 0.5}, "alpha", "LRU has no option 'alpha'. Its options are first_share"),
        ("LRU.F+", {"aplha": 0.5}, "aplha", "Its options are alpha, alpha_on, first_share, mode"),
        ("LRU.F+", {"alpha": 2}, "alpha", "alpha is 2. Write a number from 0 to 1 or dynamic."),
        ("LRU.F+", {"alpha": True}, "alpha", "alpha is True."),
        ("LRU.F+", {"alpha": "high"}, "alpha", "alpha is 'high'."),
        ("LRU.F+", {"alpha": float("nan")}, "alpha", "alpha is nan."),
        ("LRU.F+", {"alpha_on": "lru"}, "alpha_on", "Write acqua or filter."),
        ("LRU.F+", {"mode": "borda"}, "mode", "Write minmax or positions."),
        ("LRU.F+", {"grid": [0.1, 0.2]}, "grid", "LRU.F+ has no option 'grid'"),
        ("LRU.F+", {"alpha": "dynamic", "grid": [2, 3]}, "grid", "at least two numbers from 0"),
        ("LRU.F+", {"alpha": "dynamic", "grid": "0.1"}, "grid", "a list of at least two numbers"),
        ("LRU.F+", {"fill": True}, "fill", "LRU.F+ has no option 'fill'"),
        ("WBM", {"fill": "no"}, "fill", "fill is 'no'. Write true or false."),
        ("RND", {"seed": -1}, "seed", "Write a whole number >= 0."),
        ("LRU", {"seed": 1}, "seed", "LRU has no option 'seed'"),
        ("LRU", {"first_share": 1.5}, "first_share", "Write a number from 0 to 1."),
        ("LRU", {"rate": "oracle"}, "rate", "Write declared or online."),
        ("LRU", {"rate": "declared"}, "interval", "Add `interval`, a number > 0."),
        ("LRU", {"rate": "declared", "interval": 0}, "interval", "Write a number > 0."),
        ("LRU", {"interval": 60}, "interval", "LRU has no option 'interval'"),
        ("LRU+WBM", {"weights": {"LRU": 1}}, "weights", "Write a number for each of LRU, WBM."),
        ("LRU+WBM", {"weights": {"LRU": 0, "WBM": 0}}, "weights", "one of them positive"),
        ("LRU+WBM", {"weights": [1, 2]}, "weights", "a number for each of LRU, WBM"),
    ],
)
def test_mistakes_say_which_option_is_wrong_and_what_to_write(
    text: str, options: dict[str, object], option: str, message: str
) -> None:
    with pytest.raises(PolicyError) as raised:
        policy_of(text, options)
    assert raised.value.option == option
    assert message in str(raised.value)
    assert raised.value.exit_code == EXIT_USAGE


def test_policies_are_read_without_numpy() -> None:
    """The command line reads them at every start."""
    code = "import sys, weir.remotes.policies.policy_text; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
