"""Safe rules: every variable of a rule gets a value from a body element that is not negated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from weir.lars.errors import ProgramError, UnsupportedProgram
from weir.lars.syntax import Assignment, Atom, Condition, Place, Rule
from weir.sparql.algebra.expressions import Call, Expression, Variable
from weir.sparql.algebra.traversal import arguments_of


def safe(rule: Rule, file: str) -> Rule:
    """The rule with assignments in place of conditions that assign, ordered as in `Stratified`.

    `V = expression` and `expression = V` assign V, unless a literal binds V.

    Raises:
        UnsupportedProgram: a variable has no value.
    """
    literals = rule.literals
    positive = [literal for literal in literals if not literal.negated]
    bound = {name for literal in positive for name in literal.variables}
    open_conditions = [element for element in rule.body if isinstance(element, Condition)]
    assignments: list[Assignment] = []
    while resolved := next(filter(None, (_assignment(c, bound) for c in open_conditions)), None):
        condition, assignment = resolved
        open_conditions.remove(condition)
        assignments.append(assignment)
        bound.add(assignment.variable)
    for condition in open_conditions:
        for name in variables_of(condition.expression):
            if name not in bound:
                raise _unsafe(name, "the comparison has it", condition.place, file)
    for literal in literals:
        for name in literal.variables:
            if name not in bound:
                raise _unsafe(name, "the negated atom has it", literal.place, file)
    for name in rule.head.variables:
        if name not in bound:
            raise _unsafe(name, "the head has it", rule.place, file)
    return replace(rule, body=(*literals, *assignments, *open_conditions))


def check_ground(fact: Atom, file: str) -> None:
    """Refuse a fact with a variable.

    Raises:
        UnsupportedProgram: it has a variable.
    """
    for term in fact.arguments:
        if isinstance(term, Variable):
            name = "_" if term.name.startswith("_") else term.name
            raise UnsupportedProgram(
                name,
                file,
                fact.place,
                "a fact has no variable: nothing gives it a value",
                "Write constants, or a rule: head <- body.",
            )


def variables_of(expression: Expression) -> tuple[str, ...]:
    """The variables of an expression, in order, each once."""
    match expression:
        case Variable(name):
            return (name,)
        case Call():
            arguments = arguments_of(expression)
            return tuple(dict.fromkeys(v for part in arguments for v in variables_of(part)))
        case _:
            return ()


def _assignment(condition: Condition, bound: Iterable[str]) -> tuple[Condition, Assignment] | None:
    match condition.expression:
        case Call("=", (left, right)):
            for side, other in ((left, right), (right, left)):
                if (
                    isinstance(side, Variable)
                    and side.name not in bound
                    and {*variables_of(other)} <= {*bound}
                ):
                    return condition, Assignment(side.name, other, condition.place)
    return None


def _unsafe(name: str, where: str, place: Place, file: str) -> ProgramError:
    if name.startswith("_"):
        hint = "Use _ in atoms that are not negated; for not p(X,_), derive q(X) <- p(X,_) first."
        return UnsupportedProgram("_", file, place, f"{where}, and it has no value", hint)
    return UnsupportedProgram(
        name,
        file,
        place,
        f"{where}, and nothing gives it a value",
        f"Use {name} in an atom of the body that is not negated, or write {name} = expression.",
    )
