"""Delivers a message: to a command, a webhook or a folder."""

from __future__ import annotations

import hashlib
import hmac
import os
import signal
import subprocess
from pathlib import Path

from weir.errors import ConfigurationError
from weir.lake.whole_files import write_whole
from weir.remotes.connections import credentials_of
from weir.remotes.http.client import fetch, read_bytes
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Response
from weir.remotes.http.request import FetchLimits, FetchRequest
from weir.settings import Channel
from weir.text.secret_values import without_secrets

SIGNATURE = "X-Weir-Signature"
"""The header with `sha256=` and the HMAC of the body, in hexadecimal."""
IDEMPOTENCY = "Idempotency-Key"
"""The header with the id of the message, which each attempt has."""
_ANSWER_BYTES = 65_536
_EVERYBODYS = ("HOME", "LANG", "LC_ALL", "PATH", "TZ", "USER")
"""Variables of the environment that every command has."""
_EXCERPT = 300


class NotDelivered(Exception):  # noqa: N818  (named after what happened)
    """A message could not be delivered; says why in a sentence without secrets."""


def deliver(channel: Channel, message_id: str, body: bytes, project: Path) -> None:
    """Deliver a message once.

    Args:
        channel: to which it goes.
        message_id: its id.
        body: JSON.
        project: the folder of the project, in which a command runs.

    Raises:
        NotDelivered: it was refused, or nobody knows whether it arrived.
    """
    if channel.command is not None:
        _run(channel.command, channel, body, project)
    elif channel.folder is not None:
        try:
            write_whole(project / channel.folder / f"{message_id}.json", body)
        except OSError as error:
            raise NotDelivered(f"the file cannot be written: {error.strerror}") from error
    elif channel.webhook is not None:
        _post(channel.webhook, channel, message_id, body)


def _run(command: list[str], channel: Channel, body: bytes, project: Path) -> None:
    wanted = {*_EVERYBODYS, *channel.environment}
    environment = {name: value for name, value in os.environ.items() if name in wanted}
    try:
        process = subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise NotDelivered(f"the command cannot be started: {error.strerror}") from error
    with process:
        try:
            _, errors = process.communicate(body, channel.seconds)
        except BaseException as error:
            # Its children, too: they would keep the pipes open.
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                took = f"the command took longer than {channel.seconds:g} s"
                raise NotDelivered(took) from None
            raise
    if process.returncode:
        said = errors.decode(errors="replace").strip().splitlines()
        why = f": {said[-1][:_EXCERPT]}" if said else ""
        raise NotDelivered(without_secrets(f"the command ended with {process.returncode}{why}"))


def _post(url: str, channel: Channel, message_id: str, body: bytes) -> None:
    headers, authorization = [(IDEMPOTENCY, message_id)], None
    try:
        if channel.connection is not None:
            credentials = credentials_of(channel.connection, os.environ)
            if channel.sign:
                headers.append((SIGNATURE, f"sha256={signature(credentials.password, body)}"))
            else:
                authorization = credentials.authorization(channel.connection)
    except ConfigurationError as error:
        raise NotDelivered(str(error)) from error
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
        authorization=authorization,
        conditions=tuple(headers),
    )
    meter, deadline = Meter(request.limits.bytes), Deadline.after(channel.seconds)
    result = fetch(request, meter, deadline, read_bytes)
    if isinstance(result, Response) or (result.status or 0) // 100 == 2:
        return
    # An address may be a secret, as of chats.
    reason = result.reason.replace(url, "[address]")
    raise NotDelivered(without_secrets(f"the webhook failed: {reason}"))


def signature(key: str, body: bytes) -> str:
    """The HMAC (SHA-256) of a body, in hexadecimal."""
    return hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
