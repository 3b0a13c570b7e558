"""Bodies that are a plan of operators, and their compiled form, which a cache keeps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.definition import Body, Members
from weir.definitions.fingerprint import plan_fingerprint, shape
from weir.definitions.plan_json import NotAPlan, decoded, encoded
from weir.lake.tables import QUADS, TRIPLES
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, Seed, seeds
from weir.plan.operators import PlanNode
from weir.plan.parameterized import parameterized
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.timeline.axis import EPOCHS, Axis

if TYPE_CHECKING:
    from weir.engine.plan_delta import PlanDelta
    from weir.plan.origins import Origins
    from weir.timeline.evaluation import LegInputs


class CompiledPlan(BaseModel):
    """What stages need of a plan, in the form it is cached.

    Attributes:
        columns: the published columns, in order, each with that of the embedding table.
        width: how many such columns the embedding table has.
        is_set: whether the answer has each row once.
        reads: the logs of the graph that the plan reads, by table name.
        fingerprint: of the plan.
        shape: of the plan.
        parameters: the constants in which the plan differs from others of its shape.
        seeds: the triple patterns whose changes concern it, those in windows among them.
        whole_reads: ids of the nodes that look at all of their children's stored rows.
        plan: the plan as JSON (`weir.definitions.plan_json`), decoded only to compute with it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    columns: tuple[tuple[str, str], ...]
    width: int
    is_set: bool
    reads: frozenset[str]
    fingerprint: str
    shape: str
    parameters: tuple[str, ...]
    seeds: tuple[Seed, ...]
    whole_reads: tuple[str, ...]
    plan: str

    @classmethod
    def fields_of(cls, plan: Plan, axis: Axis = EPOCHS) -> dict[str, Any]:
        """The fields of a plan, by name; a subclass has more."""
        return {
            "columns": plan.columns,
            "width": plan.width,
            "is_set": plan.is_set,
            "reads": logs_of(component.scope for component in plan.components),
            "fingerprint": plan_fingerprint(plan, axis),
            "shape": shape(plan, axis),
            "parameters": parameterized(plan)[1],
            "seeds": seeds(plan.components),
            "whole_reads": tuple(plan.ids[node] for node in plan.whole_reads),
            "plan": encoded(plan),
        }


def logs_of(scopes: Iterable[Scope]) -> frozenset[str]:
    """The logs of the graph that scopes read, by table name.

    The union of all graphs has a log of its own; what windows read is not of the graph.
    """
    of_graph = [scope for scope in scopes if scope.window is None and not scope.is_derived]
    unions = {scope.has_union for scope in of_graph}
    return frozenset(TRIPLES.name if is_union else QUADS.name for is_union in unions)


AnyCompiled = TypeVar("AnyCompiled", bound=CompiledPlan)


def compiled_or_cached(
    model: type[AnyCompiled],
    name: str,
    source: bytes,
    cache: CompilationCache | None,
    compile_source: Callable[[], AnyCompiled],
) -> AnyCompiled:
    """The compiled form of a file; one that the cache does not have is added to it.

    Args:
        model: the compiled form.
        name: of the definition.
        source: the content of the file.
        cache: what earlier runs compiled.
        compile_source: compiles it.
    """
    text = None if cache is None else cache.find(name, source)
    if text is not None:
        try:
            return model.model_validate_json(text)
        except ValidationError:
            # It was written by other means.
            pass
    compiled = compile_source()
    if cache is not None:
        cache.store(name, source, compiled.model_dump_json())
    return compiled


@dataclass(frozen=True)
class PlanBody(Body):
    """A plan; compiled: has it as JSON; derived: by IRI, the derived graphs that it names."""

    compiled: CompiledPlan
    derived: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    @abstractmethod
    def compile(self) -> CompiledPlan:
        """The compiled form again, from the text of its file."""

    @cached_property
    def plan(self) -> Plan:
        """The operators that compute the answer."""
        try:
            plan = decoded(self.compiled.plan)
        except NotAPlan:
            # The cache was written by other means: the text decides.
            plan = decoded(self.compile().plan)
        return plan.map_nodes(self._over_derived) if self.derived else plan

    def _over_derived(self, node: PlanNode) -> PlanNode:
        if not isinstance(node, Component):
            return node
        return replace(node, scope=node.scope.over(dict(self.derived)))

    @property
    def seeds(self) -> Sequence[Seed]:
        """The triple patterns whose changes concern it; no plan is decoded."""
        if not self.derived:
            return self.compiled.seeds
        names = dict(self.derived)
        return [replace(seed, scope=seed.scope.over(names)) for seed in self.compiled.seeds]

    def over(self, derived: Mapping[str, str]) -> Self:
        """The same plan, over derived graphs."""
        return replace(self, derived=tuple(sorted(derived.items())))

    @property
    def origins(self) -> Origins:
        """Where the columns of the plan come from."""
        # Most runs do not ask for it.
        from weir.plan.origins import origins

        return origins(self.plan)

    @property
    def quotients(self) -> frozenset[str]:
        """The columns of the plan that have quotients."""
        from weir.plan.quotients import quotients

        return quotients(self.plan)

    @property
    def components(self) -> Sequence[Component]:
        """The segments of its patterns."""
        return self.plan.components

    @property
    def lookups(self) -> Sequence[Lookup]:
        """What its changes lead to in the graph."""
        return self.plan.lookups

    @property
    def whole_reads(self) -> Sequence[str]:
        """The ids of the nodes that look at all of their children's stored rows."""
        return self.compiled.whole_reads

    @property
    def reads_stored(self) -> bool:
        """Whether an operator needs the rows of its children that are stored."""
        return len(self.plan.stored) > 1

    @property
    def variables(self) -> Sequence[str]:
        """The names of the variables of the plan."""
        return self.plan.names

    @property
    def shape(self) -> str | None:
        """A hash of the parameterized plan: equal for plans that differ in constants only."""
        return self.compiled.shape

    def delta(self, leg: LegInputs) -> PlanDelta:
        """The new rows of every stored node of the plan."""
        # What only reads definitions does not need the engine.
        from weir.timeline.evaluation import plan_rows

        return plan_rows(self.plan, leg)

    def together(self, members: Mapping[str, Body]) -> Members:
        """The plan of queries of this shape."""
        from weir.engine.members import members_table
        from weir.plan.members import plan_of_members
        from weir.timeline.evaluation import plan_rows

        general, _ = parameterized(self.plan)
        bodies = [body for body in members.values() if isinstance(body, PlanBody)]
        group = plan_of_members(general, [body.compiled.parameters for body in bodies])
        rows = partial(plan_rows, group.plan, allow_product=general.allow_product)
        return Members(members_table([*members], group), rows)
