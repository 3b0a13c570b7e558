"""Hand-written histories and the deltas expected of them, in a short notation.

An epoch is a text of signed triples, `+a p b; -a q 1; +a p "x"; +a p b @g`: a word is an IRI,
digits are an integer, terms in N-Triples form are themselves, `@g` is the graph. A delta is a list
of signed rows, sorted: `+a b`, `-a _` (unbound), `+a b *2` (twice).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from tests.support.generators.basic_cases import PREFIX, XSD, Quad
from tests.support.harness import History, LogRow, Memory
from weir.plan.lower import lower
from weir.plan.operators import PlanNode, walk
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate

_SIGNED = re.compile(r'([+-])(\S+) (\S+) ("[^"]*"\S*|\S+)(?: @(\S+))?')
DefaultGraph = Literal["union", "default"]


def history(*epochs: str) -> History:
    """The history that texts describe; every quad of them changes the dataset."""
    present: frozenset[Quad] = frozenset()
    changes = []
    for epoch in epochs:
        vanish, appear = _change(epoch)
        assert vanish <= present, f"not there: {vanish - present}"
        assert not appear & (present - vanish), f"there already: {appear & present}"
        present = (present - vanish) | appear
        changes.append((vanish, appear))
    return changes


def plan_of(query: str, default_graph: DefaultGraph = "default") -> Plan:
    """The plan of a query; `:` is the prefix of the words of a history."""
    text = f"PREFIX : <{PREFIX}> PREFIX xsd: <{XSD}> {query}"
    return lower(translate(text, default_graph), allow_product=True)


def deltas(
    query: str,
    *epochs: str,
    node: type[PlanNode] | None = None,
    default_graph: DefaultGraph = "default",
) -> list[list[str]]:
    """The delta of each epoch, each from a run of its own.

    Asserts that the plan has a node of the class `node`, and that one run over all epochs gives the
    same deltas.
    """
    plan = plan_of(query, default_graph)
    if node is not None:
        assert any(isinstance(below, node) for below in walk(plan.root)), f"no {node.__name__}"
    made = history(*epochs)
    log = epoch_by_epoch(plan, made).log()
    at_once = Memory(plan, made)
    at_once.run(0, len(made))
    assert at_once.log() == log, "one run gives other deltas than a run per epoch"
    return [shown(log, epoch) for epoch in range(1, len(made) + 1)]


def touched_rows(query: str, *epochs: str) -> dict[str, int]:
    """How many rows of each state before the last epoch the run over it reads, by relation."""
    memory, last = epoch_by_epoch(plan_of(query), history(*epochs), but=1), len(epochs)
    counts: Counter[str] = Counter()
    with memory.running(last - 1, last):
        tables = memory.connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
        ).fetchall()
        for (name,) in tables:
            if match := re.fullmatch(r"q_[a-z0-9]+_(state\w*|first)", name):
                before = f"SELECT count(*) FROM {name} WHERE epoch < {last}"
                counts[match[1]] += memory.connection.execute(before).fetchall()[0][0]
    return dict(counts)


def epoch_by_epoch(plan: Plan, made: History, but: int = 0) -> Memory:
    """The memory after a run for each epoch but the last few."""
    memory = Memory(plan, made)
    for epoch in range(len(made) - but):
        memory.run(epoch, epoch + 1)
    return memory


def shown(log: Sequence[LogRow], epoch: int) -> list[str]:
    """The delta of an epoch."""
    return sorted(_row(weight, row) for at, weight, row in log if at == epoch)


def _change(epoch: str) -> tuple[frozenset[Quad], frozenset[Quad]]:
    signs: dict[str, set[Quad]] = {"-": set(), "+": set()}
    for part in filter(None, epoch.split("; ")):
        match = _SIGNED.fullmatch(part)
        assert match, f"not a signed triple: {part}"
        sign, *triple, graph = match.groups()
        s, p, o = map(_term, triple)
        signs[sign].add((_term(graph) if graph else "", s, p, o))
    return frozenset(signs["-"]), frozenset(signs["+"])


def _term(word: str) -> str:
    if word[0] in '"<':
        return word
    return f'"{word}"^^<{XSD}integer>' if word.isdigit() else f"<{PREFIX}{word}>"


def _row(weight: int, row: tuple[str | None, ...]) -> str:
    times = f" *{abs(weight)}" if abs(weight) > 1 else ""
    return f"{'+' if weight > 0 else '-'}{' '.join(map(_short, row))}{times}"


def _short(term: str | None) -> str:
    if term is None:
        return "_"
    lexical, _, datatype = term.rpartition("^^")
    if datatype in (f"<{XSD}{name}>" for name in ("integer", "decimal", "boolean", "double")):
        return lexical.strip('"')
    return term.removeprefix(f"<{PREFIX}").rstrip(">") if term.startswith("<") else term
