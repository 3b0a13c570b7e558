"""The ways to break the engine; `python -m tests.mutants` says which of them tests notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """What is done wrong, where, and which text becomes which."""

    name: str
    module: str
    text: str
    becomes: str

    def applied(self, source: str) -> str:
        """The module's text with the one replacement.

        Raises:
            ValueError: the text is not there exactly once.
        """
        if source.count(self.text) != 1:
            raise ValueError(
                f"{self.name}: {self.text!r} occurs {source.count(self.text)} times in "
                f"{self.module}; say what to break in the present text"
            )
        return source.replace(self.text, self.becomes)


_SIGNS = "exp.array(exp.Literal.number(1), exp.Literal.number(-1))"

MUTATIONS = (
    Mutation(
        "differentiate forgets the ends", "engine/sweep", _SIGNS, "exp.array(exp.Literal.number(1))"
    ),
    Mutation(
        "the epoch before the range is in it",
        "engine/sweep",
        "epoch > number(epochs.after)",
        "epoch >= number(epochs.after)",
    ),
    Mutation(
        "the last epoch is not in the range",
        "engine/sweep",
        "epoch.copy() <= number(epochs.last)",
        "epoch.copy() < number(epochs.last)",
    ),
    Mutation(
        "net forgets what vanishes",
        "engine/sweep",
        '.having(exp.func("SUM", column("weight")).neq(0)',
        '.having((exp.func("SUM", column("weight")) > 0)',
    ),
    Mutation(
        "a solution of a segment lasts as long as its longest triple",
        "engine/component",
        '_extreme("LEAST"',
        '_extreme("GREATEST"',
    ),
    Mutation(
        "a segment forgets what ends in the last epoch",
        "engine/component",
        'column("until") <= number(epochs.last)',
        'column("until") < number(epochs.last)',
    ),
    Mutation(
        "a variable may stand for two terms of a pattern",
        "engine/component",
        "conditions.append(here.eq(bound[name].copy()))",
        "pass",
    ),
    Mutation(
        "a distinct row stays without solutions",
        "engine/sweep",
        'column("held") > 0',
        'column("held") >= 0',
    ),
    Mutation(
        "both sides of a product are new",
        "engine/product",
        "exp.and_(since < epoch.copy(), epoch.copy() <= until)",
        "exp.and_(since <= epoch.copy(), epoch.copy() < until)",
    ),
    Mutation(
        "both sides of a join are new",
        "engine/join",
        'column("since", "o") < epoch, epoch.copy() <= column("until", "o")',
        'column("since", "o") <= epoch, epoch.copy() < column("until", "o")',
    ),
    Mutation(
        "the weights of a join are not multiplied",
        "engine/join",
        'column("weight", "d") * column("weight", "o")',
        'column("weight", "d")',
    ),
    Mutation(
        "unbound is compatible with nothing",
        "engine/compatible",
        "exp.or_(here.eq(there), here.copy().is_(exp.null()), there.copy().is_(exp.null()))",
        "here.eq(there)",
    ),
    Mutation(
        "a join takes only the left side's value",
        "engine/compatible",
        'exp.func("COALESCE", column(name, left), column(name, right))',
        'exp.func("COALESCE", column(name, left))',
    ),
    Mutation(
        "an unbound key is not found again",
        "engine/relations",
        "exp.NullSafeEQ(this=column(name, left), expression=column(name, right))",
        "column(name, left).eq(column(name, right))",
    ),
    Mutation(
        "what has one match has none",
        "engine/semi_join",
        'column("matches") <= 0',
        'column("matches") <= 1',
    ),
    Mutation(
        "a match has no end",
        "engine/semi_join",
        'column("weight").as_("matches", quoted=True)',
        'exp.func("GREATEST", column("weight"), number(0)).as_("matches", quoted=True)',
    ),
    Mutation(
        "MINUS without its rule of overlap", "engine/semi_join", "if overlapping:", "if False:"
    ),
    Mutation(
        "MINUS takes away with nothing in common",
        "plan/patterns",
        "if not common:\n        return left",
        "if False:\n        return left",
    ),
    Mutation(
        "a match ignores its condition",
        "engine/semi_join",
        ".where(condition_sql(condition, frozenset(sides.variables)), copy=False)",
        ".where(exp.true(), copy=False)",
    ),
    Mutation(
        "NOT EXISTS is EXISTS",
        "plan/exists",
        "node = _exists_join(node, pattern, context, lowering, AntiJoin)",
        "node = _exists_join(node, pattern, context, lowering, SemiJoin)",
    ),
    Mutation(
        "EXISTS is not correlated",
        "plan/exists",
        "context = context.with_domain(domain)",
        "pass",
    ),
    Mutation(
        "EXISTS takes unbound for any value",
        "plan/exists",
        "Distinct(Project((*correlated, *keys), node))",
        "Distinct(Project(correlated, node))",
    ),
    Mutation(
        "a variable that is not projected is that outside",
        "plan/patterns",
        "with columns.hidden({*context.carried} - {*shown}):",
        "with columns.hidden(()):",
    ),
    Mutation(
        "a graph without triples is one",
        "plan/named_graphs",
        "if not needs_triple(node, scope):",
        "if False:",
    ),
    Mutation(
        "OPTIONAL joins without its condition",
        "engine/delta",
        "join_delta(pair, node.condition)",
        "join_delta(pair)",
    ),
    Mutation(
        "OPTIONAL's rest ignores the condition",
        "engine/delta",
        'match_delta(pair, self.epochs, "unmatched", node.condition)',
        'match_delta(pair, self.epochs, "unmatched")',
    ),
    Mutation(
        "a join touches only the left side's keys",
        "engine/delta",
        'self._keys(node, sides, "keys", deltas)',
        'self._keys(node, sides, "keys", deltas[:1])',
    ),
    Mutation(
        "of a touched left row only touched matches are looked at",
        "engine/delta",
        "if sides.perhaps and not isinstance(node, Join):",
        "if False:",
    ),
    Mutation(
        "group and distinct lose the state",
        "engine/delta",
        'return union_all([*self._state(node, child, "", keys), self._rows(child, delta)])',
        "return self._rows(child, delta)",
    ),
    Mutation(
        "a slice loses the state",
        "engine/delta",
        "state = self._states.state(node.child)",
        "state = None",
    ),
    Mutation(
        "a closure loses the state",
        "engine/delta",
        '*self._state(node, node.child, "", None), ',
        "",
    ),
    Mutation(
        "a product loses the state",
        "engine/delta",
        "*self._state(node, child, str(index), None), ",
        "",
    ),
    Mutation(
        "a join loses the state",
        "engine/delta",
        '*self._state(node, child, f"_{side}", keys),',
        "",
    ),
    Mutation(
        "the state lacks its last epoch",
        "engine/stored_state",
        'column("epoch", "s") <= number(self.epochs.after)',
        'column("epoch", "s") < number(self.epochs.after)',
    ),
    Mutation(
        "the state has what a run before stored of this range",
        "engine/stored_state",
        'column("epoch", "s") <= number(self.epochs.after)',
        'column("epoch", "s") <= number(self.epochs.last)',
    ),
    Mutation(
        "a group stays without solutions",
        "engine/group",
        'column("solutions", "s") > 0',
        'column("solutions", "s") >= 0',
    ),
    Mutation(
        "no group of no solutions",
        "engine/group",
        "if self.node.always:\n            parts",
        "if False:\n            parts",
    ),
    Mutation(
        "an aggregate sees the rows that have just ended",
        "engine/group",
        'column("since", "s") < column("until", "i")',
        'column("since", "s") <= column("until", "i")',
    ),
    Mutation(
        "COUNT counts errors",
        "engine/group",
        "exp.Case().when(is_value, weight.copy()).else_(exp.Literal.number(0))",
        "exp.Case().when(is_value, weight.copy()).else_(weight.copy())",
    ),
    Mutation("aggregates without DISTINCT", "engine/group", "if not fold.distinct:", "if True:"),
    Mutation(
        "a sum ignores multiplicities",
        "engine/group",
        "exp.cast(digits, ADDEND) * exp.cast(weight, TIMES)",
        "exp.cast(digits, ADDEND) * exp.cast(exp.func('SIGN', weight), TIMES)",
    ),
    Mutation(
        "a slice without OFFSET",
        "engine/slice",
        'exp.func("GREATEST", column("upto") - column("weight"), number(node.offset))',
        'column("upto") - column("weight")',
    ),
    Mutation(
        "a slice that reads too little of the state",
        "engine/slice",
        "number(node.offset + node.limit) + lost.subquery(copy=False)",
        "number(node.offset + node.limit)",
    ),
    Mutation(
        "DESC is ASC",
        "engine/slice",
        "desc=key.descending,",
        "desc=False,",
    ),
    Mutation(
        "a closure counts a pair once per path",
        "engine/closure",
        "held = presence(ends(paths, key), key)",
        "held = paths",
    ),
    Mutation(
        "paths are touched in the wrong direction",
        "engine/closure",
        'lambda found: _neighbours(part, found, ever.name, "target", "source")',
        'lambda found: _neighbours(part, found, ever.name, "source", "target")',
    ),
    Mutation(
        "a path lasts as long as its longest step",
        "engine/closure",
        'until = exp.func("LEAST", column("until", "f"), column("until", "e"))',
        'until = exp.func("GREATEST", column("until", "f"), column("until", "e"))',
    ),
    Mutation(
        "a round is lost when rounds are merged",
        "engine/fixpoint",
        "rows = _all(self.fixpoint.columns, self.relations[-_MERGED:])",
        "rows = _all(self.fixpoint.columns, self.relations[-_MERGED:-1])",
    ),
    Mutation(
        "a path may start anywhere",
        "engine/closure",
        "if node.start is not None:",
        "if False:",
    ),
    Mutation(
        "the path of no steps is forgotten",
        "plan/path_plans",
        "                if minimum and not paths.may_take_no_step(inner):\n"
        "                    return pairs",
        "                return pairs",
    ),
    Mutation(
        "an inverse negated set looks forward",
        "plan/path_plans",
        "self._any_but(inverse, object_, subject)",
        "self._any_but(inverse, subject, object_)",
    ),
    Mutation(
        "UNION forgets a side",
        "engine/rowwise",
        "for child, delta in zip(node.children, children, strict=True)",
        "for child, delta in zip(node.children[:1], children[:1], strict=True)",
    ),
    Mutation(
        "inline data appears in every run",
        "engine/rowwise",
        "rows = node.rows if epochs.from_nothing else ()",
        "rows = node.rows",
    ),
    Mutation(
        "ASK begins without an answer",
        "engine/rowwise",
        "    if not epochs.from_nothing:\n        return flips",
        "    return flips",
    ),
    Mutation(
        "a literal may be the subject of a triple",
        "engine/rowwise",
        'exp.or_(begins(subject, "<"), begins(subject, "_")),',
        "",
    ),
    Mutation(
        "a neighbourhood without what was there before",
        "engine/graph",
        '.where(column("nth").eq(1), column("weight") < 0, copy=False)',
        '.where(column("nth").eq(1), column("weight") > 1, copy=False)',
    ),
    Mutation(
        "a neighbourhood without its last hop",
        "engine/neighbourhood",
        "default=0) + 1)",
        "default=0))",
    ),
    Mutation(
        "a triple lasts to its last retraction",
        "engine/graph",
        'exp.func("MIN", column("epoch", "r"))',
        'exp.func("MAX", column("epoch", "r"))',
    ),
    Mutation(
        "an initial run sees what has vanished",
        "engine/graph",
        "    if collapsed:\n",
        "    if False:\n",
    ),
    Mutation(
        "MINUS shares what only EXISTS gives a value",
        "plan/patterns",
        "() if certain else context.carried",
        "()",
    ),
    Mutation(
        "a nested EXISTS is not correlated by what may be unbound outside",
        "plan/exists",
        "correlated_variables(inner, terms), context.certain",
        "correlated_variables(inner, terms), context.carried",
    ),
    Mutation(
        "a path does not begin at what EXISTS is told",
        "plan/path_plans",
        "return Distinct(Union((pairs, self._given_ends(given, ends, pairs))))",
        "return pairs",
    ),
    Mutation(
        "a path is not told what is no term of the graph",
        "plan/correlation",
        "return frozenset() if ends & terms else ends",
        "return frozenset()",
    ),
    Mutation(
        "what one graph has, every graph has",
        "plan/correlation",
        "return correlated_variables(inner)\n",
        "return correlated_variables(inner, terms)\n",
    ),
    Mutation(
        "one or more times a path that may take no step never takes none",
        "plan/path_plans",
        "if minimum and not paths.may_take_no_step(inner):",
        "if minimum:",
    ),
    Mutation(
        "the key of a group decides nothing below it",
        "plan/correlation",
        "return counted | correlated_variables(inner, terms & keys)",
        "return counted",
    ),
    Mutation(
        "a column of VALUES is carried though it is unbound",
        "plan/context",
        "unbound & domain.certain or not unbound",
        "not unbound",
    ),
    Mutation(
        "a filter moves to a side that may leave its variable unbound",
        "plan/filters",
        "case Join(left, right) if variables <= left.certain:",
        "case Join(left, right) if variables <= set(left.variables):",
    ),
    Mutation(
        "a filter moves below an OPTIONAL that binds its variable",
        "plan/filters",
        "case LeftJoin() if variables <= node.left.certain:",
        "case LeftJoin() if True:",
    ),
)
