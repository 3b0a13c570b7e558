"""Translation of a query text to its algebra; the only module that imports rdflib.

rdflib's grammar gives the structure of a query. It reads the query with placeholders for terms and
variables (`placeholders.py`), and its result is converted to a `Tree`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pyparsing import ParseBaseException, ParseResults
from rdflib import term as rdf
from rdflib.plugins.sparql import parser
from rdflib.plugins.sparql.parserutils import CompValue

from weir.rdf import terms
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.algebra.queries import Query
from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.forms import read_query
from weir.sparql.frontend.lexer import Token, tokenize
from weir.sparql.frontend.placeholders import PlaceholderText
from weir.sparql.frontend.prologue import Prologue, read_prologue
from weir.sparql.frontend.rspql.stream_syntax import read_stream_syntax
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Branch, Leaf, Tree
from weir.sparql.recursion import deep_recursion

MAX_BYTES = 1_048_576
MAX_DEPTH = 128
# rdflib takes about a millisecond for each constant of an expression.
MAX_TOKENS = 10_000

_SPLIT = "Split it into several queries."
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def translate(
    text: str,
    default_graph: Literal["union", "default"] = "union",
    file: str = "<query>",
    *,
    push_filters: bool = False,
) -> Query:
    """The algebra of a query text, SPARQL 1.1 or RSP-QL (`rspql`).

    Args:
        text: the query.
        default_graph: what patterns without FROM read.
        file: where it is from, for errors.
        push_filters: whether remotes are given the filters around blocks of SERVICE.

    Raises:
        QuerySyntaxError: the text is neither.
        UnsupportedQuery: the query uses what Weir does not maintain, or is too large.
    """
    if len(_utf_8(text, file)) > MAX_BYTES:
        raise UnsupportedQuery("query", file, 1, 1, f"longer than {MAX_BYTES:,} bytes", _SPLIT)
    tokens = tokenize(text, file)
    _check_brackets(tokens, file)
    syntax = read_stream_syntax(tokens, file)
    prologue = read_prologue(syntax.tokens, file)
    body = syntax.tokens[prologue.length :]
    source = Source.of(file, body)
    if not body:
        raise source.malformed("query", None, "the text has no SELECT, ASK or CONSTRUCT")
    with deep_recursion():
        tree = _parse(source, prologue)
        query = read_query(tree, source, prologue, default_graph, text, push_filters=push_filters)
    if not syntax.windows:
        return query
    return replace(query, windows=syntax.windows, registration=syntax.registration)


def _utf_8(text: str, file: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        before = text[: error.start].split("\n")
        raise QuerySyntaxError(
            "text", file, len(before), len(before[-1]) + 1, "an unpaired surrogate"
        ) from error


def _check_brackets(tokens: tuple[Token, ...], file: str) -> None:
    """Refuse brackets that do not match, and nesting that is too deep for the parser."""
    opened: list[Token] = []
    for token in tokens:
        if token.kind != "punctuation":
            continue
        if token.text in "([{":
            opened.append(token)
            if len(opened) > MAX_DEPTH:
                raise UnsupportedQuery(
                    token.text,
                    file,
                    token.line,
                    token.column,
                    f"nested deeper than {MAX_DEPTH}",
                    "Flatten the query.",
                )
        elif token.text in _BRACKETS and (not opened or opened.pop().text != _BRACKETS[token.text]):
            raise QuerySyntaxError(
                token.text,
                file,
                token.line,
                token.column,
                "it closes no open bracket",
            )
    if opened:
        last = opened[-1]
        raise QuerySyntaxError(last.text, file, last.line, last.column, "it is never closed")


def _parse(source: Source, prologue: Prologue) -> Tree:
    placeholders = PlaceholderText(source, prologue)
    if placeholders.length > MAX_TOKENS:
        what = f"longer than {MAX_TOKENS:,} words and symbols outside of lists of terms"
        raise source.unsupported("query", None, what, _SPLIT)
    try:
        parsed = parser.Query.parse_string(placeholders.text, parse_all=True)
    except ParseBaseException as error:
        unnamed = _unnamed_column(source.tokens)
        if unnamed is not None:
            raise source.malformed(
                "(", unnamed, "a column of SELECT without a name", "Write (... AS ?name)."
            ) from error
        token = placeholders.token_at(error.loc)
        what = token.text if token else "query"
        raise source.malformed(
            what,
            token,
            "not SPARQL 1.1 from here on",
            "See https://www.w3.org/TR/sparql11-query/#grammar.",
        ) from error
    tree = _branch(parsed[-1], placeholders)
    assert isinstance(tree, Tree), "the grammar's start symbol is a production"
    return tree


def _unnamed_column(tokens: Sequence[Token]) -> Token | None:
    """The bracket of the first expression after SELECT that has no AS; None if all have one."""
    opened: list[Token] = []
    is_named, is_head = True, False
    for token in tokens:
        if not opened and token.is_word("SELECT"):
            is_head = True
        elif is_head and token.text == "(":
            is_named = bool(opened) and is_named
            opened.append(token)
        elif is_head and token.text == ")" and opened:
            last = opened.pop()
            if not opened and not is_named:
                return last
        elif len(opened) == 1 and token.is_word("AS"):
            is_named = True
        elif not opened and token.text == "{":
            is_head = False
    return None


def _branch(value: object, placeholders: PlaceholderText) -> Branch:
    """A value of rdflib's parser as a branch, with each placeholder replaced by its term."""
    match value:
        case CompValue(name="literal"):
            return placeholders.leaf(int(value["string"]))
        case CompValue():
            return Tree(value.name, {part: _branch(value[part], placeholders) for part in value})
        case rdf.Variable():
            return placeholders.leaf(int(value))
        case rdf.BNode() if value.isdigit():
            return placeholders.leaf(int(value))
        case rdf.BNode():
            return Leaf(Variable(placeholders.label(str(value))))
        case rdf.URIRef() if value.startswith("-"):
            return Tree("InversePath", {"part": placeholders.leaf(-int(value))})
        case rdf.URIRef():
            # IRIs that the syntax implies (`a`, `()`, lists) are rdflib's own.
            return (
                placeholders.branches[int(value) - 1]
                if value.isdigit()
                else Leaf(Constant(terms.iri(value)))
            )
        case rdf.Literal() if int(value) < 0:
            # The grammar read the sign as part of the number.
            return placeholders.leaf(-int(value)).signed("-")
        case rdf.Literal():
            return placeholders.leaf(int(value))
        case str():
            return value
        case list() | ParseResults():
            return tuple(_branch(item, placeholders) for item in value)
        case _:
            raise TypeError(
                f"rdflib gave a {type(value).__name__} where a syntax tree was expected"
            )
