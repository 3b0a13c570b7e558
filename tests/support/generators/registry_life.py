"""Random lives of registered queries: edited, broken, removed and restored as the graph changes."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from tests.support.projects.graphs import knows, name

VARIABLES = ("a", "b", "n", "m")
"""All variables that a text may publish: only Spark can add columns to an answer table."""

_PATTERNS = (
    "?a <urn:knows> ?b .",
    "?b <urn:knows> ?a .",
    "?b <urn:name> ?n .",
    "?a <urn:name> ?m .",
    "?a ?m <urn:b> .",
    "<urn:a> <urn:knows> <urn:b> .",
)
_FILTERS = (
    "FILTER(?a != ?b)",
    'FILTER(?n > "A")',
    "FILTER(?m != ?n || ?a = <urn:c>)",
    "FILTER(?a != <urn:d>)",
)
_FROM = ("", "FROM <urn:g> ", "FROM <urn:g> FROM <urn:h> ")
_FORMS = ("SELECT", "SELECT DISTINCT", "ASK", "CONSTRUCT { ?a <urn:saw> ?b . ?b <urn:is> ?n }")


BROKEN = "SELECT nonsense"
"""A text that is no query."""

_VARIABLE = re.compile(r"\?\w+")


@dataclass(frozen=True)
class Text:
    """A query text in parts."""

    form: str
    published: tuple[str, ...]
    dataset: str
    body: tuple[str, ...]
    swapped: bool = False

    def __str__(self) -> str:
        head = self.form
        if self.form.startswith("SELECT"):
            head += "".join(f" ?{variable}" for variable in self.published)
        where = f"WHERE {{ {' '.join(self.body)} }}"
        if self.swapped:
            where = _swap(where)
        return f"{head} {self.dataset}{where}"

    def edited(self, chance: random.Random) -> Text:
        """The text with another order, other names, other columns or another body."""
        match chance.choice(("reorder", "reorder", "rename", "publish", "rewrite")):
            case "reorder":
                return replace(self, body=tuple(chance.sample(self.body, len(self.body))))
            case "rename":
                return replace(self, swapped=not self.swapped)
            case "publish":
                count = chance.randint(1, len(VARIABLES))
                form = self.form
                if form.startswith("SELECT"):
                    form = chance.choice(("SELECT", "SELECT DISTINCT"))
                return replace(self, form=form, published=tuple(chance.sample(VARIABLES, count)))
            case _:
                return replace(self, body=_body(chance))


class Registry(Protocol):
    """Where queries are registered."""

    def query(self, name: str, text: str) -> None:
        """Register a query, or edit it."""

    def remove_query(self, name: str) -> None:
        """Take a query out of the registry."""


@dataclass
class Life:
    """A query of a project: its text, and whether its file is valid, broken or removed."""

    query: str
    text: Text
    file: Literal["there", "broken", "away"] = "there"

    def advance(self, project: Registry, chance: random.Random) -> None:
        """Take one random step."""
        event = chance.choices(("keep", "edit", "break", "remove"), (3, 6, 1, 1))[0]
        if self.file == "away" and event != "edit":
            return
        if event == "edit" and chance.random() < 0.8:
            self.text = self.text.edited(chance)
        match event:
            case "break":
                self.file = "broken"
                project.query(self.query, BROKEN)
            case "remove":
                self.file = "away"
                project.remove_query(self.query)
            case _:
                self.file = "there"
                project.query(self.query, str(self.text))


def lives(chance: random.Random, number: int) -> list[Life]:
    """New queries."""
    return [Life(f"q{i}", text(chance)) for i in range(number)]


def text(chance: random.Random) -> Text:
    """A text that publishes all variables that its edits may publish."""
    return Text(chance.choice(_FORMS), VARIABLES, chance.choice(_FROM), _body(chance))


def change_set(chance: random.Random) -> tuple[str, ...]:
    """Lines of an RDF Patch over a few people, so that most of them know each other."""
    return tuple(
        f"{chance.choice('AAD')} {chance.choice((_knows, _name))(chance)}"
        for _ in range(chance.randint(3, 9))
    )


def _body(chance: random.Random) -> tuple[str, ...]:
    patterns = chance.sample(_PATTERNS, chance.randint(1, 3))
    bound = set(_VARIABLE.findall(" ".join(patterns)))
    filters = [
        condition for condition in _FILTERS if bound.issuperset(_VARIABLE.findall(condition))
    ]
    return (*patterns, *chance.sample(filters, min(len(filters), chance.randint(0, 2))))


def _swap(where: str) -> str:
    return where.replace("?a", "?_").replace("?b", "?a").replace("?_", "?b")


def _knows(chance: random.Random) -> str:
    return knows(chance.choice("abcd"), chance.choice("abcd"), chance.choice("gh"))


def _name(chance: random.Random) -> str:
    return name(chance.choice("abcd"), chance.choice("ABC"), chance.choice("gh"))
