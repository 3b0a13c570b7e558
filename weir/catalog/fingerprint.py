"""The fingerprint of a plan: what the stored rows of its nodes depend on; and its shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from weir.catalog.windowing import Windowing
from weir.plan.lower import PLAN_FORMAT
from weir.plan.operators import PlanNode
from weir.plan.parameterized import parameterized
from weir.plan.plan import Plan
from weir.plan.stored_form import stored_form
from weir.sparql.recursion import deep_recursion

_Json = str | int | bool | None | list["_Json"] | dict[str, "_Json"]


@deep_recursion()
def fingerprint(plan: Plan, windowing: Windowing | None = None) -> str:
    """SHA-256 of what the stored rows of a plan depend on, hexadecimal.

    Args:
        plan: the plan.
        windowing: the windows that it reads, None without any.

    That is every node with its columns, under which ids nodes are stored, and which columns are
    published under which names. So an edit of white space, comments, prefixes or the names of
    variables that are not published keeps the stored rows; one that moves a column or an id has
    them recomputed, even if the answer stays the same: in the old rows, `v0` is another variable.
    """
    numbers = {node: number for number, node in enumerate(plan.ids)}
    depends_on: _Json = [
        PLAN_FORMAT,
        [_fields(node, numbers) for node in numbers],
        [plan.ids[node] for node in numbers],
        [plan.ids[node] for node in plan.stored],
        plan.width,
        _plain(plan.columns, numbers),
        plan.is_set,
        *_asked(plan),
        *_windows(windowing),
    ]
    return _hashed(depends_on)


@deep_recursion()
def shape(plan: Plan, windowing: Windowing | None = None) -> str:
    """SHA-256 of a parameterized plan, hexadecimal: equal for plans that differ in constants only.

    Args:
        plan: the plan.
        windowing: the windows that it reads, None without any.

    Queries of one shape are computed together, by the same statements. No lake stores it.
    """
    general, _ = parameterized(plan)
    numbers = {node: number for number, node in enumerate(general.ids)}
    nodes: _Json = [_fields(node, numbers) for node in numbers]
    return _hashed([nodes, general.width, general.allow_product, *_windows(windowing)])


def _asked(plan: Plan) -> list[_Json]:
    asked: list[_Json] = [[pattern, plan.ids[node]] for pattern, node in plan.asked]
    return [asked] if asked else []


def _windows(windowing: Windowing | None) -> list[_Json]:
    return [] if windowing is None else [windowing.stored_form()]


def _hashed(value: _Json) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: object, numbers: Mapping[PlanNode, int]) -> _Json:
    """A value of a plan as JSON, a node as its number; equal ones give equal text in any process.

    Raises:
        TypeError: a plan holds something that is not made of frozen values.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case tuple():
            return [_plain(item, numbers) for item in value]
        case frozenset():
            # Strings hash differently in each process, and so does the order of a set.
            return sorted((_plain(item, numbers) for item in value), key=json.dumps)
        case _ if isinstance(value, PlanNode):
            return {"node": numbers[value]}
        case _:
            return _fields(value, numbers)


def _fields(value: object, numbers: Mapping[PlanNode, int]) -> _Json:
    tag, fields = stored_form(value)
    return {"": tag, **{name: _plain(field, numbers) for name, field in fields.items()}}
