"""A message by which a channel is tried: it says that it is a test, and nothing is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from weir.errors import ConfigurationError, WeirError
from weir.notify.delivery import NotDelivered, deliver
from weir.notify.message import body_of, new_id
from weir.settings import CONFIG_FILE, Settings
from weir.text.near import meant


@dataclass(frozen=True, slots=True)
class Sent:
    """A test that was delivered.

    Attributes:
        message: its id.
        answer: what the receiver answered.
    """

    message: str
    answer: str


def send_test(settings: Settings, channel: str) -> Sent:
    """Deliver a test to a channel once.

    Raises:
        ConfigurationError: there is no such channel.
        WeirError: it could not be delivered.
    """
    declared = settings.notify.get(channel)
    file = settings.project / CONFIG_FILE
    if declared is None:
        known = ", ".join(settings.notify) or "none"
        hint = f"{meant(channel, settings.notify)}Declared: {known}."
        raise ConfigurationError(f"there is no channel {channel}", str(file), hint)
    now = datetime.now(UTC)
    message = new_id(now)
    body = body_of(message, channel, now, [], is_test=True)
    try:
        return Sent(message, deliver(declared, message, body, settings.project))
    except NotDelivered as error:
        raise WeirError(
            f"{channel} was not notified: {error}", f"{file}: notify.{channel}"
        ) from error
