"""The application of `weir serve`: its addresses, and what they share."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from weir.project import Project
from weir.serve.answers import list_answers, send_answer
from weir.serve.changes import Changes
from weir.serve.guard import LOOPBACK, Guard
from weir.serve.metrics import METRICS, send_metrics
from weir.serve.mirror import Mirror
from weir.serve.pages import Pages
from weir.serve.pool import Pool
from weir.serve.problems import Problem
from weir.serve.reader import Reader
from weir.serve.sparql import SPARQL, VOID, Endpoint
from weir.serve.why import explain
from weir.settings import Settings

_ADDRESSES = {
    "sparql": SPARQL,
    "void": VOID,
    "answers": "/answers",
    "changes": "/changes/{name}",
    "why": "/why/{name}",
    "metrics": METRICS,
}


def application(
    settings: Settings,
    *,
    site: Path | None = None,
    token: str | None = None,
    is_loopback: bool = True,
    origins: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Starlette:
    """The application; it opens the project when it starts, and closes it at its end.

    Args:
        settings: of the project.
        site: a folder of pages, served at `/`; None for that of the project, which is kept up to
            date in the cache.
        token: which clients must send; None without one.
        is_loopback: whether only this machine reaches it: then requests must name this machine.
        origins: whose pages may read it from a browser.
        progress: called with what takes long.
    """
    limits = settings.serve
    # An explanation takes long: answers do not wait for it.
    reader, explaining = Reader(Project(settings)), Reader(Project(settings))
    folder = settings.cache / "site" if site is None else site
    pages = Pages(Project(settings), folder, progress) if site is None else None
    mirror = Mirror(Project(settings), progress)
    pool = Pool(limits)
    endpoint = Endpoint(mirror, pool, reader, limits.request_bytes)
    changes = Changes(reader, limits)

    @asynccontextmanager
    async def open_project(app: Starlette) -> AsyncIterator[None]:
        del app
        # Copying a large graph takes minutes, which the end of the process does not wait for.
        threading.Thread(target=mirror.prepare, daemon=True).start()
        if pages is not None:
            pages.start()
        try:
            yield
        finally:
            if pages is not None:
                await anyio.to_thread.run_sync(pages.close)
            pool.close()
            await anyio.to_thread.run_sync(mirror.close)
            await reader.close()
            await explaining.close()

    routes: list[Any] = [
        Route(SPARQL, endpoint.sparql, methods=["GET", "POST"]),
        Route(VOID, endpoint.void),
        Route("/answers", partial(list_answers, reader)),
        Route("/answers/{name}", partial(send_answer, reader), name="answer"),
        Route("/changes/{name}", changes.send),
        Route("/why/{name}", partial(explain, explaining)),
        Route(METRICS, partial(send_metrics, reader)),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    files = StaticFiles(directory=folder, html=True, follow_symlink=False)

    async def page_of_answer(request: Request) -> Response:
        return await files.get_response(files.get_path(request.scope), request.scope)

    # Pages and data have addresses below the same one.
    routes.insert(0, Route("/answers/{name}.html", page_of_answer))
    routes.append(Mount("/", files))
    middleware = [Middleware(Guard, hosts=LOOPBACK if is_loopback else None, token=token)]
    if origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=[*origins],
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Last-Event-ID"],
            expose_headers=["ETag", "Weir-Cursor", "Weir-Epoch"],
        )
        middleware.insert(0, cors)
    handlers: Any = {
        Problem: _problem,
        HTTPException: _http_problem,
        Exception: _unexpected,
    }
    return Starlette(
        routes=routes, middleware=middleware, exception_handlers=handlers, lifespan=open_project
    )


async def _problem(request: Request, error: Problem) -> Response:
    del request
    return error.response()


async def _http_problem(request: Request, error: HTTPException) -> Response:
    """An address that is none, or a method that it has not."""
    hint = f"There are {', '.join(_ADDRESSES.values())}." if error.status_code == 404 else ""
    detail = f"{request.method} {request.url.path[:200]}"
    return Problem(error.status_code, detail, hint, error.headers).response()


async def _unexpected(request: Request, error: Exception) -> Response:
    """A bug; its traceback is in the log of the server."""
    del request, error
    what = "an unexpected error, which the log of the server has"
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, what).response()
