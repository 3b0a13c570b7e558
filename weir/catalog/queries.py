"""Registered queries: `queries/*.rq`, SPARQL or RSP-QL with a `#+` YAML front matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, assert_never

from pydantic import BaseModel, ConfigDict, ValidationError

from weir.catalog.compilation_cache import CompilationCache
from weir.catalog.fingerprint import fingerprint, shape
from weir.catalog.front_matter import (
    FrontMatter,
    check_keys_without_windows,
    check_staleness,
    check_window_keys,
    read_front_matter,
)
from weir.catalog.maintained import Form, Limits, Output
from weir.catalog.names import Declaration, Kind
from weir.catalog.plan_json import NotAPlan, decoded, encoded
from weir.catalog.services import AskedBlock, RemoteName, Services, asked_blocks, remote_names
from weir.catalog.windowing import Upstream, Windowing
from weir.catalog.yaml_head import places_of
from weir.errors import ConfigurationError
from weir.files.text import decoded_text
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS, QUADS, STREAM_ANSWER_COLUMNS, TRIPLES
from weir.plan.lookups import Seed, Shape, seeds
from weir.plan.parameterized import parameterized
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.sparql.algebra.non_empty import where_windows_have_content
from weir.sparql.algebra.queries import Ask, Construct, Query, Select
from weir.sparql.algebra.windows import CountWindow, Registration, TimeWindow, WindowClause


class CompiledQuery(BaseModel):
    """The result of parsing and lowering a query: what stages need of it, in the form it is cached.

    Attributes:
        front_matter: the `#+` lines.
        form: what the rows of the answer are.
        presentation: parts of the text without effect on a maintained answer.
        columns: the published columns, in order.
        reads: the logs of the graph that the plan reads, by table name.
        fingerprint: of the plan.
        shape: of the plan.
        parameters: the constants in which the plan differs from others of its shape.
        seeds: the triple patterns whose changes concern the query, those in windows among them.
        whole_reads: ids of the nodes that look at all of their children's stored rows.
        plan: the plan as JSON (`weir.catalog.plan_json`), decoded only where it is computed with.
        windows: the windows that the query declares, in the order of the text.
        registration: the stream that it publishes, None if its text says nothing of one.
        asked: what its blocks of SERVICE ask of remotes.
        remotes: the remotes that it names, in the order of the text.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    front_matter: FrontMatter
    form: Form
    presentation: tuple[str, ...]
    columns: tuple[str, ...]
    reads: frozenset[str]
    fingerprint: str
    shape: str
    parameters: tuple[str, ...]
    seeds: tuple[Seed, ...]
    whole_reads: tuple[str, ...]
    plan: str
    windows: tuple[WindowClause, ...] = ()
    registration: Registration | None = None
    asked: tuple[AskedBlock, ...] = ()
    remotes: tuple[RemoteName, ...] = ()


@dataclass(frozen=True)
class RegisteredQuery:
    """A query that Weir maintains (`weir.catalog.maintained.Maintained`).

    upstreams: the queries that give the streams of its windows, those of sources aside.
    """

    kind: ClassVar[Kind] = "query"

    name: str
    file: Path
    text: str
    compiled: CompiledQuery
    upstreams: tuple[Upstream, ...] = ()

    @property
    def front_matter(self) -> FrontMatter:
        """What the `#+` lines say."""
        return self.compiled.front_matter

    @property
    def description(self) -> str:
        """What the query is for, one sentence, or empty."""
        return self.front_matter.description

    @property
    def presentation(self) -> tuple[str, ...]:
        """Parts of the text without effect on the maintained answer."""
        return self.compiled.presentation

    @property
    def history(self) -> Literal["current", "full"]:
        """What it starts with: the current answer as one delta, or one delta per epoch."""
        return self.front_matter.history

    @property
    def fingerprint(self) -> str:
        """Of what the stored rows depend on."""
        return self.compiled.fingerprint

    @property
    def shape(self) -> str:
        """Of the plan: equal for queries that differ in constants only."""
        return self.compiled.shape

    @property
    def parameters(self) -> tuple[str, ...]:
        """The constants in which the plan differs from others of its shape."""
        return self.compiled.parameters

    @property
    def seeds(self) -> tuple[Seed, ...]:
        """The triple patterns whose changes concern the query."""
        return self.compiled.seeds

    @property
    def patterns(self) -> tuple[tuple[frozenset[str], Shape], ...]:
        """The shapes of its triple patterns, each with the window that may have such triples."""
        windows = ((seed.scope.window, seed.shape) for seed in self.seeds)
        return tuple((frozenset([window] if window else []), shape) for window, shape in windows)

    @property
    def whole_reads(self) -> tuple[str, ...]:
        """The ids of the nodes that look at all of their children's stored rows."""
        return self.compiled.whole_reads

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The published columns in order, each with the column of the embedding table."""
        return self.plan.columns

    @property
    def width(self) -> int:
        """How many variables the embedding table has."""
        return self.plan.width

    @property
    def is_set(self) -> bool:
        """Whether the answer has each row once."""
        return self.plan.is_set

    @property
    def predicates(self) -> Mapping[str, tuple[str, ...]]:
        """None."""
        return {}

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The answer table."""
        compiled, said = self.compiled, self.front_matter
        limits = Limits(
            said.max_rows,
            said.min_rows,
            # The rows of a query over streams have instants: none is deleted but by a correction.
            said.max_change if self.windowing is None else None,
            places_of(("max_rows", "min_rows", "max_change"), self.text, "#", self.file),
        )
        return (Output(ANSWERS.name(self.name), compiled.columns, compiled.form, limits),)

    @property
    def reads(self) -> frozenset[str]:
        """The logs of the graph that its patterns outside of windows see."""
        return self.compiled.reads

    @property
    def windows(self) -> tuple[WindowClause, ...]:
        """The windows that it declares, in the order of the text."""
        return self.compiled.windows

    @property
    def windowing(self) -> Windowing | None:
        """The windows that it reads, with what decides when they close; None without any."""
        operator = None if self.registration is None else self.registration.operator
        found = Windowing.of(self.windows, self.front_matter, operator)
        return found and replace(found, upstreams=self.upstreams)

    @property
    def registration(self) -> Registration | None:
        """The stream that it publishes, None if its text says nothing of one."""
        return self.compiled.registration

    @property
    def services(self) -> Services:
        """What it reads of remotes."""
        compiled = self.compiled
        return Services(compiled.asked, compiled.remotes, self.front_matter.staleness)

    @cached_property
    def plan(self) -> Plan:
        """The operators that compute the answer."""
        try:
            return decoded(self.compiled.plan)
        except NotAPlan:
            # The cache was written by other means: the text decides.
            return decoded(compile_query(self.text, str(self.file)).plan)


def read_query(
    declaration: Declaration, source: bytes, cache: CompilationCache | None = None
) -> RegisteredQuery:
    """The query that a file declares.

    Args:
        declaration: the file.
        source: its content.
        cache: compiled queries of earlier runs; a missing one is added.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or query.
    """
    file = declaration.file
    text = decoded_text(source, file)
    cached = cache.find(declaration.name, source) if cache is not None else None
    compiled = None if cached is None else _validated(cached)
    if compiled is None:
        compiled = compile_query(text, str(file))
        if cache is not None:
            cache.store(declaration.name, source, compiled.model_dump_json())
    return RegisteredQuery(declaration.name, file, text, compiled)


def compile_query(text: str, file: str) -> CompiledQuery:
    """Parse and lower a query text.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or query.
    """
    # rdflib's grammar alone takes longer to import than all that a run without new texts does.
    from weir.plan.lower import lower
    from weir.sparql.frontend.translate import translate

    front_matter = read_front_matter(text, file)
    query = translate(text, front_matter.default_graph, file)
    _check_columns(query, text, file)
    if query.windows:
        check_keys_without_windows(front_matter, text, file)
    else:
        check_window_keys(front_matter, text, file)
    if not query.remotes:
        check_staleness(front_matter, text, file)
    _refuse_not_maintained(query, text, file)
    operator = None if query.registration is None else query.registration.operator
    windowing = Windowing.of(query.windows, front_matter, operator)
    if front_matter.report == "non_empty":
        query = where_windows_have_content(query)
    plan = lower(query, allow_product=front_matter.allow_product)
    return CompiledQuery(
        front_matter=front_matter,
        form=_form(query),
        presentation=query.presentation,
        columns=tuple(name for name, _ in plan.columns),
        reads=_logs(component.scope for component in plan.components),
        fingerprint=fingerprint(plan, windowing),
        shape=shape(plan, windowing),
        parameters=parameterized(plan)[1],
        seeds=seeds(plan.components),
        whole_reads=tuple(plan.ids[node] for node in plan.whole_reads),
        plan=encoded(plan),
        windows=query.windows,
        registration=query.registration,
        asked=asked_blocks(query, plan),
        remotes=remote_names(query),
    )


def _refuse_not_maintained(query: Query, text: str, file: str) -> None:
    """Refuse what the front end knows and the engine does not maintain.

    Raises:
        UnsupportedQuery: the operator or the window.
    """
    from weir.sparql.frontend.errors import UnsupportedQuery
    from weir.sparql.frontend.lexer import tokenize

    operator = None if query.registration is None else query.registration.operator
    contents = [window.content for window in query.windows]
    if any(isinstance(each, CountWindow) and (each.step or 1) > 1 for each in contents):
        word = "ELEMENTS"
        reason = "with a STEP of elements, one late event changes every later window"
        hint = "Leave STEP out, or use RANGE."
    elif operator == "rstream" and not any(
        isinstance(each, TimeWindow) and each.step_us for each in contents
    ):
        word = operator.upper()
        reason = "it reports where a window closes, and no window has a STEP"
        hint = "Give a window RANGE and STEP, or use ISTREAM or DSTREAM."
    else:
        return
    token = next(token for token in tokenize(text) if token.text.upper() == word)
    raise UnsupportedQuery(token.text, file, token.line, token.column, reason, hint)


def _validated(cached: str) -> CompiledQuery | None:
    try:
        return CompiledQuery.model_validate_json(cached)
    except ValidationError:
        return None


def _form(query: Query) -> Form:
    match query.form:
        case Select():
            return "select"
        case Ask():
            return "ask"
        case Construct():
            return "construct"
        case _:
            assert_never(query.form)


def _logs(scopes: Iterable[Scope]) -> frozenset[str]:
    """The union of all graphs has a log of its own; what windows read is not of the graph."""
    of_graph = [scope for scope in scopes if scope.window is None]
    unions = {scope.is_union for scope in of_graph}
    return frozenset(TRIPLES.name if is_union else QUADS.name for is_union in unions)


def _check_columns(query: Query, text: str, file: str) -> None:
    """No two columns of the answer table may have the same name, case aside."""
    if not isinstance(query.form, Select):
        return
    taken = {name: f"the column {name} of every answer table" for name in ANSWER_COLUMNS}
    if query.windows:
        where = "that is printed of queries over streams"
        taken |= {name: f"the column {name} {where}" for name in STREAM_ANSWER_COLUMNS}
    if query.registration is not None and query.registration.operator is not None:
        taken["instant"] = "the column instant of every stream out of a query"
    for name in query.form.variables:
        lower = name.lower()
        if lower in taken:
            raise ConfigurationError(
                f"the variable ?{name} would be named like {taken[lower]}",
                f"{file}:{_place(name, text)}",
                "Rename the variable.",
            )
        taken[lower] = f"?{name}"
    for name in query.form.variables:
        # Views give the exact term of ?x in a column x_term.
        if f"{name.lower()}_term" in taken:
            raise ConfigurationError(
                f"the variable ?{name}_term would be named like the exact term of ?{name}",
                f"{file}:{_place(name, text)}",
                "Rename one of them.",
            )


def _place(name: str, text: str) -> str:
    from weir.sparql.frontend.lexer import tokenize

    token = next(t for t in tokenize(text) if t.kind == "variable" and t.text[1:] == name)
    return f"{token.line}:{token.column}"
