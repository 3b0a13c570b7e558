"""Regular expressions in linear time, and by a process that can be ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.broken_children import BROKEN, write_instead
from weir.compute.matching import LinearMatching, MatchingProcess
from weir.sparql.functions.evaluation_limits import (
    EvaluationLimits,
    LimitExceeded,
    evaluated_within,
)
from weir.sparql.functions.regex_syntax import PatternError
from weir.sparql.functions.regexes import Pattern, compile_pattern

BOMB = compile_pattern("^(a+)+!$", "i")
LONG = "a" * 60

_atoms = st.sampled_from(
    [*"ab.^$-", "é", "\U0001f600", "[ab]", "[^a]", "[a-]", r"\d", r"\s", r"[^\s]", r"\p{Lu}", "()"]
)
_patterns = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map(lambda text: f"({text})"),
        inner.map(lambda text: f"(|{text})"),
        st.tuples(
            inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?"])
        ).map(lambda both: f"({both[0]}){both[1]}"),
    ),
    max_leaves=6,
)
_texts = st.lists(st.text("abc1 \nAéß\U0001f600\0-", max_size=8), min_size=1, max_size=20)


def _by_re2(pattern: Pattern, texts: list[str]) -> list[bool]:
    assert pattern.linear is not None
    options = pc.MatchSubstringOptions(pattern.linear)
    matches: list[bool] = pc.call_function(
        "match_substring_regex", [pa.array(texts)], options
    ).to_pylist()
    return matches


@settings(max_examples=150, deadline=None)
@given(pattern=_patterns, flags=st.sampled_from(["", "s", "x", "q", "m", "i"]), texts=_texts)
def test_re2_finds_what_python_finds(pattern: str, flags: str, texts: list[str]) -> None:
    with suppress(PatternError):
        compiled = compile_pattern(pattern, flags)
        if compiled.linear is not None:
            assert _by_re2(compiled, texts) == [compiled.search_unlimited(text) for text in texts]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("pattern", [r"\p{L}", r"\P{L}", r"\w", r"\s", r"\i", r"\C", ".", "[^a]"])
def test_re2_has_the_same_members_of_a_character_class_as_python(pattern: str) -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    compiled = compile_pattern(pattern, "")
    assert _by_re2(compiled, characters) == [
        compiled.search_unlimited(character) for character in characters
    ]


@pytest.mark.parametrize(
    ("pattern", "flags"), [(r"(a)\1", ""), ("[a-z-[aeiou]]", ""), ("a", "i"), ("^a$", "m")]
)
def test_what_re2_lacks_or_does_otherwise_is_not_left_to_it(pattern: str, flags: str) -> None:
    assert compile_pattern(pattern, flags).linear is None


@pytest.mark.parametrize("pattern", ["a{1001}", "(a{100}){100}", "((a{90}){90}){90}"])
def test_what_is_too_large_for_re2_is_not_left_to_it(pattern: str) -> None:
    assert compile_pattern(pattern, "").linear is None


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a?){30}a{30}", r"(a*)*\1b", "(.*)*x"])
def test_only_short_texts_are_searched_here_if_it_may_be_exponential(pattern: str) -> None:
    assert compile_pattern(pattern, "").short < 32


@pytest.mark.parametrize("pattern", ["abc", "^[a-z]+$", "^a.*b", "colou?r", r"\d{4}-\d{2}", "a|b"])
def test_ordinary_patterns_search_long_texts_here(pattern: str) -> None:
    assert compile_pattern(pattern, "").short >= 1_000


@pytest.fixture
def process() -> Iterator[MatchingProcess]:
    process = MatchingProcess(100_000_000)
    yield process
    process.close()


def _within(process: MatchingProcess, **limits: float) -> EvaluationLimits:
    seconds = limits.pop("seconds", 60)
    length = int(limits.pop("literal_length", 1_000))
    return EvaluationLimits(length, deadline=time.monotonic() + seconds, matching=process)


def test_the_matching_process_finds_and_replaces_what_python_does(process: MatchingProcess) -> None:
    pattern = compile_pattern("(a+)+b", "i")
    with evaluated_within(_within(process)):
        assert process.search(pattern, "xAAb")
        assert not process.search(pattern, "xAA")
        assert (
            process.replace(pattern, "xAAb aB\ud800", ["<", 1, 0, 7, ">"]) == "x<AAAAb> <aaB>\ud800"
        )


def test_a_search_ends_at_the_deadline_and_the_next_one_is_answered(
    process: MatchingProcess,
) -> None:
    with (
        evaluated_within(_within(process, seconds=0.2)),
        pytest.raises(LimitExceeded, match="query_seconds"),
    ):
        process.search(BOMB, LONG)
    with evaluated_within(_within(process)):
        assert process.search(BOMB, "aa!")


def test_a_search_beyond_the_memory_ends(process: MatchingProcess) -> None:
    hungry = compile_pattern(r"((a|b)*)*\1c", "")
    with (
        evaluated_within(_within(process)),
        pytest.raises(LimitExceeded, match="query_memory = 100,000,000"),
    ):
        process.search(hungry, "ab" * 3_000_000)


def test_a_replacement_that_is_too_long_ends(process: MatchingProcess) -> None:
    with (
        evaluated_within(_within(process, literal_length=9)),
        pytest.raises(LimitExceeded, match="literal_length = 9"),
    ):
        process.replace(compile_pattern("a", ""), "a" * 5, ["12"])


def test_a_process_that_was_ended_from_outside_is_started_again(process: MatchingProcess) -> None:
    with evaluated_within(_within(process)):
        assert process.search(BOMB, "aa!")
        assert process._child is not None
        process._child._process.kill()
        process._child._process.wait()
        assert process.search(BOMB, "aa!")


@pytest.mark.parametrize("broken", BROKEN)
def test_a_process_that_breaks_the_protocol_is_an_error_and_started_again(
    process: MatchingProcess, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    with evaluated_within(_within(process)):
        with monkeypatch.context() as patch:
            write_instead(patch, "weir.sparql.functions.matching_worker", BROKEN[broken])
            with pytest.raises(RuntimeError, match="regular expressions sent no proper answer: "):
                process.search(BOMB, "aa!")
        assert process.search(BOMB, "aa!")


def test_without_a_process_what_re2_lacks_is_searched_here() -> None:
    linear = LinearMatching()
    assert linear.search(BOMB, "aaa!")
    assert not linear.search(compile_pattern("^(a+)+!$", ""), LONG)
