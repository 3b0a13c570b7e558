"""The notation of the papers' fixtures, read by regular expressions."""

from __future__ import annotations

import re

from tests.support.lars.programs import (
    Argument,
    At,
    Comparison,
    Counted,
    Element,
    Expression,
    GroundAtom,
    Program,
    Rule,
    Sum,
    Value,
    Var,
    Window,
)

_ATOM = re.compile(r"([a-z]\w*)(?:\(([^()]*)\))?")
_ELEMENT = re.compile(
    r"(?P<negated>not )?(?:win\^(?:\((?P<before>\d+),(?P<after>\d+)\)|(?P<tuples>#?)(?P<size>\d+))"
    r"(?:\{(?P<counted>[^{}]*)\})?(?: step (?P<step>\d+))? )?"
    r"(?:(?P<modality>diamond|box) |@(?P<point>\w+) )?(?P<atom>[a-z]\w*(?:\([^()]*\))?)"
)
_COMPARISON = re.compile(r"(.+?)\s*(!=|<=|>=|=|<|>)\s*(.+)")


def read_program(text: str) -> Program:
    """The program of a text with a statement a line; `%` starts a comment."""
    rules, facts = [], []
    for line in text.splitlines():
        statement = line.partition("%")[0].strip().removesuffix(".")
        head, arrow, body = statement.partition("<-")
        if arrow:
            rules.append(_rule(head.strip(), body.strip()))
        elif statement:
            facts.append(read_ground_atom(statement))
    return Program(tuple(rules), tuple(facts))


def read_ground_atom(text: str) -> GroundAtom:
    """`p(x,3)`."""
    predicate, arguments = _atom(text)
    assert not any(isinstance(argument, Var) for argument in arguments), f"{text} is ground"
    return predicate, tuple(argument for argument in arguments if not isinstance(argument, Var))


def shown(atom: GroundAtom) -> str:
    """`p(x,3)`."""
    predicate, arguments = atom
    return f"{predicate}({','.join(map(str, arguments))})" if arguments else predicate


def _rule(head: str, body: str) -> Rule:
    point: Argument | None = None
    if head.startswith("@"):
        written, _, head = head[1:].partition(" ")
        point = _argument(written)
    predicate, arguments = _atom(head)
    # Commas inside parentheses divide arguments, those inside braces what a window counts.
    elements = re.split(r",\s*(?![^()]*\))(?![^{}]*\})", body)
    return Rule(
        predicate, arguments, point, tuple(_element(element.strip()) for element in elements)
    )


def _element(text: str) -> Element | Comparison:
    parts = _ELEMENT.fullmatch(text)
    if parts is None:
        compared = _COMPARISON.fullmatch(text)
        assert compared is not None, f"{text} is an element"
        return Comparison(compared[2], _expression(compared[1]), _expression(compared[3]))
    predicate, arguments = _atom(parts["atom"])
    window = _window(parts)
    modality = At(_argument(parts["point"])) if parts["point"] else parts["modality"]
    return Element(predicate, arguments, window, modality, bool(parts["negated"]))


def _window(parts: re.Match[str]) -> Window | None:
    size = parts["size"] or parts["before"]
    if not size:
        return None
    counted = re.findall(rf"{_ATOM.pattern}", parts["counted"] or "")
    return Window(
        int(size),
        bool(parts["tuples"]),
        tuple(Counted(name, _values(arguments)) for name, arguments in counted),
        int(parts["after"] or 0),
        int(parts["step"]) if parts["step"] else None,
    )


def _values(arguments: str) -> tuple[Value | None, ...] | None:
    if not arguments:
        return None
    values = [None if text == "_" else _argument(text) for text in arguments.split(",")]
    assert not any(isinstance(value, Var) for value in values), f"{arguments} has no variable"
    return tuple(value for value in values if not isinstance(value, Var))


def _expression(text: str) -> Expression:
    parts = re.fullmatch(r"(\w+)\s*([+*-])\s*(\w+)", text)
    if parts is None:
        return _argument(text)
    return Sum(parts[2], _argument(parts[1]), _argument(parts[3]))


def _atom(text: str) -> tuple[str, tuple[Argument, ...]]:
    parts = _ATOM.fullmatch(text)
    assert parts is not None, f"{text} is an atom"
    arguments = parts[2].split(",") if parts[2] else []
    return parts[1], tuple(map(_argument, arguments))


def _argument(text: str) -> Argument:
    text = text.strip()
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return Var(text) if text[0].isupper() else text
