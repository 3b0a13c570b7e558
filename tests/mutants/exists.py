"""The mutants of EXISTS: of what depends on the values outside, and where it gets them."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

EXISTS_MUTANTS = (
    Mutant(
        "a nested EXISTS is evaluated for the values of the one around only",
        "plan/exists",
        "context.with_domain(domain))",
        "context if context.domain else context.with_domain(domain))",
    ),
    Mutant(
        "what an OPTIONAL depends on does not come from outside",
        "plan/patterns",
        "left = _carrying(pattern.left, context, lowering)",
        "left = lowering.pattern(pattern.left, context)",
    ),
    Mutant(
        "what a MINUS depends on does not come from outside",
        "plan/patterns",
        "left = _carrying(with_binding_flags(pattern.left, flags), context, lowering)",
        "left = lowering.pattern(with_binding_flags(pattern.left, flags), context)",
    ),
    Mutant(
        "what is unbound outside has the value that is bound inside",
        "plan/domain",
        "if optional:",
        "if False:",
    ),
    Mutant(
        "a domain is joined with columns that may be unbound",
        "plan/domain",
        "kept = tuple(name for name in linked if name in certain and name not in left_out)",
        "kept = tuple(name for name in linked if name not in left_out)",
    ),
    Mutant(
        "a part is only evaluated for values that do not decide what it is",
        "plan/correlation",
        "return visible - correlated_variables(pattern, terms)",
        "return visible",
    ),
    Mutant(
        "the domain of a part has all values of the outside",
        "plan/domain",
        "if not self.links(node):\n            return self",
        "if True:\n            return self",
    ),
    Mutant(
        "EXISTS is not correlated",
        "plan/exists",
        "right = lowering.pattern(inner, context.with_domain(domain))",
        "right = lowering.pattern(inner, context.with_domain(None))",
    ),
    Mutant(
        "EXISTS treats unbound as any value",
        "plan/domain",
        "return (*self.correlated, *(key for _, key in self.keys))",
        "return self.correlated",
    ),
    Mutant(
        "MINUS counts variables that only EXISTS binds as shared",
        "plan/patterns",
        "() if certain else context.carried",
        "()",
    ),
    Mutant(
        "a path does not begin at the correlated value",
        "plan/path_plans",
        "return Distinct(Union((pairs, self._given_ends(given, ends, pairs))))",
        "return pairs",
    ),
    Mutant(
        "a path is not correlated by values that are not in the graph",
        "plan/correlation",
        "return frozenset() if ends & terms else ends",
        "return frozenset()",
    ),
    Mutant(
        "a term of one graph counts as a term of every graph",
        "plan/correlation",
        "return correlated_variables(inner)\n",
        "return correlated_variables(inner, terms)\n",
    ),
    Mutant(
        "a group hides variables correlated below its keys",
        "plan/correlation",
        "return counted | correlated_variables(inner, terms & keys)",
        "return counted",
    ),
    Mutant(
        "a column of VALUES that may be unbound counts as carried",
        "plan/domain",
        "keys.get(name, name) in node.certain and name in node.variables",
        "keys.get(name, name) in node.variables and name in node.variables",
    ),
)
