"""Addresses that nothing may connect to, and the ways in which a URL can lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal

GOOD = "127.0.0.77"
"""The address that the tests declare as an exception."""

_IPV4 = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 100.100.100.200 127.0.0.1
127.0.0.2 127.1.2.3 127.255.255.254 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1
172.31.255.255 192.0.0.1 192.0.0.8 192.0.0.170 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1
192.88.99.1 192.88.99.2 192.168.0.1 192.168.255.254 192.175.48.1 198.18.0.1 198.19.255.254
198.51.100.7 203.0.113.9 224.0.0.1 224.0.0.251 232.1.1.1 239.255.255.250 240.0.0.1 255.255.255.254
255.255.255.255
"""
_IPV6 = """
:: ::1 ::2 ::127.0.0.1 ::169.254.169.254 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1
::ffff:169.254.169.254 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::8.8.8.8
64:ff9b:1::10.0.0.1 100::1 100:0:0:1::1 2001::1 2001::7f00:1 2001:1::1 2001:2::1 2001:10::1
2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe:: 2002:808:808:: 2620:4f:8000::1 3fff::1
3fff:fff:ffff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fdff:ffff::1 fe80::1 febf::1 fec0::1
fec0:0:0:ffff::1 feff::1 ff02::1 ff05::c ff0e::1 fe80::1%1 fe80::1%lo ::1%lo
"""
ADDRESSES = (*_IPV4.split(), *_IPV6.split())

Way = Literal[
    "literal", "spelling", "name", "name with a good address", "rebinding", "redirect", "trick"
]


@dataclass(frozen=True, slots=True)
class Case:
    """A URL, and what the resolver says the first and every further time.

    location: the good server redirects to it. good: connecting to `GOOD`, once, is right.
    """

    way: Way
    address: str
    url: str
    resolved: tuple[tuple[str, ...], ...] = ()
    location: str = ""
    good: bool = False


def cases(port: int, good_port: int) -> Iterator[Case]:
    """Each address in each way; a listener waits on `port` of all local addresses."""
    for address in ADDRESSES:
        host = f"[{address}]" if ":" in address else address
        yield Case("literal", address, f"http://{host}:{port}/")
        yield Case("literal", address, f"http://{host}/")
        for spelled in spellings(address):
            yield Case("spelling", address, f"http://{spelled}:{port}/", ((address,),))
        yield Case("name", address, f"http://a.example:{port}/", ((address,),))
        yield Case("name", address, f"http://localhost:{port}/", ((address, address),))
        for mixed in ((GOOD, address), (address, GOOD), ("93.184.216.34", address)):
            yield Case("name with a good address", address, f"http://a.example:{port}/", (mixed,))
        yield Case(
            "rebinding",
            address,
            f"http://a.example:{good_port}/",
            ((GOOD,), (address,)),
            good=True,
        )
        yield Case("rebinding", address, f"http://a.example:{port}/", ((address,), (GOOD,)))
        yield Case(
            "redirect",
            address,
            f"http://a.example:{good_port}/",
            ((GOOD,),),
            location=f"http://{host}:{port}/",
            good=True,
        )
        for url in tricks(address, host, port):
            yield Case("trick", address, url, ((address,),))


def spellings(address: str) -> Iterator[str]:
    """Other ways to write an address in a URL."""
    if "%" in address:
        bare, zone = address.split("%")
        yield from (f"[{bare}%25{zone}]", f"[{bare}%{zone}.example]", f"{bare}%{zone}")
        return
    parsed = ip_address(address)
    match parsed:
        case IPv4Address():
            first, second, third, fourth = parsed.packed
            number = int(parsed)
            yield from (
                str(number),
                hex(number),
                hex(number).upper(),
                f"0{number:o}",
                f"{number + (1 << 32)}",
                ".".join(f"0{byte:o}" for byte in parsed.packed),
                ".".join(f"{byte:#x}" for byte in parsed.packed),
                ".".join(f"{byte:03d}" for byte in parsed.packed),
                f"{first}.{second}.{third << 8 | fourth}",
                f"{first}.{(second << 16) | (third << 8) | fourth}",
                f"{first}.{second}.{third}.{fourth}.",
                f"0x{first:02x}.{second}.0{third:o}.{fourth}",
                "".join(chr(0xFF10 + int(c)) if c.isdigit() else "。" for c in address),
                f"[::ffff:{address}]",
                f"[::{address}]",
                f"[64:ff9b::{address}]",
                f"[{address}]",
            )
        case IPv6Address():
            exploded = parsed.exploded
            tail = IPv4Address(int(parsed) & 0xFFFFFFFF)
            yield from (
                f"[{exploded}]",
                f"[{exploded.upper()}]",
                f"[{exploded[:-9]}{tail}]",
                f"[{parsed}%25lo]",
                f"[{parsed}%lo]",
                f"[{parsed}",
                f"{parsed}",
                f"[[{parsed}]]",
                f"[{parsed}].",
                f"[{parsed}]x",
            )


def tricks(address: str, host: str, port: int) -> Iterator[str]:
    """URLs that two readers may read in two ways."""
    good = "good.example"
    yield from (
        f"http://{good}@{host}:{port}/",
        f"http://{good}:80@{host}:{port}/",
        f"http://{host}:{port}\\@{good}/",
        f"http://{good}\\@{host}:{port}/",
        f"http://{host}:{port}#@{good}/",
        f"http://{host}:{port}/#fragment",
        f"http://{host}.:{port}/",
        f"http://{host}..:{port}/",
        f"http://.{host}:{port}/",
        f"http://{host}%00.{good}:{port}/",
        f"http://{host}%2e:{port}/",
        f"http://{host}\x00.{good}:{port}/",
        f"http://{host}\t:{port}/",
        f"\thttp://{host}:{port}/",
        f" http://{host}:{port}/",
        f"http://{host}:{port}/ HTTP/1.1\r\nHost: {good}\r\n\r\n",
        f"http://{host}:{port}\n.{good}/",
        f"http:///{host}:{port}/",
        f"http:/{host}:{port}/",
        f"http:{host}:{port}/",
        f"//{host}:{port}/",
        f"HTTP://{host}:{port}/",
        f"http://{host}:{port}:80/",
        f"http://{host}:{port + 65536}/",
        f"http://{host}:0{port:06d}/",
        f"http://{host}:22/",
        f"http://{host}:-1/",
        f"ftp://{host}:{port}/",
        f"gopher://{host}:{port}/_GET",
        f"file://{host}/etc/passwd",
        f"unix://{host}:{port}/",
        f"https://{host}:{port}/",
        f"http://x.{address.replace(':', '-').replace('%', '-')}.nip.example:{port}/",
    )
