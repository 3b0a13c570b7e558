"""Rule sets that come with Weir: what follows by RDFS, and by OWL 2 RL."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from weir.lars.parse import parse
from weir.lars.syntax import Head, Literal, RuleSet

RuleSetName = typing.Literal["rdfs", "owl-rl"]
"""The names of the sets; `sets/<name>.lars` has the rules."""
FOLLOWS = "d"
"""The predicate of the triples that are there or follow."""
_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
}


@lru_cache
def rule_set(name: RuleSetName) -> RuleSet:
    """The rules of a set: `t` is a triple of the graph, `FOLLOWS` one that is there or follows."""
    return parse(_text(name), _PREFIXES, f"{name}.lars")


@lru_cache
def rule_names(name: RuleSetName) -> Mapping[tuple[Head, tuple[Literal, ...]], str]:
    """By head and literals, what the rules of a set are called by the comments behind them.

    Others have their place.
    """
    lines = [line.partition("%") for line in _text(name).splitlines()]
    names = {}
    for rule in rule_set(name).rules:
        of_rule = lines[rule.place.line - 1 :]
        comment = next(words for text, _, words in of_rule if text.rstrip().endswith("."))
        called = f"{name} {comment.strip()}" if comment else f"{name}.lars:{rule.place}"
        names[rule.head, rule.literals] = called
    return names


def _text(name: RuleSetName) -> str:
    return files("weir.lars").joinpath("sets", f"{name}.lars").read_text(encoding="utf-8")
