"""Which IP addresses may be connected to.

Lists of our own: `ipaddress.is_global` of Python 3.11 calls NAT64, 6to4, `fec0::/10`,
`::127.0.0.1` and multicast global.

IPv4: all but the special-purpose registry, multicast and the former 6to4 relays.
https://www.iana.org/assignments/iana-ipv4-special-registry
IPv6: only global unicast, less the special purposes inside it. So all forms that embed an IPv4
address (mapped, compatible, NAT64, 6to4, Teredo) are refused.
https://www.iana.org/assignments/iana-ipv6-special-registry
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import assert_never

Network = IPv4Network | IPv6Network

REFUSED_IPV4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
GLOBAL_UNICAST = IPv6Network("2000::/3")
REFUSED_IPV6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def parse_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks such as `127.0.0.1/32`.

    Raises:
        ValueError: not a network, or one with bits set behind its prefix.
    """
    return tuple(ip_network(text) for text in texts)


def refusal(address: str, allowed: Sequence[Network] = ()) -> str | None:
    """Why nothing connects to an address in numbers, or None if it may be connected to.

    allowed: exceptions, compared as they are: `127.0.0.1/32` does not allow `::ffff:127.0.0.1`.
    """
    if "%" in address:
        return f"{address} has a zone"
    try:
        parsed = ip_address(address)
    except ValueError:
        return f"{address!a} is not an IP address"
    if any(parsed in network for network in allowed):
        return None
    match parsed:
        case IPv4Address():
            reserved = [network for network in REFUSED_IPV4 if parsed in network]
            return f"{parsed} is in {reserved[0]}" if reserved else None
        case IPv6Address():
            if parsed not in GLOBAL_UNICAST:
                return f"{parsed} is not in {GLOBAL_UNICAST}"
            special = [network for network in REFUSED_IPV6 if parsed in network]
            return f"{parsed} is in {special[0]}" if special else None
        case _:
            assert_never(parsed)


def is_exception(address: str, allowed: Sequence[Network]) -> bool:
    """Whether an address is one of the declared exceptions."""
    return "%" not in address and any(ip_address(address) in network for network in allowed)
