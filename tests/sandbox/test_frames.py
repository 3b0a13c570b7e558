"""Frames: what a child sends comes in any pieces, and may be hostile."""

from __future__ import annotations

import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.sandbox.frames import LENGTH, FrameReader, ProtocolError, read_frame, write_frame


def written(*messages: bytes) -> bytes:
    pipe = io.BytesIO()
    for message in messages:
        write_frame(pipe, message)
    return pipe.getvalue()


def taken(reader: FrameReader) -> list[bytes]:
    messages = []
    while (message := reader.take()) is not None:
        messages.append(message)
    return messages


@given(st.lists(st.binary()), st.integers(1, 50))
def test_frames_are_read_as_they_were_written_in_any_pieces(sent: list[bytes], size: int) -> None:
    content = written(*sent)
    reader = FrameReader(1000, len(content))
    received = []
    for at in range(0, len(content), size):
        reader.add(content[at : at + size])
        received += taken(reader)
    assert received == sent


@given(st.lists(st.binary()))
def test_a_child_reads_what_its_parent_writes(sent: list[bytes]) -> None:
    pipe = io.BytesIO(written(*sent))
    assert [read_frame(pipe) for _ in sent] == sent
    assert read_frame(pipe) is None


@given(st.binary(max_size=200))
def test_bytes_that_are_no_frames_are_refused_or_wait_for_more(content: bytes) -> None:
    reader = FrameReader(1000)
    with suppress(ProtocolError):
        reader.add(content)
        taken(reader)


def test_more_frames_than_an_answer_can_need_are_refused() -> None:
    frame = written(b"x")
    reader = FrameReader(1000, 2 * len(frame))
    reader.add(2 * frame)
    assert taken(reader) == [b"x", b"x"]
    with pytest.raises(ProtocolError, match="too many bytes"):
        reader.add(b"\0")


def test_a_frame_that_is_too_large_is_refused_before_it_arrives() -> None:
    reader = FrameReader(1000)
    reader.add(LENGTH.pack(1001))
    with pytest.raises(ProtocolError, match="too large"):
        reader.take()
