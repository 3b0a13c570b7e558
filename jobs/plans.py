"""The plan of a registered query, and what its stored nodes depend on."""

from __future__ import annotations

from jobs.plan.lower import PLAN_FORMAT, lower
from jobs.plan.plan import Plan
from jobs.registry import RegisteredQuery


def plan_of(query: RegisteredQuery) -> Plan:
    """The plan of a registered query."""
    return lower(query.query, allow_product=query.front_matter.allow_product)


def fingerprint(query: RegisteredQuery) -> str:
    """What the stored nodes of a query depend on: its meaning and the format of plans."""
    return f"{PLAN_FORMAT}:{query.fingerprint}"
