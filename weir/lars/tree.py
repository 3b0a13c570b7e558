"""Converts lark's tree of a program to its syntax; `grammar.lark` has the names of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from lark import Token, Tree

from weir.lars.errors import ProgramSyntaxError, UnsupportedProgram
from weir.lars.syntax import (
    At,
    Atom,
    BodyElement,
    Box,
    Condition,
    CountedAtom,
    Diamond,
    FilteredTupleWindow,
    Head,
    HoppingWindow,
    Literal,
    Modality,
    Place,
    Rule,
    RuleSet,
    Term,
    Time,
    TimeWindow,
    TupleWindow,
    Window,
)
from weir.lars.terms import Namespaces, of_number
from weir.sparql.algebra.expressions import Call, Constant, Expression, Variable
from weir.sparql.algebra.traversal import arguments_of
from weir.sparql.functions.library import FUNCTIONS
from weir.sparql.functions.special_forms import SPECIAL_FORMS

Node = Tree[Token]

MAX_ARGUMENTS = 3
MAX_DEPTH = 128
MAX_WINDOW = 10**9
"""The largest window; in seconds, 31 years."""
MAX_POINT = 10**15

# BNODE makes new terms, BOUND is true of every variable of a rule.
_NOT_OFFERED = ("BNODE", "BOUND", "IN", "NEG", "POS", "SORTKEY")
_ARITIES = {name: function.arity for name, function in FUNCTIONS.items()} | {
    name: form.arity for name, form in SPECIAL_FORMS.items()
}
FUNCTIONS_OF_RULES = {
    name: arity
    for name, arity in _ARITIES.items()
    if name.replace("_", "").isalnum() and name not in _NOT_OFFERED
}
"""The SPARQL functions that an expression of a rule may call, with their arities."""


class Reading:
    """Converts one program; each `_` becomes a variable `_1`, `_2`, ..., not possible in a text."""

    def __init__(self, namespaces: Namespaces) -> None:
        self._namespaces, self._file = namespaces, namespaces.file
        self._anonymous = count(1)

    def program(self, tree: Node) -> RuleSet:
        """The rules and facts, in their order."""
        facts, rules = [], []
        for statement in _nodes(tree):
            if statement.data == "fact":
                facts.append(self._atom(_nodes(statement)[0]))
            else:
                rules.append(self._rule(statement))
        return RuleSet(tuple(rules), tuple(facts))

    def _rule(self, tree: Node) -> Rule:
        head, body = _nodes(tree)
        return Rule(self._head(head), tuple(map(self._element, _nodes(body))), _place(tree))

    def _head(self, tree: Node) -> Head:
        parts = _nodes(tree)
        if tree.data == "plain_head":
            return Head(self._atom(parts[0]))
        return Head(self._atom(parts[1]), self._time(parts[0]))

    def _element(self, tree: Node) -> BodyElement:
        parts, place = tree.children, _place(tree)
        match tree.data:
            case "comparison":
                left, symbol, right = parts
                expression = Call(str(symbol), (self._expression(left), self._expression(right)))
                if _depth(expression) > MAX_DEPTH:
                    reason = f"deeper than {MAX_DEPTH} calls"
                    raise UnsupportedProgram("expression", self._file, place, reason, "Shorten it.")
                return Condition(expression, place)
            case "negation":
                return self._literal(_nodes(tree)[0], place, negated=True)
            case _:
                return self._literal(tree, place, negated=False)

    def _literal(self, tree: Node, place: Place, *, negated: bool) -> Literal:
        *before, last = _nodes(tree)
        atom = self._atom(last)
        window: Window | None = None
        modality: Modality | None = None
        match tree.data:
            case "plain":
                pass
            case "at":
                modality = At(self._time(before[0]))
            case "window_at":
                window, modality = self._window(before[0]), At(self._time(before[1]))
            case "diamond" | "box":
                window = self._window(before[0])
                modality = Diamond() if tree.data == "diamond" else Box()
            case _:
                raise _unknown(tree)
        return Literal(atom, window, modality, negated, place)

    def _atom(self, tree: Node) -> Atom:
        name, *arguments = tree.children
        place = _place(tree)
        if len(arguments) > MAX_ARGUMENTS:
            raise UnsupportedProgram(
                str(name),
                self._file,
                place,
                f"{len(arguments)} arguments, and an atom has at most {MAX_ARGUMENTS}",
                "Divide it into several atoms with a common argument.",
            )
        return Atom(str(name), tuple(map(self._term, arguments)), place)

    def _term(self, tree: Node | Token) -> Term:
        term = self._expression(tree)
        assert isinstance(term, Variable | Constant), "an argument is no call"
        return term

    def _time(self, tree: Node) -> Time:
        (token,) = (part for part in tree.children if isinstance(part, Token) and part != "-")
        if tree.data == "time_variable":
            return self._variable(token)
        point = self._whole(token, MAX_POINT)
        return -point if tree.data == "negative_point" else point

    def _window(self, tree: Node) -> Window:
        tokens = [part for part in tree.children if isinstance(part, Token)]
        sizes = [self._whole(token, MAX_WINDOW) for token in tokens]
        match tree.data:
            case "time_window":
                return TimeWindow(sizes[0])
            case "hopping_window":
                return self._hopping(tokens, sizes)
        (size,) = sizes
        if size == 0:
            raise ProgramSyntaxError(
                "#0", self._file, _place(tokens[0]), "a tuple window has at least one tuple"
            )
        counted = {*map(self._counted, _nodes(tree))}
        return FilteredTupleWindow(size, tuple(sorted(counted))) if counted else TupleWindow(size)

    def _hopping(self, tokens: Sequence[Token], sizes: Sequence[int]) -> HoppingWindow:
        before, *others, step = sizes
        after = others[0] if others else 0
        if step == 0:
            raise ProgramSyntaxError(
                "step 0",
                self._file,
                _place(tokens[-1]),
                "a window that hops goes on by at least one point",
                "Write win^9 step 10, or win^9 for a window that slides.",
            )
        if after >= step:
            raise ProgramSyntaxError(
                f"({before},{after})",
                self._file,
                _place(tokens[1]),
                f"{after} points after a multiple of {step} are beyond the next one, and no window"
                " has a point after t",
                f"At most {step - 1} points follow.",
            )
        return HoppingWindow(before, after, step)

    def _counted(self, tree: Node) -> CountedAtom:
        """An atom that a tuple window counts: its arguments are constants or `_`."""
        name, *arguments = tree.children
        return CountedAtom(str(name), tuple(map(self._counted_term, arguments)), _place(tree))

    def _counted_term(self, tree: Node | Token) -> str:
        """The term of an argument; empty for `_`."""
        if isinstance(tree, Tree) and tree.data == "variable":
            variable = _token(tree.children[0])
            if variable != "_":
                raise UnsupportedProgram(
                    str(variable),
                    self._file,
                    _place(variable),
                    "a window counts the same tuples for all values of a variable",
                    "Write a constant or _ in its place.",
                )
            return ""
        term = self._term(tree)
        assert isinstance(term, Constant), "it is no variable"
        return term.term

    def _whole(self, token: Token, most: int) -> int:
        if len(token) > 16 or int(token) > most:
            raise UnsupportedProgram(
                str(token), self._file, _place(token), f"more than {most:,}", "Use a larger unit."
            )
        return int(token)

    def _variable(self, token: Token) -> Variable:
        return Variable(f"_{next(self._anonymous)}" if token == "_" else str(token))

    def _expression(self, tree: Node | Token) -> Expression:
        assert isinstance(tree, Tree), "tokens are below nodes"
        first, *others = tree.children
        place = _place(tree)
        match tree.data:
            case "variable":
                return self._variable(_token(first))
            case "number":
                return of_number(str(first))
            case "negative_number":
                assert isinstance(others[0], Tree), "a number follows"
                return of_number(f"-{others[0].children[0]}")
            case "minus":
                # Directly before a number it is part of the number.
                if isinstance(others[0], Tree) and others[0].data == "number":
                    return of_number(f"-{others[0].children[0]}")
                return Call("NEG", (self._expression(others[0]),))
            case "arithmetic" | "difference":
                symbol, right = others
                return Call(str(symbol), (self._expression(first), self._expression(right)))
            case "call":
                return self._call(_token(first), tuple(map(self._expression, others)))
            case "name":
                return self._namespaces.of_name(str(first), place)
            case "prefixed_name":
                return self._namespaces.of_prefixed_name(str(first), place)
            case "iri":
                return self._namespaces.of_iri(str(first), str(first), place)
            case "string" | "tagged_string" | "typed_string":
                return self._literal_term(tree)
            case _:
                raise _unknown(tree)

    def _literal_term(self, tree: Node) -> Constant:
        quoted, mark = str(tree.children[0]), ""
        if tree.data == "tagged_string":
            mark = str(tree.children[1])
        elif tree.data == "typed_string":
            mark = f"^^{tree.children[1]}"
            if not mark.startswith("^^<"):
                place = _place(tree.children[1])
                mark = f"^^{self._namespaces.of_prefixed_name(mark[2:], place).term}"
        return self._namespaces.of_literal(f"{quoted}{mark}", quoted, _place(tree))

    def _call(self, name: Token, arguments: tuple[Expression, ...]) -> Call:
        arity = FUNCTIONS_OF_RULES.get(str(name))
        if arity is None:
            raise UnsupportedProgram(
                f"{name}()",
                self._file,
                _place(name),
                "rules have no function of this name",
                f"The functions are {', '.join(sorted(FUNCTIONS_OF_RULES))}.",
            )
        if not arity.accepts(len(arguments)):
            raise ProgramSyntaxError(
                f"{name}()", self._file, _place(name), f"not with {len(arguments)} arguments"
            )
        return Call(str(name), arguments)


def _nodes(tree: Node) -> list[Node]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _token(child: Node | Token) -> Token:
    assert isinstance(child, Token), "the grammar has a token here"
    return child


def _place(child: Node | Token) -> Place:
    if isinstance(child, Token):
        return Place(child.line or 0, child.column or 0)
    return Place(child.meta.line, child.meta.column)


def _depth(expression: Expression) -> int:
    return 1 + max(map(_depth, arguments_of(expression)), default=0)


def _unknown(tree: Node) -> TypeError:
    return TypeError(f"grammar.lark has a node {tree.data} that is not read")
