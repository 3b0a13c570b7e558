"""Expressions: https://www.w3.org/TR/sparql11-query/#expressions."""

from __future__ import annotations

import re
from collections.abc import Callable

from weir.sparql.algebra.casts import CASTS
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression
from weir.sparql.algebra.traversal import arguments_of
from weir.sparql.frontend.aggregation import FUNCTIONS as AGGREGATES
from weir.sparql.frontend.aggregation import Aggregates, place_of, read_aggregate
from weir.sparql.frontend.refusals import refusal
from weir.sparql.frontend.translation import Translation
from weir.sparql.frontend.tree import Branch, Leaf, TermList, Tree

MAX_DEPTH = 128


def read_expression(
    branch: Branch, translation: Translation, aggregates: Aggregates | None = None
) -> Expression:
    """The expression of a syntax tree.

    Aggregates are replaced by variables of `aggregates`; if that is None, none are allowed.

    Raises:
        QuerySyntaxError: an aggregate where none is allowed.
        UnsupportedQuery: a function that Weir does not have, or calls nested too deeply.
    """
    expression = _Expressions(translation, aggregates).read(branch)
    if _depth(expression) > MAX_DEPTH:
        raise translation.source.unsupported(
            "expression", None, f"deeper than {MAX_DEPTH} calls", "Shorten chains of + - * /."
        )
    return expression


def _depth(expression: Expression) -> int:
    return 1 + max(map(_depth, arguments_of(expression)), default=0)


class _Expressions:
    def __init__(self, translation: Translation, aggregates: Aggregates | None) -> None:
        self._translation, self._aggregates = translation, aggregates
        self._source, self._base = translation.source, translation.prologue.base

    def read(self, branch: Branch) -> Expression:
        """One expression."""
        if isinstance(branch, Leaf):
            return branch.node
        assert isinstance(branch, Tree), "an expression is a production or a term"
        if branch.name in _OPERATORS:
            return _OPERATORS[branch.name](self, branch)
        if branch.name in _BUILT_IN:
            function, parts = _BUILT_IN[branch.name]
            arguments = [branch.parts[part] for part in parts if branch.get(part) is not None]
            return Call(function, tuple(map(self.read, arguments)))
        raise refusal(branch.name, self._source)

    def list(self, branch: Branch) -> tuple[Expression, ...]:
        """The expressions of a parenthesised list; for `()` the grammar gives a term."""
        match branch:
            case (only,) if isinstance(listed := _innermost(only), TermList):
                return tuple(leaf.node for row in listed.rows for leaf in row if leaf is not None)
            case tuple():
                return tuple(map(self.read, branch))
            case _:
                return ()

    def chain(self, tree: Tree) -> Expression:
        """`||` and `&&`: one call with all operands."""
        operands = (tree.parts["expr"], *tree.all("other"))
        if len(operands) == 1:
            return self.read(operands[0])
        symbol = "||" if tree.name == "ConditionalOrExpression" else "&&"
        return Call(symbol, tuple(map(self.read, operands)))

    def arithmetic(self, tree: Tree) -> Expression:
        """`+ - * /`, applied from left to right."""
        result = self.read(tree.parts["expr"])
        for symbol, other in zip(tree.all("op"), tree.all("other"), strict=True):
            assert isinstance(symbol, str), "an operator is a symbol"
            result = Call(symbol, (result, self.read(other)))
        return result

    def relation(self, tree: Tree) -> Expression:
        """Comparisons, IN and NOT IN."""
        left = self.read(tree.parts["expr"])
        symbol = tree.get("op")
        if symbol is None:
            return left
        assert isinstance(symbol, str), "an operator is a symbol"
        if symbol in ("IN", "NOT IN"):
            return Call(symbol, (left, *self.list(tree.parts["other"])))
        return Call(symbol, (left, self.read(tree.parts["other"])))

    def negation(self, tree: Tree) -> Expression:
        """`!`."""
        return Call("!", (self.read(tree.parts["expr"]),))

    def sign(self, tree: Tree) -> Expression:
        """`+` or `-` before an operand; right before a number, the sign is part of the number."""
        operand = tree.parts["expr"]
        symbol = "-" if tree.name == "UnaryMinus" else "+"
        if (
            isinstance(operand, Leaf)
            and not operand.is_signed
            and self._source.sign_of(operand) == symbol
        ):
            return operand.signed(symbol).node
        return Call("NEG" if symbol == "-" else "POS", (self.read(operand),))

    def iri(self, tree: Tree) -> Expression:
        """IRI() and URI()."""
        base = () if self._base is None else (Constant(f"<{self._base}>"),)
        return Call("IRI", (self.read(tree.parts["arg"]), *base))

    def variadic(self, tree: Tree) -> Expression:
        """CONCAT() and COALESCE()."""
        return Call(tree.name.removeprefix("Builtin_"), self.list(tree.parts["arg"]))

    def exists(self, tree: Tree) -> Expression:
        """EXISTS, and NOT EXISTS as its negation."""
        group = tree.parts["graph"]
        assert isinstance(group, Tree), "EXISTS has a group"
        exists = Exists(self._translation.group(group))
        return exists if tree.name == "Builtin_EXISTS" else Call("!", (exists,))

    def blank_node(self, tree: Tree) -> Expression:
        """BNODE(); a call without a label gets a blank node as its label.

        It is a different one for each call, and no expression of a query can be equal to it, so
        each such call makes its own nodes.
        """
        label = tree.get("arg")
        if label is None:
            return Call("BNODE", (Constant(self._translation.fresh("call")),))
        return Call("BNODE", (self.read(label),))

    def aggregate(self, tree: Tree) -> Expression:
        """The variable of an aggregate."""
        if self._aggregates is None:
            raise self._source.malformed(
                AGGREGATES[tree.name],
                place_of(tree, self._source),
                "an aggregate may only stand in SELECT, HAVING or ORDER BY, and not in another",
                "Compute it in a subquery.",
            )
        aggregated = tree.parts["vars"]
        inner = _Expressions(self._translation, aggregates=None)
        argument = None if aggregated == "*" else inner.read(aggregated)
        return self._aggregates.variable(read_aggregate(tree, argument, self._source))

    def function(self, tree: Tree) -> Expression:
        """A function named by an IRI: the casts of XPath are the only ones."""
        named = tree.parts["iri"]
        assert isinstance(named, Leaf), "a function is named by an IRI"
        assert isinstance(named.node, Constant), "a function is named by an IRI"
        arguments = tree.all("expr")
        if named.node.term not in CASTS or tree.all("distinct"):
            raise self._source.unsupported(
                named.token.text if named.token else named.node.term,
                named.token,
                "Weir has no function of this name",
                "Use the functions of SPARQL 1.1 and the casts xsd:string, xsd:integer, ...",
            )
        if len(arguments) != 1:
            raise self._source.malformed(
                named.token.text if named.token else named.node.term,
                named.token,
                "a cast has one argument",
            )
        return Call(named.node.term, (self.read(arguments[0]),))


def _innermost(branch: Branch) -> Branch:
    """The operand below productions with a single operand."""
    while isinstance(branch, Tree) and isinstance(operand := branch.get("expr"), Tree | TermList):
        branch = operand
    return branch


_OPERATORS: dict[str, Callable[[_Expressions, Tree], Expression]] = {
    "ConditionalOrExpression": _Expressions.chain,
    "ConditionalAndExpression": _Expressions.chain,
    "RelationalExpression": _Expressions.relation,
    "AdditiveExpression": _Expressions.arithmetic,
    "MultiplicativeExpression": _Expressions.arithmetic,
    "UnaryNot": _Expressions.negation,
    "UnaryMinus": _Expressions.sign,
    "UnaryPlus": _Expressions.sign,
    "Builtin_IRI": _Expressions.iri,
    "Builtin_URI": _Expressions.iri,
    "Builtin_CONCAT": _Expressions.variadic,
    "Builtin_COALESCE": _Expressions.variadic,
    "Builtin_EXISTS": _Expressions.exists,
    "Builtin_NOTEXISTS": _Expressions.exists,
    "Builtin_BNODE": _Expressions.blank_node,
    "Function": _Expressions.function,
    **dict.fromkeys(AGGREGATES, _Expressions.aggregate),
}

_ONE_ARGUMENT = re.findall(
    r"\w+",
    """
    STR LANG DATATYPE BOUND ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR MONTH
    DAY HOURS MINUTES SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 isIRI isBLANK isLITERAL
    isNUMERIC
    """,
)
_TWO_ARGUMENTS = re.findall(
    r"\w+",
    "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT sameTerm",
)
_BUILT_IN: dict[str, tuple[str, tuple[str, ...]]] = {
    **{f"Builtin_{name}": (name.upper(), ("arg",)) for name in _ONE_ARGUMENT},
    **{f"Builtin_{name}": (name.upper(), ("arg1", "arg2")) for name in _TWO_ARGUMENTS},
    "Builtin_isURI": ("ISIRI", ("arg",)),
    "Builtin_IF": ("IF", ("arg1", "arg2", "arg3")),
    "Builtin_REGEX": ("REGEX", ("text", "pattern", "flags")),
    "Builtin_SUBSTR": ("SUBSTR", ("arg", "start", "length")),
    "Builtin_REPLACE": ("REPLACE", ("arg", "pattern", "replacement", "flags")),
}
