"""The mutants of rules over streams."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RULE_MUTANTS = (
    Mutant(
        "a time window of n has n points",
        "rules/windows",
        "end = least(column(POINT) + number(size + 1), end)",
        "end = least(column(POINT) + number(size), end)",
    ),
    Mutant(
        "a box fills its window at the start of the stream only",
        "rules/windows",
        'otherwise=column("begin") + number(size),',
        'otherwise=column("until"),',
    ),
    Mutant(
        "a box does not know the start of the stream",
        "rules/windows",
        '(column("begin").eq(number(points.start)), column("begin")),',
        '(column("begin").eq(number(points.start - 1)), column("begin")),',
    ),
    Mutant(
        "a tuple window has one tuple more",
        "rules/windows",
        'column(NTH, "d").eq(column(NTH, "o") + number(size))',
        'column(NTH, "d").eq(column(NTH, "o") + number(size + 1))',
    ),
    Mutant(
        "a box over tuples sees all of its first point",
        "rules/windows",
        'column(NTH, "l") >= column("oldest", "f"),',
        'column(NTH, "l") >= number(0),',
    ),
    Mutant(
        "overlapping intervals are not merged",
        "engine/coverage",
        'where=[any_of([is_null(column("reached")), column("since") > column("reached")])],',
        "where=[],",
    ),
    Mutant(
        "a negated element is subtracted where it holds twice",
        "engine/coverage",
        'where=[column("held") > 0, column("taken") <= 0],',
        'where=[column("held") > 0, column("taken") <= 1],',
    ),
    Mutant(
        "a box in recursion reads what is new only",
        "rules/literals",
        "intervals = box(derived, key, window.size, self.points.start, new)",
        "intervals = box(read, key, window.size, self.points.start, new)",
    ),
    Mutant(
        "all literals of a round read what is new",
        "rules/strata",
        "added = _derived(literal, new) if i == place else None",
        "added = _derived(literal, new)",
    ),
    Mutant(
        "only the first literal over a stratum reads what is new",
        "rules/strata",
        "if not _derived(rule.literals[place], new).is_empty:",
        "if not _derived(rule.literals[place], new).is_empty and place == within[0]:",
    ),
    Mutant(
        "a box of derived atoms does not know the start of the stream",
        "rules/derived",
        'early = number(start - 1) + column("held")',
        'early = number(start - 2) + column("held")',
    ),
    Mutant(
        "an atom that was placed earlier holds now",
        "rules/derived",
        'where=[column("since").eq(column(POINT))],',
        'where=[column("since") >= column(POINT)],',
    ),
    Mutant(
        "a window over derived atoms is a point shorter",
        "rules/derived",
        'alias(greatest(column("since"), column(POINT) + number(age)), "since"),',
        'alias(greatest(column("since"), column(POINT) + number(age + 1)), "since"),',
    ),
    Mutant(
        "background is at every point before it began",
        "rules/derived",
        'alias(greatest(column(POINT), column("since")), "since"),',
        'alias(column(POINT), "since"),',
    ),
    Mutant(
        "what is placed at a later point holds before it",
        "rules/heads",
        'alias(greatest(column("since"), column(POINT)), "since"),',
        'column("since"),',
    ),
    Mutant(
        "atoms are placed before the start of the stream",
        "rules/heads",
        "column(POINT) >= number(points.start)],",
        "column(POINT) >= number(points.start - 9)],",
    ),
    Mutant(
        "heads of different solutions are taken to differ",
        "rules/heads",
        "return {*body.names} <= {names.column(variable) for variable in head.variables}",
        "return True",
    ),
    Mutant(
        "tuples of an instant are in the order of their lines",
        "rules/atoms",
        '_ORDER = ("instant", "epoch", "line")',
        '_ORDER = ("instant", "line", "epoch")',
    ),
    Mutant(
        "a triple that is repeated at a point is two tuples",
        "rules/atoms",
        'where=[column("occurrence").eq(number(1))],',
        'where=[column("occurrence") >= number(1)],',
    ),
    Mutant(
        "a tuple before the points is forgotten",
        "rules/atoms",
        "limit=self.back.tuples,",
        "limit=self.back.tuples - 1,",
    ),
    Mutant(
        "a window looks back a point less",
        "rules/atoms",
        "max(start, first - self.back.points)",
        "max(start, first - self.back.points + 1)",
    ),
    Mutant(
        "an atom is as new as the newest of its triples",
        "rules/atoms",
        "alias(least(*(column(NTH, table) for table in match.aliases)), NTH)",
        "alias(greatest(*(column(NTH, table) for table in match.aliases)), NTH)",
    ),
    Mutant(
        "of the ways to make an atom the oldest counts",
        "rules/atoms",
        "newest = [alias(exp.Max(this=column(NTH)), NTH)] if counted else []",
        "newest = [alias(exp.Min(this=column(NTH)), NTH)] if counted else []",
    ),
    Mutant(
        "points are evaluated from the one after the beginning on",
        "rules/program",
        "first = axis.point(max(leg.low, origin))",
        "first = axis.point(max(leg.low, origin)) + 1",
    ),
    Mutant(
        "a negated literal that never holds makes the body false",
        "rules/bodies",
        "            if literal.negated:\n                continue\n            return None",
        "            return None",
    ),
    Mutant(
        "a point is final before its end",
        "timeline/timeline",
        "[(epoch, grid.begin(frontier)) for epoch, frontier in history.frontiers],",
        "[(epoch, frontier) for epoch, frontier in history.frontiers],",
    ),
    Mutant(
        "an event corrects its point from the middle on",
        "timeline/timeline",
        "{epoch: grid.begin(instant) for epoch, instant in history.earliest.items()},",
        "dict(history.earliest),",
    ),
    Mutant(
        "a change of the graph holds from the middle of a point on",
        "timeline/timeline",
        "epoch: None if time is None else grid.begin(time) for epoch, time in graph",
        "epoch: time for epoch, time in graph",
    ),
)
