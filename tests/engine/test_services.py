"""SERVICE: the answer over the mappings that the replicas have."""

from __future__ import annotations

import pytest

from tests.support.laws import Seeds
from tests.support.services.cases import FilterWriter, service_case
from tests.support.services.laws import broken_laws, broken_laws_of_pushing


@pytest.mark.law("services")
def test_the_answer_is_that_over_the_mappings_of_the_replicas(seeds: Seeds) -> None:
    """Of queries with 20 histories each."""
    seeds.check(lambda seed: broken_laws(service_case(seed)))


@pytest.mark.law("pushed filters")
def test_the_answer_is_the_same_if_remotes_are_given_filters(seeds: Seeds) -> None:
    """Of queries with 20 histories each."""
    seeds.check(lambda seed: broken_laws_of_pushing(service_case(seed, FilterWriter)))
