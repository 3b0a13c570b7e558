"""Queries over streams that have solutions only while a window has content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import count, islice

from weir.sparql.algebra.expressions import Constant, Exists, Variable
from weir.sparql.algebra.patterns import (
    Bgp,
    Distinct,
    Filter,
    Graph,
    Pattern,
    TriplePattern,
    Union,
)
from weir.sparql.algebra.queries import Query
from weir.sparql.algebra.scoping import variables_of


def where_windows_have_content(query: Query) -> Query:
    """The query without its solutions at instants at which all of its windows are empty.

    The content of windows is read as any pattern is, so late events correct this, too.
    """
    pattern = query.form.pattern
    taken = variables_of(Exists(pattern))
    names = (name for name in (f"_:content{i}" for i in count(1)) if name not in taken)
    condition = Exists(reduce(Union, _contents(query, [*islice(names, 3)])))
    # The form sees from the outermost pattern whether the answer is a set.
    filtered: Pattern
    if isinstance(pattern, Distinct):
        filtered = Distinct(Filter(condition, pattern.pattern))
    else:
        filtered = Filter(condition, pattern)
    return replace(query, form=replace(query.form, pattern=filtered))


def _contents(query: Query, names: list[str]) -> Iterator[Pattern]:
    subject, predicate, object_ = map(Variable, names)
    for window in query.windows:
        triples = Bgp((TriplePattern(subject, predicate, object_),))
        yield Graph(Constant(window.name), triples)
