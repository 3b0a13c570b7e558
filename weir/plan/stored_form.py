"""The form in which the values of a plan enter its fingerprint: tags and field names that last.

A lake stores the fingerprint of each query beside the rows of its nodes, and a query whose
fingerprint differs is computed from scratch. So a fingerprint must not change because a class or a
field of it is renamed: the names here are those that existing lakes have. The three joins that keep
rows of their left side are stored as one tag, `Match`, with the kind in `which`.

A new class gets a line of its own. A line that exists is never changed: stored rows of equal nodes
that were wrong are recomputed by raising `PLAN_FORMAT`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from weir.plan import leaves, operators
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Call, Constant, Variable
from weir.sparql.algebra.patterns import TriplePattern


@dataclass(frozen=True, slots=True)
class _Form:
    """The stored form of a class.

    Attributes:
        tag: its name.
        names: the stored names of fields that are called otherwise.
        constants: fields that the class does not have, with the value that they have for it.
        added: fields that were added later, with the value at which they are left out.
    """

    tag: str
    names: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, object] = field(default_factory=dict)
    added: Mapping[str, object] = field(default_factory=dict)


_FORMS: Mapping[type, _Form] = {
    leaves.Component: _Form("Component"),
    leaves.Values: _Form("Values"),
    Scope: _Form("Scope", added={"window": None, "webs": (), "derived": ()}),
    operators.Product: _Form("Product", added={"correlated": ()}),
    operators.Join: _Form("Join"),
    operators.LeftJoin: _Form("LeftJoin"),
    operators.SemiJoin: _Form(
        "Match", constants={"which": "matched", "overlapping": (), "flag": None}
    ),
    operators.AntiJoin: _Form("Match", constants={"which": "unmatched", "flag": None}),
    operators.MarkJoin: _Form("Match", constants={"which": "all", "overlapping": ()}),
    operators.Union: _Form("Union"),
    operators.Filter: _Form("Filter"),
    operators.Extend: _Form("Extend"),
    operators.Project: _Form("Project"),
    operators.Distinct: _Form("Distinct"),
    operators.Group: _Form("Group", names={"aggregates": "folds"}),
    operators.Aggregate: _Form("Fold"),
    operators.Slice: _Form("Slice"),
    operators.SortKey: _Form("SortKey"),
    operators.Closure: _Form("Closure"),
    operators.Ask: _Form("Ask"),
    operators.Instantiate: _Form("Instantiate"),
    TriplePattern: _Form("TriplePattern"),
    Variable: _Form("Variable"),
    Constant: _Form("Constant"),
    Call: _Form("Call"),
}


def stored_form(value: object) -> tuple[str, dict[str, object]]:
    """The tag of a value of a plan, and its fields by their stored names.

    Raises:
        TypeError: a plan does not hold such a value.
    """
    form = _FORMS.get(type(value))
    if form is None:
        raise TypeError(f"a plan does not hold a {type(value).__name__}")
    stored = {
        form.names.get(own.name, own.name): getattr(value, own.name)
        for own in fields(value)  # type: ignore[arg-type]
        if own.name not in form.added or getattr(value, own.name) != form.added[own.name]
    }
    return form.tag, {**form.constants, **stored}
