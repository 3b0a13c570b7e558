"""What origins ask of robots, as long as it counts; also by what processes before have read.

A file per origin in the project's cache: a line with the origin and the time, then its robots.txt.
Without the files, or if one is broken, robots.txt is asked for again.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from weir.lake.whole_files import write_whole
from weir.remotes.http.robots import KEPT, Robots


@dataclass(slots=True)
class KnownRobots:
    """The rules of origins.

    Attributes:
        folder: of the files; None: nothing is kept beyond this process.
    """

    folder: Path | None
    _known: dict[str, tuple[Robots, datetime]] = field(default_factory=dict)
    _is_tidied: bool = False

    def of(self, origin: str, now: datetime) -> Robots | None:
        """The rules of an origin; None if robots.txt is to be asked for."""
        if origin not in self._known and (stored := self._stored(origin)):
            self._known[origin] = stored
        robots, read_at = self._known.get(origin, (None, now))
        # A time to come is that of a clock that was wrong.
        return robots if now - KEPT <= read_at <= now else None

    def note(self, origin: str, robots: Robots, now: datetime) -> None:
        """Note the rules that an origin has now."""
        self._known[origin] = robots, now
        if self.folder is not None and robots.content is not None:
            head = json.dumps({"origin": origin, "read_at": now.isoformat()})
            # If it cannot be written, the next process asks again.
            with suppress(OSError):
                write_whole(self._file(origin), head.encode() + b"\n" + robots.content)
            self._remove_old()

    def _stored(self, origin: str) -> tuple[Robots, datetime] | None:
        if self.folder is None:
            return None
        try:
            head, _, content = self._file(origin).read_bytes().partition(b"\n")
            values = json.loads(head)
            read_at = datetime.fromisoformat(values["read_at"])
            is_whole = values["origin"] == origin and read_at.tzinfo is not None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (Robots.read(content), read_at) if is_whole else None

    def _file(self, origin: str) -> Path:
        assert self.folder is not None
        return self.folder / hashlib.sha256(origin.encode()).hexdigest()

    def _remove_old(self) -> None:
        """Remove what does not count any more, once in a process."""
        if self.folder is None or self._is_tidied:
            return
        self._is_tidied = True
        oldest = time.time() - KEPT.total_seconds()
        for file in self.folder.glob("*"):
            with suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()
