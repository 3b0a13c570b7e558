"""Rules over triples: what a program that gives a graph derives, as triples.

An atom of the answer is a triple: `p(S,P,O)` that of its arguments, `p(X)` is `X a :p`, `p(X,Y)` is
`X :p Y`, as atoms that nothing declares are read. What is no triple of RDF (its subject is a
literal, its predicate no IRI) is not derived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from weir.lars.atoms import RDF_TYPE
from weir.lars.errors import ProgramError, ProgramSyntaxError, UnsupportedProgram
from weir.lars.predicates import Predicate
from weir.lars.syntax import Atom, Condition, Head, Literal, Place, Rule, Stratified, Stratum, Term
from weir.lars.terms import Namespaces
from weir.sparql.algebra.expressions import Call, Constant, Variable

ANSWER_PREDICATE = "Triple"
"""The predicate of the answer, where it is not that of rules; no rule can have such a name."""
_WIDTH = 3


def over_triples(
    rules: Stratified,
    output: Sequence[str],
    predicates: Mapping[str, Predicate],
    namespaces: Namespaces,
) -> tuple[Stratified, str]:
    """Rules whose answer are triples, and the predicate of the answer, which has three arguments.

    Args:
        rules: checked.
        output: the predicates of the answer.
        predicates: by name.
        namespaces: of the program.

    Raises:
        ProgramError: an atom of the answer is no triple.
    """
    answer, strata = output[0], rules.strata
    if len(output) > 1 or predicates[answer].arity != _WIDTH:
        own = tuple(_as_triple(predicates[name], namespaces) for name in output)
        answer = ANSWER_PREDICATE
        strata = (*strata, Stratum((answer,), own, recursive=False))
    checked = tuple(_only_triples(stratum, answer, namespaces.file) for stratum in strata)
    return replace(rules, strata=checked), answer


def refuse_times(rules: Iterable[Rule], file: str) -> None:
    """Refuse windows and points: at an epoch, an atom holds or does not.

    Raises:
        UnsupportedProgram: a rule has one.
    """
    for rule in rules:
        _refuse_times(rule, file)


def _refuse_times(rule: Rule, file: str) -> None:
    hint = "Leave it out, or read a stream: `stream: name`."
    reason = "a program that gives a graph is evaluated at each epoch, and has no points"
    for literal in rule.literals:
        if literal.window is not None or literal.modality is not None:
            what = "@" if literal.window is None else "win"
            raise UnsupportedProgram(what, file, literal.place, reason, hint)
    if rule.head.time is not None:
        raise UnsupportedProgram("@", file, rule.place, reason, hint)


def _as_triple(predicate: Predicate, namespaces: Namespaces) -> Rule:
    """The rule that makes triples of the atoms of a predicate."""
    name = predicate.name
    variables: tuple[Term, ...] = tuple(Variable(f"X{i}") for i in range(predicate.arity))
    match predicate.arity:
        case 1:
            triple = (*variables, RDF_TYPE, namespaces.of_name(name, predicate.place))
        case 2:
            iri = namespaces.of_name(name, predicate.place)
            triple = (variables[0], iri, variables[1])
        case 3:
            triple = variables
        case _:
            raise _no_triple(name, namespaces.file, predicate.place)
    body = Literal(Atom(name, variables, predicate.place), place=predicate.place)
    return Rule(Head(Atom(ANSWER_PREDICATE, triple, predicate.place)), (body,), predicate.place)


def _no_triple(name: str, file: str, place: Place) -> ProgramError:
    return ProgramSyntaxError(
        name,
        file,
        place,
        "an atom without arguments is no triple",
        "Give it one to three arguments, or leave it out of `output`.",
    )


def _only_triples(stratum: Stratum, name: str, file: str) -> Stratum:
    """The stratum whose atoms of a predicate are triples of RDF."""
    rules = tuple(
        replace(rule, body=(*rule.body, *_conditions(rule, name, file)))
        if rule.head.atom.predicate == name
        else rule
        for rule in stratum.rules
    )
    return replace(stratum, rules=rules)


def _conditions(rule: Rule, answer: str, file: str) -> list[Condition]:
    """The conditions under which the head of a rule is a triple."""
    subject, predicate, _ = rule.head.atom.arguments
    atoms = [
        literal.atom
        for literal in rule.literals
        if not literal.negated and literal.atom.predicate == answer
    ]
    conditions = []
    if isinstance(subject, Constant):
        if subject.term.startswith('"'):
            reason = "a literal is no subject"
            raise ProgramSyntaxError(subject.term, file, rule.place, reason, "Write an IRI.")
    elif subject not in {node for atom in atoms for node in atom.arguments[:2]}:
        conditions.append(Condition(Call("!", (Call("ISLITERAL", (subject,)),)), rule.place))
    if isinstance(predicate, Constant):
        if not predicate.term.startswith("<"):
            reason = "the predicate of a triple is an IRI"
            raise ProgramSyntaxError(predicate.term, file, rule.place, reason, "Write an IRI.")
    elif predicate not in {atom.arguments[1] for atom in atoms}:
        conditions.append(Condition(Call("ISIRI", (predicate,)), rule.place))
    return conditions
