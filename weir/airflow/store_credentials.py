"""Credentials of the lake's object store, from an Airflow connection to the processes of a task.

`WEIR_STORAGE_CONNECTION` names the connection. It is looked up while a task runs, and its processes
get it in their environment, as `WEIR_STORAGE_OPTIONS`: it is in no argument, template or log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from airflow.sdk import BaseHook, Connection
from airflow.sdk.log import mask_secret

from weir.text.secret_keys import is_secret

_OPTIONS = "WEIR_STORAGE_OPTIONS"
_LOGIN = {
    "aws": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    "wasb": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"),
}
"""Which options login and password are, by the type of the connection."""
_EXTRA = {"endpoint_url": "AWS_ENDPOINT_URL", "region_name": "AWS_REGION"}


@contextmanager
def store_credentials(connection: str | None) -> Iterator[None]:
    """Within the block, processes that are started have the credentials of this connection."""
    if connection is None:
        yield
        return
    before = os.environ.get(_OPTIONS)
    options = storage_options(BaseHook.get_connection(connection))
    for key, value in options.items():
        if is_secret(key):
            mask_secret(value)
    os.environ[_OPTIONS] = json.dumps({**json.loads(before or "{}"), **options})
    try:
        yield
    finally:
        if before is None:
            del os.environ[_OPTIONS]
        else:
            os.environ[_OPTIONS] = before


def storage_options(connection: Connection) -> dict[str, str]:
    """The options of delta-rs: login and password, and what `extra` has under their names."""
    given = zip(
        _LOGIN.get(connection.conn_type or "", ()),
        (connection.login, connection.password),
        strict=False,
    )
    options = {name: value for name, value in given if value}
    for name, value in connection.extra_dejson.items():
        option = _EXTRA.get(name, name.upper())
        if option.startswith(("AWS_", "AZURE_", "GOOGLE_")) and isinstance(value, str | bool):
            options[option] = str(value).lower() if isinstance(value, bool) else value
    return options
