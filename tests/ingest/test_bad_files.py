"""Bad files of all formats: none ends a run, and nothing of any is lost without a word."""

from __future__ import annotations

import gzip
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
import pytest
import rdflib

from tests.support.laws import Seeds
from tests.support.projects.project import Project
from weir.ingest.stage import SourceResult

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LINE = '<urn:s{0}> <urn:p> "value {0} \\u00e9"@en .'
DOCUMENTS = {
    "ttl": "@prefix : <urn:> .\n:s1 :p 1, [ :q 2 ] ; :r ( :a :b ) .\n:s2 :p '''a\nb''', 'x'@en .\n",
    "trig": "@prefix : <urn:> .\n:g { :s :p :o . }\n:s :p 1.5 .\n",
    "rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="urn:a#">'
    '<rdf:Description rdf:about="urn:s"><a:p>text</a:p><a:q rdf:resource="urn:o"/>'
    "</rdf:Description></rdf:RDF>\n",
    "jsonld": '{"@id": "urn:s", "urn:p": [{"@value": "x", "@language": "en"}, {"@id": "urn:o"}]}\n',
}
SYNTAXES = {
    "nt": pyoxigraph.RdfFormat.N_TRIPLES,
    "nq": pyoxigraph.RdfFormat.N_QUADS,
    "rdfp": pyoxigraph.RdfFormat.N_QUADS,
    "ttl": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
}


@dataclass(frozen=True, slots=True)
class BadFile:
    """A generated file: its format, what it holds before compression, and what is stored."""

    ending: str
    content: bytes
    stored: bytes
    is_packed: bool

    @property
    def name(self) -> str:
        return f"1.{self.ending}{'.gz' if self.is_packed else ''}"


def bad_file(seed: int) -> BadFile:
    """A good file that was damaged in one to three ways."""
    draw = random.Random(seed)
    ending = draw.choice([*SYNTAXES, "jsonld", "rdf"])
    lines = [LINE.format(n) for n in range(draw.randint(0, 6))]
    if ending == "rdfp":
        body = "\n".join(f"{draw.choice('AAAD')} {line}" for line in lines)
        good = draw.choice(["TX .\n{}\nTC .\n", "{}\n"]).format(body)
    elif ending in ("nt", "nq"):
        good = "".join(f"{line}\n" for line in lines)
    else:
        good = DOCUMENTS[ending]
    content = good.encode()
    for _ in range(draw.randint(1, 3)):
        content = damaged(content, draw)
    is_packed = draw.random() < 0.2
    stored = gzip.compress(content, mtime=0) if is_packed else content
    if is_packed and draw.random() < 0.5:
        stored = damaged(stored, draw)
    with suppress(OSError, EOFError, zlib.error):
        # What a damaged archive holds all the same.
        content = gzip.decompress(stored) if is_packed else content
    return BadFile(ending, content, stored, is_packed)


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The bytes with one fault."""
    at, to = sorted(draw.randint(0, len(content)) for _ in range(2))
    match draw.randrange(9):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + content[to:]
        case 2:
            return content[:to] + content[at:]
        case 3:
            return content[:at] + draw.randbytes(draw.randint(1, 20)) + content[at:]
        case 4 if content:
            flipped = bytearray(content)
            flipped[min(at, len(content) - 1)] ^= 1 << draw.randrange(8)
            return bytes(flipped)
        case 5:
            return (
                content[:at]
                + draw.choice([b"\0", b"\xff\xfe", b"\r", b"\n\n", b"<<"])
                + content[at:]
            )
        case 6:
            return content[:at] + draw.choice([b"[", b"(", b"{", b"<a>"]) * 400 + content[at:]
        case 7:
            return content[:at] + b"x" * draw.choice([10, 3000]) + content[at:]
        case _:
            return draw.choice([b"", b"oops", BYTE_ORDER_MARK + content, content.swapcase()])


def statements(line: bytes, ending: str) -> set[tuple[str, ...]]:
    """The quads of a text, without their graphs, as an independent parser reads them."""
    if ending in ("rdf", "jsonld"):
        # pyoxigraph does not normalise line ends, and refuses keys that JSON-LD ignores.
        syntax = "xml" if ending == "rdf" else "json-ld"
        graph = rdflib.Graph().parse(data=line, format=syntax)
        line, ending = graph.serialize(format="nt").encode(), "nt"
    quads = pyoxigraph.parse(line, SYNTAXES[ending])
    return {(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads}


def without_labels(quads: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Quads whose blank nodes all have one label."""
    return {tuple("_:" if term.startswith("_:") else term for term in quad) for quad in quads}


def lines_of(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, by number."""
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        text = line.rstrip().lstrip(b" \t")
        if text and not text.startswith(b"#"):
            yield number, text


def rows_of(
    lines: Iterable[tuple[int, bytes]], rejected: set[int]
) -> Iterator[tuple[set[int], bytes]]:
    """The rows of a patch, with the numbers of their lines.

    A row begins with a word or after a dot, but after a rejected one with a word only.
    """
    numbers: set[int] = set()
    text = b""
    for number, line in lines:
        is_after = text.endswith(b". ") and not numbers & rejected
        if numbers and (is_after or re.match(rb"[A-Za-z]+[ \t]", line)):
            yield numbers, text
            numbers, text = set(), b""
        numbers.add(number)
        # For Jena a line end is a space; N-Quads ends its lines there.
        text += line.replace(b"\r", b" ") + b" "
    if numbers:
        yield numbers, text


def lost(
    file: BadFile,
    source: SourceResult,
    rejected: set[int],
    state: set[tuple[str, ...]],
) -> str | None:
    """What of a file is neither in the graph nor reported; None if nothing is."""
    if "a defect of its reader" in str(source.error):
        return str(source.error)
    if source.error is not None:
        return None if source.name in str(source.error) else "the error does not name the source"
    if source.epochs != 1:
        return "neither ingested nor stopped"
    if file.ending not in ("nt", "nq", "rdfp"):
        if rejected:
            return None
        expected = statements(file.content.removeprefix(BYTE_ORDER_MARK), file.ending)
        lacking = without_labels(expected) ^ without_labels(state)
        return None if not lacking and len(state) == len(expected) else f"{lacking}"
    if 0 in rejected:
        return None
    holds: dict[tuple[str, ...], bool] = {}
    lines = [*lines_of(file.content)]
    for numbers, text in (
        rows_of(lines, rejected) if file.ending == "rdfp" else (({n}, t) for n, t in lines)
    ):
        if rejected & numbers:
            continue
        is_added = True
        if file.ending == "rdfp":
            if text[:1] not in b"AD":
                continue
            text, is_added = text[1:], text[:1] == b"A"
        for quad in statements(text, file.ending):
            holds[quad] = is_added
    if file.ending == "rdfp" and b"TA" in file.content:
        return None
    expected = {quad for quad, is_held in holds.items() if is_held}
    return None if expected == state else f"{expected ^ state}"


def outcomes(project: Project, seeds: Seeds) -> dict[int, str | None]:
    """What is lost of each file, all of which are ingested by one run, each as a source."""
    files = {f"f{seed}": bad_file(seed) for seed in seeds}
    for name, file in files.items():
        project.folders(name)
        (project.folder / name / file.name).write_bytes(file.stored)
    project.declare(
        *(
            {
                "name": name,
                "kind": "patches" if file.ending == "rdfp" else "snapshots",
                "location": name,
                "max_rejected": "100%",
            }
            for name, file in files.items()
        ),
        line_bytes=2048,
        nesting=100,
    )
    result = project.ingest()
    rejected: dict[object, set[int]] = defaultdict(set)
    for name, line in project.rows("rejected", "source", "line"):
        rejected[name].add(int(line))
    owners: dict[object, object] = dict(project.rows("graphs", "graph", "source"))
    states: dict[object, set[tuple[str, ...]]] = defaultdict(set)
    for graph, *triple in project.state(10**9):
        states[owners[graph]].add(tuple(map(str, triple)))
    return {
        int(source.name[1:]): lost(
            files[source.name], source, rejected[source.name], states[source.name]
        )
        for source in result.sources
    }


@pytest.mark.law("bad files")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_nothing_of_a_bad_file_is_lost_without_a_word(tmp_path: Path, seeds: Seeds) -> None:
    lost = outcomes(Project(tmp_path), seeds)
    seeds.failed += [seed for seed, what in lost.items() if what is not None]
    assert {seed: lost[seed] for seed in seeds.failed} == {}
