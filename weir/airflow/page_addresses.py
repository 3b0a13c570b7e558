"""Where Airflow's API server has the sites of projects."""

from __future__ import annotations

from airflow.configuration import conf


def path_of(project: str) -> str:
    """The path of a project's pages, by its name; empty if it is the only one."""
    return f"/weir/{project}" if project else "/weir"


def address_of(path: str) -> str:
    """The address of the start page below a path; without `[api] base_url` it has no host."""
    return f"{conf.get('api', 'base_url', fallback='').rstrip('/')}{path}/index.html"
