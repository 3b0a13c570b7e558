"""Reading YAML safely: a small text must not become a large or deeply nested value.

An alias can contain itself, or expand a line to a gigabyte; nested lists can overflow the stack.
Aliases are read as long as the document would be small if they were written out.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import yaml

_SURROGATE = re.compile("[\ud800-\udfff]")
DEEPEST = 32
"""The deepest nesting of lists and mappings."""
MOST = 10_000
"""The most values of a document, with aliases written out."""


class YamlError(ValueError):
    """A text that is not YAML, or that has something which is refused.

    Attributes:
        problem: what is wrong, in a few words.
        line: from 1.
        column: from 1.
    """

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


def read_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """The values of a YAML document, and its nodes, which have line and column.

    Raises:
        YamlError: it is not YAML, or has something that is refused.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            return (None if node is None else loader.construct_document(node)), node
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        what = f"it has the character U+{ord(text[error.position]):04X}"
        raise YamlError(what, line, column) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = error.problem or str(error).partition("\n")[0]
        if problem.startswith("but "):
            problem = f"{error.context} {problem}"
        raise YamlError(problem, line, column) from None


def value_beside_mistake(text: str, key: str) -> Any:
    """The value of a key of a mapping that is not YAML; None if the mistake is there, or none is.

    Lines that are indented, or begin with `-` or `#`, belong to the key above them.
    """
    entry = re.search(rf"^{re.escape(key)}[ \t]*:.*(?:\n(?:[ \t#-].*)?)*", text, re.MULTILINE)
    if entry is not None:
        with suppress(YamlError):
            value, _ = read_yaml(entry[0])
            return value.get(key) if isinstance(value, dict) else None
    return None


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with limits of size and depth; all of its errors have a place.

    Attributes:
        _depth: how many lists and mappings contain the present node.
        _deepest: the greatest depth reached.
        _values: how many values were read, with aliases written out.
        _extents: by node, how many values it has, and how deeply they are nested in it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._deepest = self._values = 0
        self._extents: dict[int, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        values, deepest = self._values, self._deepest
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            target = self.anchors.get(event.anchor)
            if target is not None and id(target) not in self._extents:
                raise _mistake(f"*{event.anchor} is part of what it stands for", self)
            more, depth = self._extents.get(id(target), (0, 0))
            self._reached(more, depth)
            return super().compose_node(parent, index)
        self._reached(1, 1)
        self._deepest = self._depth = self._depth + 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        self._extents[id(node)] = (self._values - values, self._deepest - self._depth)
        self._deepest = max(deepest, self._deepest)
        if isinstance(node, yaml.ScalarNode) and _SURROGATE.search(node.value):
            what = "it has half of a surrogate pair, which is no character"
            raise yaml.composer.ComposerError(None, None, what, node.start_mark)
        return node

    def _reached(self, values: int, depth: int) -> None:
        """Count `values` more values that are nested `depth` levels below the present node."""
        self._values += values
        self._deepest = max(self._deepest, self._depth + depth)
        if self._depth + depth > DEEPEST:
            raise _mistake(f"it is nested more than {DEEPEST} times", self)
        if self._values > MOST:
            raise _mistake(f"it has more than {MOST:,} values, aliases written out", self)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
            # Such as a number without digits, or 31 February.
            what = f"{str(node.value)[:40]!r} is no value of YAML: put it in quotes"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark) from None


def _mistake(problem: str, loader: _Loader) -> yaml.MarkedYAMLError:
    mark = loader.peek_event().start_mark  # type: ignore[no-untyped-call]
    return yaml.composer.ComposerError(None, None, problem, mark)
