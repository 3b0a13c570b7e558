"""The fast path claims no more than pyoxigraph confirms."""

from __future__ import annotations

import numpy as np
import pyoxigraph
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.canonical_nquads import Lines, canonical, split_terms

IRI_TEXTS = """<http://a/b> <urn:x:y> <http://é/ü?q#f> <http://a:80> <a:%41> <a:%4> <x>
<http://a/￾> <http://a/#a#b> <http://[::1]/> <//a> <a:> <a:\\u0041> <a:b <http://a:b/> <1:a>
<a:"> <http://a/[> <http://:80/>"""
BLANK_TEXTS = "_:a _:0 _:a.b _:a-b _: _:- _:00ff _:a."
ENDINGS = """@en @EN @en-gb @de-latn-de @en- @e @en-us-us @abcd-abcd @en--ltr ^^<a:b> ^^x ^^<b>
^^<http://www.w3.org/2001/XMLSchema#string> ^^<http://www.w3.org/2001/XMLSchema#integer> ^^<a:g>
^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> ^^<a:1> ^^_:a ^^<a:/> ^^<a:string>
^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString>"""
IRIS = st.sampled_from(IRI_TEXTS.split())
BLANKS = st.sampled_from(BLANK_TEXTS.split())
LITERALS = st.builds(
    lambda text, ending: f'"{text}"{ending}',
    st.text(st.sampled_from(' a<>_:"\\.@^nt\té\x85\u2028\ufffe\x00\x7f\U0001f600\r'), max_size=8),
    st.sampled_from(["", *ENDINGS.split()]),
)
TERMS = st.one_of(IRIS, BLANKS, LITERALS)
LINES = st.builds(
    lambda terms, separator, end: separator.join(terms) + end,
    st.lists(TERMS, min_size=2, max_size=5),
    st.sampled_from([" ", " ", " ", "  ", "\t", ""]),
    st.sampled_from([" .", " .", " .", ".", " . # c", " .\r", " . ", "", " .\r\r"]),
)


def by_pyoxigraph(line: str) -> list[tuple[str, ...]] | None:
    try:
        quads = list(pyoxigraph.parse(line.encode(), pyoxigraph.RdfFormat.N_QUADS))
    except SyntaxError:
        return None
    return [(str(q.graph_name), str(q.subject), str(q.predicate), str(q.object)) for q in quads]


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(LINES, min_size=1, max_size=12))
def test_a_canonical_line_is_one_quad_whose_terms_have_this_text(lines: list[str]) -> None:
    read = Lines.of("".join(f"{line}\n" for line in lines).encode())
    fast = np.flatnonzero(canonical(read))
    terms = split_terms(read, fast)
    split = zip(terms.graph, terms.subject, terms.predicate, terms.object, strict=True)
    for row, texts in zip(fast.tolist(), split, strict=True):
        graph, *others = (text.as_py() for text in texts)
        assert by_pyoxigraph(lines[row]) == [(graph or "DEFAULT", *others)]


@settings(deadline=None)
@given(
    text=st.text(st.sampled_from('ab <>_:"\\.\t'), max_size=12),
    graph=st.sampled_from(["", " <http://g/>"]),
    ending=st.sampled_from(["", "@en", "^^<a:bc>"]),
    cr=st.sampled_from(["", "\r"]),
)
def test_what_pyoxigraph_writes_takes_the_fast_path(
    text: str, graph: str, ending: str, cr: str
) -> None:
    literal = str(pyoxigraph.Literal(text)) + ending
    line = f"<http://a/b> <http://a/c> {literal}{graph} .{cr}\n"
    read = Lines.of(line.encode())
    assert canonical(read).tolist() == [True]
    terms = split_terms(read, np.array([0]))
    assert terms.object.to_pylist() == [literal]
    assert terms.graph.to_pylist() == [graph.strip()]


def test_a_line_after_a_prefix_is_read_without_it() -> None:
    read = Lines.of(b"A <a:b> <a:c> _:x .\n<a:b> <a:c> _:x .\n")
    assert canonical(read, prefix="[AD] ").tolist() == [True, False]
    assert split_terms(read, np.array([0]), skip=2).subject.to_pylist() == ["<a:b>"]


def test_a_triple_with_a_graph_is_not_canonical_where_there_are_no_graphs() -> None:
    read = Lines.of(b"<a:b> <a:c> <a:d> <a:g> .\n<a:b> <a:c> <a:d> .\n")
    assert canonical(read, graphs=False).tolist() == [False, True]


def test_bytes_that_are_no_utf_8_are_not_canonical() -> None:
    read = Lines.of(b'<a:b> <a:c> "\xff" .\n')
    assert canonical(read).tolist() == [False]
