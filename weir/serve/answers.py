"""`/answers`: the published answers, as they are now, as they were, and what changed since."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import IO, Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from weir.answers.appended import UnknownChanges
from weir.answers.logs import require_published
from weir.answers.unpublished import answer_names
from weir.definitions.described import Described, described
from weir.definitions.names import declarations, folders_of
from weir.progress.answer_commits import AnswerCommits, published_commits
from weir.progress.completion import Completion
from weir.project import Project
from weir.serve.answer_files import SOLUTIONS, write_changes, write_state
from weir.serve.problems import Problem
from weir.serve.protocol import accepted, epoch_of
from weir.serve.reader import Reader
from weir.serve.sparql import EPOCH

CURSOR = "Weir-Cursor"
"""A header: what is published, for `since` of a later request."""
_ENDINGS = {
    "json": "application/json",
    "csv": "text/csv",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "srj": "application/sparql-results+json",
}
_CHUNK = 1 << 16
_TRIES = 3
_PARAMETERS = ("epoch", "since", "terms")


def commits_of(project: Project, name: str) -> AnswerCommits:
    """All commits of a published answer.

    Raises:
        WeirError: there is none, and why.
    """
    require_published(project.settings, name)
    lake = project.open_lake()
    commits = published_commits(lake, Completion.read(lake), name)
    if commits is None:
        raise Problem(HTTPStatus.NOT_FOUND, f"{name} has no published answer yet")
    return commits


def commits_after(commits: AnswerCommits, cursor: str) -> AnswerCommits:
    """The commits after a cursor.

    Raises:
        Problem: they are not known (410).
    """
    later = commits.since(cursor)
    if later is None:
        raise unknown_cursor(commits.query)
    return later


def unknown_cursor(name: str) -> Problem:
    """The problem that changes after a cursor are not known."""
    return Problem(
        HTTPStatus.GONE,
        f"what changed in {name} since then is not known any more",
        f"Read /answers/{name}, and go on from its {CURSOR}.",
    )


async def list_answers(reader: Reader, request: Request) -> Response:
    """All answers: name, kind, epoch, rows, description, address."""

    def read(project: Project) -> list[dict[str, Any]]:
        completion = Completion.read(project.open_lake())
        folders = folders_of(project.settings)
        about = described(folders)
        kinds = {one.name: one.kind.name for one in declarations(folders)}
        listed = []
        for name in sorted(answer_names(project.settings)):
            published = completion.published(name)
            rows = None if published is None else published.metadata.extra.get("rows")
            one = {
                "name": name,
                "kind": kinds.get(name),
                "epoch": None if published is None else published.epoch,
                "rows": None if rows is None else int(rows),
                "description": about.get(name, Described()).description,
                "address": str(request.url_for("answer", name=name)),
            }
            listed.append(one)
        return listed

    return JSONResponse(await reader.read(read))


async def send_answer(reader: Reader, request: Request) -> Response:
    """An answer, or its changes since an epoch or a cursor."""
    name, media, ending = _name_and_format(request)
    parameters = request.query_params
    if unknown := [key for key in parameters if key not in _PARAMETERS]:
        what = f"there is no parameter {unknown[0][:100]}: {', '.join(_PARAMETERS)}"
        raise Problem(HTTPStatus.BAD_REQUEST, what)
    epoch, since = epoch_of(parameters.get("epoch")), parameters.get("since")
    terms = parameters.get("terms") in ("1", "true")
    if epoch is not None and since is not None:
        raise Problem(HTTPStatus.BAD_REQUEST, "`epoch` and `since` exclude each other")
    if since is not None and ending == SOLUTIONS:
        raise Problem(HTTPStatus.BAD_REQUEST, "changes have no form in results of SPARQL")

    def write(project: Project, commits: AnswerCommits, file: IO[bytes]) -> None:
        if since is None:
            write_state(project, name, epoch, file, ending, terms=terms)
            return
        is_epoch = since.isascii() and since.isdecimal()
        after = (epoch_of(since) or 0) if is_epoch else commits_after(commits, since)
        try:
            write_changes(project, after, name, file, ending, terms=terms)
        except UnknownChanges:
            raise unknown_cursor(name) from None

    def read(project: Project) -> tuple[Mapping[str, str], IO[bytes] | None]:
        for _ in range(_TRIES):
            commits = commits_of(project, name)
            published = Completion.read(project.lake).published(name)
            headers = {
                "ETag": _tag(commits.cursor, ending, epoch, since, terms),
                CURSOR: commits.cursor,
                EPOCH: str(epoch if epoch is not None else published and published.epoch),
                "Cache-Control": "no-cache",
                "Vary": "Accept",
            }
            if {headers["ETag"], "*"} & _known_tags(request):
                return headers, None
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed once it is sent
            try:
                write(project, commits, file)
                if commits_of(project, name) == commits:
                    return headers, file
            except BaseException:
                file.close()
                raise
            file.close()  # it was published meanwhile, so it may have other rows
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, f"{name} is being published")

    headers, file = await reader.read(read)
    if file is None:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    length = {"Content-Length": str(file.seek(0, 2))}
    file.seek(0)
    return StreamingResponse(_parts(file), headers={**headers, **length}, media_type=media)


def _name_and_format(request: Request) -> tuple[str, str, str]:
    name, _, ending = request.path_params["name"].partition(".")
    if ending:
        media = _ENDINGS.get(ending)
        if media is None:
            endings = ", ".join(f".{known}" for known in _ENDINGS)
            raise Problem(HTTPStatus.NOT_FOUND, f"there is no ending .{ending}: {endings}")
        return name, media, ending
    media = accepted(request.headers.get("accept", ""), [*_ENDINGS.values()])
    if media is None:
        offered = ", ".join(_ENDINGS.values())
        raise Problem(HTTPStatus.NOT_ACCEPTABLE, f"answers can be had as {offered}")
    return name, media, next(known for known, one in _ENDINGS.items() if one == media)


def _tag(*parts: object) -> str:
    return f'"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]}"'


def _known_tags(request: Request) -> set[str]:
    header = request.headers.get("if-none-match", "")
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}


async def _parts(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        while part := await anyio.to_thread.run_sync(file.read, _CHUNK):
            yield part
