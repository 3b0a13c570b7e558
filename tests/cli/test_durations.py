"""The duration of `weir run --every`."""

from __future__ import annotations

import pytest

from weir.cli.stages import period
from weir.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "seconds"), [("500ms", 0.5), ("5s", 5), ("2m", 120), ("1.5h", 5400), (" 5s ", 5)]
)
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert period(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "s", "0s", "-5s", "5 s", "5x", "1m30s", "5S", "inf s"])
def test_text_that_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigurationError, match="500ms, 5s, 2m, 1h") as refused:
        period(text)
    assert repr(text) in str(refused.value)
