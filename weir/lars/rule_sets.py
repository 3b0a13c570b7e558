"""Rule sets that come with Weir: what follows by RDFS, and by OWL 2 RL."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Literal

from weir.lars.parse import parse
from weir.lars.syntax import RuleSet

RuleSetName = Literal["rdfs", "owl-rl"]
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
    text = files("weir.lars").joinpath("sets", f"{name}.lars").read_text(encoding="utf-8")
    return parse(text, _PREFIXES, f"{name}.lars")
