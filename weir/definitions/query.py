"""Queries: `queries/*.rq`, SPARQL or RSP-QL with a `#+` YAML front matter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.current_table import CurrentTable, check_columns
from weir.definitions.definition import Definition, Form, Guards, Output
from weir.definitions.derived_keys import NONE, REWRITTEN, derived_of
from weir.definitions.front_matter import Head, read_head
from weir.definitions.kinds import QUERY
from weir.definitions.names import Declaration
from weir.definitions.plan_body import (
    CompiledPlan,
    PlanBody,
    compiled_or_cached,
)
from weir.definitions.query_keys import QueryFrontMatter, check_keys
from weir.definitions.services import AskedBlock, RemoteName, Services, asked_blocks, remote_names
from weir.definitions.traversals import TraversalName, traversal_names
from weir.errors import ConfigurationError
from weir.files.text import decoded_text
from weir.lake.tables import ANSWER_COLUMNS, STREAM_ANSWER_COLUMNS
from weir.sparql.algebra.non_empty import where_windows_have_content
from weir.sparql.algebra.queries import Ask, Construct, Query, Select
from weir.sparql.algebra.rdfs import entailed
from weir.sparql.algebra.scoping import all_variables, is_hidden
from weir.sparql.algebra.windows import CountWindow, Registration, TimeWindow, WindowClause
from weir.timeline.axis import EPOCHS, Axis, Instants


class CompiledQuery(CompiledPlan):
    """The result of parsing and lowering a query: what stages need of it, in the form it is cached.

    Attributes:
        front_matter: the `#+` lines.
        guard_lines: the lines of those keys of it that are guards.
        form: what the rows of the answer are.
        presentation: parts of the text without effect on a maintained answer.
        windows: the windows that the query declares, in the order of the text.
        registration: the stream that it publishes, None if its text says nothing of one.
        asked: what its blocks of SERVICE ask of remotes.
        remotes: the remotes that it names, in the order of the text.
        traversals: the traversals that it names, in the order of the text.
    """

    front_matter: QueryFrontMatter
    guard_lines: dict[str, int]
    form: Form
    presentation: tuple[str, ...]
    windows: tuple[WindowClause, ...] = ()
    registration: Registration | None = None
    asked: tuple[AskedBlock, ...] = ()
    remotes: tuple[RemoteName, ...] = ()
    traversals: tuple[TraversalName, ...] = ()


@dataclass(frozen=True)
class QueryBody(PlanBody):
    """The plan of a query; text, file: where it is compiled from."""

    compiled: CompiledQuery
    text: str
    file: Path

    def compile(self) -> CompiledQuery:
        """The compiled text."""
        return compile_query(self.text, str(self.file))


def read(
    declaration: Declaration, source: bytes, cache: CompilationCache | None = None
) -> Definition:
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
    compiled = compiled_or_cached(
        CompiledQuery, declaration.name, source, cache, lambda: compile_query(text, str(file))
    )
    return _definition(declaration, text, compiled)


def _definition(declaration: Declaration, text: str, compiled: CompiledQuery) -> Definition:
    said, file = compiled.front_matter, declaration.file
    # The rows of a query over streams have instants: none is deleted but by a correction.
    max_change = None if compiled.windows else said.max_change
    guards = Guards.of(file, compiled.guard_lines, said.max_rows, said.min_rows, max_change)
    # A traversal may have no document yet, and a class or a property that is entailed no triple of
    # its own: nothing is misspelt because it is not there.
    scopes = (
        (seed.scope.window, seed.shape)
        for seed in compiled.seeds
        if said.entailment == NONE and not seed.scope.traversals
    )
    return Definition(
        name=declaration.name,
        kind=QUERY,
        file=file,
        text=text,
        description=said.description,
        fingerprint=compiled.fingerprint,
        columns=compiled.columns,
        width=compiled.width,
        is_set=compiled.is_set,
        output=Output(tuple(name for name, _ in compiled.columns), compiled.form, guards),
        reads=compiled.reads,
        patterns=tuple(
            (frozenset([window] if window else []), pattern) for window, pattern in scopes
        ),
        body=QueryBody(compiled, text, file),
        axis=_axis(compiled.windows, said, compiled.registration),
        history=said.history,
        presentation=compiled.presentation,
        registration=compiled.registration,
        graph=said.graph,
        writes_triples=compiled.form == "construct",
        services=Services(compiled.asked, compiled.remotes, said.staleness),
        traversals=compiled.traversals,
        owner=said.owner,
        tags=said.tags,
        current=CurrentTable.of(said),
        is_entailed=said.entailment != NONE,
    )


def _axis(
    windows: tuple[WindowClause, ...], said: QueryFrontMatter, registration: Registration | None
) -> Axis:
    if not windows:
        return EPOCHS
    return Instants(
        windows,
        said.t0_us,
        said.first,
        said.bounds,
        said.report,
        said.corrects_back_us,
        None if registration is None else registration.operator,
    )


def compile_query(text: str, file: str) -> CompiledQuery:
    """Parse and lower a query text.

    Raises:
        ConfigurationError: the first thing that is wrong with front matter or query.
    """
    # rdflib's grammar alone takes longer to import than all that a run without new texts does.
    from weir.plan.lower import lower
    from weir.sparql.frontend.translate import translate

    head = read_head(text, file, QueryFrontMatter, QUERY.comment)
    said = head.values
    query = translate(text, said.default_graph, file, push_filters=said.push_filters)
    derived = derived_of(said.entailment, said.reads)
    query = replace(query, dataset=replace(query.dataset, derived=derived))
    _check_columns(query, text, file)
    check_keys(head, windows=bool(query.windows), services=bool(query.remotes))
    _check_graph(head, query)
    _refuse_not_maintained(query, text, file)
    axis = _axis(query.windows, said, query.registration)
    if said.report == "non_empty":
        query = where_windows_have_content(query)
    if said.entailment == REWRITTEN:
        _refuse_not_entailed(query, file)
        query = entailed(query)
    plan = lower(query, allow_product=said.allow_product)
    if derived and not any(component.scope.derived for component in plan.components):
        what = "is about patterns outside of GRAPH, and the answer depends on none"
        keys = {"reads": f"reads {what}", "entailment": f"entailment: {said.entailment} {what}"}
        own = keys if not said.reads else {"reads": keys["reads"]}
        head.refuse(own, "Delete the line, or write GRAPH with the IRI of the derived graph.")
    check_columns(head, [name for name, _ in plan.columns])
    return CompiledQuery(
        front_matter=said,
        guard_lines=head.lines("max_rows", "min_rows", "max_change"),
        form=_form(query),
        presentation=query.presentation,
        **CompiledPlan.fields_of(plan, axis),
        windows=query.windows,
        registration=query.registration,
        asked=asked_blocks(query, plan),
        remotes=remote_names(query),
        traversals=traversal_names(query),
    )


def _check_graph(head: Head[QueryFrontMatter], query: Query) -> None:
    """Check that a query with the key `graph` has an answer of triples that are the same each time.

    Raises:
        ConfigurationError: it has not; with the line of the key.
    """
    form = query.form
    if not isinstance(form, Construct):
        what = "graph is for CONSTRUCT queries, and this one has no triples"
        head.refuse({"graph": what}, "Write CONSTRUCT, or delete the line.")
        return
    own = all_variables(form.pattern)
    names = (name for triple in form.template for name in triple.variables)
    if any(is_hidden(name) and name not in own for name in names):
        what = "a derived graph has no blank nodes of a template"
        hint = 'Write a variable or an IRI instead, such as IRI(CONCAT(STR(?x), "#part")).'
        head.refuse({"graph": what}, hint)


def _refuse_not_maintained(query: Query, text: str, file: str) -> None:
    """Refuse what the front end knows and the engine does not maintain.

    Raises:
        UnsupportedQuery: the operator or the window.
    """
    from weir.sparql.frontend.errors import UnsupportedQuery
    from weir.sparql.frontend.lexer import tokenize

    operator = None if query.registration is None else query.registration.operator
    contents = [window.content for window in query.windows]
    if any(isinstance(of, CountWindow) and (of.step or 1) > 1 for of in contents):
        word = "ELEMENTS"
        reason = "with a STEP of elements, one late event changes every later window"
        hint = "Leave STEP out, or use RANGE."
    elif operator == "rstream" and not any(
        isinstance(of, TimeWindow) and of.step_us for of in contents
    ):
        word = operator.upper()
        reason = "it reports where a window closes, and no window has a STEP"
        hint = "Give a window RANGE and STEP, or use ISTREAM or DSTREAM."
    else:
        return
    token = next(token for token in tokenize(text) if token.text.upper() == word)
    raise UnsupportedQuery(token.text, file, token.line, token.column, reason, hint)


def _refuse_not_entailed(query: Query, file: str) -> None:
    """Refuse what entailment is not of.

    Raises:
        UnsupportedQuery: a block of SERVICE, or a traversal; with its place.
    """
    from weir.sparql.frontend.errors import UnsupportedQuery

    named = {
        "SERVICE": (query.remotes, "a remote derives what it derives itself"),
        "traversal": (query.traversals, "nothing is derived from documents of a traversal"),
    }
    for what, (places, reason) in named.items():
        for name, line, column in places:
            hint = "Take it out, or leave out `entailment`."
            raise UnsupportedQuery(f"{what} {name}", file, line, column, reason, hint)


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
