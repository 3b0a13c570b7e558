"""The value of an rdf:XMLLiteral: exclusive canonical XML, from the events of a parser.

https://www.w3.org/TR/xml-exc-c14n/, with comments and without a list of inclusive prefixes, as in
https://www.w3.org/TR/rdf-syntax-grammar/ (section 7.2.17). Python's `canonicalize` is not used: if
a namespace has two prefixes, it replaces one by the other.
"""

from __future__ import annotations

from weir.rdf.xml_parser import SEPARATOR

XML = "http://www.w3.org/XML/1998/namespace"

_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_VALUE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}
)


class XmlLiteral:
    """Canonical XML of the content of an element, built from events.

    Names have the form of `xml_parser.new_parser`.
    """

    def __init__(self) -> None:
        self.size = 0
        """Characters of namespaces in the output; a long namespace may be in many start tags."""
        self._parts: list[str] = []
        self._tags: list[str] = []
        # The namespaces that the output has declared, by prefix, for each open element.
        self._declared: list[dict[str, str]] = [{"": "", "xml": XML}]

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._tags)

    @property
    def value(self) -> str:
        """The canonical XML of all events so far."""
        return "".join(self._parts)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Add a start tag."""
        namespace, local, prefix = _split(name)
        used = {prefix: namespace}
        written: list[tuple[str, str, str, str]] = []
        for key, value in attributes.items():
            space, name_, prefix_ = _split(key)
            if prefix_:
                used[prefix_] = space
            written.append((space, name_, _tag(name_, prefix_), value))
        declared = self._declared[-1]
        new = {p: space for p, space in used.items() if declared.get(p) != space}
        tag = _tag(local, prefix)
        self._parts.append(f"<{tag}")
        for prefix_, space in sorted(new.items()):
            key = f"xmlns:{prefix_}" if prefix_ else "xmlns"
            self._parts.append(f' {key}="{space.translate(_VALUE)}"')
            self.size += len(space)
        for _, _, key, value in sorted(written):
            self._parts.append(f' {key}="{value.translate(_VALUE)}"')
        self._parts.append(">")
        self._tags.append(tag)
        self._declared.append(declared | new if new else declared)

    def end(self) -> None:
        """Add the end tag of the innermost open element."""
        self._declared.pop()
        self._parts.append(f"</{self._tags.pop()}>")

    def text(self, text: str) -> None:
        """Add text, also of a CDATA section."""
        self._parts.append(text.translate(_TEXT))

    def comment(self, text: str) -> None:
        """Add a comment."""
        self._parts.append(f"<!--{text}-->")

    def instruction(self, target: str, text: str) -> None:
        """Add a processing instruction."""
        self._parts.append(f"<?{target} {text}?>" if text else f"<?{target}?>")


def _split(name: str) -> tuple[str, str, str]:
    """Namespace, name and prefix; '' if one is missing."""
    parts = name.split(SEPARATOR)
    match parts:
        case [local]:
            return "", local, ""
        case [namespace, local]:
            return namespace, local, ""
        case _:
            namespace, local, prefix = parts
            return namespace, local, prefix


def _tag(local: str, prefix: str) -> str:
    return f"{prefix}:{local}" if prefix else local
