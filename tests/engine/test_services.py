"""SERVICE: the answer over the mappings that the replicas have."""

from __future__ import annotations

import pytest

from tests.support.laws import Seeds
from tests.support.services.cases import service_case
from tests.support.services.laws import broken_laws


@pytest.mark.law("services")
def test_the_answer_is_that_over_the_mappings_of_the_replicas(seeds: Seeds) -> None:
    """Of queries with 20 histories each."""
    seeds.check(lambda seed: broken_laws(service_case(seed)))
