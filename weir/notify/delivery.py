"""Delivers a message: to a command, a webhook or a folder."""

from __future__ import annotations

import hashlib
import hmac
import os
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from urllib.parse import urlsplit

from weir.errors import ConfigurationError
from weir.lake.whole_files import write_whole
from weir.remotes.connections import credentials_of
from weir.remotes.http.client import fetch, read_bytes
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Response
from weir.remotes.http.request import FetchLimits, FetchRequest
from weir.settings import Channel
from weir.text.secret_values import hide, without_secrets

SIGNATURE = "X-Weir-Signature"
"""The header with `sha256=` and the HMAC of the body, in hexadecimal."""
IDEMPOTENCY = "Idempotency-Key"
"""The header with the id of the message, which each attempt has."""
_ANSWER_BYTES = 65_536
_EVERYBODYS = ("HOME", "LANG", "LC_ALL", "PATH", "TZ", "USER")
"""Variables of the environment that every command has."""
_EXCERPT, _TAIL = 300, 8_192
"""Characters of a reason, and bytes of what a command prints that are looked at."""


class NotDelivered(Exception):  # noqa: N818  (named after what happened)
    """A message could not be delivered; says why in a sentence without secrets."""


def deliver(channel: Channel, message_id: str, body: bytes, project: Path) -> str:
    """Deliver a message once; gives what the receiver answered, in a few words without secrets.

    Args:
        channel: to which it goes.
        message_id: its id.
        body: JSON.
        project: the folder of the project, in which a command runs.

    Raises:
        NotDelivered: it was refused, or nobody knows whether it arrived.
    """
    if channel.command is not None:
        return _run(channel.command, channel, body, project)
    if channel.folder is not None:
        file = project / channel.folder / f"{message_id}.json"
        try:
            write_whole(file, body)
        except OSError as error:
            raise NotDelivered(f"the file cannot be written: {error.strerror}") from error
        return f"{file} is written"
    if channel.webhook is not None:
        return _post(channel.webhook, channel, message_id, body)
    raise NotDelivered("it has no command, webhook or folder")


def _run(command: list[str], channel: Channel, body: bytes, project: Path) -> str:
    wanted = {*_EVERYBODYS, *channel.environment}
    environment = {name: value for name, value in os.environ.items() if name in wanted}
    hide(environment[name] for name in channel.environment if name in environment)
    # Not a pipe: what a command prints may be more than memory holds.
    with TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=project,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise NotDelivered(f"the command cannot be started: {error.strerror}") from error
        with process:
            try:
                process.communicate(body, channel.seconds)
            except BaseException as error:
                # Its children, too: they would go on.
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    took = f"the command took longer than {channel.seconds:g} s"
                    raise NotDelivered(took) from None
                raise
        said = _last_line(errors)
        ended = f"the command ended with {process.returncode}{said and f': {said}'}"
        if process.returncode:
            raise NotDelivered(ended)
        return ended


def _last_line(output: IO[bytes]) -> str:
    """The last line of what was printed, without secrets, and not too long."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _TAIL))
    lines = without_secrets(output.read().decode(errors="replace")).strip().splitlines()
    return lines[-1][:_EXCERPT] if lines else ""


def _post(url: str, channel: Channel, message_id: str, body: bytes) -> str:
    # An address may be a secret, as of chats; servers repeat its path in errors.
    parts = urlsplit(url)
    hide([url, f"{parts.path}?{parts.query}" if parts.query else parts.path])
    request = FetchRequest(
        url=url,
        accept="*/*",
        contact="notifications",
        limits=FetchLimits(bytes=len(body) + _ANSWER_BYTES, seconds=channel.seconds),
        method="POST",
        body=body,
        content_type="application/json",
        allow=tuple(channel.allow),
        ports=tuple(channel.ports),
        **_credentials(channel, message_id, body),
    )
    meter, deadline = Meter(request.limits.bytes), Deadline.after(channel.seconds)
    result = fetch(request, meter, deadline, read_bytes)
    if isinstance(result, Response):
        return _status(200, result.value)
    if (result.status or 0) // 100 == 2:
        return _status(result.status, b"")
    raise NotDelivered(f"the webhook failed: {without_secrets(result.reason)[:_EXCERPT]}")


def _status(status: int | None, answer: bytes) -> str:
    """The status of an answer, and the beginning of its text."""
    lines = without_secrets(answer.decode(errors="replace")).strip().splitlines()
    return f"status {status}{f': {lines[0][:_EXCERPT]}' if lines else ''}"


def _credentials(channel: Channel, message_id: str, body: bytes) -> dict[str, Any]:
    """The headers that say who sends a message: fields of a `FetchRequest`.

    Raises:
        NotDelivered: the connection is not there, or has no password to sign by.
    """
    headers = [(IDEMPOTENCY, message_id)]
    if channel.connection is None:
        return {"conditions": tuple(headers)}
    try:
        credentials = credentials_of(channel.connection, os.environ)
        hide([credentials.password])
        if not channel.sign:
            authorization = credentials.authorization(channel.connection)
            return {"conditions": tuple(headers), "authorization": authorization}
    except ConfigurationError as error:
        raise NotDelivered(str(error)) from error
    if not credentials.password:
        raise NotDelivered(f"the connection {channel.connection} has no password to sign by")
    headers.append((SIGNATURE, f"sha256={signature(credentials.password, body)}"))
    return {"conditions": tuple(headers)}


def signature(key: str, body: bytes) -> str:
    """The HMAC (SHA-256) of a body, in hexadecimal."""
    return hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
