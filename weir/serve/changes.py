"""`/changes/<name>`: Server-Sent Events, one for each commit of a published answer that changed it.

https://html.spec.whatwg.org/multipage/server-sent-events.html. The id of an event is the cursor of
the answer after it, so a client that comes back with `Last-Event-ID` goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from weir.answers.appended import Appended, appended
from weir.progress.answer_commits import AnswerCommits
from weir.progress.completion import Completion
from weir.project import Project
from weir.serve.answers import commits_after, commits_of
from weir.serve.problems import RETRY, Problem
from weir.serve.reader import Reader
from weir.settings import Serve

_LOOK_SECONDS = 1.0
_KEEP_ALIVE_SECONDS = 15.0
_Published = tuple[int, str]
"""The version of an answer and the run that published it."""


@dataclass(slots=True)
class Changes:
    """Sends events; the lake is looked at once for all clients.

    Attributes:
        reader: reads the lake.
        limits: of clients and rows.
    """

    reader: Reader
    limits: Serve
    _published: dict[str, _Published | None] = field(default_factory=dict, init=False)
    _looked_at: float = field(default=0.0, init=False)
    _clients: int = field(default=0, init=False)

    async def send(self, request: Request) -> Response:
        """The events of an answer, from now on or after `Last-Event-ID`."""
        name = request.path_params["name"]
        if self._clients >= self.limits.readers:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many clients follow", "", RETRY)
        commits = await self.reader.read(lambda project: commits_of(project, name))
        last = request.headers.get("last-event-id")
        return StreamingResponse(
            self._events(commits, last),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
        )

    async def _events(self, commits: AnswerCommits, last: str | None) -> AsyncIterator[str]:
        self._clients += 1
        try:
            seen = replace(commits, after=commits.until)
            if last is None:
                yield _event("start", commits.cursor, {"name": commits.query})
            else:
                try:
                    seen = commits_after(commits, last)
                except Problem as problem:
                    yield _unknown(commits, problem)
            quiet = 0.0
            while True:
                if seen.after < seen.until:
                    seen, text = await self.reader.read(self._next(seen))
                    if text:
                        yield text
                        quiet = 0.0
                    continue
                await anyio.sleep(_LOOK_SECONDS)
                quiet += _LOOK_SECONDS
                if quiet >= _KEEP_ALIVE_SECONDS:
                    yield ": still here\n\n"
                    quiet = 0.0
                if await self._is_new(seen):
                    now = await self._commits(commits.query)
                    if now is None:
                        return  # it was dropped: the client is given the reason when it asks
                    try:
                        seen = commits_after(now, seen.cursor)
                    except Problem as problem:
                        seen = replace(now, after=now.until)
                        yield _unknown(now, problem)
        finally:
            self._clients -= 1

    async def _commits(self, name: str) -> AnswerCommits | None:
        try:
            return await self.reader.read(lambda project: commits_of(project, name))
        except Problem:
            return None

    async def _is_new(self, seen: AnswerCommits) -> bool:
        """Whether an answer was published since; no answer is opened for that."""
        if anyio.current_time() - self._looked_at >= _LOOK_SECONDS / 2:
            self._looked_at = anyio.current_time()
            names = {*self._published, seen.query}
            self._published = await self.reader.read(lambda project: _published(project, names))
        published = self._published.get(seen.query)
        return published is None or published[0] != seen.until

    def _next(self, seen: AnswerCommits) -> Callable[[Project], tuple[AnswerCommits, str]]:
        """The event of the next commit, and what is left; no event if it changed no row."""

        def read(project: Project) -> tuple[AnswerCommits, str]:
            one = replace(seen, until=seen.after + 1)
            lake = project.open_lake()
            changes = appended(project.settings, lake, one, self.limits.event_rows)
            rest = replace(seen, after=one.until)
            if changes.appeared is None:
                now = commits_of(project, seen.query)
                text = _unknown(now, Problem(HTTPStatus.GONE, "what changed is not known any more"))
                return replace(now, after=now.until), text
            if not changes.is_any:
                return rest, ""
            return rest, _event("change", one.cursor, _document(changes))

        return read


def _published(project: Project, names: set[str]) -> dict[str, _Published | None]:
    completion = Completion.read(project.open_lake())
    known = {name: completion.published(name) for name in names}
    return {
        name: None if mark is None else (mark.version, mark.metadata.run_id)
        for name, mark in known.items()
    }


def _document(changes: Appended) -> Mapping[str, object]:
    by_sign: dict[bool, list[Mapping[str, Any]]] = {True: [], False: []}
    for row in changes.rows:
        by_sign[row["weight"] > 0].append(row)
    return {
        "name": changes.query,
        "epochs": changes.epochs,
        "added": by_sign[True],
        "removed": by_sign[False],
        "left_out": changes.left_out,
    }


def _unknown(now: AnswerCommits, problem: Problem) -> str:
    """The client lacks changes: it has to read the answer, and gets those from now on."""
    about = {"name": now.query, "detail": problem.detail, "read": f"/answers/{now.query}"}
    return _event("unknown", now.cursor, about)


def _event(kind: str, cursor: str, document: Mapping[str, object]) -> str:
    # JSON has no line breaks, which would end a field.
    data = json.dumps(document, default=str, ensure_ascii=True)
    return f"event: {kind}\nid: {cursor}\ndata: {data}\n\n"
