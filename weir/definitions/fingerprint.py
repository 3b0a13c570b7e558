"""Fingerprints: what the stored rows of a definition depend on, as one hash; and shapes.

An edit of white space, comments or the places of statements keeps the stored rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping

from weir.plan.lower import PLAN_FORMAT
from weir.plan.operators import PlanNode
from weir.plan.parameterized import parameterized
from weir.plan.plan import Plan
from weir.plan.stored_form import stored_form
from weir.sparql.recursion import deep_recursion
from weir.timeline.axis import EPOCHS, Axis

Json = str | int | bool | None | list["Json"] | dict[str, "Json"]


def fingerprint(parts: list[Json]) -> str:
    """SHA-256 of what stored rows depend on, hexadecimal."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@deep_recursion()
def plan_fingerprint(plan: Plan, axis: Axis = EPOCHS) -> str:
    """The fingerprint of a query with a plan.

    It is of every node with its columns, under which ids nodes are stored, and which columns are
    published under which names. So an edit of prefixes or the names of variables that are not
    published keeps the stored rows; one that moves a column or an id has them recomputed, even if
    the answer stays the same: in the old rows, `v0` is another variable.
    """
    form = _PlanForm(plan)
    asked: list[Json] = [[pattern, plan.ids[node]] for pattern, node in plan.asked]
    return fingerprint(
        [
            PLAN_FORMAT,
            form.nodes,
            [plan.ids[node] for node in form.numbers],
            [plan.ids[node] for node in plan.stored],
            plan.width,
            form.plain(plan.columns),
            plan.is_set,
            *([asked] if asked else []),
            *axis.identity,
        ]
    )


@deep_recursion()
def shape(plan: Plan, axis: Axis = EPOCHS) -> str:
    """The hash of a parameterized plan: equal for plans that differ in constants only.

    Queries of one shape are computed together, by the same statements. No lake stores it.
    """
    general, _ = parameterized(plan)
    return fingerprint(
        [_PlanForm(general).nodes, general.width, general.allow_product, *axis.identity]
    )


def plain(value: object, form: Callable[[object], Json]) -> Json:
    """A frozen value as JSON; equal ones give equal text in any process.

    Args:
        value: anything.
        form: gives the JSON of a value that is neither plain nor a collection.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case tuple():
            return [plain(item, form) for item in value]
        case frozenset():
            # Strings hash differently in each process, and so does the order of a set.
            return sorted((plain(item, form) for item in value), key=json.dumps)
        case _:
            return form(value)


class _PlanForm:
    """The JSON of the nodes of a plan, in which a node is its number."""

    def __init__(self, plan: Plan) -> None:
        self.numbers: Mapping[PlanNode, int] = {
            node: number for number, node in enumerate(plan.ids)
        }
        self.nodes: Json = [self._fields(node) for node in self.numbers]

    def plain(self, value: object) -> Json:
        return plain(value, self._form)

    def _form(self, value: object) -> Json:
        return {"node": self.numbers[value]} if isinstance(value, PlanNode) else self._fields(value)

    def _fields(self, value: object) -> Json:
        tag, fields = stored_form(value)
        return {"": tag, **{name: self.plain(field) for name, field in fields.items()}}
