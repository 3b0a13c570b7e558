"""Text for a terminal: nothing acts on it, and nothing is lost."""

from __future__ import annotations

import json
import unicodedata

import pytest

from weir.text.printable import printable, printable_json, printable_lines

# Escape, a C1 control sequence introducer, and the overrides of Trojan Source.
HOSTILE = "a\x1b[2J\x9b31m\x7f\x00\r\b\u202e\u2066\u2069\u200f\u061cb"
_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_no_character_that_acts_on_a_terminal_is_left() -> None:
    every = "".join(map(chr, range(0x11000)))
    shown = printable(every)
    acting = {c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}}
    acting |= {c for c in shown if unicodedata.bidirectional(c) in _BIDI}
    assert not acting
    assert shown.encode()


def test_characters_that_do_not_act_on_a_terminal_stay() -> None:
    text = "Grüße, Ελληνικά, עברית, 漢字, 👩‍🔬, \\x1b"
    assert printable(text) == text


def test_line_feeds_stay_only_where_there_may_be_several_lines() -> None:
    assert printable("a\nb") == "a\\nb"
    assert printable_lines("a\n\x1bb") == "a\n\\x1bb"


def test_json_keeps_its_value() -> None:
    value = {HOSTILE: [HOSTILE, "\n", "𝄞"]}
    shown = printable_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(shown) == value
    assert printable_lines(shown) == shown


@pytest.mark.parametrize("text", ["", "plain", HOSTILE])
def test_printable_text_is_not_changed_again(text: str) -> None:
    assert printable(printable(text)) == printable(text)
