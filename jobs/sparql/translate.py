"""Query text to algebra; the only file that imports rdflib.

rdflib's grammar decides what the structure of a query is; what a term is, is decided before: every
IRI, string and number of the text is handed to the parser as a number of ours, because the parser
would normalise lexical forms, resolve escapes twice and forget where things are.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Literal

from pyparsing import ParseBaseException, ParseResults
from rdflib import term as rdf
from rdflib.plugins.sparql import parser
from rdflib.plugins.sparql.parserutils import CompValue

from jobs.rdf import terms
from jobs.sparql import constants, forms
from jobs.sparql.algebra import Query
from jobs.sparql.constants import Prologue, read_prologue
from jobs.sparql.errors import QuerySyntaxError, UnsupportedQuery
from jobs.sparql.expressions import Constant, Variable
from jobs.sparql.positions import Token, tokenize
from jobs.sparql.tree import Branch, Leaf, Source, Tree

MAX_BYTES = 65_536
MAX_DEPTH = 128
# rdflib takes about a millisecond for each constant of an expression.
MAX_TOKENS = 10_000

# pyparsing takes about 50 frames for one pair of parentheses.
_FRAMES = 30_000

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    A ABS AS ASC ASK AVG BASE BIND BNODE BOUND BY CEIL COALESCE CONCAT CONSTRUCT CONTAINS
    COUNT DATATYPE DAY DEFAULT DESC DESCRIBE DISTINCT ENCODE_FOR_URI EXISTS FILTER FLOOR FROM
    GRAPH GROUP GROUP_CONCAT HAVING HOURS IF IN IRI ISBLANK ISIRI ISLITERAL ISNUMERIC ISURI
    LANG LANGMATCHES LCASE LIMIT MAX MD5 MIN MINUS MINUTES MONTH NAMED NOT NOW OFFSET OPTIONAL
    ORDER PREFIX RAND REDUCED REGEX REPLACE ROUND SAMETERM SAMPLE SECONDS SELECT SEPARATOR
    SERVICE SHA1 SHA256 SHA384 SHA512 SILENT STR STRAFTER STRBEFORE STRDT STRENDS STRLANG
    STRLEN STRSTARTS STRUUID SUBSTR SUM TIMEZONE TZ UCASE UNDEF UNION URI UUID VALUES WHERE
    YEAR
    """,
    )
)
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_SPLIT = "Split it into several queries."
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def translate(
    text: str, default_graph: Literal["union", "default"] = "union", file: str = "<query>"
) -> Query:
    """The algebra of a query text.

    Raises:
        QuerySyntaxError: the text is not a SPARQL 1.1 query.
        UnsupportedQuery: it is one, but uses what Weir does not maintain, or is too large.
    """
    if len(_utf_8(text, file)) > MAX_BYTES:
        raise UnsupportedQuery(
            "query",
            file,
            1,
            1,
            f"longer than {MAX_BYTES:,} bytes",
            "Split it into several queries.",
        )
    tokens = tokenize(text, file)
    if len(tokens) > MAX_TOKENS:
        raise UnsupportedQuery(
            "query", file, 1, 1, f"longer than {MAX_TOKENS:,} words and symbols", _SPLIT
        )
    _check_brackets(tokens, file)
    prologue = read_prologue(tokens, file)
    body = tokens[prologue.length :]
    source = Source.of(file, body)
    if not body:
        raise source.malformed("query", None, "the text has no SELECT, ASK or CONSTRUCT")
    with _deep_recursion():
        return forms.query(_parse(source, prologue), source, prologue.base, default_graph, text)


def _utf_8(text: str, file: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        before = text[: error.start].split("\n")
        raise QuerySyntaxError(
            "text", file, len(before), len(before[-1]) + 1, "half of a surrogate pair"
        ) from error


def _check_brackets(tokens: tuple[Token, ...], file: str) -> None:
    """Every bracket is closed by its own kind, and the nesting is not too deep for the parser."""
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
                token.text, file, token.line, token.column, "nothing that this closes is open"
            )
    if opened:
        last = opened[-1]
        raise QuerySyntaxError(last.text, file, last.line, last.column, "this is never closed")


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """The parser recurses; the brackets are counted before, so the depth is bounded."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class _Numbered:
    """The body of a query with each term and variable replaced by its number, from 1."""

    def __init__(self, source: Source, prologue: Prologue) -> None:
        self._source, self._prologue = source, prologue
        self.leaves: list[Leaf] = []
        self.offsets: list[int] = []
        self.written: list[Token] = []
        self.text = ""
        self._used = {t.text for t in source.tokens if t.kind == "blank"}
        self._labels: dict[str, str] = {}
        tokens = iter(enumerate(source.tokens))
        for index, token in tokens:
            last = self._write(index, token)
            for _ in range(last - index):
                next(tokens)

    def token_at(self, offset: int) -> Token | None:
        """The token that is written at `offset` of the numbered text, or the one before."""
        index = bisect_right(self.offsets, offset) - 1
        return self.written[index] if index >= 0 else None

    def label(self, made: str) -> str:
        """The label of a blank node without one (`[]`, a list): the next that is not used.

        `made` is what rdflib drew at random.
        """
        if made not in self._labels:
            candidates = (f"_:b{number}" for number in count())
            self._labels[made] = next(label for label in candidates if label not in self._used)
            self._used.add(self._labels[made])
        return self._labels[made]

    def _write(self, index: int, token: Token) -> int:
        """Write one token, a literal with its language or datatype; the index of its last token."""
        source = self._source
        following = [*source.tokens[index + 1 : index + 3], None, None]
        last = index
        match token.kind:
            case "iri" | "name":
                inverse = "-" if self._is_inverse_in_set(index - 1) else ""
                spelled = f"<{inverse}{self._number(terms.iri(self._prologue.iri(token)), token)}>"
            case "number":
                spelled = str(self._number(constants.number(token.text), token))
            case "string":
                suffix, datatype = following[0], following[1]
                value = self._prologue.string(token)
                if suffix and suffix.kind == "language":
                    term, last = terms.literal(value, language=suffix.text[1:]), index + 1
                elif suffix and suffix.text == "^^":
                    if datatype is None or datatype.kind not in ("iri", "name"):
                        raise source.malformed("^^", suffix, "no datatype follows")
                    term, last = terms.literal(value, self._prologue.iri(datatype)), index + 2
                else:
                    term = terms.literal(value)
                spelled = f'"{self._number(term, token)}"'
            case "variable":
                spelled = f"?{self._leaf(Leaf(Variable(token.text[1:]), token))}"
            case "blank":
                spelled = f"_:{self._leaf(Leaf(Variable(token.text), token))}"
            case "word" if token.is_word("TRUE", "FALSE"):
                spelled = f'"{self._number(constants.boolean(token.text), token)}"'
            case "word" if token.text == "a" and self._is_inverse_in_set(index - 1):
                spelled = f"<-{self._number(_TYPE, token)}>"
            case "word":
                spelled = self._word(token)
            case "punctuation" if self._is_inverse_in_set(index):
                return last
            case "punctuation":
                spelled = token.text
            case "language":
                raise source.malformed(token.text, token, "a language tag follows a string only")
        self._append(spelled, token, adjacent=self._is_adjacent(index, token))
        return last

    def _is_inverse_in_set(self, index: int) -> bool:
        """Whether the token is the `^` before an IRI of a negated property set.

        rdflib forgets the IRI after it, so the two are written as one IRI with a minus.
        """
        tokens = self._source.tokens
        if index < 1 or tokens[index].text != "^":
            return False
        before = index - 1
        while before > 0 and (_is_iri(tokens[before]) or tokens[before].text in ("|", "^")):
            before -= 1
        in_list = tokens[before].text == "(" and before > 0 and tokens[before - 1].text == "!"
        if not in_list and tokens[index - 1].text != "!":
            return False
        if not any(map(_is_iri, tokens[index + 1 : index + 2])):
            raise self._source.malformed("^", tokens[index], "no IRI follows")
        return True

    def _word(self, token: Token) -> str:
        if token.text.upper() not in _KEYWORDS:
            raise self._source.malformed(
                token.text,
                token,
                "no keyword of SPARQL 1.1",
                "A prefixed name needs a colon, a variable a question mark.",
            )
        return token.text

    def _is_adjacent(self, index: int, token: Token) -> bool:
        """Whether the parser must see no space before: a sign's number, a path's modifier."""
        if index == 0:
            return False
        before = self._source.tokens[index - 1]
        if token.kind == "number":
            return before.end == token.offset and before.text in ("+", "-")
        if token.text in ("*", "+", "?"):
            after = self._source.tokens[index + 1 : index + 2]
            is_sign = any(t.kind == "number" and t.offset == token.end for t in after)
            return not is_sign and (before.kind in ("iri", "name") or before.text in (")", "a"))
        return False

    def _number(self, term: str, token: Token) -> int:
        reason = terms.check_term(term, "object")
        if reason is not None:
            raise self._source.malformed(token.text, token, reason)
        return self._leaf(Leaf(Constant(term), token))

    def _leaf(self, leaf: Leaf) -> int:
        self.leaves.append(leaf)
        return len(self.leaves)

    def _append(self, spelled: str, token: Token, *, adjacent: bool) -> None:
        self.text += "" if adjacent else " "
        self.offsets.append(len(self.text))
        self.written.append(token)
        self.text += spelled


def _is_iri(token: Token) -> bool:
    return token.kind in ("iri", "name") or token.text == "a"


def _parse(source: Source, prologue: Prologue) -> Tree:
    numbered = _Numbered(source, prologue)
    try:
        parsed = parser.Query.parse_string(numbered.text, parse_all=True)
    except ParseBaseException as error:
        token = numbered.token_at(error.loc)
        what = token.text if token else "query"
        raise source.malformed(
            what,
            token,
            "not SPARQL 1.1 from here on",
            "See https://www.w3.org/TR/sparql11-query/#grammar.",
        ) from error
    tree = _branch(parsed[-1], numbered)
    assert isinstance(tree, Tree), "the grammar's start symbol is a production"
    return tree


def _branch(value: object, numbered: _Numbered) -> Branch:
    """rdflib's value as ours."""
    match value:
        case CompValue(name="literal"):
            return numbered.leaves[int(value["string"]) - 1]
        case CompValue():
            return Tree(value.name, {part: _branch(value[part], numbered) for part in value})
        case rdf.Variable():
            return numbered.leaves[int(value) - 1]
        case rdf.BNode() if value.isdigit():
            return numbered.leaves[int(value) - 1]
        case rdf.BNode():
            return Leaf(Variable(numbered.label(str(value))))
        case rdf.URIRef() if value.startswith("-"):
            return Tree("InversePath", {"part": numbered.leaves[-int(value) - 1]})
        case rdf.URIRef():
            # What the syntax implies (`a`, `()`, lists) is an IRI of rdflib's own.
            return (
                numbered.leaves[int(value) - 1]
                if value.isdigit()
                else Leaf(Constant(terms.iri(value)))
            )
        case rdf.Literal() if int(value) < 0:
            # The grammar took the sign for a part of the number.
            return numbered.leaves[-int(value) - 1].signed("-")
        case rdf.Literal():
            return numbered.leaves[int(value) - 1]
        case str():
            return value
        case list() | ParseResults():
            return tuple(_branch(item, numbered) for item in value)
        case _:
            raise TypeError(
                f"rdflib gave a {type(value).__name__} where a syntax tree was expected"
            )
