"""The mutants of reading documents: labels of blank nodes, JSON-LD, RDF/XML, archives, guards."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_LABELS = ("tests/rdf/test_counted_labels.py",)
_JSON_LD = ("tests/rdf/test_json_ld.py", "tests/rdf/test_w3c_suites.py")
_XML = ("tests/rdf/test_rdf_xml.py",)
_ARCHIVES = ("tests/rdf/test_compression.py",)
_VERSIONS = ("tests/ingest/test_snapshots.py",)


def _mutant(
    name: str, module: str, original: str, replacement: str, tests: tuple[str, ...]
) -> Mutant:
    return Mutant(name, module, original, replacement, tests=tests)


DOCUMENT_MUTANTS = (
    _mutant(
        "two equal properties of a node are one",
        "rdf/counted_labels",
        '_hash("node", *sorted(link.line(self._content) for link in links))',
        '_hash("node", *sorted({link.line(self._content) for link in links}))',
        _LABELS,
    ),
    _mutant(
        "nodes of equal content and of one origin have one label",
        "rdf/counted_labels",
        "names = more if number else ()",
        "names = more[:-1] if number else ()",
        _LABELS,
    ),
    _mutant(
        "the first of equal nodes has another label than alone",
        "rdf/counted_labels",
        "names = more if number else ()",
        "names = more",
        _LABELS,
    ),
    _mutant(
        "what leads to a node is not part of its label",
        "rdf/counted_labels",
        'least |= dict.fromkeys(group, min(begins, default=""))',
        'least |= dict.fromkeys(group, "")',
        _LABELS,
    ),
    _mutant(
        "a pointer more changes the label of a node",
        "rdf/counted_labels",
        'min(begins, default="")',
        '"".join(sorted(begins))',
        _LABELS,
    ),
    _mutant(
        "all that hangs on a node is taken for a tree",
        "rdf/counted_labels",
        "len(document.pointers[target]) == 1 and self.is_tree[target]",
        "True",
        _LABELS,
    ),
    _mutant(
        "nodes in blank graphs can be exchanged",
        "rdf/counted_labels",
        "and node not in document.graphs\n",
        "",
        _LABELS,
    ),
    _mutant(
        "equal nodes are labelled before what points to them",
        "rdf/counted_labels",
        "key=lambda nodes: -height[nodes[0]]",
        "key=lambda nodes: height[nodes[0]]",
        _LABELS,
    ),
    _mutant(
        "blank graphs of which nothing is said are numbered by their order",
        "rdf/counted_labels",
        "if shared[self.of[graph]] > 1:",
        "if False:",
        _LABELS,
    ),
    _mutant(
        "equal parts are numbered each node by itself",
        "rdf/counted_labels",
        "self._parts[form] += 1",
        "pass",
        _LABELS,
    ),
    _mutant(
        "a canonical labelling takes the first of nodes that are alike",
        "rdf/canonical_labelling",
        "tried = alike if len(alike) * len(graph.edges) <= _COMPARISONS else alike[:1]",
        "tried = alike[:1]",
        _LABELS,
    ),
    _mutant(
        "a relative IRI without base gets one",
        "rdf/json_ld",
        "if name.startswith(_NO_BASE_SCHEME):",
        "if False:",
        _JSON_LD,
    ),
    _mutant(
        "a value that is no RDF is left out without a word",
        "rdf/json_ld",
        "self._dropped.append(Dropped(reason, raw.strip()))",
        "pass",
        _JSON_LD,
    ),
    _mutant(
        "a key with a space is left out without a word",
        "rdf/json_ld",
        'if key is not None and ":" in key:',
        "if False:",
        _JSON_LD,
    ),
    _mutant(
        "the last of two equal keys counts",
        "rdf/json_ld",
        "if len(members) < len(pairs):",
        "if False:",
        _JSON_LD,
    ),
    _mutant(
        "a graph with other keys is read in parts, too",
        "rdf/json_ld",
        'if items and others.keys() <= {"@context", "@id"}:',
        "if items:",
        _JSON_LD,
    ),
    _mutant(
        "the last cell of a list has no end",
        "rdf/json_ld",
        "[*cells[1:], _NIL]",
        "[*cells[1:], cells[0]]",
        _JSON_LD,
    ),
    _mutant(
        "large whole numbers are doubles",
        "rdf/json_ld",
        "_LEAST_DOUBLE = 1e21",
        "_LEAST_DOUBLE = 1e20",
        _JSON_LD,
    ),
    _mutant(
        "an entity that a DTD might declare is left out",
        "rdf/xml_parser",
        "if system is not None and not self._is_standalone:",
        "if False:",
        _XML,
    ),
    _mutant(
        "a document may grow by entities without bound",
        "rdf/rdf_xml",
        "_OUTPUT_FACTOR = 100",
        "_OUTPUT_FACTOR = 100_000",
        _XML,
    ),
    _mutant(
        "the end of a compressed stream is the end of the file",
        "rdf/compression",
        "if not self._next_stream():",
        "if True:",
        _ARCHIVES,
    ),
    _mutant(
        "a compressed file may end in the middle",
        "rdf/compression",
        'raise EOFError("it ends in the middle of a stream")',
        'return b""',
        _ARCHIVES,
    ),
    _mutant(
        "the first of several files of a zip is read",
        "rdf/compression",
        "if len(files) != 1:",
        "if not files:",
        _ARCHIVES,
    ),
    _mutant(
        "a broken document does not stop its source",
        "ingest/sources/guards",
        "elif reading.broken is not None:",
        "elif False:",
        _VERSIONS,
    ),
    _mutant(
        "documents of equal content are one node also where they are counted",
        "rdf/labelling",
        'if blank_nodes == "count" else',
        'if blank_nodes == "merge" else',
        _VERSIONS,
    ),
)
