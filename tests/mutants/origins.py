"""The mutants of where the terms of columns come from."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

ORIGIN_MUTANTS = (
    Mutant(
        "a column has the origins of the first side alone",
        "plan/origins",
        "return _merged(map(of, node.children))",
        "return _merged(map(of, node.children[:1]))",
    ),
    Mutant(
        "the last of two patterns says where a term is",
        "plan/origins",
        "columns.setdefault(name, set()).add(origin)",
        "columns[name] = {origin}",
    ),
    Mutant(
        "the value of an expression is the term of its variable",
        "plan/origins",
        'by("transformation", _of_variables(expression, columns))',
        "_of_variables(expression, columns)",
    ),
    Mutant(
        "a term of the text has no origin",
        "plan/origins",
        "return dict.fromkeys(variables, WRITTEN)",
        "return dict.fromkeys(variables, _NOTHING)",
    ),
    Mutant(
        "an end of a path has the terms of its other end",
        "plan/origins",
        "{name: of(child)[name] for name in node.variables}",
        "{name: of(child)[node.source] for name in node.variables}",
    ),
    Mutant(
        "rules are followed once",
        "definitions/program_origins",
        "is_growing |= after != known.get(rule.head.atom.predicate)",
        "is_growing = False",
        tests=("tests/artifacts/test_column_lineage.py",),
    ),
    Mutant(
        "the stream of a query is taken for that of a source",
        "artifacts/column_lineage",
        "return OUTPUT_STREAMS.name(givers[stream])",
        "return STREAMS.name(givers[stream])",
        tests=("tests/artifacts/test_column_lineage.py",),
    ),
)
