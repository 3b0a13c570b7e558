"""Compressed files: what is in them, whole or refused; never a part of it without a word."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.rdf.conftest import LIMITS, Parsed
from weir.rdf.compression import ENDINGS, refused_archive
from weir.rdf.files import FileInfo, format_in, format_of, list_files, local_copy, opened
from weir.rdf.limits import ParseLimits
from weir.rdf.parse import parse
from weir.rdf.parse_events import CutOff
from weir.rdf.records import ParseRequest

LINE = b"<a:s> <a:p> <a:o> .\n"


def zstd(content: bytes) -> bytes:
    # Arrow does not write a frame of nothing.
    nothing = bytes.fromhex("28b52ffd2000010000")
    return pa.compress(content, codec="zstd", asbytes=True) if content else nothing


def zipped(content: bytes, name: str = "x.nt") -> bytes:
    return zip_of({name: content})


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
    ".zip": zipped,
}
MEMBERS = [ending for ending in ENDINGS if ending != ".zip"]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, bytes], str]:
    def write(name: str, content: bytes) -> str:
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write


Written = Callable[[str, bytes], str]


def content_of(path: str) -> bytes:
    with opened(path) as file:
        return b"".join(iter(lambda: file.read(10_000), b""))


def parsed(path: str, limits: ParseLimits = LIMITS) -> Parsed:
    return Parsed(ParseRequest(path, "n-triples", "snapshot", "s"), limits)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", [0, 1, 5_000_000], ids=["nothing", "a byte", "megabytes"])
def test_the_content_is_what_was_compressed(written: Written, ending: str, size: int) -> None:
    content = os.urandom(size // 2) + bytes(size - size // 2)
    assert content_of(written(f"x.nt{ending.upper()}", COMPRESS[ending](content))) == content


@pytest.mark.parametrize("ending", MEMBERS)
def test_all_members_of_a_file_are_read(written: Written, ending: str) -> None:
    parts = [b"one", b"", os.urandom(200_000), b"two" * 100_000]
    packed = b"".join(COMPRESS[ending](part) for part in parts)
    assert content_of(written(f"x{ending}", packed)) == b"".join(parts)


def test_the_padding_of_xz_streams_is_no_content(written: Written) -> None:
    packed = lzma.compress(b"one") + bytes(4) + lzma.compress(b"two") + bytes(8)
    assert content_of(written("x.xz", packed)) == b"onetwo"
    assert not parsed(written("x.nt.xz", lzma.compress(LINE) + bytes(3))).usable


def test_a_skippable_frame_of_zstandard_is_no_content(written: Written) -> None:
    packed = b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zstd(b"one")
    assert content_of(written("x.zst", packed)) == b"one"


@pytest.mark.parametrize(
    ("ending", "members"), [*((ending, 1) for ending in ENDINGS), *((one, 2) for one in MEMBERS)]
)
def test_a_file_that_is_cut_off_anywhere_is_unusable_and_cut_off(
    written: Written, ending: str, members: int
) -> None:
    one = COMPRESS[ending](LINE * 1000)
    whole = one * members
    # After a whole member nothing is missing.
    for size in sorted({0, 4, 5, len(one) // 2, len(whole) - 9, len(whole) - 1} - {len(one)}):
        path = written(f"x.nt{ending}", whole[:size])
        assert not parsed(path).usable
        events = parse(ParseRequest(path, "n-triples", "snapshot", "s"), LIMITS)
        assert any(isinstance(event, CutOff) for event in events), size


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("content", ["garbage after it", "garbage", "changed"])
def test_a_broken_file_is_unusable(written: Written, ending: str, content: str) -> None:
    whole = bytearray(COMPRESS[ending](LINE * 1000))
    # The header of its first block: what Arrow writes of Zstandard has no checksum.
    whole[len(whole) // 2 if ending != ".zst" else 7] ^= 255
    packed = {
        "garbage after it": COMPRESS[ending](LINE) + b"garbage",
        "garbage": b"no such file, but long enough to be one",
        "changed": bytes(whole),
    }[content]
    result = parsed(written(f"x.nt{ending}", packed))
    assert not result.usable
    assert "the compressed file is broken" in result.rejections[-1].reason


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.nt": LINE, "b.nt": LINE}, "a zip file with 2 files ('a.nt', 'b.nt'); one is read"),
        ({}, "a zip file with 0 files"),
        ({".a.nt": LINE, "_b/c.nt": LINE}, "a zip file with 0 files"),
        ({f"{number}.nt": b"" for number in range(20_000)}, "a zip file with many files"),
        ({"x.nt.gz": b""}, "a zip file with a compressed file in it"),
        ({"a\n\x1b[1m.nt": LINE, "b": b""}, "'a\\n\\x1b[1m.nt'"),
    ],
    ids=["two", "none", "none that counts", "many", "twice", "hostile names"],
)
def test_a_zip_without_exactly_one_file_is_refused_with_the_reason(
    written: Written, files: dict[str, bytes], reason: str
) -> None:
    path = written("x.nt.zip", zip_of(files))
    result = parsed(path)
    assert not result.usable
    assert reason in result.rejections[-1].reason
    assert format_in(FileInfo(path, "x.zip", len(files))) == (None, result.rejections[-1].reason)


def test_what_systems_add_to_a_zip_does_not_count(written: Written) -> None:
    files = {"data/": b"", "data/x.ttl": LINE, "__MACOSX/data/._x.ttl": b"", "data/.DS_Store": b""}
    assert content_of(written("x.zip", zip_of(files))) == LINE


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_the_file_in_a_zip_may_be_packed_by_any_method(written: Written, method: int) -> None:
    assert content_of(written("x.zip", zip_of({"x.nt": LINE * 9999}, method))) == LINE * 9999


def test_an_encrypted_zip_is_refused(written: Written) -> None:
    packed = bytearray(zip_of({"x.nt": LINE}))
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        packed[packed.index(mark) + flags] |= 1
    result = parsed(written("x.nt.zip", bytes(packed)))
    assert not result.usable
    assert result.rejections[-1].reason == "a zip file that is encrypted"


@pytest.mark.parametrize(
    ("name", "inside", "syntax"),
    [
        ("x.zip", "data/x.ttl", "turtle"),
        ("x.zip", "x.rdfp", "rdf-patch"),
        ("x.nq.zip", "x.ttl", "n-quads"),
        ("X.ZIP", "X.OWL", "rdf-xml"),
        ("x.zip", "x.txt", None),
        ("x.zip", "x.nt.gz", None),
    ],
)
def test_the_format_of_a_zip_is_that_of_its_name_else_of_the_name_inside(
    written: Written, name: str, inside: str, syntax: str | None
) -> None:
    path = written(name, zip_of({inside: LINE}))
    [file] = list_files(path)
    assert format_in(file)[0] == syntax


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_ending_says_nothing_of_the_format(ending: str) -> None:
    assert format_of(f"a/v1.trig{ending}") == "trig"
    assert format_of(f"a/v1.NT{ending.upper()}") == "n-triples"
    assert format_of(f"nt{ending}") is None
    assert format_of(f"x{ending}") is None


@pytest.mark.parametrize(
    "name",
    ["x.tar", "x.tar.gz", "x.tgz", "x.tar.xz", "x.nt.7z", "x.ttl.rar", "x.lz4", "x.nt.br", "x.Z"],
)
def test_other_archives_are_refused_by_name_with_what_is_read(name: str) -> None:
    assert format_of(name) is None
    assert format_in(FileInfo(name, name, 1), "turtle") == (None, refused_archive(name))
    assert ".gz, .bz2, .xz, .zst, .zip" in str(refused_archive(name))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_a_file_unpacks_to_is_within_the_limits(written: Written, ending: str) -> None:
    path = written(f"x.ttl{ending}", COMPRESS[ending](b" " * 3_000_000))
    request = ParseRequest(path, "turtle", "snapshot", "s")
    result = Parsed(request, ParseLimits(document_bytes=2_000_000))
    assert not result.usable
    assert "more than 2000000 bytes" in result.rejections[0].reason
    lines = parsed(path, ParseLimits(line_bytes=1000))
    assert "more than 1000 bytes" in lines.rejections[0].reason


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_behind_a_uri_is_opened_by_its_ending(written: Written, ending: str) -> None:
    path = written(f"x.nt{ending}", COMPRESS[ending](LINE))
    uri = Path(path).as_uri()
    assert content_of(uri) == LINE
    with local_copy(uri) as copy:
        assert content_of(str(copy)) == LINE
