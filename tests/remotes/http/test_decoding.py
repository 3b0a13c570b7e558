"""Decoded bodies are those of gzip, within limits that hold for every input."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.decoding import STEP_BYTES, DecodingLimits, decode
from weir.remotes.http.outcomes import FailureKind, FetchError

LIMITS = DecodingLimits()
BODIES = st.binary(max_size=300) | st.builds(
    lambda piece, times: piece * times, st.binary(min_size=1, max_size=9), st.integers(0, 20_000)
)


def pieces(content: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts)})
    return [content[a:b] for a, b in itertools.pairwise(places)]


def until_error(sent: bytes, coding: str, limits: DecodingLimits) -> tuple[int, FailureKind | None]:
    """How many bytes are decoded, and the error after them."""
    total = 0
    try:
        for piece in decode([sent], coding, limits):
            total += len(piece)
    except FetchError as error:
        return total, error.kind
    return total, None


@given(st.lists(BODIES, min_size=1, max_size=3), st.lists(st.integers(0, 10**6), max_size=8))
def test_a_body_is_what_gzip_decodes_for_every_cut(bodies: list[bytes], cuts: list[int]) -> None:
    encoded = b"".join(gzip.compress(body) for body in bodies)
    limits = DecodingLimits(ratio=10**9)
    decoded = list(decode(pieces(encoded, cuts), "gzip", limits))
    assert b"".join(decoded) == gzip.decompress(encoded)
    assert max(map(len, decoded), default=0) <= STEP_BYTES


def test_every_single_cut_of_a_body_gives_the_same() -> None:
    body = random.Random(1).randbytes(200) + b"x" * 1000
    encoded = gzip.compress(body) + gzip.compress(b"end")
    for at in range(len(encoded) + 1):
        assert b"".join(decode([encoded[:at], encoded[at:]], "gzip", LIMITS)) == body + b"end"


@given(BODIES, st.data())
def test_a_gzip_body_that_ends_early_is_refused(body: bytes, data: st.DataObject) -> None:
    encoded = gzip.compress(body)
    at = data.draw(st.integers(1, len(encoded) - 1))
    with pytest.raises(FetchError) as error:
        list(decode([encoded[:at]], "gzip", LIMITS))
    assert error.value.kind == "malformed_encoding"


@given(st.binary(min_size=1))
def test_bytes_that_are_no_gzip_are_refused_or_decoded_as_zlib_does(content: bytes) -> None:
    with contextlib.suppress(FetchError):
        assert b"".join(decode([content], "gzip", LIMITS)) == zlib.decompress(content, 31)


@given(BODIES, st.integers(0, 100_000))
def test_no_more_is_decoded_than_the_limit(body: bytes, most: int) -> None:
    limits = DecodingLimits(decoded_bytes=most, ratio=10**9)
    for coding, sent in (("gzip", gzip.compress(body)), ("", body)):
        size, kind = until_error(sent, coding, limits)
        assert kind == ("too_much_decoded" if len(body) > most else None)
        assert size <= most


def test_a_bomb_ends_when_it_expands_too_much() -> None:
    bomb = gzip.compress(b"\0" * (8 << 20), 9)
    size, kind = until_error(bomb, "gzip", LIMITS)
    assert kind == "too_much_decoded"
    assert size <= 200 * len(bomb)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "identity, gzip", "x"])
def test_codings_other_than_gzip_are_refused(coding: str) -> None:
    with pytest.raises(FetchError) as error:
        list(decode([b""], coding, LIMITS))
    assert error.value.kind == "malformed_encoding"


@given(st.lists(st.binary()))
def test_a_body_without_coding_is_itself(sent: list[bytes]) -> None:
    assert b"".join(decode(sent, "identity", LIMITS)) == b"".join(sent)
