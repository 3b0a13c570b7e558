"""Connections of one fetch, to checked addresses only.

A name is resolved once. If any of its addresses is refused, nothing is connected to; else the
connection goes to one of exactly these addresses, so that a second answer of the name server has no
effect.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address

import httpcore

from weir.remotes.http.addresses import Network, is_exception, refusal
from weir.remotes.http.metering import Deadline, HeadLimit, Meter
from weir.remotes.http.outcomes import FetchError
from weir.remotes.http.streams import PlainStream, Wire

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a name, as numbers; OSError if there are none."""
_MOST_ADDRESSES = 16


def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """The addresses that the system's resolver gives."""
    address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in address_infos]


class PinnedBackend(httpcore.NetworkBackend):
    """Connects to checked addresses; the host in the URL stays the name that TLS verifies.

    clear_secret: the request carries a secret and no TLS hides it, so that only `allowed` networks
    may receive it.
    """

    def __init__(
        self,
        meter: Meter,
        deadline: Deadline,
        head: HeadLimit,
        allowed: Sequence[Network] = (),
        resolve: Resolve = resolve_by_system,
        clear_secret: bool = False,
    ) -> None:
        self._meter, self._deadline, self._head = meter, deadline, head
        self._allowed, self._resolve = allowed, resolve
        self._clear_secret = clear_secret
        self.wire: Wire | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A metered connection to `host`.

        Raises:
            FetchError: name_unresolved, address_refused, secret_refused, not_connected,
                deadline_passed.
        """
        del timeout, local_address, socket_options  # the deadline alone counts
        addresses = self._addresses(host, port)
        connection = self._connect(addresses, port)
        self.wire = Wire(connection, self._meter, self._deadline)
        return PlainStream(self.wire, self._head)

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Refuse.

        Raises:
            FetchError: address_refused.
        """
        del path, timeout, socket_options
        raise FetchError("address_refused", "Unix sockets are not fetched from")

    def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            ip_address(host)
        except ValueError:
            addresses = _resolve_in_time(self._resolve, host, port, self._deadline)
        else:
            addresses = [host]
        if not addresses:
            raise FetchError("name_unresolved", "the host has no address")
        for address in addresses:
            if reason := refusal(address, self._allowed):
                raise FetchError(
                    "address_refused",
                    f"{reason}: only public addresses are asked, and networks in `allow` in"
                    " remotes.yml",
                )
            if self._clear_secret and not is_exception(address, self._allowed):
                raise FetchError(
                    "secret_refused",
                    "credentials go by https only, or to networks in `allow` in remotes.yml",
                )
        return list(dict.fromkeys(addresses))[:_MOST_ADDRESSES]

    def _connect(self, addresses: Sequence[str], port: int) -> socket.socket:
        reason = ""
        for tried, address in enumerate(addresses):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            left = self._deadline.left()
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
            self._meter.peer = address
            return connection
        self._deadline.left()
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
