"""The text of a definition with its syntax marked."""

from __future__ import annotations

from markupsafe import Markup

from weir.definitions.kinds import Kind


def highlighted(text: str, kind: Kind) -> Markup:
    """The text as HTML: spans with classes of Pygments, which has no grammar of programs."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    return Markup(highlight(text, get_lexer_by_name(kind.lexer), HtmlFormatter(nowrap=True)))
