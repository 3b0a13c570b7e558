"""The child process: a file that kills it is rejected, the files beside it are read."""

from __future__ import annotations

import gzip
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from tests.rdf.conftest import LIMITS, Parsed
from tests.support.broken_children import BROKEN, HUGE, frame, write_instead
from weir.rdf.files import format_of
from weir.rdf.limits import ParseLimits
from weir.rdf.parser_process import ParserError, ParserProcess
from weir.rdf.pipe_protocol import Message, Started
from weir.rdf.records import CHANGES, REJECTIONS, ParsedFile, ParseRequest
from weir.sandbox.child import Child, ChildDied

Write = Callable[..., ParseRequest]
GOOD = b"<a:s> <a:p> <a:o> .\n"
WITHOUT_NESTING_LIMIT = replace(LIMITS, nesting=10**9, line_bytes=10**9)
GARBAGE = random.Random(1).randbytes(200_000)
RDF = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file and the request to parse it."""

    def run(name: str, content: bytes, role: str = "snapshot") -> ParseRequest:
        file = tmp_path / name
        file.write_bytes(content)
        syntax = format_of(name)
        assert syntax
        return ParseRequest(str(file), syntax, "patch" if role == "patch" else "snapshot", "s")

    return run


def parse_files(requests: Sequence[ParseRequest], limits: ParseLimits) -> Iterator[ParsedFile]:
    """Parse each file, in order, one result per request, in a process of their own."""
    with ParserProcess(limits) as parser:
        for request in requests:
            yield parser.parse(request)


def parse_between_neighbours(write: Write, poison: ParseRequest, limits: ParseLimits) -> ParsedFile:
    """Parse `poison` between two good files, which must not be affected."""
    before, after = write("before.nq", GOOD), write("after.ttl", GOOD)
    results = list(parse_files([before, poison, after], limits))
    assert [result.request for result in results] == [before, poison, after]
    assert [results[0].changes.num_rows, results[2].changes.num_rows] == [1, 1]
    assert not results[0].rejections.num_rows
    assert not results[2].rejections.num_rows
    return results[1]


def reasons(result: ParsedFile) -> str:
    return " / ".join(str(reason) for reason in result.rejections.column("reason").to_pylist())


NESTED_TERM = b"<a:s> <a:p> " + b"<<( <a:s> <a:p> " * 20_000 + b"<a:o>" + b" )>>" * 20_000 + b" .\n"
NESTED_JSON = b'{"@id":"a:s","a:p":' + b'{"a:p":' * 5_000 + b"1" + b"}" * 5_001
MANY_LISTS = b'{"@id":"a:s","a:p":[' + b"[]," * 3_000_000 + b"1]}"
ENTITIES = (
    b"<!DOCTYPE r ["
    + b"".join(
        b'<!ENTITY e%d "%s">' % (i, b"&e%d;" % (i - 1) * 10 if i else b"x" * 9) for i in range(9)
    )
    + b"]>"
    + RDF
    + b'<rdf:Description rdf:about="a:s"><a:p>&e8;</a:p></rdf:Description></rdf:RDF>'
)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.nq", NESTED_TERM, "nested more than 256 deep"),
        ("x.jsonld", NESTED_JSON, "nested more than 256 deep"),
        ("x.rdf", ENTITIES, "amplification"),
        ("x.nq.gz", gzip.compress(GOOD * 10_000, mtime=0)[:-20], "compressed file is broken"),
        ("x.ttl.gz", gzip.compress(GOOD * 10_000, mtime=0)[:-20], "compressed file is broken"),
        (
            "x.nqp.gz",
            gzip.compress(b"TX .\n" + GOOD * 10_000, mtime=0)[:-20],
            "compressed file is broken",
        ),
        ("x.nq.gz", b"not gzip", "compressed file is broken"),
        ("x.nq", GARBAGE, ""),
        ("x.nqp", GARBAGE, "not a line of an RDF Patch"),
        ("x.ttl", GARBAGE, ""),
        ("x.rdf", GARBAGE, ""),
        ("x.jsonld", GARBAGE, ""),
        ("x.nq", GOOD.decode().encode("utf-16"), ""),
        ("x.ttl", GOOD.decode().encode("utf-16"), ""),
        ("x.nq", '<a:s> <a:p> "é" .'.encode("latin-1"), "UTF-8"),
    ],
)
def test_poison_is_rejected_and_its_neighbours_are_read(
    write: Write, name: str, content: bytes, reason: str
) -> None:
    result = parse_between_neighbours(write, write(name, content), LIMITS)
    assert result.changes.num_rows == 0
    assert result.rejections.num_rows > 0
    assert reason in reasons(result)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.nq", GOOD + NESTED_TERM, "the parser died of SIGSEGV"),
        ("x.json", MANY_LISTS, "parsing needed more than 500 MiB of memory"),
    ],
    ids=["nq", "json"],
)
def test_a_file_that_kills_the_parser_is_rejected_whole(
    write: Write, name: str, content: bytes, reason: str
) -> None:
    result = parse_between_neighbours(write, write(name, content), WITHOUT_NESTING_LIMIT)
    assert not result.usable
    assert result.changes.num_rows == 0
    assert reason in reasons(result)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_file_is_not_rejected_when_the_parser_is_killed_from_outside(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The kernel kills processes when memory is short: the next run tries the file again."""
    receive = Child.receive
    begun = False

    def received(
        child: Child, decode: Callable[[bytes], Message], deadline: float | None = None
    ) -> Message:
        nonlocal begun
        if not begun:
            begun = True
            message = receive(child, decode, deadline)
            assert isinstance(message, Started)
            return message
        child._process.send_signal(signal.Signals[name])
        raise ChildDied(child._death(deadline))

    monkeypatch.setattr(Child, "receive", received)
    (result,) = parse_files([write("x.nq", GOOD)], LIMITS)
    assert result.unreadable == f"the parser died of {name}"
    assert result.refusal is None
    assert not result.rejections.num_rows


@pytest.mark.parametrize("broken", BROKEN)
def test_a_file_whose_parser_breaks_the_protocol_is_rejected_whole(
    write: Write, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    with monkeypatch.context() as patch:
        write_instead(patch, "weir.rdf.worker", frame(b"S") + BROKEN[broken])
        (result,) = parse_files([write("x.nq", GOOD)], LIMITS)
    assert not result.usable
    assert "the parser sent no proper answer: " in reasons(result)


def test_a_parser_that_never_speaks_the_protocol_is_an_error_and_no_rejection(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_instead(monkeypatch, "weir.rdf.worker", HUGE)
    with pytest.raises(ParserError, match="the parser sent no proper answer: a frame is too large"):
        list(parse_files([write("x.nq", GOOD)], LIMITS))


def test_a_hundred_megabyte_line_is_rejected_and_the_lines_beside_it_are_read(
    write: Write,
) -> None:
    long = b'<a:s> <a:p> "' + b"x" * 100_000_000 + b'" .\n'
    result = parse_between_neighbours(write, write("x.nq", GOOD + long + GOOD), LIMITS)
    assert result.usable
    assert result.changes.column("line").to_pylist() == [1, 3]
    [rejection] = result.rejections.to_pylist()
    assert rejection["line"] == 2
    assert "a line of more than" in rejection["reason"]
    assert len(rejection["raw"]) == 4096


def test_a_file_that_needs_too_much_memory_is_rejected_whole(write: Write) -> None:
    text = b"".join(b"<a:%d> <a:p> [ <a:q> <a:%d> ] .\n" % (i, i) for i in range(100_000))
    limits = replace(LIMITS, parse_memory_mb=60)
    result = parse_between_neighbours(write, write("x.ttl", text), limits)
    assert not result.usable
    assert "parsing needed more than 60 MiB of memory" in reasons(result)


def test_a_file_that_takes_too_long_is_rejected_whole(write: Write) -> None:
    text = b'{"@id":"a:s","a:p":[' + b'{"a:q":1},' * 300_000 + b"1]}"
    limits = replace(LIMITS, parse_seconds=1)
    result = parse_between_neighbours(write, write("x.jsonld", text), limits)
    assert not result.usable
    assert "more than 1 seconds of CPU" in reasons(result)


def test_the_limits_are_the_childs_alone(write: Write) -> None:
    before = [resource.getrlimit(which) for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU)]
    list(parse_files([write("a.nq", GOOD)], LIMITS))
    assert before == [
        resource.getrlimit(which) for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU)
    ]


def test_the_child_parses_as_this_process_does(write: Write) -> None:
    patch = (
        b"H id <urn:1> .\nTX .\nA <a:s> <a:p> _:x .\nTA .\nTX .\nbad\nD <a:s> <a:p> 'x' .\nTC .\n"
    )
    requests = [
        write("a.nq", GOOD + b"_:x <a:p> _:y .\nbad\n"),
        write("b.nqp", patch + b"A <a:s> <a:p> _:y .\nD <a:s> <a:p> <a:o> <a:g> .\n", "patch"),
        write("c.ttl", b"<a:s> <a:p> [ <a:q> 1 ] ."),
        write("d.ttl", b"bad"),
        write("e.nq", b""),
    ]
    for request, result in zip(requests, parse_files(requests, LIMITS), strict=True):
        here = Parsed(request, LIMITS)
        assert result.changes.schema == CHANGES
        assert result.rejections.schema == REJECTIONS
        assert result.changes.num_rows == len(here.changes)
        quads = [c.to_pylist() for c in result.changes.select(CHANGES.names[2:]).columns]
        assert list(zip(*quads, strict=True)) == here.quads
        assert result.rejections.column("line").to_pylist() == here.rejected_lines
        assert result.header == here.header
        assert result.usable == here.usable


@pytest.mark.parametrize("file", ["/nowhere/a.nq", "/proc/self/mem"])
def test_a_file_that_cannot_be_read_is_unreadable_and_not_rejected(write: Write, file: str) -> None:
    request = replace(write("a.nq", GOOD), file=file)
    result = parse_between_neighbours(write, request, LIMITS)
    assert "Errno" in str(result.unreadable)
    assert not result.usable
    assert not result.changes.num_rows
    assert not result.rejections.num_rows


def test_a_defect_of_a_reader_rejects_its_file_and_no_other(write: Write) -> None:
    request = replace(write("a.nq", GOOD), format="nonsense")  # type: ignore[arg-type]
    result = parse_between_neighbours(write, request, LIMITS)
    assert not result.usable
    assert "a defect of its reader: AssertionError" in reasons(result)


def test_without_files_no_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", pytest.fail)
    assert not list(parse_files([], LIMITS))


def test_a_child_that_does_not_start_is_an_error_and_no_rejection(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(ParserError, match="exit code 1"):
        list(parse_files([write("a.nq", GOOD)], LIMITS))


def test_stopping_early_ends_the_child(write: Write) -> None:
    requests = [write("a.nq", GOOD), write("b.nq", GOOD)]
    before = _children()
    results = parse_files(requests, LIMITS)
    next(results)
    assert _children() - before
    results.close()  # type: ignore[attr-defined]
    assert not _children() - before


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def test_the_history_of_nomisma_is_read_without_a_rejection(shared: Path) -> None:
    folder = shared / "data/nomisma"
    base = ParseRequest(str(folder / "base.nq.gz"), "n-quads", "snapshot", "nomisma/base.nq.gz")
    patches = [
        ParseRequest(str(file), "rdf-patch", "patch", "nomisma")
        for file in sorted((folder / "changes").iterdir())
    ]
    inserted = deleted = 0
    headers = []
    for result in parse_files([base, *patches], LIMITS):
        headers.append(result.header)
        assert result.usable
        assert not result.rejections.num_rows
        inserts = pa.compute.sum(result.changes.column("insert")).as_py()
        inserted, deleted = inserted + inserts, deleted + result.changes.num_rows - inserts
    assert (inserted, deleted) == (583_314 + 221_900, 48_043)
    assert len(headers) == 1 + 203
    chain = itertools.pairwise(headers[1:])
    assert all(before.change_id == after.previous_id for before, after in chain)
