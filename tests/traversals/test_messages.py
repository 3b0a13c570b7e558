"""What the pool and its child say to each other is read as it was written, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weir.remotes.http.outcomes import FAILURE_KINDS, Failure
from weir.remotes.http.pages import Credential, Manner, Page
from weir.remotes.http.request import Secret
from weir.sandbox.frames import ProtocolError
from weir.traversals.messages import (
    Ended,
    FetchTask,
    Frame,
    PoolOptions,
    Reading,
    Ready,
    Usage,
    decode_frame,
    decode_options,
    decode_task,
    encode_frame,
    encode_options,
    encode_task,
)

TASK = FetchTask(
    7,
    "http://é/#me",
    "http://xn--9ca/",
    "text/turtle",
    1000,
    2.5,
    500,
    (("If-None-Match", '"1"'),),
    Credential("http://xn--9ca", Secret("Bearer c4n4ry")),
    0.5,
    True,
)


@pytest.mark.parametrize("task", [TASK, replace(TASK, credential=None, conditions=())])
def test_a_task_is_read_as_it_was_written(task: FetchTask) -> None:
    assert decode_task(encode_task(task)) == task


def test_a_secret_is_in_no_text_of_a_task() -> None:
    assert "c4n4ry" not in repr(TASK)
    assert "c4n4ry" not in repr(TASK.request)


def test_options_are_read_as_they_were_written() -> None:
    options = PoolOptions(Manner("c", ("127.0.0.1/32",), (1, 2), "ca"), {"ignore": ["a"]}, 3, 5)
    assert decode_options(encode_options(options)) == options


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(0, 10)
USAGES = st.builds(Usage, st.just(True), NUMBERS, NUMBERS, st.floats(0, 10), TEXTS)
FAILURES = st.builds(
    Failure, st.sampled_from(FAILURE_KINDS), TEXTS, st.none() | NUMBERS, st.none() | st.floats(0, 9)
)
PAGES = st.builds(Page, NUMBERS, st.dictionaries(TEXTS, TEXTS), st.binary())
VALUES = st.none() | st.dictionaries(TEXTS, st.binary() | TEXTS | st.lists(NUMBERS))
FRAMES = st.one_of(
    st.builds(Ready),
    st.builds(Reading, NUMBERS),
    st.builds(Ended, NUMBERS, FAILURES, st.none(), USAGES),
    st.builds(Ended, NUMBERS, PAGES, VALUES, USAGES),
)


@given(FRAMES)
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    assert decode_frame(encode_frame(frame)) == frame


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KNOWN = json.loads(encode_frame(Ended(1, Page(200, {}, b""), {}, Usage(True, 1, 1, 0.5, ""))))


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_frame_is_refused(content: bytes) -> None:
    assume(b'"ready"' not in content and b'"reading"' not in content)
    with pytest.raises(ProtocolError):
        decode_frame(content)


@given(st.sampled_from(sorted(KNOWN["ended"])), JSON)
def test_a_frame_with_another_value_is_refused_or_sound(name: str, value: object) -> None:
    message = {"ended": {**KNOWN["ended"], name: value}}
    try:
        frame = decode_frame(json.dumps(message).encode())
    except ProtocolError:
        return
    assert isinstance(frame, Ended)
    assert isinstance(frame.outcome, Page)
    assert min(frame.usage.sent, frame.usage.received) >= 0
