"""Content codings, decoded in small steps and within limits: identity and gzip."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from weir.remotes.http.outcomes import FetchError

STEP_BYTES = 65536
"""The most that is decoded at once."""
_GZIP = 16 + zlib.MAX_WBITS
_SMALL = 1 << 20
"""Up to so many decoded bytes any ratio is good: short repetitive answers compress well."""


@dataclass(frozen=True, slots=True)
class DecodingLimits:
    """decoded_bytes: of one body. ratio: decoded to encoded bytes, once beyond 1 MiB."""

    decoded_bytes: int = 64 << 20
    ratio: int = 200


def decode(chunks: Iterable[bytes], coding: str, limits: DecodingLimits) -> Iterator[bytes]:
    """The body behind a `Content-Encoding`, in pieces of at most 65,536 bytes if compressed.

    A body of several gzip members is their concatenation (RFC 1952, section 2.2).

    Raises:
        FetchError: malformed_encoding or too_much_decoded.
    """
    match coding.strip().lower():
        case "" | "identity":
            pieces: Iterator[tuple[bytes, int]] = ((chunk, len(chunk)) for chunk in chunks)
        case "gzip" | "x-gzip":
            pieces = _gunzip(chunks)
        case _:
            # Also a list: a body that is compressed twice was not asked for.
            raise FetchError("malformed_encoding", "the body has a coding other than gzip")
    decoded = encoded = 0
    for piece, taken in pieces:
        decoded += len(piece)
        encoded += taken
        if decoded > limits.decoded_bytes:
            raise FetchError(
                "too_much_decoded", f"the body has more than {limits.decoded_bytes:,} bytes"
            )
        if decoded > _SMALL and decoded > limits.ratio * encoded:
            raise FetchError(
                "too_much_decoded", f"the body expands to more than {limits.ratio} times its size"
            )
        if piece:
            yield piece


def _gunzip(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Decoded pieces, each with the encoded bytes that arrived for it."""
    member = zlib.decompressobj(_GZIP)
    begun = False
    for chunk in chunks:
        arrived, rest, pending = len(chunk), chunk, False
        while rest or pending:
            if member.eof:
                member = zlib.decompressobj(_GZIP)
            begun = True
            try:
                piece = member.decompress(rest, STEP_BYTES)
            except zlib.error:
                raise FetchError("malformed_encoding", "the body is not gzip") from None
            yield piece, arrived
            arrived = 0
            rest = member.unused_data if member.eof else member.unconsumed_tail
            # A full piece may leave output behind although all input is taken.
            pending = len(piece) == STEP_BYTES and not member.eof
    if begun and not member.eof:
        raise FetchError("malformed_encoding", "the gzip body ends too early")
