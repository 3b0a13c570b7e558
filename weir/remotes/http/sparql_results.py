"""SPARQL results in JSON as solution mappings of N-Triples terms, read while they arrive.

https://www.w3.org/TR/sparql11-results-json/
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weir.rdf.terms import (
    LANG_STRING,
    TermError,
    canonical_term,
    escape,
    iri,
    literal,
)
from weir.remotes.http.client import Body
from weir.remotes.http.json_pull import JsonError, JsonText
from weir.remotes.http.outcomes import FetchError
from weir.remotes.http.quotation import EXCERPT_BYTES, quote
from weir.remotes.http.request import RESULTS_TYPE

Solution = dict[str, str]
"""Terms in N-Triples form by variable (without `?`); unbound variables are left out."""
LONGEST_SOLUTION = 2 << 20
"""Characters of one solution in JSON."""
_LONGEST_OTHER = 64 << 10
_TYPES = frozenset({RESULTS_TYPE, "application/json"})
# https://www.w3.org/TR/sparql11-query/#rVARNAME, a little wider
_VARIABLE = re.compile("[0-9A-Z_a-z\u00b7\u00c0-\ud7ff\uf900-\U000effff]{1,256}")
_MOST_VARIABLES = 1000
_HEX_LABEL = "x-"


@dataclass(frozen=True, slots=True)
class SparqlResults:
    """A bag of solutions in the order sent.

    Blank nodes have the labels that the endpoint sent, which mean nothing beyond this answer.
    """

    variables: tuple[str, ...]
    solutions: tuple[Solution, ...]


class ResultsError(ValueError):
    """Not the results of a SELECT query in JSON, or with a term that RDF 1.1 does not have."""


def read_results(body: Body, most: int, emit: Callable[[Solution], None]) -> tuple[str, ...]:
    """Give each solution to `emit` as soon as it has arrived; return the variables.

    The answer counts only if this returns: what was emitted before an error is to be dropped.

    Raises:
        FetchError: not_results, incomplete, too_many_bindings (more than `most` solutions).
    """
    media_type, _, parameters = body.content_type.partition(";")
    if media_type.strip().lower() not in _TYPES or not _is_utf8(parameters):
        start = next(body.chunks, b"")[:EXCERPT_BYTES]
        named = quote(body.content_type) or "nothing"
        raise FetchError("not_results", f"the type of the answer is {named}: {quote(start)}")
    try:
        return parse_results(JsonText(body.chunks), most, emit)
    except (JsonError, ResultsError) as error:
        raise FetchError("not_results", f"the answer is not SPARQL results: {error}") from None


def parse_results(text: JsonText, most: int, emit: Callable[[Solution], None]) -> tuple[str, ...]:
    """Read the JSON of a SELECT result as `read_results` does; the result of ASK is refused.

    Raises:
        JsonError: not JSON.
        ResultsError: JSON, but not results.
        FetchError: too_many_bindings; incomplete, if it says that there are more solutions.
    """
    variables: tuple[str, ...] | None = None
    solutions = total = 0
    used: set[str] = set()
    seen: set[str] = set()
    for name in text.members():
        seen.add(name)
        match name:
            case "head":
                variables = _variables(text.value(_LONGEST_OTHER))
            case "results":
                solutions = _read_bindings(text, most, emit, used)
            case "meta":
                total = _all_solutions(text.value(_LONGEST_OTHER))
            case "boolean":
                raise ResultsError("the answer to an ASK query")
            case _:
                text.value(_LONGEST_OTHER)
    text.end()
    if variables is None or "results" not in seen:
        raise ResultsError("head or results are missing")
    if undeclared := used.difference(variables):
        raise ResultsError(f"the variable {min(undeclared)} is not in the head")
    # Of a full answer, `total` may count what the LIMIT of the query cut off.
    if solutions < min(most, total):
        raise FetchError(
            "incomplete", f"the answer has {solutions:,} of {total:,} solutions, as it says itself"
        )
    return variables


def _read_bindings(
    text: JsonText, most: int, emit: Callable[[Solution], None], used: set[str]
) -> int:
    has_bindings, number = False, 0
    for name in text.members():
        if name != "bindings":
            text.value(_LONGEST_OTHER)
            continue
        has_bindings = True
        for number, _ in enumerate(text.elements(), start=1):
            if number > most:
                raise FetchError("too_many_bindings", f"more than {most:,} solutions")
            solution = _solution(text.value(LONGEST_SOLUTION))
            used.update(solution)
            if len(used) > _MOST_VARIABLES:
                raise ResultsError(f"more than {_MOST_VARIABLES:,} variables")
            emit(solution)
    if not has_bindings:
        raise ResultsError("results without bindings")
    return number


def _all_solutions(meta: Any) -> int:
    """How many solutions there are by the answer's own account (of QLever); 0 if it gives none."""
    total = meta.get("result-size-total") if isinstance(meta, dict) else None
    return total if isinstance(total, int) else 0


def _variables(head: Any) -> tuple[str, ...]:
    names = head.get("vars") if isinstance(head, dict) else None
    if not isinstance(names, list) or len(names) > _MOST_VARIABLES:
        raise ResultsError("the head has no list of variables, or a very long one")
    for name in names:
        _check_variable(name)
    if len(set(names)) != len(names):
        raise ResultsError("the head has a variable twice")
    return tuple(names)


def _solution(binding: Any) -> Solution:
    if not isinstance(binding, dict):
        raise ResultsError("a solution is not an object")
    solution = {}
    for name, value in binding.items():
        _check_variable(name)
        try:
            solution[name] = _term(value)
        except TermError as error:
            raise ResultsError(f"?{name}: {error}") from None
    return solution


def _check_variable(name: Any) -> None:
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
        raise ResultsError("not the name of a variable")


def _term(value: Any) -> str:
    """https://www.w3.org/TR/sparql11-results-json/#select-encode-terms, and `typed-literal` of
    before 2013, which Virtuoso still sends.
    """
    match value:
        case {"type": "uri", "value": str(text), **rest} if not rest:
            if ">" in text or "\\" in text:
                raise TermError(f"not an absolute IRI: {text[:80]!a}")
            return canonical_term(iri(text), "object")
        case {"type": "bnode", "value": str(label), **rest} if not rest:
            return _blank(label)
        case {"type": "literal" | "typed-literal", "value": str(lexical)}:
            return _literal(lexical, **_annotations(value))
        case {"type": "triple"}:
            raise TermError("triple terms (RDF 1.2) are not supported")
        case _:
            raise TermError("not a term of SPARQL results")


def _annotations(value: dict[str, Any]) -> dict[str, str]:
    known = {"xml:lang": "language", "datatype": "datatype"}
    if not value.keys() <= {"type", "value", *known}:
        raise TermError("a literal has members beside value, datatype and xml:lang")
    qualifiers = {known[name]: content for name, content in value.items() if name in known}
    if not all(isinstance(content, str) for content in qualifiers.values()):
        raise TermError("the datatype or language of a literal is not text")
    return qualifiers


def _literal(lexical: str, language: str | None = None, datatype: str | None = None) -> str:
    if language is not None:
        if datatype not in (None, LANG_STRING):
            raise TermError("a literal has a language and a datatype")
        return canonical_term(literal(lexical, language=language), "object")
    if datatype is None:
        return canonical_term(f'"{escape(lexical)}"', "object")
    if ">" in datatype or "\\" in datatype:
        raise TermError(f"not an absolute IRI: {datatype[:80]!a}")
    return canonical_term(literal(lexical, datatype), "object")


def _blank(label: str) -> str:
    """A label of N-Triples: that of the endpoint, or if it is none (Virtuoso's `nodeID://b1`), its
    UTF-8 in hexadecimal; different labels stay different.
    """
    try:
        sent = canonical_term(f"_:{label}", "object")
    except TermError:
        sent = ""
    if sent and not label.startswith(_HEX_LABEL):
        return sent
    try:
        return f"_:{_HEX_LABEL}{label.encode().hex()}"
    except UnicodeEncodeError:
        raise TermError("the label of a blank node has half of a surrogate pair") from None


def _is_utf8(parameters: str) -> bool:
    charset = re.search(r"charset\s*=\s*\"?([^\s;\"]*)", parameters, re.IGNORECASE)
    return charset is None or charset[1].lower() in ("utf-8", "utf8", "us-ascii")
