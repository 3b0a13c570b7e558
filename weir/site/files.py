"""The files of a site: those with a new content are written, those of nothing are removed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from weir.lake.whole_files import write_whole
from weir.text.secret_values import public

_STATE: Final = "site.json"
_ANSWERS: Final = "answers"


def page_of(answer: str) -> str:
    """The page of an answer."""
    return f"{_ANSWERS}/{answer}.html"


def data_of(answer: str) -> str:
    """The data of its page."""
    return f"data/{_ANSWERS}/{answer}.js"


class SiteFiles:
    """A folder of files that is brought up to date.

    What a site needs to know of itself later is kept beside them. If that is gone, or of another
    version, everything is written again.
    """

    def __init__(self, folder: Path, version: str) -> None:
        """Read what was written before.

        Args:
            folder: of the site.
            version: of what makes it; another one has all of it written again.
        """
        self._folder, self._version = folder, version
        state = _read(folder / _STATE)
        is_known = state.get("version") == version
        self._before: Mapping[str, str] = state.get("files", {})
        self._is_known = is_known
        self._kept: Mapping[str, Mapping[str, Any]] = state.get("kept", {}) if is_known else {}
        self._files: dict[str, str] = {}
        self._keeping: dict[str, Mapping[str, Any]] = {}
        self.written = 0

    def put(self, path: str, content: str | bytes) -> None:
        """A file, which is written if it is not there with this content."""
        encoded = content.encode() if isinstance(content, str) else content
        digest = hashlib.sha256(encoded).hexdigest()
        self._files[path] = digest
        if self._before.get(path) != digest or not (self._folder / path).exists():
            write_whole(self._folder / path, encoded)
            self.written += 1

    def leave(self, *paths: str) -> bool:
        """Leave files as they are; whether all of them are there."""
        is_there = all(p in self._before and (self._folder / p).exists() for p in paths)
        if is_there:
            self._files |= {path: self._before[path] for path in paths}
        return is_there

    def text(self, path: str) -> str | None:
        """A file as this version wrote it before; None if it did not."""
        if not self._is_known or path not in self._before or not (self._folder / path).exists():
            return None
        return (self._folder / path).read_text(encoding="utf-8")

    def kept(self, of: str) -> Mapping[str, Any]:
        """What was kept of something; empty if nothing was."""
        return self._kept.get(of, {})

    def keep(self, of: str, state: Mapping[str, Any]) -> None:
        """Keep what is to be known of something when the site is written again."""
        self._keeping[of] = state

    def finish(self) -> int:
        """Remove the files that are of nothing any more; how many the site has."""
        for path in {*self._before} - {*self._files}:
            (self._folder / path).unlink(missing_ok=True)
        state = {"version": self._version, "files": self._files, "kept": self._keeping}
        text = json.dumps(state, sort_keys=True)
        file = self._folder / _STATE
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            write_whole(file, text)
        return len(self._files)


def called(function: str, value: Any) -> str:
    """A script that gives a value to a function of `site.js`: a page of files can load no JSON."""
    text = json.dumps(public(value), ensure_ascii=False, default=_plain)
    return f"weir.{function}({text});\n"


def value_of(script: str) -> Any:
    """The value in what `called` gave."""
    return json.loads(script[script.index("(") + 1 : script.rindex(")")])


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat(timespec="seconds")
        case timedelta():
            return value.total_seconds()
    raise TypeError(f"a {type(value).__name__} on a page")


def _read(file: Path) -> Mapping[str, Any]:
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
