"""Values as the cells of tables that people read."""

from __future__ import annotations

import pytest

from weir.text.cells import cell_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.001, "0.001"), (1.5e-7, "1.5e-07"), (98 / 3, "32.6666666666667"), (2.0, "2"), (0.1, "0.1")],
)
def test_a_double_has_the_digits_that_it_surely_has(value: float, text: str) -> None:
    assert cell_text(value) == text
