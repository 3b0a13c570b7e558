"""The text of a definition with its syntax marked."""

from __future__ import annotations

from markupsafe import Markup

from weir.definitions.kinds import QUERY, Kind


def highlighted(text: str, kind: Kind) -> Markup:
    """The text as HTML: spans with classes of Pygments, which has no grammar of programs."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers.rdf import SparqlLexer
    from pygments.lexers.special import TextLexer

    lexer = SparqlLexer() if kind is QUERY else TextLexer()
    return Markup(highlight(text, lexer, HtmlFormatter(nowrap=True)))
