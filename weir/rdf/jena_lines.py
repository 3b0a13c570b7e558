"""Lines of an RDF Patch as Jena writes them, respelled as canonical N-Quads by column.

Jena writes every blank node as `<_:label>` and abbreviates numbers and booleans as Turtle does.
https://github.com/apache/jena/tree/main/jena-rdfpatch (TokenWriterText)

Each regular expression begins at the start of the line and counts spaces, and none allows a quote
before the term. So it respells only whole terms, and nothing inside a literal.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weir.rdf.canonical_nquads import Lines, Mask, Positions, Terms, canonical, split_terms

_LABEL = r"<_:([A-Za-z0-9][A-Za-z0-9_\-]*)>"
_REST = r"( (?:<[^<> ]*> )?\.\r?\n)\z"
_BEFORE_OBJECT = r"^([AD] [^ \"]+ <[^<> ]*>) "
_XSD = "http://www.w3.org/2001/XMLSchema#"
_NUMBERS = {
    "integer": "[+-]?[0-9]+",
    "decimal": r"[+-]?[0-9]*\.[0-9]+",
    "double": r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+",
    "boolean": "true|false",
}
_RESPELLINGS = (
    (f"^([AD]) {_LABEL} ", r"\1 _:\2 "),
    (f"{_BEFORE_OBJECT}{_LABEL}{_REST}", r"\1 _:\2\3"),
    *(
        (f"{_BEFORE_OBJECT}({number}){_REST}", rf'\1 "\2"^^<{_XSD}{datatype}>\3')
        for datatype, number in _NUMBERS.items()
    ),
)
_SKIP = len("A ")


def read_jena_lines(lines: Lines, chosen: Positions) -> tuple[Positions, Terms]:
    """The places of the `chosen` lines that are one quad in Jena's form, ascending, and their
    terms.
    """
    nothing = Lines.of(b"")
    if not len(chosen):
        return chosen, split_terms(nothing, chosen)
    offsets = np.append(lines.starts, len(lines.text)).astype(np.int32)
    rows = pa.StringArray.from_buffers(
        len(lines), pa.py_buffer(offsets.data), pa.py_buffer(lines.text)
    ).take(chosen)
    try:
        rows.validate(full=True)
    except pa.ArrowInvalid:  # some line is not UTF-8
        return chosen[:0], split_terms(nothing, chosen[:0])
    for pattern, spelling in _RESPELLINGS:
        rows = pc.replace_substring_regex(rows, pattern, spelling)
    respelled = Lines.of("".join(map(str, rows.to_pylist())).encode())
    is_quad: Mask = canonical(respelled, prefix="[AD] ")
    return chosen[is_quad], split_terms(respelled, np.flatnonzero(is_quad), _SKIP)
