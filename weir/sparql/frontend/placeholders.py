"""The text that rdflib's grammar reads: a query with a numbered placeholder for each term.

The grammar gives the structure of a query, but does not read its terms: rdflib would normalise
lexical forms, resolve escapes twice and lose the places of terms.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import count

from weir.rdf import terms
from weir.sparql.algebra.expressions import Constant, Variable
from weir.sparql.frontend import literals
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.prologue import Prologue
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Leaf, TermList
from weir.text.near import meant

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
_UPDATES = frozenset(
    ("INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH", "DATA")
)
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


class PlaceholderText:
    """The body of a query in which the terms and variables are replaced by numbers, from 1.

    A list of terms, in VALUES or IN, has one number.

    Attributes:
        text: what the grammar reads; a number is written as a term of the same kind.
        branches: the terms, variables and lists of terms; that of number i is at i - 1.
    """

    def __init__(self, source: Source, prologue: Prologue) -> None:
        self._source, self._prologue = source, prologue
        self.branches: list[Leaf | TermList] = []
        self._texts: list[str] = []
        self._length = 0
        self._offsets: list[int] = []
        self._written: list[Token] = []
        self._used = {t.text for t in source.tokens if t.kind == "blank"}
        self._labels: dict[str, str] = {}
        tokens = iter(enumerate(source.tokens))
        for index, token in tokens:
            last = self._write(index, token)
            for _ in range(last - index):
                next(tokens)
        self.text = "".join(self._texts)

    @property
    def length(self) -> int:
        """How many tokens the grammar reads."""
        return len(self._written)

    def leaf(self, number: int) -> Leaf:
        """The term or variable of a number."""
        branch = self.branches[number - 1]
        assert isinstance(branch, Leaf), "a list is written as an IRI"
        return branch

    def token_at(self, offset: int) -> Token | None:
        """The token that is written at `offset` of `text`, or the one before."""
        index = bisect_right(self._offsets, offset) - 1
        return self._written[index] if index >= 0 else None

    def label(self, drawn: str) -> str:
        """The next unused label, for a blank node without a label in the text (`[]`, a list).

        `drawn` is the random label that rdflib gave it.
        """
        if drawn not in self._labels:
            candidates = (f"_:b{number}" for number in count())
            self._labels[drawn] = next(label for label in candidates if label not in self._used)
            self._used.add(self._labels[drawn])
        return self._labels[drawn]

    def _write(self, index: int, token: Token) -> int:
        """Write a placeholder for the token, literal or list that begins at `index`.

        Returns the index of the last token that it replaces.
        """
        source = self._source
        last = index
        match token.kind:
            case "iri" | "name":
                inverse = "-" if self._is_inverse_in_set(index - 1) else ""
                spelled = f"<{inverse}{self._number(terms.iri(self._prologue.iri(token)), token)}>"
            case "number":
                spelled = str(self._number(literals.number(token.text), token))
            case "string":
                term, last = self._literal(index)
                spelled = f'"{self._number(term, token)}"'
            case "variable":
                spelled = f"?{self._leaf(Leaf(Variable(token.text[1:]), token))}"
            case "blank":
                spelled = f"_:{self._leaf(Leaf(Variable(token.text), token))}"
            case "word" if token.is_word("TRUE", "FALSE"):
                spelled = f'"{self._number(literals.boolean(token.text), token)}"'
            case "word" if token.text == "a" and self._is_inverse_in_set(index - 1):
                spelled = f"<-{self._number(_TYPE, token)}>"
            case "word" if token.is_word("SILENT") and source.follows(token, "SERVICE"):
                return last
            case "word":
                spelled = self._word(token)
            case "punctuation" if self._is_inverse_in_set(index):
                return last
            case "punctuation" if listed := self._list(index):
                written, last = listed
                self.branches.append(written)
                spelled = self._written_list(index, len(self.branches))
            case "punctuation":
                spelled = token.text
            case "language":
                raise source.malformed(token.text, token, "a language tag may only follow a string")
        self._append(spelled, token, adjacent=self._is_adjacent(index, token))
        return last

    def _literal(self, index: int) -> tuple[str, int]:
        """The literal that begins with the string at `index`, and the index of its last token."""
        tokens, source = self._source.tokens, self._source
        suffix, datatype = (*tokens[index + 1 : index + 3], None, None)[:2]
        value = literals.string(tokens[index], source.file)
        if suffix and suffix.kind == "language":
            return terms.literal(value, language=suffix.text[1:]), index + 1
        if suffix and suffix.text == "^^":
            if datatype is None or datatype.kind not in ("iri", "name"):
                raise source.malformed("^^", suffix, "no datatype follows")
            return terms.literal(value, self._prologue.iri(datatype)), index + 2
        return terms.literal(value), index

    def _term(self, index: int) -> tuple[Leaf, int] | None:
        """The term that begins at `index`, and the index of its last token; None if none does."""
        token = self._source.tokens[index]
        match token.kind:
            case "iri" | "name":
                term = self._checked(terms.iri(self._prologue.iri(token)), token)
                return Leaf(Constant(term), token), index
            case "string":
                term, last = self._literal(index)
                return Leaf(Constant(self._checked(term, token)), token), last
            case "word" if token.is_word("TRUE", "FALSE"):
                return Leaf(Constant(literals.boolean(token.text)), token), index
            case "number":
                return Leaf(Constant(literals.number(token.text)), token), index
            case "punctuation" if token.text in ("+", "-"):
                number = self._source.tokens[index + 1]
                if number.kind == "number" and number.offset == token.end:
                    leaf = Leaf(Constant(literals.number(number.text)), number)
                    return leaf.signed(token.text), index + 1
        return None

    def _list(self, index: int) -> tuple[TermList, int] | None:
        """The list that the bracket at `index` opens, and the index of the one that closes it.

        None if it opens no list, or a list that has not only terms: the grammar reads that.
        """
        tokens = self._source.tokens
        token, before = tokens[index], tokens[index - 1] if index else None
        if before is None:
            return None
        if token.text == "(" and before.is_word("IN"):
            row, last = self._row(index + 1, ")", ",")
            return (TermList((row,)), last) if row and None not in row else None
        if token.text != "{" or not self._ends_variables(index - 1):
            return None
        if before.kind == "variable":
            row, last = self._row(index + 1, "}", "")
            return (TermList(tuple((item,) for item in row)), last) if row else None
        rows, at = [], index + 1
        while tokens[at].text == "(":
            row, last = self._row(at + 1, ")", "")
            if row is None:
                return None
            rows.append(row)
            at = last + 1
        return (TermList(tuple(rows)), at) if rows and tokens[at].text == "}" else None

    def _row(
        self, index: int, end: str, separator: str
    ) -> tuple[tuple[Leaf | None, ...] | None, int]:
        """The terms up to the bracket `end`, and its index; None if there are not only terms."""
        tokens, row = self._source.tokens, list[Leaf | None]()
        while tokens[index].text != end:
            if row and separator:
                if tokens[index].text != separator:
                    return None, index
                index += 1
            if tokens[index].is_word("UNDEF"):
                row.append(None)
                index += 1
                continue
            term = self._term(index)
            if term is None:
                return None, index
            row.append(term[0])
            index = term[1] + 1
        return tuple(row), index

    def _ends_variables(self, index: int) -> bool:
        """Whether the token at `index` is the last of the variables of VALUES."""
        tokens = self._source.tokens
        if tokens[index].kind == "variable":
            return index > 0 and tokens[index - 1].is_word("VALUES")
        if tokens[index].text != ")":
            return False
        index -= 1
        while index > 0 and tokens[index].kind == "variable":
            index -= 1
        return index > 0 and tokens[index].text == "(" and tokens[index - 1].is_word("VALUES")

    def _written_list(self, index: int, number: int) -> str:
        """The placeholder of a list: a list of one term."""
        if self._source.tokens[index].text == "(":
            return f"( <{number}> )"
        return (
            f"{{ <{number}> }}"
            if self._source.tokens[index - 1].text != ")"
            else f"{{ ( <{number}> ) }}"
        )

    def _is_inverse_in_set(self, index: int) -> bool:
        """Whether the token is the `^` before an IRI of a negated property set.

        rdflib loses the IRI after it, so the two are written as one IRI with a minus.
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
        if token.is_word("WINDOW", "SERVICE"):
            # The grammar has no windows; `rspql` leaves WINDOW only where GRAPH is allowed. SERVICE
            # has the syntax of GRAPH. rdflib would read each of its blocks again from the beginning
            # of the text, and never end if one is in another.
            return "GRAPH"
        word = token.text.upper()
        if word in _UPDATES:
            raise self._source.unsupported(
                token.text,
                token,
                "it is an update, and what is registered is a query",
                "Write SELECT, ASK or CONSTRUCT; sources alone change the graph.",
            )
        if word not in _KEYWORDS:
            raise self._source.malformed(
                token.text,
                token,
                "not a keyword of SPARQL 1.1",
                f"{meant(word, sorted(_KEYWORDS))}A prefixed name needs a colon, a variable"
                " a question mark.",
            )
        return token.text

    def _is_adjacent(self, index: int, token: Token) -> bool:
        """Whether no space may precede the token: a number after its sign, a path's modifier."""
        if index == 0:
            return False
        before = self._source.tokens[index - 1]
        if token.kind == "number":
            return before.end == token.offset and before.text in ("+", "-")
        if token.text in ("*", "+", "?"):
            after = self._source.tokens[index + 1 : index + 2]
            is_sign = token.text == "+" and any(
                t.kind == "number" and t.offset == token.end for t in after
            )
            return not is_sign and (before.kind in ("iri", "name") or before.text in (")", "a"))
        return False

    def _number(self, term: str, token: Token) -> int:
        return self._leaf(Leaf(Constant(self._checked(term, token)), token))

    def _checked(self, term: str, token: Token) -> str:
        reason = terms.check_term(term, "object")
        if reason is not None:
            raise self._source.malformed(token.text, token, reason)
        return term

    def _leaf(self, leaf: Leaf) -> int:
        self.branches.append(leaf)
        return len(self.branches)

    def _append(self, spelled: str, token: Token, *, adjacent: bool) -> None:
        space = "" if adjacent else " "
        self._offsets.append(self._length + len(space))
        self._written.append(token)
        self._texts.append(space + spelled)
        self._length += len(space) + len(spelled)


def _is_iri(token: Token) -> bool:
    return token.kind in ("iri", "name") or token.text == "a"
