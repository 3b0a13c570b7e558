"""Regular expressions of XPath: compared with pyoxigraph, and examples where it departs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.evaluation import evaluate
from tests.support.oracles.rendering import pyoxigraph_value
from weir.sparql.algebra.expressions import Call, Constant, Expression
from weir.sparql.functions.regex_syntax import PatternError
from weir.sparql.functions.regexes import compile_pattern


def _matches(pattern: str, text: str, flags: str = "") -> bool:
    return compile_pattern(pattern, flags).search(text)


_atoms = st.sampled_from(
    [
        "a",
        "b",
        "1",
        r"\.",
        ".",
        "[ab]",
        "[^a]",
        "[a-c1]",
        r"\d",
        r"\s",
        r"\p{Lu}",
        r"\P{L}",
        "-",
        "&",
    ]
)
_quantified = st.tuples(_atoms, st.sampled_from(["", "", "*", "+", "?", "{1,2}", "*?"])).map(
    "".join
)
_patterns = st.recursive(
    _quantified,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"^{text}$"),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(
    pattern=_patterns,
    text=st.text("abAB1. -&é", max_size=6),
    flags=st.sampled_from(["", "i", "s", "m"]),
)
def test_a_pattern_matches_where_pyoxigraph_matches(pattern: str, text: str, flags: str) -> None:
    # There, `i` makes `\p{Lu}` match lower case too.
    assume(not (flags == "i" and r"\p{Lu}" in pattern))
    expression = Call("REGEX", tuple(map(_literal, (text, pattern, flags))))
    assert evaluate(expression, {}) == pyoxigraph_value(expression, {})


@pytest.mark.parametrize(
    ("pattern", "text", "flags", "matches"),
    [
        ("^a$", "a\n", "", False),
        ("^b$", "a\nb\nc", "m", True),
        ("^b$", "a\nb\nc", "", False),
        ("a.b", "a\nb", "", False),
        ("a.b", "a\nb", "s", True),
        ("a b", "ab", "x", True),
        ("a#b", "a#b", "x", True),
        ("[a b]", " ", "x", True),
        ("(a) +", "aaa", "x", True),
        ("a.c", "abc", "q", False),
        ("a.c", "xa.cx", "q", True),
        ("A.C", "a.c", "qi", True),
        (r"^\w$", "_", "", False),
        (r"^\w$", "+", "", True),
        (r"^\W$", "_", "", True),
        (r"^\s$", "\u00a0", "", False),
        (r"^[\S]$", "\u00a0", "", True),
        (r"^\d$", "٣", "", True),
        (r"^[\D]$", "٣", "", False),
        (r"^\i\c*$", "a-1.b", "", True),
        (r"^\i\c*$", "1a", "", False),
        ("^[a-z-[aeiou]]+$", "bcd", "", True),
        ("^[a-z-[aeiou]]+$", "bad", "", False),
        ("^[a-z-[^x-z]]+$", "xyz", "", True),
        ("^[+--]+$", "+,-", "", True),
        ("^[a-]+$", "-", "", True),
        (r"[a-\d]", "1", "", None),
        (r"[\d-a]", "1", "", None),
        (r"^[\--/]+$", "-./", "", True),
        ("^[[]$", "[", "", None),
        (r"^[\[\]\\^]+$", "[]\\^", "", True),
        (r"^(a)(b)\2\1$", "abba", "", True),
        (r"^(a)\11$", "aa1", "", True),
        ("(?=a)", "a", "", None),
        ("(?i)a", "A", "", None),
        ("(?:a)", "a", "", True),
        (r"\b", "a", "", None),
        (r"\p{Xx}", "a", "", None),
        (r"\p{IsNowhere}", "a", "", None),
        (r"\p{IsNoBlock}", "a", "", None),
        (r"\p{IsBasicLatin}", "a", "", True),
        (r"^\p{IsGreek}$", "λ", "", True),
        (r"^\p{IsGreek}$", "l", "", False),
        (r"^\P{IsGreek}$", "l", "", True),
        (r"^[\p{IsLatin-1Supplement}-[é]]+$", "öÿ", "", True),
        (r"^[\p{IsLatin-1Supplement}-[é]]+$", "é", "", False),
        (r"\1(a)", "aa", "", None),
        ("a**", "a", "", None),
        ("a)", "a", "", None),
        ("(a", "a", "", None),
        ("[", "a", "", None),
        ("{", "{", "", None),
        ("a", "a", "z", None),
        # A last line end begins no line, and a text that ends with one has no end of a line there.
        ("^$", "a\n", "m", False),
        (r"\n$", "a\n", "m", False),
        ("^$", "\n", "m", True),
        ("^$", "", "m", True),
        ("^b$", "a\nb\n", "m", True),
        ("^?a", "a", "", True),
        ("b^*a", "ba", "", True),
        ("^+a$?", "a", "m", True),
        (r"^(a)?b\1$", "b", "", True),
        (r"^(a)?b\1$", "aba", "", True),
        (r"^(a)?b\1$", "ab", "", False),
        # The flag `i` is about characters and ranges only.
        (r"\p{Lu}", "a", "i", False),
        (r"\P{Lu}", "A", "i", False),
        (r"^[\p{Lu}b]$", "a", "i", False),
        (r"^[\p{Lu}b]$", "B", "i", True),
        (r"^[^\p{Lu}b]$", "B", "i", False),
        (r"^[^\p{Lu}b]$", "a", "i", True),
        (r"^[^\p{Lu}]$", "\n", "i", True),
        (r"^[\p{L}-[\p{Lu}c]]$", "C", "i", False),
        (r"^[\p{L}-[\p{Lu}c]]$", "a", "i", True),
        ("a ? ? b", "aab", "x", True),
        ("^a { 2 }$", "aa", "x", True),
        ("a(? :b)", "ab", "x", True),
        (r"\p{ L u }", "A", "x", True),
        (r"\ d", "1", "x", True),
        (r"[\] ]", " ", "x", True),
    ],
)
def test_a_pattern_means_what_xpath_says(
    pattern: str, text: str, flags: str, matches: bool | None
) -> None:
    if matches is None:
        with pytest.raises(PatternError):
            compile_pattern(pattern, flags)
    else:
        assert _matches(pattern, text, flags) is matches


@settings(max_examples=100, deadline=None)
@given(character=st.characters(exclude_categories=["Cs"]))
def test_a_category_holds_the_characters_that_python_puts_there(character: str) -> None:
    category = unicodedata.category(character)
    assert _matches(f"^\\p{{{category}}}$", character, "s")
    assert _matches(f"^\\p{{{category[0]}}}$", character, "s")
    assert not _matches(f"^\\P{{{category}}}$", character, "s")
    assert not _matches(f"^[\\P{{{category}}}]$", character, "s")


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (("abracadabra", "bra", "*"), '"a*cada*"'),
        (("abracadabra", "a.*a", "*"), '"*"'),
        (("abracadabra", "a.*?a", "*"), '"*c*bra"'),
        (("abracadabra", "a(.)", "a$1$1"), '"abbraccaddabbra"'),
        (("abracadabra", ".*?", "$1"), None),
        (("AAAA", "A+", "b"), '"b"'),
        (("darted", "^(.*?)d(.*)$", "$1c$2"), '"carted"'),
        (("a$b", r"\$", r"\\\$"), '"a\\\\$b"'),
        (("ab", "(a)(x)?", "[$0|$1|$2|$3]"), '"[a|a||]b"'),
        (("ab", "a", "$x"), None),
        (("ab", "a", "\\x"), None),
        (("a.b", ".", "$0", "q"), '"a$0b"'),
        (("xby", r"(a)?b\1", "-"), '"x-y"'),
    ],
)
def test_replace_is_fn_replace_of_xpath(arguments: tuple[str, ...], value: str | None) -> None:
    assert evaluate(Call("REPLACE", tuple(map(_literal, arguments))), {}) == value


def _literal(text: str) -> Expression:
    return Constant('"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"')
