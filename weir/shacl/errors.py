"""Errors of shapes, each with the shape and its place."""

from __future__ import annotations

from weir.errors import ConfigurationError


class ShapesError(ConfigurationError):
    """Shapes that cannot be registered.

    Args:
        what: the shape and the parameter, as messages name them.
        where: file, line and column.
        reason: why not, a clause.
        hint: what to write or do instead, a sentence.
    """

    def __init__(self, what: str, where: str, reason: str, hint: str = "") -> None:
        self.construct, self.reason = what, reason
        super().__init__(f"{what}: {reason}.", where, hint)


class ShapesSyntaxError(ShapesError):
    """The text is not a shapes graph: not Turtle, or a shape that SHACL calls ill-formed."""


class UnsupportedShapes(ShapesError):  # noqa: N818  the name says what happened
    """The text is a shapes graph that Weir does not maintain."""
