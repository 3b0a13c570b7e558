"""What a host asks of robots: robots.txt, read by `protego`.

https://www.rfc-editor.org/rfc/rfc9309
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from protego import Protego

from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Page

KEPT = timedelta(hours=24)
"""For so long at most they count (section 2.4)."""
READ_BYTES = 500 << 10
"""What is read of them (section 2.5)."""
LONGEST_DELAY = 60.0
_MOST_ENTRIES = 100_000
"""Rules times the agents that they stand behind: `protego` stores each of these pairs."""
_AGENT = re.compile(r"\s*user.?agent", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:dis|dias|allow|crawl|request|visit)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of an origin.

    Attributes:
        rules: None if nothing may be fetched.
        content: the file that they are read from, as far as it is read; None without one.
    """

    rules: Protego | None
    content: bytes | None = None

    @classmethod
    def read(cls, content: bytes) -> Self:
        """The rules of a file; what is malformed in it counts for nothing.

        Nothing may be fetched from a host whose file is made to take all time and memory.
        """
        content = content[:READ_BYTES]
        text = content.decode("utf-8-sig", "replace").replace("\0", "")
        return cls(Protego.parse(text) if _entries(text) <= _MOST_ENTRIES else None, content)

    def may_fetch(self, url: str, agent: str) -> bool:
        """Whether an agent, by its product token, may fetch a URL of the origin."""
        return self.rules is not None and self.rules.can_fetch(url, agent)

    def crawl_delay(self, agent: str) -> float:
        """Seconds between two requests, at most 60."""
        delay = self.rules.crawl_delay(agent) if self.rules is not None else None
        return min(delay or 0.0, LONGEST_DELAY)


EVERYTHING = Robots(Protego.parse(""), b"")
NOTHING = Robots(None)


def robots_of(answer: Page | Failure) -> Robots:
    """The rules that the answer for `/robots.txt` is (section 2.3.1).

    Of 4xx all is allowed, of 5xx and of no answer nothing. A redirect is one that leads nowhere:
    the caller has followed the others.
    """
    status = answer.status
    if isinstance(answer, Page) and status == 200:
        return Robots.read(answer.body)
    return EVERYTHING if status is not None and 300 <= status < 500 else NOTHING


def _entries(text: str) -> int:
    """At most how many entries the rules have, once each agent of a group has its own."""
    entries = agents = 0
    in_rules = False
    for line in text.splitlines():
        if _AGENT.match(line):
            agents = 1 if in_rules else agents + 1
            in_rules = False
        elif _RULE.match(line):
            in_rules = True
        entries += agents
    return entries
