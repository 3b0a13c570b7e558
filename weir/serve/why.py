"""`/why/<name>`: which changes of the graph made rows of an answer appear or vanish."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from weir.answers.causes import Causes
from weir.answers.prefixes import prefixes_of
from weir.definitions.catalog import registered
from weir.project import Project
from weir.serve.problems import Problem
from weir.serve.protocol import epoch_of
from weir.serve.reader import Reader
from weir.why.documents import document
from weir.why.explain import explain_epoch
from weir.why.places import Places
from weir.why.values import named_values

_ROWS = 5
_OWN = ("epoch",)


async def explain(reader: Reader, request: Request) -> Response:
    """Rows that an epoch changed, with the changes; parameters but `epoch` are columns."""
    name, parameters = request.path_params["name"], request.query_params
    chosen = [(column, value) for column, value in parameters.multi_items() if column not in _OWN]
    epoch = epoch_of(parameters.get("epoch"))

    def read(project: Project) -> dict[str, Any]:
        definition = registered(project.settings, name)
        values = named_values(definition, chosen, prefixes_of(project.settings, name))
        explained = explain_epoch(project, definition, epoch, values, _ROWS)
        at = explained.epoch
        if not explained.rows:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                f"epoch {at} changed no such row of {name}",
                f"/answers/{name}?since=0 has which rows changed, and at which epochs.",
            )
        causes = Causes.of(project.lake, name, [at], over_streams=False)
        cause = causes.change_sets.get(at, "")
        places = Places.of(project, explained.rows, reads_files=False)
        return {
            "name": name,
            "epoch": at,
            "published": explained.is_published,
            "more": explained.is_more,
            "rows": [document(definition, at, cause, one, places) for one in explained.rows],
        }

    return JSONResponse(await reader.read(read))
