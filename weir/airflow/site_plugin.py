"""The sites of projects as pages of Airflow, for those who are logged in there.

The projects are those of the variable `WEIR_PROJECT` of the API server. A project has a page if its
`weir.toml` has the setting `site`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from stat import S_ISREG
from typing import Any

from airflow.plugins_manager import AirflowPlugin

from weir.airflow.page_addresses import address_of, path_of
from weir.airflow.projects import VARIABLE, projects


class SiteApplication:
    """The pages of a project; each request needs the cookie or the token of a login.

    What it is made of is imported at the first request: Airflow loads plugins in each process.
    """

    def __init__(self, project: Path) -> None:
        self._project = project

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        await self._application(scope, receive, send)

    @cached_property
    def _application(self) -> Any:
        from airflow.api_fastapi.core_api.security import get_user
        from fastapi import Depends, FastAPI, HTTPException
        from fastapi.responses import FileResponse
        from starlette.staticfiles import StaticFiles

        application = FastAPI(dependencies=[Depends(get_user)], openapi_url=None)
        folder = _folder(self._project)

        @application.get("/{path:path}")
        def page(path: str) -> FileResponse:
            if folder is None or not folder.is_dir():
                raise HTTPException(404, "The site was not written yet: set `site` in weir.toml.")
            # It looks up nothing outside of the folder.
            file, details = StaticFiles(directory=folder).lookup_path(path or "index.html")
            if details is None or not S_ISREG(details.st_mode):
                raise HTTPException(404, "There is no such page.")
            return FileResponse(file)

        return application


def _folder(project: Path) -> Path | None:
    """The folder of a project's site; None if it has none."""
    from weir.errors import ConfigurationError
    from weir.settings import CONFIG_FILE, Settings

    try:
        return Settings.load(project / CONFIG_FILE).site
    except ConfigurationError:
        # Airflow shows it as an error of the DAG file.
        return None


def _served() -> Iterator[tuple[str, str, Path]]:
    """Title, path of the pages, and folder of each project of this process."""
    from weir.errors import ConfigurationError

    with suppress(ConfigurationError):
        for name, project in projects(os.environ.get(VARIABLE, "")).items():
            yield f"Weir: {name}" if name else "Weir", path_of(name), project


class SitePlugin(AirflowPlugin):
    """Adds the pages to the API server, and places in the menu from which they are seen."""

    name = "weir"
    fastapi_apps: list[Any] = [  # noqa: RUF012  (as Airflow declares them)
        {"app": SiteApplication(project), "url_prefix": path, "name": title}
        for title, path, project in _served()
    ]
    external_views: list[Any] = [  # noqa: RUF012  (as Airflow declares them)
        {
            "name": title,
            "href": address_of(path),
            "destination": "nav",
            "url_route": path.strip("/").replace("/", "-"),
        }
        for title, path, _ in _served()
    ]
