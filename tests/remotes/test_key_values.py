"""Keys that a remote may take for one."""

from __future__ import annotations

import pytest

from weir.remotes.key_values import value_of

XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(text: str, name: str) -> str:
    return f'"{text}"^^<{XSD}{name}>'


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (typed("1", "integer"), typed("01", "integer")),
        (typed("1", "integer"), typed("1.0", "decimal")),
        (typed("0.1", "decimal"), typed("1e-1", "double")),
        (typed("NaN", "double"), typed("NaN", "float")),
        (typed("1" + "0" * 400, "integer"), typed("1" + "0" * 401, "integer")),
        (typed("1", "boolean"), typed("true", "boolean")),
        (
            typed("2026-01-01T00:00:00Z", "dateTime"),
            typed("2026-01-01T01:00:00.0+01:00", "dateTime"),
        ),
        (typed("2026-01-01T00:00:00", "dateTime"), typed("2026-01-01T00:00:00Z", "dateTime")),
        (
            typed("2026-01-01T00:00:00.0001Z", "dateTime"),
            typed("2026-01-01T00:00:00.0002Z", "dateTime"),
        ),
        (typed("PT60S", "duration"), typed("PT1M", "duration")),
        (typed("u:a", "anyURI"), typed(" u:a", "anyURI")),
        ('"a"@en', '"a"@EN'),
        ('"a"', typed("a", "string")),
    ],
)
def test_terms_of_one_value_may_be_taken_for_one(left: str, right: str) -> None:
    assert value_of((left, "<u:a>")) == value_of((right, "<u:a>"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("<u:a>", "<u:A>"),
        ('"1"', typed("1", "integer")),
        ('"a"@en', '"a"@de'),
        ('"a"', '"A"'),
        (typed("1", "integer"), typed("1", "boolean")),
        (typed("2026-01-01T00:00:00Z", "dateTime"), typed("2026-01-01T00:00:01Z", "dateTime")),
        (typed("u:a", "anyURI"), typed("u:b", "anyURI")),
        ('"01"^^<u:t>', '"1"^^<u:t>'),
    ],
)
def test_terms_of_different_values_are_distinguished(left: str, right: str) -> None:
    assert value_of((left, "<u:a>")) != value_of((right, "<u:a>"))
