"""The mutants of shapes: of their algebra, of the door, and of plans of many parts."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_DOOR = ("tests/ingest/test_door.py", "tests/ingest/test_door_law.py")
_EARLY = ("tests/ingest/test_early_rows.py",)
_PATHS = ("tests/shacl/test_paths.py",)
_PARTS = ("tests/engine/test_laws.py", "tests/engine/test_grammar_laws.py")
SHAPES_MUTANTS = (
    Mutant(
        "literals are compared by value",
        "shacl/formulas",
        'return call("SAMETERM", left, right)',
        'return call("=", left, right)',
    ),
    Mutant(
        "a comparison that is an error is no violation",
        "shacl/formulas",
        'return call("COALESCE", condition, FALSE)',
        'return call("COALESCE", condition, TRUE)',
    ),
    Mutant(
        "results are not made distinct",
        "shacl/formulas",
        "return projected if is_set else Distinct(projected)",
        "return projected",
    ),
    Mutant(
        "what is computed from triples is taken for a set",
        "shacl/formulas",
        "is_set = isinstance(read, Bgp) and {*read.in_scope} <= seen",
        "is_set = isinstance(read, Bgp)",
    ),
    Mutant(
        "a path of any length has no empty word",
        "shacl/paths",
        "return empty or minimum == 0,",
        "return empty,",
        tests=_PATHS,
    ),
    Mutant(
        "the rest of an optional path may take no step",
        "shacl/paths",
        "return True, split(inner)[1]",
        "return True, path",
        tests=_PATHS,
    ),
    Mutant(
        "a sequence ends with its first part only",
        "shacl/paths",
        "alone = (before if second else None, after if first else None)",
        "alone = (before if second else None, None)",
        tests=_PATHS,
    ),
    Mutant(
        "one value more may be there",
        "shacl/components/counts",
        "least = self.number if self.is_least else self.number + 1",
        "least = self.number if self.is_least else self.number + 2",
    ),
    Mutant(
        "a focus node that is a value counts twice",
        "shacl/components/counts",
        "beside_focus = [negated(same(focus, nodes.node))] if is_focus else []",
        "beside_focus = []",
    ),
    Mutant(
        "exactly one is at least one",
        "shacl/components/logic",
        "return _exactly_one(conform)",
        "return any_of(conform)",
    ),
    Mutant(
        "equal is one way only",
        "shacl/components/pairs",
        "yield Violation(negated(is_value), triple(focus, predicate, other), other)",
        "del is_value",
    ),
    Mutant(
        "a text has its own language twice",
        "shacl/components/pairs",
        "                    negated(same(left.node, right.node)),\n",
        "",
    ),
    Mutant(
        "a value of a lower bound is below it",
        "shacl/components/conditions",
        '"minInclusive": ">="',
        '"minInclusive": ">"',
    ),
    Mutant(
        "value nodes of an inner shape forget where they are reached from",
        "shacl/compile",
        "nodes = (*focus.nodes, node)",
        "nodes = (node,)",
    ),
    Mutant(
        "subclasses do not count",
        "shacl/components/logic",
        "Closure(Link(SUBCLASS), 0)",
        "Link(SUBCLASS)",
    ),
    Mutant(
        "what closes counts as what opens",
        "door",
        'having=sum_of(column("weight")) > number(0),',
        'having=sum_of(column("weight")).neq(number(0)),',
        tests=_DOOR,
    ),
    Mutant(
        "results without data are opened by the first delivery",
        "door",
        "            if epochs.from_nothing:\n                # Of",
        "            if False:\n                # Of",
        tests=_DOOR,
    ),
    Mutant(
        "a report that is behind is asked",
        "door",
        "        if not behind:\n",
        "        if True:\n",
        tests=_DOOR,
    ),
    Mutant(
        "results of any severity stop a source",
        "door",
        '                one_of(column(cells["severity"]), door.severities),\n',
        "",
        tests=_DOOR,
    ),
    Mutant(
        "all sources are stopped",
        "door",
        "if door.sources is None or source in door.sources",
        "if True",
        tests=_DOOR,
    ),
    Mutant(
        "what a door computed counts before it is committed",
        "door",
        "self._early[definition.name] = early",
        "self.project.early_rows[definition.name] = early",
        tests=_EARLY,
    ),
    Mutant(
        "what a door computed is taken for any range of epochs",
        "maintain/run",
        "return early.rows if known == wanted else None",
        "return early.rows",
        tests=_EARLY,
    ),
    Mutant(
        "what a door computed is computed again",
        "maintain/run",
        "return early.rows if known == wanted else None",
        "return None",
        tests=_EARLY,
    ),
    Mutant(
        "a run accepts what it has stopped at itself",
        "ingest/stopped_sources",
        "if name in accept and source.run_id != run_id",
        "if name in accept",
        tests=_DOOR,
    ),
    Mutant(
        "any change set passes the door once one was accepted",
        "ingest/batch",
        "if reason and not (permit and permit.accepts(change_set.position, reason)):",
        "if reason and not permit:",
        tests=_DOOR,
    ),
    Mutant(
        "a node with a touched pattern is taken for untouched",
        "engine/run",
        "self._untouched[node] = touched.isdisjoint(own)",
        "self._untouched[node] = not {*own} <= touched",
        tests=_PARTS,
    ),
    Mutant(
        "a join has no rows where its right side has no changes",
        "engine/two_sides",
        'run.narrow(run.name(node, "state_l"), deltas[0])',
        "run.narrow(deltas[1])",
        tests=_PARTS,
    ),
    Mutant(
        "stored rows of the left side do not count",
        "engine/two_sides",
        'run.narrow(run.name(node, "state_l"), deltas[0])',
        "run.narrow(deltas[0])",
        tests=_PARTS,
    ),
    Mutant(
        "one relation without rows is enough to compute nothing",
        "compute/duck",
        "all(map(self.bindings.is_empty, statement.changes))",
        "any(map(self.bindings.is_empty, statement.changes))",
        tests=_PARTS,
    ),
)
