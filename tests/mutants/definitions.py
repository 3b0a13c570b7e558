"""The mutants of the engine: single faults that the tests must detect."""

from __future__ import annotations

from tests.mutants.exists import EXISTS_MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.protocol import PROTOCOL_MUTANTS
from tests.mutants.remotes import REMOTE_MUTANTS
from tests.mutants.replicas import REPLICA_MUTANTS
from tests.mutants.rules import RULE_MUTANTS
from tests.mutants.streams import STREAM_MUTANTS

MUTANTS = (
    Mutant(
        "differentiate drops the ends of intervals",
        "engine/sweep",
        "expressions=[small_number(1), small_number(-1)]",
        "expressions=[small_number(1)]",
    ),
    Mutant(
        "the range includes the epoch before it",
        "engine/sweep",
        "epoch > number(epochs.after)",
        "epoch >= number(epochs.after)",
    ),
    Mutant(
        "the range excludes its last epoch",
        "engine/sweep",
        "epoch <= number(epochs.last)",
        "epoch < number(epochs.last)",
    ),
    Mutant(
        "net drops retractions",
        "engine/sweep",
        'from_=subquery(log, "unnetted"),\n'
        '        group_by=columns((*key, "epoch")),\n'
        '        having=sum_of(column("weight")).neq(0)',
        'from_=subquery(log, "unnetted"),\n'
        '        group_by=columns((*key, "epoch")),\n'
        '        having=sum_of(column("weight")) > 0',
    ),
    Mutant(
        "a solution of a segment lasts as long as its longest triple",
        "engine/operators/component",
        'least(*(column("until", t)',
        'greatest(*(column("until", t)',
    ),
    Mutant(
        "a segment drops solutions that end in the last epoch",
        "engine/operators/component",
        'column("until") <= number(epochs.last)',
        'column("until") < number(epochs.last)',
    ),
    Mutant(
        "a repeated variable may match two terms",
        "engine/operators/component",
        "conditions.append(here.eq(bound[name]))",
        "pass",
    ),
    Mutant(
        "a distinct row remains without solutions",
        "engine/sweep",
        'column("held") > 0',
        'column("held") >= 0',
    ),
    Mutant(
        "a product uses the state after the epoch on both sides",
        "engine/operators/product",
        "(since < epoch, epoch <= until)",
        "(since <= epoch, epoch < until)",
    ),
    Mutant(
        "a join uses the state after the epoch on both sides",
        "engine/operators/join",
        "before = (since < epoch, epoch <= until)",
        "before = (since <= epoch, epoch < until)",
    ),
    Mutant(
        "the weights of a join are not multiplied",
        "engine/operators/join",
        'column("weight", "d") * column("weight", "o")',
        'column("weight", "d")',
    ),
    Mutant(
        "unbound is compatible with nothing",
        "engine/join_keys",
        "any_of([same, is_null(column(name, one)), is_null(column(name, other))])",
        "same",
    ),
    Mutant(
        "a join takes only the left side's value",
        "engine/join_keys",
        "coalesce(column(name, left), column(name, right))",
        "coalesce(column(name, left))",
    ),
    Mutant(
        "an unbound key does not equal itself",
        "compute/sql",
        "exp.EQ if name in certain else exp.NullSafeEQ",
        "exp.EQ",
    ),
    Mutant(
        "an anti join keeps rows with one match",
        "engine/operators/anti_join",
        'column("matches") <= 0',
        'column("matches") <= 1',
    ),
    Mutant(
        "matches never end",
        "engine/matches",
        'alias(column("weight"), "matches")',
        'alias(greatest(column("weight"), number(0)), "matches")',
    ),
    Mutant(
        "MINUS without the shared-variable rule", "engine/matches", "if overlapping:", "if False:"
    ),
    Mutant(
        "MINUS removes solutions that share no variable",
        "plan/patterns",
        "if not common:\n        return left",
        "if False:\n        return left",
    ),
    Mutant(
        "a match ignores its condition",
        "engine/matches",
        "where=[holds]",
        "where=[]",
    ),
    Mutant(
        "NOT EXISTS is EXISTS",
        "plan/exists",
        "node = _exists_join(node, pattern, context, lowering, AntiJoin)",
        "node = _exists_join(node, pattern, context, lowering, SemiJoin)",
    ),
    Mutant(
        "an unprojected variable is the outer one of the same name",
        "plan/patterns",
        "with columns.hidden({*context.carried} - {*shown}):",
        "with columns.hidden(()):",
    ),
    Mutant(
        "a graph without triples exists",
        "plan/named_graphs",
        "if not needs_triple(node, scope):",
        "if False:",
    ),
    Mutant(
        "OPTIONAL joins without its condition",
        "engine/operators/left_join",
        "joined(sides, node.condition)",
        "joined(sides)",
    ),
    Mutant(
        "unmatched rows of OPTIONAL ignore the condition",
        "engine/operators/left_join",
        "unmatched(sides, run.epochs, node.condition)",
        "unmatched(sides, run.epochs, None)",
    ),
    Mutant(
        "a join touches only the left side's keys",
        "engine/two_sides",
        '_touched(node, run, keys, "keys", deltas)',
        '_touched(node, run, keys, "keys", deltas[:1])',
    ),
    Mutant(
        "only the touched matches of a touched left row are read",
        "engine/two_sides",
        "if restricted and keys.optional and not isinstance(node, Join):",
        "if False:",
    ),
    Mutant(
        "group and distinct ignore the stored state",
        "engine/run",
        "state = self.state(child, keys)",
        "state = None if isinstance(node, Distinct | Group) else self.state(child, keys)",
    ),
    Mutant(
        "a slice ignores the stored state",
        "engine/operators/slice",
        "state = run.state(node.child)",
        "state = None",
    ),
    Mutant(
        "a closure ignores the stored state",
        "engine/operators/closure",
        "run.log(node, node.child)",
        "run.child(node.child)",
    ),
    Mutant(
        "a product ignores the stored state",
        "engine/operators/product",
        'run.log(node, child, part=f"state{index}")',
        "run.child(child)",
    ),
    Mutant(
        "a join ignores the stored state",
        "engine/two_sides",
        'run.log(node, child, keys, f"state_{side}")',
        "run.child(child)",
    ),
    Mutant(
        "the state lacks its last epoch",
        "engine/stored_state",
        'column("epoch", "s") <= number(epochs.after)',
        'column("epoch", "s") < number(epochs.after)',
    ),
    Mutant(
        "the state includes rows that an earlier run stored for this range",
        "engine/stored_state",
        'column("epoch", "s") <= number(epochs.after)',
        'column("epoch", "s") <= number(epochs.last)',
    ),
    Mutant(
        "a group remains without solutions",
        "engine/operators/group",
        'column("solutions", "s") > 0',
        'column("solutions", "s") >= 0',
    ),
    Mutant(
        "no solutions make no group, even without keys",
        "engine/operators/group",
        "    if node.always:\n",
        "    if False:\n",
    ),
    Mutant(
        "an aggregate sees the rows that have just ended",
        "engine/collected_aggregates",
        'column("since", "s") < column("until", "i")',
        'column("since", "s") <= column("until", "i")',
    ),
    Mutant(
        "COUNT counts errors",
        "engine/running_aggregates",
        'case((is_value, column("weight")), otherwise=small_number(0))',
        'case((is_value, column("weight")), otherwise=column("weight"))',
    ),
    Mutant(
        "aggregates without DISTINCT",
        "engine/operators/group",
        "if aggregate.distinct:",
        "if False:",
    ),
    Mutant(
        "a sum ignores multiplicities",
        "engine/running_aggregates",
        'cast(digits, _ADDEND) * cast(column("weight"), _TIMES)',
        'cast(digits, _ADDEND) * cast(exp.Sign(this=column("weight")), _TIMES)',
    ),
    Mutant(
        "a slice without OFFSET",
        "engine/operators/slice",
        'greatest(column("upto") - column("weight"), number(node.offset))',
        'column("upto") - column("weight")',
    ),
    Mutant(
        "a slice reads too few rows of the state",
        "engine/operators/slice",
        "number(node.offset + node.limit) + most",
        "number(node.offset + node.limit)",
    ),
    Mutant(
        "DESC is ASC",
        "engine/operators/slice",
        "(descending if key.descending else ascending)",
        "ascending",
    ),
    Mutant(
        "a closure counts a pair once per path",
        "engine/operators/closure",
        "held = presence(ends(paths, key), key)",
        "held = paths",
    ),
    Mutant(
        "paths are touched in the wrong direction",
        "engine/operators/closure",
        'lambda found: _neighbours(part, found, ever, "target", "source")',
        'lambda found: _neighbours(part, found, ever, "source", "target")',
    ),
    Mutant(
        "a path lasts as long as its longest step",
        "engine/operators/closure",
        'least(column("until", "f"), column("until", "e"))',
        'greatest(column("until", "f"), column("until", "e"))',
    ),
    Mutant(
        "a round is lost when rounds are merged",
        "engine/fixpoint",
        "rows = _all(self.fixpoint.columns, self.relations[-_MERGED:])",
        "rows = _all(self.fixpoint.columns, self.relations[-_MERGED:-1])",
    ),
    Mutant(
        "a path may start anywhere",
        "engine/operators/closure",
        "if node.start is None:",
        "if True:",
    ),
    Mutant(
        "the zero-length path is missing",
        "plan/path_plans",
        "                if minimum and not paths.may_have_length_zero(inner):\n"
        "                    return pairs",
        "                return pairs",
    ),
    Mutant(
        "an inverse negated set looks forward",
        "plan/path_plans",
        "self._any_but(inverse, object_, subject)",
        "self._any_but(inverse, subject, object_)",
    ),
    Mutant(
        "UNION drops a side",
        "engine/operators/union",
        "for child in node.children",
        "for child in node.children[:1]",
    ),
    Mutant(
        "inline data appears in every run",
        "engine/operators/values",
        "rows = node.rows if run.epochs.from_nothing else ()",
        "rows = node.rows",
    ),
    Mutant(
        "ASK has no answer in the first epoch",
        "engine/operators/ask",
        "    if not run.epochs.from_nothing:\n        return flips",
        "    return flips",
    ),
    Mutant(
        "a literal may be the subject of a triple",
        "engine/operators/instantiate",
        'any_of([begins(subject, "<"), begins(subject, "_")]),',
        "",
    ),
    Mutant(
        "a neighbourhood lacks the triples that held before the range",
        "engine/graph",
        'where=[column("nth").eq(1), column("weight") < 0]',
        'where=[column("nth").eq(1), column("weight") > 1]',
    ),
    Mutant(
        "a neighbourhood lacks its last hop",
        "engine/neighbourhood",
        "default=0) + 1)",
        "default=0))",
    ),
    Mutant(
        "a triple lasts to its last retraction",
        "engine/graph",
        'exp.Min(this=column("epoch", "r"))',
        'exp.Max(this=column("epoch", "r"))',
    ),
    Mutant(
        "an initial run includes retracted triples",
        "engine/graph",
        "where=[asserted, until > number(epochs.last)] if collapsed else [asserted]",
        "where=[asserted]",
    ),
    Mutant(
        "one-or-more of a path that may be empty excludes the zero-length path",
        "plan/path_plans",
        "if minimum and not paths.may_have_length_zero(inner):",
        "if minimum:",
    ),
    Mutant(
        "a filter moves to a side that may leave its variable unbound",
        "plan/filters",
        "case Join(left, right) if variables <= left.certain:",
        "case Join(left, right) if variables <= set(left.variables):",
    ),
    Mutant(
        "a filter moves below an OPTIONAL that binds its variable",
        "plan/filters",
        "case LeftJoin() if variables <= node.left.certain:",
        "case LeftJoin() if True:",
    ),
    Mutant(
        "a product has rows of different members",
        "engine/operators/product",
        'inner_join(rows_of(part.intervals, table), *equal(member, "d", table), *holds)',
        "inner_join(rows_of(part.intervals, table), *holds)",
    ),
    Mutant(
        "distinct rows of different members are one",
        "plan/members",
        "return Project((MEMBER, *variables), child(below))",
        "return Project(variables, child(below))",
    ),
    Mutant(
        "a slice ranks the rows of all members",
        "plan/members",
        "partition=(MEMBER, *node.partition)",
        "partition=node.partition",
    ),
    Mutant(
        "a parameter is a constant unless all members differ in it",
        "plan/members",
        "differs = [any(each[i] != term for each in others)",
        "differs = [all(each[i] != term for each in others)",
    ),
    Mutant(
        "a member has the parameters of the one before",
        "plan/members",
        "tuple(tuple(each[i] for i in own) for each in constants)",
        "tuple(tuple(each[i] for i in own) for each in [*constants[-1:], *constants[:-1]])",
    ),
    Mutant(
        "the group of a member without solutions is missing",
        "engine/operators/group",
        "from_=rows_of(run.members) if node.keys else None",
        "from_=rows_of(touched) if node.keys else None",
    ),
    Mutant(
        "a member without solutions has no false",
        "engine/operators/ask",
        "from_=rows_of(run.members) if own else None",
        "from_=rows_of(run.stored(node.child)) if own else None",
    ),
    Mutant(
        "inline data lacks the solutions of a member",
        "engine/operators/values",
        "return union_all([_member_row(node.variables[1:], row, run) for row in rows])",
        "return union_all([_member_row(node.variables[1:], row, run) for row in rows[:1]])",
    ),
    Mutant(
        "labels of blank nodes depend on the member",
        "engine/operators/instantiate",
        "for variable in (each for each in solution if each != MEMBER):",
        "for variable in solution:",
    ),
    Mutant(
        "a slice of a partition reads too little of the state",
        "engine/operators/slice",
        "*part, alias(lost, _LOST),",
        "*part, alias(number(0), _LOST),",
    ),
    Mutant(
        "a parameter is compared as an IRI",
        "plan/parameters",
        "return term.removeprefix(_MARK).startswith(_IRI)",
        "return is_parameter(term) or term.startswith(_IRI)",
    ),
    Mutant(
        "the index has one combination of places only",
        "engine/neighbourhood",
        "for places in combinations",
        "for places in combinations[:1]",
    ),
    *EXISTS_MUTANTS,
    *STREAM_MUTANTS,
    *RULE_MUTANTS,
    *REPLICA_MUTANTS,
    *REMOTE_MUTANTS,
    *PROTOCOL_MUTANTS,
)
