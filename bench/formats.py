"""Reading files: megabytes per second and peak memory by format, beside the parser that it had.

Each file is read in a fresh process by what ingest calls (`weir.rdf.parse`), and by pyoxigraph
alone, without limits, labels and tables, where pyoxigraph reads the format. Seconds are of the
processor: reading is one thread. It grows with the size of the file.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pyarrow as pa

from bench.places import ROOT, WORK
from bench.results import Scenario, Timing, machine

FULL_MEGABYTES = 100
_PEOPLE = "http://example.org/people/"
_SCHEMA = "http://example.org/schema#"
_PREFIXES = f"@prefix s: <{_SCHEMA}> .\n@prefix p: <{_PEOPLE}> .\n"
_CONTEXT = {
    "s": _SCHEMA,
    "p": _PEOPLE,
    "name": "s:name",
    "knows": {"@id": "s:knows", "@type": "@id"},
    "age": "s:age",
    "home": "s:home",
    "city": {"@id": "s:city", "@language": "en"},
}
_XML = (
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    f' xmlns:s="{_SCHEMA}" xml:base="{_PEOPLE}">\n'
)


def _lines(i: int, graph: str = "", before: str = "") -> str:
    """A person, of six statements, two of them about a blank node."""
    person, end = f"<{_PEOPLE}{i}>", f"{graph} .\n"
    return "".join(
        f"{before}{statement}{end}"
        for statement in (
            f"{person} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{_SCHEMA}Person>",
            f'{person} <{_SCHEMA}name> "Person {i}"',
            f"{person} <{_SCHEMA}knows> <{_PEOPLE}{i * 7919 % 1_000_003}>",
            f'{person} <{_SCHEMA}age> "{i % 90}"^^<http://www.w3.org/2001/XMLSchema#integer>',
            f"{person} <{_SCHEMA}home> _:h{i}",
            f'_:h{i} <{_SCHEMA}city> "City {i % 1000}"@en',
        )
    )


def _turtle(i: int) -> str:
    return (
        f'p:{i} a s:Person ; s:name "Person {i}" ; s:knows p:{i * 7919 % 1_000_003} ;'
        f' s:age {i % 90} ; s:home [ s:city "City {i % 1000}"@en ] .\n'
    )


def _xml(i: int) -> str:
    return (
        f'<s:Person rdf:about="{i}"><s:name>Person {i}</s:name>'
        f'<s:knows rdf:resource="{i * 7919 % 1_000_003}"/>'
        f'<s:age rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">{i % 90}</s:age>'
        f'<s:home rdf:parseType="Resource"><s:city xml:lang="en">City {i % 1000}</s:city></s:home>'
        "</s:Person>\n"
    )


def _json(i: int) -> str:
    person = {
        "@id": f"p:{i}",
        "@type": "s:Person",
        "name": f"Person {i}",
        "knows": f"p:{i * 7919 % 1_000_003}",
        "age": i % 90,
        "home": {"city": f"City {i % 1000}"},
    }
    return ("," if i else "") + json.dumps(person)


def _of_jena(i: int) -> str:
    return _lines(i, before="A ").replace(f"_:h{i}", f"<_:h{i}>")


@dataclass(frozen=True, slots=True)
class Form:
    """What a file is made of: its ending, the person of a number, what is around all of them."""

    title: str
    ending: str
    person: Callable[[int], str]
    head: str = ""
    foot: str = ""

    def write(self, file: Path, size: int) -> None:
        """Write a file of about `size` bytes."""
        with file.open("w") as output:
            output.write(self.head)
            i = written = 0
            while written < size:
                written += output.write(self.person(i))
                i += 1
            output.write(self.foot)


FORMS = (
    Form("N-Triples", "nt", _lines),
    Form("N-Quads", "nq", lambda i: _lines(i, f" <{_PEOPLE}graph>")),
    Form("Turtle", "ttl", _turtle, _PREFIXES),
    Form("TriG", "trig", _turtle, f"{_PREFIXES}p:graph {{\n", "}\n"),
    Form("RDF/XML", "rdf", _xml, _XML, "</rdf:RDF>\n"),
    Form("JSON-LD", "jsonld", _json, f'{{"@context": {json.dumps(_CONTEXT)}, "@graph": [', "]}\n"),
    Form("RDF Patch", "rdfp", lambda i: _lines(i, before="A "), "TX .\n", "TC .\n"),
    Form("RDF Patch as Jena writes it", "rdfp", _of_jena, "TX .\n", "TC .\n"),
)
PACKED = ("gz", "bz2", "xz", "zst")
"""What a Turtle file is compressed by; megabytes are those of the file that is unpacked."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that was read: seconds of the processor, peak memory in MiB, statements."""

    seconds: float
    peak: int
    statements: int


def formats(megabytes: int, repeats: int, progress: Callable[[str], None]) -> Scenario:
    """Read a file of each format.

    Args:
        megabytes: of each file.
        repeats: fresh processes for each.
        progress: receives a line per file.
    """
    folder = WORK / "formats"
    folder.mkdir(parents=True, exist_ok=True)
    timings: list[Timing] = []
    table: list[tuple[str, ...]] = [
        ("format", "MB/s", "pyoxigraph alone, MB/s", "peak memory, MiB", "statements")
    ]
    for title, file, size in _files(folder, megabytes):
        progress(title)
        ours = [_read(file, "weir") for _ in range(repeats)]
        alone = [_read(file, "pyoxigraph") for _ in range(repeats) if _has_parser(file)]
        file.unlink()
        timings.append(Timing(title, "cold", tuple(one.seconds for one in ours)))
        if alone:
            seconds = tuple(one.seconds for one in alone)
            timings.append(Timing(f"{title}, pyoxigraph alone", "cold", seconds))
        table.append(
            (
                title,
                f"{size / 1e6 / median(one.seconds for one in ours):.1f}",
                f"{size / 1e6 / median(one.seconds for one in alone):.1f}" if alone else "",
                f"{max(one.peak for one in ours):,}",
                f"{ours[0].statements:,}",
            )
        )
    return Scenario(
        "formats",
        "Reading a file of each format",
        {"megabytes": megabytes, "repeats": repeats},
        full=megabytes >= FULL_MEGABYTES,
        timings=timings,
        machine=machine(),
        summary=table,
    )


def _files(folder: Path, megabytes: int) -> Iterator[tuple[str, Path, int]]:
    """The files one by one: what it is, the file, and bytes of what it unpacks to."""
    for form in FORMS:
        file = folder / f"people.{form.ending}"
        form.write(file, megabytes * 1_000_000)
        size = file.stat().st_size
        text = file.read_bytes() if form.ending == "ttl" else b""
        yield form.title, file, size
        for ending in PACKED if text else ():
            packed = folder / f"people.ttl.{ending}"
            packed.write_bytes(_packed(text, ending))
            yield f"Turtle, .{ending}", packed, size


def _packed(text: bytes, ending: str) -> bytes:
    match ending:
        case "gz":
            return gzip.compress(text, 6)
        case "bz2":
            return bz2.compress(text)
        case "xz":
            return lzma.compress(text, preset=1)
        case _:
            packed: bytes = pa.Codec("zstd").compress(text, asbytes=True)
            return packed


def _has_parser(file: Path) -> bool:
    return file.suffix.removeprefix(".") not in (*PACKED, "rdfp")


def _read(file: Path, reader: str) -> Reading:
    """Read a file in a fresh process."""
    command = [sys.executable, "-m", "bench.formats", reader, str(file)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Reading(**json.loads(done.stdout))


def main() -> None:
    """Read one file: the reader, `weir` or `pyoxigraph`, and the file."""
    reader, name = sys.argv[1:]
    by_reader = {"weir": _by_weir, "pyoxigraph": _by_pyoxigraph}[reader]
    started = time.process_time()
    statements = by_reader(Path(name))
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "statements": statements}))


def _by_weir(file: Path) -> int:
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    from weir.rdf.files import format_of
    from weir.rdf.limits import ParseLimits
    from weir.rdf.parse import parse
    from weir.rdf.parse_events import Changes, Rejections, Unusable
    from weir.rdf.records import ParseRequest, Role

    syntax = format_of(file.name)
    assert syntax is not None, file
    role: Role = "patch" if syntax == "rdf-patch" else "snapshot"
    statements = 0
    for event in parse(ParseRequest(str(file), syntax, role, "bench"), ParseLimits()):
        match event:
            case Changes(batch):
                statements += batch.num_rows
            case Rejections() | Unusable():
                raise ValueError(f"{file}: {event}")
    return statements


def _by_pyoxigraph(file: Path) -> int:
    import pyoxigraph

    syntax = pyoxigraph.RdfFormat.from_extension(file.suffix.removeprefix("."))
    assert syntax is not None, file
    return sum(1 for _ in pyoxigraph.parse(file.read_bytes(), syntax))


if __name__ == "__main__":
    main()
