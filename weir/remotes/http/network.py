"""Connections to checked addresses only.

A name is resolved once. If any of its addresses is refused, nothing is connected to; else the
connection goes to one of exactly these addresses, so that a second answer of the name server has no
effect.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from weir.remotes.http.addresses import Network, is_exception, refusal
from weir.remotes.http.metering import Allowance, Deadline
from weir.remotes.http.outcomes import FetchError
from weir.remotes.http.streams import Wire

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a name, as numbers; OSError if there are none."""
_MOST_ADDRESSES = 16


def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """The addresses that the system's resolver gives."""
    address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in address_infos]


@dataclass(frozen=True, slots=True)
class Connector:
    """Connects to checked addresses.

    allowed: networks that are connected to although they are not public.
    resolve: gives the addresses of a name.
    """

    allowed: Sequence[Network] = ()
    resolve: Resolve = resolve_by_system

    def connect(self, host: str, port: int, allowance: Allowance, clear_secret: bool) -> Wire:
        """A metered connection to `host`.

        clear_secret: the request carries a secret and no TLS hides it.

        Raises:
            FetchError: name_unresolved, address_refused, secret_refused, not_connected,
                deadline_passed.
        """
        addresses = self._addresses(host, port, allowance.deadline)
        for address in addresses:
            self.check(address, clear_secret)
        pinned = list(dict.fromkeys(addresses))[:_MOST_ADDRESSES]
        return _connect(pinned, port, allowance)

    def check(self, address: str, clear_secret: bool) -> None:
        """Check that a request may go to an address.

        Raises:
            FetchError: address_refused, or secret_refused: only `allowed` networks may receive a
                secret in clear.
        """
        if reason := refusal(address, self.allowed):
            raise FetchError(
                "address_refused",
                f"{reason}: only public addresses are asked, and networks in `allow` in"
                " remotes.yml",
            )
        if clear_secret and not is_exception(address, self.allowed):
            raise FetchError(
                "secret_refused",
                "credentials go by https only, or to networks in `allow` in remotes.yml",
            )

    def _addresses(self, host: str, port: int, deadline: Deadline) -> Sequence[str]:
        try:
            ip_address(host)
        except ValueError:
            addresses = _resolve_in_time(self.resolve, host, port, deadline)
        else:
            addresses = [host]
        if not addresses:
            raise FetchError("name_unresolved", "the host has no address")
        return addresses


def _connect(addresses: Sequence[str], port: int, allowance: Allowance) -> Wire:
    deadline, reason = allowance.deadline, ""
    for tried, address in enumerate(addresses):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        left = deadline.left()
        connection: socket.socket | None = None
        try:
            connection = socket.socket(family, socket.SOCK_STREAM)
            # An address that does not answer leaves time for those after it.
            connection.settimeout(left / (len(addresses) - tried))
            connection.connect((address, port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            if connection is not None:
                connection.close()
            reason = f"{address} port {port}: {error.strerror or error}"
            continue
        return Wire(connection, address, allowance)
    deadline.left()
    raise FetchError("not_connected", reason)


def _resolve_in_time(resolve: Resolve, host: str, port: int, deadline: Deadline) -> Sequence[str]:
    """The addresses of a name; the system's resolver knows no timeout, so a thread waits for it."""
    outcomes: list[Sequence[str] | OSError] = []

    def run() -> None:
        try:
            outcomes.append(resolve(host, port))
        except OSError as error:
            outcomes.append(error)
        except UnicodeError:
            outcomes.append(OSError("not a name that can be resolved"))

    thread = threading.Thread(target=run, name="resolve", daemon=True)
    thread.start()
    thread.join(deadline.left())
    if not outcomes:
        deadline.left()
        raise FetchError("name_unresolved", "the resolver failed")
    match outcomes[0]:
        case OSError() as error:
            raise FetchError("name_unresolved", error.strerror or str(error))
        case addresses:
            return addresses
