"""The mutants of derived graphs: merges, logs that are continued or begin again."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_LAKE = ("tests/maintain/test_derived_graphs.py",)
_WINDOWS = ("tests/timeline/test_derived_graphs.py",)
_RULES = ("tests/rules/test_epochs.py",)

DERIVED_MUTANTS = (
    Mutant(
        "a triple of the graph and of a derived one counts twice",
        "plan/scope",
        "return self.has_union + len(self.graphs or ()) + len(self.derived) > 1",
        "return len(self.graphs or ()) > 1",
    ),
    Mutant(
        "the changes of a merge are looked for in one of its logs",
        "engine/read_graph",
        "for table, relation in stored.items():",
        "for table, relation in [*stored.items()][:1]:",
    ),
    Mutant(
        "what a graph begins with holds from its own epoch on",
        "timeline/graph_log",
        "until = max(self.settled, self.begins.get(table, 0))",
        "until = self.settled",
        tests=_WINDOWS,
    ),
    Mutant(
        "a reader over windows begins before the graph is known",
        "timeline/reading",
        "return 0 if last is None else last[1].base",
        "return 0",
        tests=_WINDOWS,
    ),
    Mutant(
        "rules over streams read the union of all graphs alone",
        "rules/atoms",
        "log = scope_log(self.scope, self.points.last, predicates_read(patterns))",
        "log = scope_log(Scope(), self.points.last, predicates_read(patterns))",
        tests=_WINDOWS,
    ),
    Mutant(
        "a reader over windows has the first epoch of its graph as its base",
        "maintain/maintenance",
        "if task.base is None or known <= task.base or not definition.axis.has_states:",
        "if task.base is None or known <= task.base:",
        tests=_WINDOWS,
    ),
    Mutant(
        "readers pass epochs whose rows a wrong definition gives later",
        "maintain/stage",
        "left_out = {*damaged, *wrong}",
        "left_out = {*damaged}",
        tests=_WINDOWS,
    ),
    Mutant(
        "a full history begins before what was compacted away",
        "maintain/tasks",
        "return replace(new, reason=reason, base=until)",
        "return replace(new, reason=reason, base=0)",
        tests=_WINDOWS,
    ),
    Mutant(
        "a match lacks what the derived graph begins with",
        "why/windows",
        "return {mark: max(epoch, begins) for mark, epoch in held.items()}",
        "return held",
        tests=_WINDOWS,
    ),
    Mutant(
        "the graphs that a stream depends on are not upstream of its readers",
        "definitions/upstreams",
        "names |= dict.fromkeys((upstream.query, *upstream.others))",
        "names |= dict.fromkeys((upstream.query,))",
        tests=("tests/definitions/test_derived_graphs.py",),
    ),
    Mutant(
        "a run appends all triples of a derived graph again",
        "maintain/derived_graphs",
        'None if continued is None else column("epoch") > number(continued.watermark)',
        "None",
        tests=_LAKE,
    ),
    Mutant(
        "readers of a graph that began again go on",
        "maintain/logs",
        "if log_id not in read.values()",
        "if name not in read",
        tests=_LAKE,
    ),
    Mutant(
        "a derived graph that a killed run left behind is not completed",
        "maintain/maintenance",
        "or not graph.is_behind(self.run.lake, stored.metadata):",
        "or True:",
        tests=_LAKE,
    ),
    Mutant(
        "readers begin before the graph that they read",
        "maintain/maintenance",
        "return replace(task, base=known)",
        "return task",
        tests=_LAKE,
    ),
    Mutant(
        "what is deleted concerns nothing that rules derived",
        "rules/touched",
        'ends = any_of([column("since") > after, column("until") <= last])',
        'ends = column("since") > after',
        tests=_RULES,
    ),
    Mutant(
        "a negated atom that changes concerns no conclusion",
        "rules/touched",
        "for literal in rule.literals:",
        "for literal in (one for one in rule.literals if not one.negated):",
        tests=_RULES,
    ),
    Mutant(
        "what is touched does not touch anything further",
        "rules/touched",
        "for names in (self.atoms.known, touched) if predicate in names",
        "for names in (self.atoms.known,) if predicate in names",
        tests=_RULES,
    ),
    Mutant(
        "what was read whole becomes what is looked up",
        "rules/held_atoms",
        "if graph and not self._whole.issuperset(self._patterns):",
        "if graph:",
        tests=_RULES,
    ),
    Mutant(
        "triples are looked up by their subjects alone",
        "rules/held_atoms",
        '"a3": ("v2", "v1")',
        '"a3": ("v0", "v1")',
        tests=_RULES,
    ),
    Mutant(
        "a body that is followed stops at the first literal whose atoms are not there",
        "rules/needed",
        "if (asked := self._asked(body)) is None:",
        "if (asked := self._asked(body)) is None or len(body.reached) > 1:",
        tests=_RULES,
    ),
    Mutant(
        "atoms that may change hold throughout a range",
        "rules/epochs",
        "joins = [] if touched is None",
        "joins = [] if True",
        tests=_RULES,
    ),
    Mutant(
        "a literal is the subject of a derived triple",
        "lars/triples",
        'conditions.append(Condition(Call("!", (Call("ISLITERAL", (subject,)),)), rule.place))',
        "pass",
        tests=_RULES,
    ),
    Mutant(
        "a rule is left out where its object is not that of all triples with its predicate",
        "rules/present",
        "return any(",
        "return all(",
        tests=_RULES,
    ),
)
