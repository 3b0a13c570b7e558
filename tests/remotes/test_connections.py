"""Credentials in the environment, as Airflow gives connections."""

from __future__ import annotations

import pytest

from weir.errors import ConfigurationError
from weir.remotes.connections import credentials_of

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("https://me:s3cret@host", "Basic bWU6czNjcmV0"),
        ("https://:s3%20cret@host", "Bearer s3 cret"),
        ('{"login": "me", "password": "s3cret"}', "Basic bWU6czNjcmV0"),
        ('{"password": "s3cret"}', "Bearer s3cret"),
    ],
)
def test_a_connection_is_a_uri_or_json(value: str, header: str) -> None:
    credentials = credentials_of("wd", {"AIRFLOW_CONN_WD": value})
    assert credentials.authorization("wd").reveal() == header


@pytest.mark.parametrize(
    "value",
    [
        "https://me:s3cret@[bad",
        '{"password": "s3cret"',
        "s3cret",
        '["s3cret"]',
        "{}",
        "https://:s3cret%0A@host",
        '{"password": "s3cret\\u0000"}',
    ],
)
def test_a_connection_that_cannot_be_sent_is_reported_without_its_value(value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        credentials_of("wd", {"AIRFLOW_CONN_WD": value})
    assert caught.value.where == "AIRFLOW_CONN_WD"
    assert SECRET not in str(caught.value) + caught.value.hint
