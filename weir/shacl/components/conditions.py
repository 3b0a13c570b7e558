"""Constraints that an expression over the value node decides: types, ranges, texts, lists.

https://www.w3.org/TR/shacl/#core-components
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.rdf.terms import literal
from weir.shacl.components.datatypes import is_well_formed
from weir.shacl.components.reading import Read, Reading
from weir.shacl.formulas import Names, all_of, any_of, call, integer, same, sure, text
from weir.shacl.graph import is_iri, is_literal
from weir.shacl.shapes import Constraint, ValueConstraint
from weir.shacl.vocabulary import local_name, sh
from weir.sparql.algebra.expressions import Constant, Expression, Variable
from weir.sparql.algebra.traversal import map_variables
from weir.sparql.functions.regex_syntax import PatternError
from weir.sparql.functions.regexes import compile_pattern

_VALUE = Variable("value")
_KINDS = {
    sh("IRI"): ("ISIRI",),
    sh("BlankNode"): ("ISBLANK",),
    sh("Literal"): ("ISLITERAL",),
    sh("BlankNodeOrIRI"): ("ISBLANK", "ISIRI"),
    sh("BlankNodeOrLiteral"): ("ISBLANK", "ISLITERAL"),
    sh("IRIOrLiteral"): ("ISIRI", "ISLITERAL"),
}
_RANGES = {"minExclusive": ">", "minInclusive": ">=", "maxExclusive": "<", "maxInclusive": "<="}


@dataclass(frozen=True, slots=True)
class Condition(ValueConstraint):
    """A condition over the variable `value`, which is never an error."""

    component: str
    message: str
    condition: Expression

    def is_met(self, value: Variable, names: Names) -> Expression:  # noqa: ARG002
        """Whether it holds of a value node."""
        return map_variables(self.condition, lambda _: value.name)


def _condition(name: str, message: str, condition: Expression) -> Constraint:
    return Condition(sh(f"{name}ConstraintComponent"), literal(message), condition)


def _datatype(reading: Reading, value: str) -> Constraint:
    reading.only_once("datatype")
    datatype = reading.iri("datatype", value)
    has_type = call("=", call("DATATYPE", _VALUE), Constant(datatype))
    is_of = sure(all_of([call("ISLITERAL", _VALUE), has_type]))
    condition = all_of([is_of, is_well_formed(_VALUE, datatype)])
    return _condition("Datatype", f"is not a literal of {datatype}", condition)


def _node_kind(reading: Reading, value: str) -> Constraint:
    reading.only_once("nodeKind")
    if value not in _KINDS:
        kinds = ", ".join(f"sh:{local_name(kind)}" for kind in _KINDS)
        raise reading.error("nodeKind", "it is not a kind of nodes", f"Write one of {kinds}.")
    condition = any_of(call(function, _VALUE) for function in _KINDS[value])
    return _condition("NodeKind", f"is not of kind {local_name(value)}", condition)


def _range(parameter: str) -> Read:
    operator, name = _RANGES[parameter], parameter[0].upper() + parameter[1:]

    def read(reading: Reading, value: str) -> Constraint:
        reading.only_once(parameter)
        if not is_literal(value):
            raise reading.error(parameter, "its value is not a literal")
        condition = sure(call(operator, _VALUE, Constant(value)))
        return _condition(name, f"is not {operator} {value}", condition)

    return read


def _length(parameter: str, operator: str) -> Read:
    name = parameter[0].upper() + parameter[1:]

    def read(reading: Reading, value: str) -> Constraint:
        number = reading.number(parameter, value)
        length = call(operator, call("STRLEN", call("STR", _VALUE)), integer(number))
        # A blank node has no text: STR of it is an error.
        condition = sure(length)
        return _condition(name, f"has a length that is not {operator} {number}", condition)

    return read


def _pattern(reading: Reading, value: str) -> Constraint:
    pattern = reading.string("pattern", value)
    reading.only_once("flags")
    flags = [
        reading.string("flags", value) for value in reading.graph.objects(reading.node, sh("flags"))
    ]
    try:
        compile_pattern(pattern, "".join(flags))
    except PatternError as error:
        raise reading.error("pattern", f"it is no regular expression: {error}") from None
    matches = call("REGEX", call("STR", _VALUE), text(pattern), *map(text, flags[:1]))
    condition = sure(matches)
    return _condition("Pattern", f"does not match {pattern}", condition)


def _language_in(reading: Reading, value: str) -> Constraint:
    reading.only_once("languageIn")
    members = reading.graph.members(value, reading.node, "languageIn")
    languages = [reading.string("languageIn", member) for member in members]
    tag = call("LANG", _VALUE)
    condition = sure(any_of(call("LANGMATCHES", tag, text(language)) for language in languages))
    return _condition("LanguageIn", f"has none of the languages {', '.join(languages)}", condition)


def _in(reading: Reading, value: str) -> Constraint:
    reading.only_once("in")
    members = reading.terms("in", value)
    return _condition("In", f"is not one of {_shown(members)}", is_one_of(_VALUE, members))


def is_one_of(node: Variable, terms: Sequence[str]) -> Expression:
    """Whether a node is one of some IRIs and literals; never an error."""
    iris = [Constant(term) for term in terms if is_iri(term)]
    # `=` would compare literals by value.
    literals = [same(node, Constant(term)) for term in terms if is_literal(term)]
    return any_of([*([sure(call("IN", node, *iris))] if iris else []), *literals])


def _shown(terms: Sequence[str]) -> str:
    limit = 10
    return ", ".join(terms[:limit]) + (
        f" and {len(terms) - limit} more" if len(terms) > limit else ""
    )


CONDITIONS: dict[str, Read] = {
    "datatype": _datatype,
    "nodeKind": _node_kind,
    **{parameter: _range(parameter) for parameter in _RANGES},
    "minLength": _length("minLength", ">="),
    "maxLength": _length("maxLength", "<="),
    "pattern": _pattern,
    "languageIn": _language_in,
    "in": _in,
}
"""The readers of parameters, by their local names."""
