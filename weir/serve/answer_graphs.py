"""Published answers as named graphs: triples of a CONSTRUCT, resources for the rows of a SELECT.

A row of the answer `exhibits` is a resource `urn:weir:answer:exhibits#<hash of its terms>`. It has
the property `urn:weir:answer:exhibits#room` for each column that it binds, and `#weight`, how often
the answer has it. Answers over streams are no graphs: their rows hold for a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing

from weir.answers.logs import ROWS_AT_ONCE, existing_log
from weir.compute.connection import connect
from weir.compute.sql import column, columns, number
from weir.export.triples import TRIPLE
from weir.lake.delta.bindings import Bindings
from weir.lake.tables import ANSWERS
from weir.progress.completion import Completion
from weir.project import Project
from weir.status.streams import is_over_streams

ANSWER_GRAPH = "urn:weir:answer:"
"""How the IRI of the graph of an answer begins; its name follows."""
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def answers_named(completion: Completion, words: str) -> dict[str, int]:
    """The published versions of the answers whose graphs a text can name."""
    if ANSWER_GRAPH not in words:
        return {}
    names = (name for name in completion.lake.owners(ANSWERS) if name in words)
    published = {name: completion.published(name) for name in names}
    return {
        name: watermark.version
        for name, watermark in published.items()
        if watermark is not None and not is_over_streams(completion, name)
    }


def answer_lines(project: Project, name: str, epoch: int) -> Iterator[str]:
    """An answer at an epoch as lines of N-Quads; the newest if it is published up to an earlier."""
    lake, graph = project.lake, f"<{ANSWER_GRAPH}{name}>"
    with closing(connect(project.settings)) as connection, lake.using(ANSWERS.name(name)):
        log = existing_log(Bindings(connection), lake, name)
        variables = log.variables_at(lake, epoch)
        state = log.state(*columns(variables)).where(column("epoch") <= number(epoch))
        for batch in connection.sql(state.sql(dialect="duckdb")).to_arrow_reader(ROWS_AT_ONCE):
            *terms, weights = (values.to_pylist() for values in batch.columns)
            for row, weight in zip(zip(*terms, strict=True), weights, strict=True):
                if variables != TRIPLE:
                    yield from _resource(name, variables, row, weight)
                elif _is_triple(row):
                    yield f"{' '.join(row)} {graph} ."


def _is_triple(row: Sequence[str | None]) -> bool:
    """A SELECT may have variables of these names, and other terms."""
    subject, predicate, object_ = (term or "" for term in row)
    return subject[:1] in ("<", "_") and predicate[:1] == "<" and bool(object_)


def _resource(
    name: str, variables: Sequence[str], row: Sequence[str | None], weight: int
) -> Iterator[str]:
    graph = f"{ANSWER_GRAPH}{name}"
    digest = hashlib.sha256("\n".join(term or "" for term in row).encode()).hexdigest()[:32]
    values = [*zip(variables, row, strict=True), ("weight", f'"{weight}"^^<{_INTEGER}>')]
    for variable, term in values:
        if term is not None:
            yield f"<{graph}#{digest}> <{graph}#{variable}> {term} <{graph}> ."
