"""Credentials of a remote, given as an Airflow connection is; they are in no file of a project.

Under Airflow the task gives them to the process that refreshes. Elsewhere the environment does, in
the variable that Airflow would read, too: `AIRFLOW_CONN_<ID>`, a URI or a JSON object.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from weir.errors import ConfigurationError
from weir.remotes.http.request import Secret, is_header_field

VARIABLE = "AIRFLOW_CONN_"
_FORMS = (
    "Write a URI such as https://user:password@host, whose user and password are percent-encoded,"
    " or a JSON object with login and password."
)


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password; without a user the password is a token."""

    login: str
    password: str = field(repr=False)

    def authorization(self, connection: str) -> Secret:
        """The `Authorization` header.

        Args:
            connection: the name of their connection, for messages.

        Raises:
            ConfigurationError: a header cannot have them.
        """
        if not self.login:
            if not is_header_field(self.password):
                raise ConfigurationError(
                    f"the token of the connection {connection} is empty, or has a character that"
                    " no header can have",
                    _place(connection),
                    _FORMS,
                )
            return Secret(f"Bearer {self.password}")
        pair = base64.b64encode(f"{self.login}:{self.password}".encode()).decode()
        return Secret(f"Basic {pair}")


def read_credentials(file: IO[str]) -> dict[str, Credentials]:
    """Credentials by connection, from a JSON object of objects with login and password."""
    return {name: Credentials(**secret) for name, secret in json.load(file).items()}


def credentials_of(connection: str, environment: Mapping[str, str]) -> Credentials:
    """The credentials of a connection in the environment.

    Raises:
        ConfigurationError: it is not there, is neither a URI nor JSON, or cannot be sent.
    """
    name = _place(connection)
    value = environment.get(name)
    if value is None:
        raise ConfigurationError(
            f"there is no connection {connection}",
            name,
            f"Under Airflow, add the connection {connection}; else set this variable. {_FORMS}",
        )
    try:
        credentials = _of_json(value) if value.lstrip().startswith("{") else _of_uri(value)
    except ValueError:
        # The value is a secret: no message quotes it, nor what is wrong with it.
        raise ConfigurationError(
            f"the connection {connection} is neither a URI nor a JSON object", name, _FORMS
        ) from None
    credentials.authorization(connection)
    return credentials


def _place(connection: str) -> str:
    return f"{VARIABLE}{connection.upper()}"


def _of_json(value: str) -> Credentials:
    read: dict[str, Any] = json.loads(value)
    return Credentials(str(read.get("login") or ""), str(read.get("password") or ""))


def _of_uri(value: str) -> Credentials:
    parts = urlsplit(value)
    return Credentials(unquote(parts.username or ""), unquote(parts.password or ""))
