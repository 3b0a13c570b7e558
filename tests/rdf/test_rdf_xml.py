"""RDF/XML: what is read of it, what is refused and where; expected statements are written out."""

from __future__ import annotations

import random
from collections.abc import Callable
from xml.etree.ElementTree import canonicalize

import pyoxigraph
import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat

from tests.rdf.conftest import Parsed
from tests.support.laws import Seeds
from weir.rdf import xml_parser
from weir.rdf.rdf_xml import read_rdf_xml

ParseText = Callable[..., Parsed]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
ROOT = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://ex/"'
A = "<http://ex/a>"
P = f"{A} <http://ex/p>"


def document(content: str, attributes: str = "", before: str = "") -> str:
    """A document of one node, http://ex/a, with property elements."""
    node = f'<rdf:Description rdf:about="http://ex/a">{content}</rdf:Description>'
    return f"{before}{ROOT}{attributes}>{node}</rdf:RDF>"


def statements(text: str | bytes, base: str | None = None, nesting: int = 256) -> Dataset:
    """What is read, with canonical labels of blank nodes."""
    content = text.encode() if isinstance(text, str) else text
    return graph(b"".join(read_rdf_xml(content, base, nesting)).decode())


def graph(*lines: str) -> Dataset:
    """Statements in Turtle, `rdf:` declared, with canonical labels of blank nodes."""
    text = "\n".join((f"@prefix rdf: <{RDF}> .", *lines))
    dataset = Dataset(pyoxigraph.parse(text, RdfFormat.TURTLE))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return dataset


def refusal(text: str | bytes, nesting: int = 256) -> SyntaxError:
    """Why and where a document is refused."""
    content = text.encode() if isinstance(text, str) else text
    with pytest.raises(SyntaxError) as error:
        list(read_rdf_xml(content, "http://base/", nesting))
    return error.value


# The five cases of real files.


def test_internal_entities_are_expanded_in_names_bases_values_and_in_each_other() -> None:
    text = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
  <!ENTITY dct "http://purl.org/dc/terms/" >
  <!ENTITY ex "http://ex/" >
  <!ENTITY name "A &quot;name&quot; of &ex;" >
]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dct="&dct;" xml:base="&ex;">
  <rdf:Description rdf:about="&ex;a" dct:title="&name;">
    <dct:relation rdf:resource="&ex;b"/>
  </rdf:Description>
</rdf:RDF>"""
    assert statements(text) == graph(
        f'{A} <http://purl.org/dc/terms/title> "A \\"name\\" of http://ex/" .',
        f"{A} <http://purl.org/dc/terms/relation> <http://ex/b> .",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_end_of_any_kind_is_a_line_feed(end: str) -> None:
    text = document(f"<e:p>a{end}b</e:p><e:q><![CDATA[x{end}y]]></e:q>")
    assert statements(text) == graph(f'{P} "a\\nb" .', f'{A} <http://ex/q> "x\\ny" .')


def test_a_line_end_that_is_written_as_a_reference_is_kept() -> None:
    text = document('<e:p e:q="&#13;&#10;&#9;">\n</e:p><e:p>&#13;&#10;</e:p>')
    assert statements(text) == graph(
        f"{P} _:b .", '_:b <http://ex/q> "\\r\\n\\t" .', f'{P} "\\r\\n" .'
    )


def test_text_in_pieces_is_one_literal() -> None:
    pieces = (
        "a<!-- c -->b",
        "c<?x y?>d",
        "e<![CDATA[<f>]]>g",
        "<!-- h --> i <?j k?>",
        "<!-- l -->",
    )
    text = document("".join(f"<e:p>{piece}</e:p>" for piece in pieces))
    values = ("ab", "cd", "e<f>g", " i ", "")
    assert statements(text) == graph(*(f'{P} "{value}" .' for value in values))


def test_an_empty_language_ends_the_scope_of_a_language() -> None:
    text = document(
        '<e:p xml:lang="">plain</e:p><e:p>tagged</e:p>'
        '<e:q xml:lang="" rdf:parseType="Resource"><e:p>x</e:p><e:p xml:lang="DE-at">y</e:p></e:q>'
        '<e:r xml:lang="" e:p="z"/>',
        ' xml:lang="en"',
    )
    assert statements(text) == graph(
        *(f'{P} "plain" .', f'{P} "tagged"@en .', f"{A} <http://ex/q> _:q ."),
        *('_:q <http://ex/p> "x" .', '_:q <http://ex/p> "y"@de-at .'),
        *(f"{A} <http://ex/r> _:r .", '_:r <http://ex/p> "z" .'),
    )


def test_an_unknown_parse_type_is_a_literal() -> None:
    text = document('<e:m rdf:parseType="literal">text</e:m><e:n>x</e:n>')
    assert statements(text) == graph(
        f'{A} <http://ex/m> "text"^^rdf:XMLLiteral .', f'{A} <http://ex/n> "x" .'
    )


# Entities and what is outside of the document.


def _entities(*declarations: str) -> str:
    return f"<!DOCTYPE rdf:RDF [{''.join(declarations)}]>"


LAUGHS = _entities(
    '<!ENTITY e0 "ha">',
    *(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10)),
)
BOMBS = {
    "billion laughs": (document("<e:p>&e9;</e:p>", before=LAUGHS), "amplification"),
    "in an attribute": (document('<e:p e:q="&e9;"/>', before=LAUGHS), "amplification"),
    "in a namespace": (document('<e:p xmlns:f="&e9;"/>', before=LAUGHS), "amplification"),
    "quadratic blowup": (
        document(f"<e:p>{'&a;' * 50_000}</e:p>", before=_entities(f'<!ENTITY a "{"x" * 50_000}">')),
        "amplification",
    ),
    "attributes by default": (
        document("<e:p/>" * 50_000, before=_entities(f'<!ATTLIST e:p e:q CDATA "{"x" * 50_000}">')),
        "times as large",
    ),
    "itself": (
        document("<e:p>&a;</e:p>", before=_entities('<!ENTITY a "&b;">', '<!ENTITY b "&a;">')),
        "recursive entity",
    ),
    "long chain": (
        document(
            "<e:p>&e0;</e:p>",
            before=_entities(*(f'<!ENTITY e{i} "&e{i + 1};">' for i in range(50_000))),
        ),
        "entities made of others",
    ),
    "many entities": (
        document("", before=_entities(*(f'<!ENTITY e{i} "">' for i in range(50_000)))),
        "more than 10000 entities",
    ),
    "long namespace": (
        document("<e:p/>" * 50_000, f' xmlns:e="http://ex/{"x" * 50_000}"').replace(
            ' xmlns:e="http://ex/"', ""
        ),
        "times as large",
    ),
    "long namespace in a literal": (
        document(
            f'<f:p xmlns:f="http://ex/{"x" * 50_000}" rdf:parseType="Literal">'
            f"{'<f:p/>' * 50_000}</f:p>"
        ),
        "times as large",
    ),
}


@pytest.mark.parametrize(("text", "reason"), BOMBS.values(), ids=BOMBS)
def test_a_document_that_grows_when_it_is_read_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(text).msg


def test_entities_made_of_entities_are_expanded_as_deep_as_the_limit_allows() -> None:
    chain = (f'<!ENTITY e{i} "&e{i + 1};">' for i in range(500))
    text = document("<e:p>&e0;</e:p>", before=_entities(*chain, '<!ENTITY e500 "deep">'))
    assert statements(text) == graph(f'{P} "deep" .')


def test_an_entity_may_hold_elements() -> None:
    text = document("&a;", before=_entities("<!ENTITY a '<e:p>x</e:p>'>"))
    assert statements(text) == graph(f'{P} "x" .')


def test_attributes_that_the_document_type_adds_are_read() -> None:
    before = _entities('<!ATTLIST rdf:Description xml:lang CDATA "en">')
    assert statements(document("<e:p>x</e:p>", before=before)) == graph(f'{P} "x"@en .')


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE rdf:RDF SYSTEM "nowhere.dtd">',
        '<?xml version="1.0"\nencoding="utf-8"?><!DOCTYPE rdf:RDF PUBLIC "x" "nowhere.dtd" [ ]>',
        '<!DOCTYPE rdf:RDF [<!ENTITY a SYSTEM "nowhere"> <!ENTITY % b SYSTEM "nowhere">]>',
    ],
)
def test_a_document_type_whose_outside_is_not_used_is_read(doctype: str) -> None:
    assert statements(document("<e:p>x</e:p>", before=doctype)) == graph(f'{P} "x" .')


OUTSIDE = {
    "external entity": ('<!ENTITY a SYSTEM "file:///etc/passwd">', "<e:p>&a;</e:p>", "external"),
    "in an attribute": ('<!ENTITY a SYSTEM "x">', '<e:p e:q="&a;"/>', "external entity"),
    "parameter entity": ("<!ENTITY % a \"<!ENTITY b 'x'>\"> %a;", "", "parameter entities"),
    "unknown parameter entity": ("%a;", "", "parameter entities"),
    "undeclared": ('<!ENTITY a "x">', "<e:p>&b;</e:p>", "undefined entity"),
    "undeclared in an attribute": ('<!ENTITY a "x">', '<e:p e:q="&b;"/>', "undefined entity"),
}


@pytest.mark.parametrize("subset", ["", ' SYSTEM "nowhere.dtd"'])
@pytest.mark.parametrize(("declaration", "content", "reason"), OUTSIDE.values(), ids=OUTSIDE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_what_needs_the_outside_is_refused_with_its_line(
    subset: str, declaration: str, content: str, reason: str, encoding: str
) -> None:
    before = f'<?xml version="1.0"\nencoding="{encoding}"?>\n<!DOCTYPE r{subset} [{declaration}]>\n'
    error = refusal(document(content, before=before).encode(encoding))
    assert reason in error.msg
    assert error.lineno == (4 if content else 3)


# XML.


ENCODED = [
    ("utf-8", "é€\U00010000"),
    ("utf-8-sig", "é€\U00010000"),
    ("utf-16", "é€\U00010000"),
    ("utf-16-le", "é€\U00010000"),
    ("utf-16-be", "é€\U00010000"),
    ("iso-8859-1", "é"),
    ("us-ascii", "e"),
    ("windows-1252", "é€"),
    ("koi8-r", "ж"),
]


@pytest.mark.parametrize("doctype", ["", '<!DOCTYPE rdf:RDF SYSTEM "nowhere.dtd">'])
@pytest.mark.parametrize(("encoding", "text"), ENCODED)
def test_an_encoding_with_a_byte_per_character_or_of_unicode_is_read(
    parse_text: ParseText, encoding: str, text: str, doctype: str
) -> None:
    name = "utf-16" if encoding.startswith("utf-16") else encoding.removesuffix("-sig")
    before = f'<?xml version="1.0" encoding="{name}"?>{doctype}'
    content = document(f"<e:p>{text}</e:p>", before=before).encode(encoding)
    parsed = parse_text(content, format="rdf-xml", role="snapshot")
    assert parsed.quads == [("", A, "<http://ex/p>", f'"{text}"')]


@pytest.mark.parametrize(
    "encoding", ["shift_jis", "utf-7", "hex", "idna", "unicode_escape", "nonsense"]
)
def test_any_other_encoding_is_refused(encoding: str) -> None:
    error = refusal(document("", before=f'<?xml version="1.0" encoding="{encoding}"?>'))
    assert error.msg.startswith(f"the encoding {encoding} is not read")
    assert error.lineno == 1


def test_white_space_of_attributes_is_normalised() -> None:
    text = document('<e:p rdf:resource="http://ex/&#98;" e:q=" a\tb\nc\r\nd  "/>')
    assert statements(text) == graph(
        f"{P} <http://ex/b> .", '<http://ex/b> <http://ex/q> " a b c d  " .'
    )


def test_the_line_and_the_column_of_an_error_are_recorded(parse_text: ParseText) -> None:
    text = document("\r<e:p>é</e:p>\r\n<e:p>é</e:q>\n")
    parsed = parse_text(text, format="rdf-xml", role="snapshot")
    [rejection] = parsed.rejections
    assert (rejection.line, rejection.column) == (3, 9)
    assert (rejection.reason, rejection.raw) == ("mismatched tag", "<e:p>é</e:q>")


def test_elements_that_are_nested_deeper_than_the_limit_are_refused() -> None:
    # The root, the node, then pairs of a property and a node.
    def nested(pairs: int) -> str:
        return document("<e:p><e:B>" * pairs + "</e:B></e:p>" * pairs)

    statements(nested(2), nesting=6)
    assert refusal(nested(3), nesting=6).msg == "nested more than 6 deep"


def test_elements_inside_a_literal_count_as_nested() -> None:
    def nested(elements: int) -> str:
        content = "<b>" * elements + "</b>" * elements
        return document(f'<e:p rdf:parseType="Literal">{content}</e:p>')

    statements(nested(3), nesting=6)
    assert refusal(nested(4), nesting=6).msg == "nested more than 6 deep"


def test_an_entity_that_nests_counts_as_nested() -> None:
    entity = f"<!ENTITY a '{'<e:p><e:B>' * 3}{'</e:B></e:p>' * 3}'>"
    assert refusal(document("&a;", before=_entities(entity)), nesting=6).msg.startswith("nested")


def test_tags_inside_comments_values_and_instructions_do_not_count_as_nested() -> None:
    tags = "<a><a><a><a>"
    text = document(
        f"<!-- {tags} --><?x {tags} ?><e:p e:q='/>'/><e:p><![CDATA[{tags}]]></e:p><e:p/><e:p/>",
        before='<!DOCTYPE a SYSTEM "[">',
    )
    assert len(statements(text, nesting=3)) == 4


@pytest.mark.parametrize(
    "part",
    [
        '"',
        "'",
        "<",
        "<!--",
        "<![CDATA[",
        "<?",
        "<a b='",
        "<a/",
        "<!",
        "<!DOCTYPE ",
        "&",
        "&a",
        "]]",
    ],
)
@pytest.mark.parametrize("start", ["", f"{ROOT}>", f"{ROOT}><!--", f"{ROOT} a='", "<!DOCTYPE a ["])
def test_reading_takes_linear_time(start: str, part: str) -> None:
    # A quadratic scan of 2 MB would take hours.
    refusal(start + part * (2_000_000 // len(part)))


@pytest.mark.parametrize("text", ["", " ", "\n<!-- nothing -->"])
def test_a_document_without_an_element_is_refused(text: str) -> None:
    assert refusal(text).msg == "no element found"


# The grammar.


READ: dict[str, tuple[str, list[str]]] = {
    "a node element as the root": (
        f'<e:T xmlns:e="http://ex/" xmlns:r="{RDF}" r:about="http://ex/a"/>',
        [f"{A} rdf:type <http://ex/T> ."],
    ),
    "the XML Schema of a document": (
        document(
            "<e:p>x</e:p>",
            ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a a.xsd"',
        ),
        [f'{P} "x" .'],
    ),
    "names without a namespace that RDF had once": (
        f'{ROOT}><e:T about="http://ex/a"><e:p resource="http://ex/b"/></e:T></rdf:RDF>',
        [f"{A} rdf:type <http://ex/T> .", f"{P} <http://ex/b> ."],
    ),
    "a type as an attribute of a node": (
        f'{ROOT}><rdf:Description rdf:about="http://ex/a" rdf:type="http://ex/T"/></rdf:RDF>',
        [f"{A} rdf:type <http://ex/T> ."],
    ),
    "a type as the only attribute of a property": (
        document('<e:p rdf:type="http://ex/T"/>'),
        [f"{P} _:b .", "_:b rdf:type <http://ex/T> ."],
    ),
    "white space is a literal": (document("<e:p> \n</e:p>"), [f'{P} " \\n" .']),
    "white space around a node is not": (
        document('<e:p> <!-- c --> <rdf:Description rdf:about="http://ex/b"/>\n</e:p>'),
        [f"{P} <http://ex/b> ."],
    ),
    "an empty element with a datatype": (
        document('<e:p rdf:datatype="http://ex/d" xml:lang="en"/>'),
        [f'{P} ""^^<http://ex/d> .'],
    ),
    "an empty element with a resource and white space": (
        document('<e:p rdf:resource="http://ex/b"> </e:p>'),
        [f"{P} <http://ex/b> ."],
    ),
    "xml's own attributes in any case": (
        document('<e:p xml:space="preserve" xml:id="x" XMLfoo="y">z</e:p>'),
        [f'{P} "z" .'],
    ),
    "an empty xml literal": (
        document('<e:p rdf:parseType="Literal"/>'),
        [f'{P} ""^^rdf:XMLLiteral .'],
    ),
    "a parse type that is written with references": (
        document('<e:p rdf:parseType="Res&#111;urce"/>'),
        [f"{P} _:b ."],
    ),
    "members are numbered for each node": (
        document(
            "<rdf:li>x</rdf:li><e:p><rdf:Bag><rdf:li>y</rdf:li></rdf:Bag></e:p><rdf:li>z</rdf:li>"
        ),
        [
            *(f'{A} rdf:_1 "x" .', f'{A} rdf:_2 "z" .', f"{P} _:b ."),
            *("_:b rdf:type rdf:Bag .", '_:b rdf:_1 "y" .'),
        ],
    ),
    "a collection": (
        document(
            '<e:p rdf:parseType="Collection"><rdf:Description rdf:about="http://ex/b"/><e:T/></e:p>'
            '<e:q rdf:parseType="Collection"> </e:q>'
        ),
        [
            *(f"{P} _:1 .", "_:1 rdf:first <http://ex/b> .", "_:1 rdf:rest _:2 ."),
            *("_:2 rdf:first _:t .", "_:t rdf:type <http://ex/T> .", "_:2 rdf:rest rdf:nil ."),
            f"{A} <http://ex/q> rdf:nil .",
        ],
    ),
    "one label, one node": (
        document(
            '<e:p rdf:nodeID="a."/><e:q><rdf:Description rdf:nodeID="a."/></e:q>'
            '<e:p rdf:nodeID="b1"/>'
        ),
        [f"{P} _:a .", f"{A} <http://ex/q> _:a .", f"{P} _:b ."],
    ),
    "a statement about a statement": (
        document('<e:p rdf:ID="s" xml:base="http://ex/x#y">v</e:p>'),
        [
            *(f'{P} "v" .', "<http://ex/x#s> rdf:type rdf:Statement ."),
            *(
                f"<http://ex/x#s> rdf:subject {A} .",
                "<http://ex/x#s> rdf:predicate <http://ex/p> .",
            ),
            '<http://ex/x#s> rdf:object "v" .',
        ],
    ),
    "a base is resolved against the one around it, without its fragment": (
        document(
            '<e:p rdf:resource=""/><e:p xml:base="../q?r#f" rdf:resource=""/>'
            '<e:p xml:base="" rdf:resource="x"/><e:p xml:base="//o" rdf:resource="#y"/>',
            ' xml:base="http://b/c/d#e"',
        ),
        [f"{P} <http://b/{rest}> ." for rest in ("c/d", "q?r", "c/x")] + [f"{P} <http://o#y> ."],
    ),
    "a datatype is resolved against the base": (
        document('<e:p rdf:datatype="#d">x</e:p>', ' xml:base="http://b/"'),
        [f'{P} "x"^^<http://b/#d> .'],
    ),
    "the same id under two bases": (
        document(
            '<e:p><e:T rdf:ID="i"/></e:p><e:p><e:T rdf:ID="i" xml:base="http://c/"/></e:p>',
            ' xml:base="http://b/"',
        ),
        [
            *(f"{P} <http://b/#i> .", f"{P} <http://c/#i> ."),
            *(f"<http://{host}/#i> rdf:type <http://ex/T> ." for host in "bc"),
        ],
    ),
}


@pytest.mark.parametrize(("text", "expected"), READ.values(), ids=READ)
def test_the_grammar_is_read(text: str, expected: list[str]) -> None:
    assert statements(text) == graph(*expected)


def test_relative_iris_without_a_base_are_errors() -> None:
    for attributes in ("", ' xml:base=""'):
        with pytest.raises(SyntaxError, match="No scheme") as error:
            statements(document('\n<e:p rdf:resource="b"/>', attributes))
        assert error.value.lineno == 2


REFUSED = {
    "resource and literal": '<e:p rdf:resource="b">text</e:p>',
    "resource and node": '<e:p rdf:resource="b"><e:T/></e:p>',
    "text and node": "<e:p>text<e:T/></e:p>",
    "node and text": "<e:p><e:T/>text</e:p>",
    "two nodes": "<e:p><e:T/><e:T/></e:p>",
    "text between properties": "<e:p/>text",
    "datatype and node": '<e:p rdf:datatype="http://ex/d"><e:T/></e:p>',
    "datatype and resource": '<e:p rdf:datatype="http://ex/d" rdf:resource="b"/>',
    "datatype and property": '<e:p rdf:datatype="http://ex/d" e:q="x"/>',
    "datatype of languages": f'<e:p rdf:datatype="{RDF}langString">x</e:p>',
    "resource and nodeID": '<e:p rdf:resource="b" rdf:nodeID="c"/>',
    "property and content": '<e:p e:q="x">y</e:p>',
    "property and node": '<e:p e:q="x"><e:T/></e:p>',
    "parseType and property": '<e:p rdf:parseType="Resource" e:q="x"/>',
    "parseType and resource": '<e:p rdf:parseType="Literal" rdf:resource="b"/>',
    "parseType and datatype": '<e:p rdf:parseType="other" rdf:datatype="http://ex/d"/>',
    "text in a collection": '<e:p rdf:parseType="Collection">text</e:p>',
    "about of a property": '<e:p rdf:about="b"/>',
    "resource of a node": '<e:p><e:T rdf:resource="b"/></e:p>',
    "datatype of a node": '<e:p><e:T rdf:datatype="b"/></e:p>',
    "parseType of a node": '<e:p><e:T rdf:parseType="Literal"/></e:p>',
    "about and ID": '<e:p><e:T rdf:about="b" rdf:ID="c"/></e:p>',
    "about and nodeID": '<e:p><e:T rdf:about="b" rdf:nodeID="c"/></e:p>',
    "ID and nodeID": '<e:p><e:T rdf:ID="b" rdf:nodeID="c"/></e:p>',
    "ID twice": '<e:p rdf:ID="i"/><e:q><e:T rdf:ID="i"/></e:q>',
    "ID twice, by its base": '<e:p rdf:ID="i"/><e:p rdf:ID="i" xml:base="http://base/#x"/>',
    "ID that is no name": '<e:p rdf:ID="1a"/>',
    "ID with a colon": '<e:p rdf:ID="a:b"/>',
    "empty ID": '<e:p rdf:ID=""/>',
    "nodeID that is no name": '<e:p rdf:nodeID="a b"/>',
    "about and rdf:about": '<e:p><e:T about="b" rdf:about="c"/></e:p>',
    "attribute without namespace": '<e:p q="x"/>',
    "element without namespace": "<p/>",
    "unknown prefix": "<f:p/>",
    "one attribute by two prefixes": '<e:p e:q="x" f:q="x" xmlns:f="http://ex/"/>',
    "namespace that is relative": '<f:p xmlns:f="x"/>',
    "namespace that is no IRI": '<f:p xmlns:f="http://ex/ /"/>',
    "IRI with a space": '<e:p rdf:resource="http://ex/ b"/>',
    "IRI with an end": '<e:p rdf:resource="http://ex/>b"/>',
    "language that is none": '<e:p xml:lang="e n">x</e:p>',
    "triple term": '<e:p rdf:parseType="Triple"/>',
    "annotation": '<e:p rdf:annotation="b">x</e:p>',
    "version": '<e:p><e:T rdf:version="1.2"/></e:p>',
    **{
        f"rdf:{name} as a node": f"<e:p><rdf:{name}/></e:p>"
        for name in (
            *("RDF", "ID", "about", "bagID", "parseType", "resource", "nodeID", "li", "datatype"),
            *("aboutEach", "aboutEachPrefix"),
        )
    },
    **{
        f"rdf:{name} as a property": f"<rdf:{name}/>"
        for name in (
            *("Description", "RDF", "ID", "about", "bagID", "parseType", "resource", "nodeID"),
            *("datatype", "aboutEach", "aboutEachPrefix"),
        )
    },
    **{
        f"rdf:{name} as an attribute": f'<e:p><e:T rdf:{name}="x"/></e:p>'
        for name in ("Description", "RDF", "bagID", "li", "aboutEach", "aboutEachPrefix")
    },
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED)
def test_what_the_grammar_does_not_allow_is_refused_with_its_line(content: str) -> None:
    assert refusal(document(f"<e:o/>\n{content}", before="<!-- \n -->")).lineno == 3


@pytest.mark.parametrize("attribute", ['e:q="x"', 'rdf:ID="x"', 'rdf:version="1.2"'])
def test_an_attribute_of_the_root_that_says_nothing_is_refused(attribute: str) -> None:
    assert refusal(document("", f" {attribute}")).lineno == 1


# XML literals.


@pytest.mark.parametrize(
    "content",
    [
        "",
        "text &amp; &lt; > \" '",
        "<b/>",
        '<b z="1" a="&quot;2&#10;\'&lt;&gt;&amp;"> x </b>',
        "<!-- c --><?pi x  y?><?pi?>",
        "<![CDATA[<&>]]>&#13;",
        '<e:c xmlns="http://d/"><d e:x="1" rdf:y="2"/><f xmlns=""><g/></f></e:c>',
        '<x:c xmlns:x="http://x/" xmlns:y="http://y/"><y:d/><y:d y:a="" x:a="" z=""/></x:c>',
        '<c xml:lang="de" xml:space="preserve"/>',
        '<x:c xmlns:x="http://x/"><x:c xmlns:x="http://y/"><x:c/></x:c></x:c>',
    ],
)
def test_an_xml_literal_is_its_canonical_form(content: str) -> None:
    # The library's form of an element with this content, which declares no namespace that counts.
    whole = canonicalize(
        f'<r xmlns:rdf="{RDF}" xmlns:e="http://ex/">{content}</r>', with_comments=True
    )
    expected = whole.removeprefix("<r>").removesuffix("</r>")
    text = document(f'<e:p rdf:parseType="Literal">{content}</e:p>')
    [quad] = pyoxigraph.parse(b"".join(read_rdf_xml(text.encode(), None, 256)), RdfFormat.N_TRIPLES)
    assert quad.object == pyoxigraph.Literal(
        expected, datatype=pyoxigraph.NamedNode(f"{RDF}XMLLiteral")
    )


def test_an_xml_literal_keeps_its_prefixes() -> None:
    content = '<x:c xmlns:x="http://x/" xmlns:y="http://x/"><y:d/></x:c>'
    expected = '<x:c xmlns:x=\\"http://x/\\"><y:d xmlns:y=\\"http://x/\\"></y:d></x:c>'
    assert statements(document(f'<e:p rdf:parseType="Literal">{content}</e:p>')) == graph(
        f'{P} "{expected}"^^rdf:XMLLiteral .'
    )


# The law.


VALUES = "ab &<>\"'\n\té€\U00010000]["
SAFE = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


def test_long_documents_are_read_to_their_end() -> None:
    count = 3 * xml_parser._BLOCK_BYTES // 20
    text = document("".join(f"<e:p>{number:07}</e:p>" for number in range(count)))
    lines = b"".join(read_rdf_xml(text.encode(), None, 256)).splitlines()
    assert lines == [f'{P} "{number:07}" .'.encode() for number in range(count)]


@pytest.mark.law("spellings of XML")
def test_any_spelling_of_a_document_gives_the_same_statements(
    seeds: Seeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in seeds:
        draw = random.Random(seed)
        monkeypatch.setattr(xml_parser, "_BLOCK_BYTES", draw.choice([1, 7, 64, 1 << 20]))
        values = ["".join(draw.choices(VALUES, k=draw.randint(0, 8))) for _ in range(6)]
        text = spelling(values, draw)
        encoding = draw.choice(["utf-8", "utf-16"])
        lines = b"".join(read_rdf_xml(text.encode(encoding), None, 256))
        read = {
            (str(quad.predicate), quad.object)
            for quad in pyoxigraph.parse(lines, RdfFormat.N_TRIPLES)
        }
        expected = {
            (f"<http://ex/p{number}>", pyoxigraph.Literal(value))
            for number, value in enumerate(values)
        }
        if read != expected:
            seeds.failed.append(seed)
    assert not seeds.failed


def spelling(values: list[str], draw: random.Random) -> str:
    """A document of http://ex/a, whose property http://ex/p<n> has the n-th value."""
    end = draw.choice(["\n", "\r\n", "\r"])
    attributes = elements = entities = ""
    for number, value in enumerate(values):
        if draw.random() < 0.3:
            attributes += f"{end} e:p{number}={quoted(value, draw)}"
            continue
        content = "".join(spelled(character, draw) for character in value)
        if draw.random() < 0.2:
            # A markup character would be read as markup when the entity is.
            inner = "".join(f"&#38;#{ord(character)};" for character in value)
            entities += f'<!ENTITY v{number} "{inner}">'
            content = f"&v{number};"
        space = draw.choice(["", " ", end])
        elements += f"<e:p{number}{space}>{content}</e:p{number}{space}>{end}<!-- <x> -->"
    doctype = f"<!DOCTYPE x [{entities}]>" if entities or draw.random() < 0.3 else ""
    if draw.random() < 0.2:
        doctype = doctype.replace("x [", 'x SYSTEM "nowhere" [')
    node = f'rdf:about="http://ex/a"{attributes}>{end}{elements}'
    return f"{doctype}{end}{ROOT}>{end}<rdf:Description {node}</rdf:Description></rdf:RDF>".replace(
        "\n", end
    )


def spelled(character: str, draw: random.Random) -> str:
    """A character of text, maybe with something beside it that is no text."""
    match draw.randrange(6):
        case 0:
            return f"&#{ord(character)};"
        case 1:
            return f"&#x{ord(character):x};"
        case 2:
            return f"<![CDATA[{character}]]>"
        case 3:
            return SAFE.get(character, character) + draw.choice(["<!-- c -->", "<?p i?>"])
        case _:
            return SAFE.get(character, character)


def quoted(value: str, draw: random.Random) -> str:
    """A value of an attribute, in which only a reference is a line feed or a tab."""
    text = "".join(
        f"&#{ord(character)};"
        if character in "\n\t" or draw.random() < 0.2
        else draw.choice([" ", "\n", "\t"])
        if character == " "
        else SAFE.get(character, character)
        for character in value
    )
    return draw.choice([f'"{text}"', f"'{text}'"])
