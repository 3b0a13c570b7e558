"""The dataset of a traversal over random webs is that of a search over the servers' answers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable

import pytest

from tests.traversals.served import until
from tests.traversals.webs import (
    HOSTS,
    Described,
    Oracle,
    Web,
    change,
    random_iri,
    random_limits,
    random_rules,
    random_web,
)
from weir.traversals.frontier import Frontier, Traversal, hosts_of
from weir.traversals.known import Answer, Content, Missing, NotModified, Redirect
from weir.traversals.rules import Rules


def answer(web: Web, frontier: Frontier, iri: str, rules: Rules, expires_at: float) -> Answer:
    """What a server says, conditionally if the page has content."""
    now = web.at(iri)
    if isinstance(now, int):
        return Missing(now == 410, expires_at)
    if isinstance(now, str):
        return Redirect(now, expires_at, isinstance(now, Described))
    digest = hashlib.sha256(repr(now).encode()).hexdigest()
    known = frontier.known.get(iri)
    if known is not None and known.digest == digest:
        return NotModified(until(expires_at))
    return Content(digest, rules.links(now), until(expires_at))


def evaluate(
    web: Web, frontier: Frontier, rules: Rules, rng: random.Random, now: float, lifetime: float
) -> None:
    while wave := frontier.wave(now):
        rng.shuffle(wave)
        for iri in wave:
            frontier.take(iri, answer(web, frontier, iri, rules, now + lifetime), now)
        frontier.grow()
    frontier.finish(now)


@pytest.mark.law("webs")
def test_the_dataset_is_that_of_a_breadth_first_search(seeds: Iterable[int]) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        size = rng.randint(3, 25)
        web, rules, limits = (
            random_web(rng, size),
            random_rules(rng, size),
            random_limits(rng, size),
        )
        start = tuple({random_iri(rng, size) for _ in range(rng.randint(1, 3))})
        hosts = HOSTS[: rng.randint(1, 3)]
        traversal = Traversal(start, rules, limits, hosts_of(hosts, start), 0.0, 1)
        frontier = Frontier(traversal)
        lifetime = rng.choice((0.0, 0.0, 5.0))
        for step in range(11):
            now = 100.0 + 10 * step
            frontier = Frontier(traversal, frontier.known, frontier.members, frontier.suspects)
            evaluate(web, frontier, rules, rng, now, lifetime)
            dataset = {iri: set(member.aliases) for iri, member in frontier.members.items()}
            expected = Oracle(web, rules, limits, hosts).run(start)
            assert dataset == expected, (seed, step)
            change(rng, web, size)
