"""The site of a project as a page of Airflow, for those who are logged in there.

The project is that of the variable `WEIR_PROJECT` of the API server; without it, or without the
setting `site` in its `weir.toml`, there is no page.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin

PREFIX: Final = "/weir"
"""Where the API server has the pages."""
_VARIABLE: Final = "WEIR_PROJECT"
_BASE: Final = conf.get("api", "base_url", fallback="")


class SiteApplication:
    """The pages below `PREFIX`; each request needs the cookie or the token of a login.

    What it is made of is imported at the first request: Airflow loads plugins in each process.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

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
        folder = _folder(self._environment)

        @application.get("/{path:path}")
        def page(path: str) -> FileResponse:
            if folder is None or not folder.is_dir():
                raise HTTPException(404, "The site was not written yet: set `site` in weir.toml.")
            # It looks up nothing outside of the folder.
            file, details = StaticFiles(directory=folder).lookup_path(path or "index.html")
            if details is None:
                raise HTTPException(404, "There is no such page.")
            return FileResponse(file)

        return application


def _folder(environment: Mapping[str, str]) -> Path | None:
    """The folder of the site; None if there is no project, or it has none."""
    from weir.errors import ConfigurationError
    from weir.settings import CONFIG_FILE, Settings

    if _VARIABLE not in environment:
        return None
    try:
        return Settings.load(Path(environment[_VARIABLE]) / CONFIG_FILE).site
    except ConfigurationError:
        # Airflow shows it as an error of the DAG file.
        return None


class SitePlugin(AirflowPlugin):
    """Adds the pages to the API server, and a place in the menu from which they are seen."""

    name = "weir"
    fastapi_apps = (
        [{"app": SiteApplication(os.environ), "url_prefix": PREFIX, "name": "Weir"}]
        if _VARIABLE in os.environ
        else []
    )
    external_views = (
        [
            {
                "name": "Weir",
                "href": f"{_BASE.rstrip('/')}{PREFIX}/index.html",
                "destination": "nav",
                "url_route": "weir",
            }
        ]
        if _VARIABLE in os.environ
        else []
    )
