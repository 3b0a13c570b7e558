"""The page of a query or program: its answer, how that changed, checks, text and lineage."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp

from weir.answers.appended import UnknownChanges
from weir.answers.prefixes import prefixes_in
from weir.answers.views import current_answer
from weir.artifacts.contents import Contents, Model
from weir.definitions.kinds import QUERY
from weir.errors import WeirError
from weir.lake.damage.damaged_files import damage_is_named
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.bindings import Bindings
from weir.lake.tables import ANSWERS, CURRENT
from weir.pages.charts import changes_chart, rows_chart
from weir.pages.page import render
from weir.progress.answer_commits import published_commits
from weir.progress.backlog import columns_of
from weir.progress.completion import Completion
from weir.progress.observed import Observed
from weir.project import Project
from weir.site.cells import cell_rows, column_heads
from weir.site.epochs import Epochs
from weir.site.files import SiteFiles, called, data_of, page_of, value_of
from weir.site.highlighting import highlighted
from weir.site.history import History
from weir.site.latest import latest_changes
from weir.site.lineage import Lineage
from weir.site.plan import plan_graph
from weir.status.streams import is_over_streams
from weir.why.documents import document
from weir.why.explain import explain_epoch
from weir.why.places import Places

_EXPLAINED: Final = 5
"""Most rows of an epoch that are explained."""
ROWS: Final = 1_000
"""Most rows of an answer on its page."""


@dataclass(frozen=True, slots=True)
class AnswerPages:
    """Writes the pages of the answers of a project.

    Attributes:
        project: the project.
        contents: what it declares.
        completion: of its lake.
        epochs: of its lake.
        lineage: what reads what.
        files: of the site.
        bindings: of a connection that has the macros of plain values.
        explains: whether pages have the reasons for the newest changes, which take about a second
            each.
    """

    project: Project
    contents: Contents
    completion: Completion
    epochs: Epochs
    lineage: Lineage
    files: SiteFiles
    bindings: Bindings
    explains: bool = False

    def write(self, model: Model) -> Mapping[str, Any]:
        """Write the page of a definition if anything on it has changed.

        Gives what other pages show of it: `latest`, as of `latest_changes`, and `columns`.
        """
        name = model.state.name
        page, data = page_of(name), data_of(name)
        kept, lineage = self.files.kept(name), self.lineage.around(model.id)
        prefixes = self._prefixes(model)
        data_key = self._data_key(model, prefixes, lineage)
        said = (model.state.state, _reason(model), model.checks, self._results(model))
        key = _digest(data_key, *said)
        has_reasons = kept.get("explained", False)
        is_enough = has_reasons or not self.explains
        if kept.get("key") == key and is_enough and self.files.leave(page, data):
            self.files.keep(name, kept)
            return kept
        is_known = kept.get("data_key") == data_key and is_enough
        text = self.files.text(data) if is_known else None
        # A state that changed, as between two stages, makes no other data.
        content = (
            {"name": name, "prefixes": prefixes, "lineage": lineage, **self._content(model, data)}
            if text is None
            else value_of(text)
        )
        self.files.put(data, called("page", content))
        history = content["history"]
        latest = [] if history is None else latest_changes(history, content["prefixes"])
        values = self._values(model, content, latest)
        self.files.put(page, render("answer.html", **values))
        columns = [column["name"] for column in content["columns"]]
        is_explained = self.explains if text is None else has_reasons
        shown = {"latest": latest, "columns": columns, "explained": is_explained}
        # Damaged files that were restored have the same versions.
        keys = {} if content.get("damage") else {"key": key, "data_key": data_key}
        self.files.keep(name, shown | keys)
        return shown

    def _data_key(
        self, model: Model, prefixes: Mapping[str, str], lineage: Mapping[str, Any]
    ) -> str:
        """Equal as long as the data of a page would be."""
        state = model.state
        versions = [
            None if watermark is None else watermark.version
            for watermark in (state.published, state.maintained)
        ]
        return _digest(versions, model.text, str(model.table), prefixes, lineage)

    def _results(self, model: Model) -> list[tuple[Any, ...]]:
        """The newest results of the checks of an answer, without their times."""
        name, known = model.state.name, self.contents.check_results
        rows = ((check.name, known.get((name, check.name))) for check in model.checks)
        return [
            (check, row["success"], row["unexpected_rows"], row["observed"])
            for check, row in rows
            if row is not None
        ]

    def _prefixes(self, model: Model) -> dict[str, str]:
        own = prefixes_in(model.text, model.declaration.kind)
        return {**self.project.settings.prefixes, **own}

    def _content(self, model: Model, file: str) -> dict[str, Any]:
        """The data of the page that its answer gives."""
        content: dict[str, Any] = {
            "columns": [],
            "rows": [],
            "weights": [],
            "total": None,
            "history": None,
            "charts": {},
            "plan": None,
            "explained": False,
            "why": None,
        }
        published = model.state.published
        if published is None:
            return content
        try:
            return content | self._answer(model, file)
        except DamagedTable as error:
            return content | {"damage": str(error)}

    def _answer(self, model: Model, file: str) -> dict[str, Any]:
        published = model.state.published
        assert published is not None, "so the caller says"
        name, total = model.state.name, int(published.metadata.extra["rows"])
        variables = [variable for variable, _ in columns_of(published.metadata)]
        table = self._table(name, in_order=total <= ROWS)
        rows = [*cell_rows(table, variables)]
        is_bag = model.definition is not None and not model.definition.is_set
        weights = table["weight"].to_pylist() if is_bag else []
        comments = {} if model.definition is None else model.definition.current.comments
        over_streams = is_over_streams(self.completion, name)
        history = self._history(name, variables, file, over_streams=over_streams)
        charts: dict[str, Any] = {}
        if history is not None and len(history.epochs) > 1:
            counts = _counts(history, over_streams=over_streams)
            charts = {"changes": changes_chart(counts)}
            if not over_streams:
                charts["rows"] = rows_chart(counts)
        return {
            "columns": column_heads(variables, rows, comments),
            "rows": rows,
            "weights": weights if any(weight != 1 for weight in weights) else [],
            "total": total,
            "history": None if history is None else history.to_json(),
            "charts": charts,
            "plan": self._plan(model),
            "explained": model.declaration.kind is QUERY and not over_streams,
            "why": self._why(model, history, over_streams=over_streams),
        }

    def _why(
        self, model: Model, history: History | None, *, over_streams: bool
    ) -> dict[str, Any] | None:
        """Why the newest epoch changed rows; None of first rows, streams, and what is unknown."""
        definition = model.definition
        if not self.explains or over_streams or definition is None or history is None:
            return None
        if model.declaration.kind is not QUERY or len(history.epochs) < 2:
            return None
        epoch = max(history.epochs)
        try:
            explained = explain_epoch(self.project, definition, epoch, {}, _EXPLAINED)
        except WeirError:
            # Of an edit, or of what is not stored any more, nothing is known.
            return None
        cause = history.epochs[epoch][-1]
        places = Places.of(self.project, explained.rows, reads_files=False)
        rows = [document(definition, epoch, cause, row, places) for row in explained.rows]
        return {"epoch": epoch, "rows": rows}

    def _plan(self, model: Model) -> dict[str, Any] | None:
        definition = model.definition
        if definition is None:
            return None
        return plan_graph(self.bindings, self.project.lake, definition)

    def _table(self, name: str, *, in_order: bool) -> pa.Table:
        """The first rows of an answer; of a large one, those that are read first."""
        lake = self.project.lake
        with self.bindings.scope():
            answer = current_answer(self.bindings, lake, name, self.completion)
            assert answer is not None, "it is published"
            if in_order:
                answer = answer.order_by(exp.var("ALL"))
            tables = (ANSWERS.name(name), CURRENT.name(name))
            with damage_is_named(*map(lake.folder, tables)):
                statement = answer.limit(ROWS).sql(dialect="duckdb")
                rows: pa.Table = self.bindings.connection.sql(statement).to_arrow_table()
        return rows

    def _history(
        self, name: str, variables: list[str], file: str, *, over_streams: bool
    ) -> History | None:
        """How the answer changed; None if that is not known any more."""
        lake = self.project.lake
        commits = published_commits(lake, self.completion, name)
        assert commits is not None, "it is published"
        text, known = self.files.text(file), None
        if text is not None:
            before = value_of(text)["history"]
            known = None if before is None else History.from_json(before)
        try:
            return History.of(
                self.bindings,
                lake,
                commits,
                variables,
                self.epochs,
                known,
                over_streams=over_streams,
            )
        except UnknownChanges:
            return None

    def _values(
        self, model: Model, content: Mapping[str, Any], latest: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """What the template shows."""
        copies = sum(content["weights"]) or len(content["rows"])
        state, definition = model.state, model.definition
        return {
            "root": "../",
            "title": state.name,
            "here": "answers",
            "state": state.state,
            "reason": _reason(model),
            "kind": model.declaration.kind.name,
            "description": "" if definition is None else definition.description,
            "owner": "" if definition is None else definition.owner,
            "tags": () if definition is None else definition.tags,
            "file": self._shown(model),
            "total": content["total"],
            "shown": len(content["rows"]),
            "is_cut": copies < (content["total"] or 0),
            "latest": latest,
            "damage": content.get("damage"),
            "history": bool(content["history"] and content["history"]["epochs"]),
            "plan": content["plan"] is not None,
            "checks": [self._check(model, check) for check in model.checks],
            "text": highlighted(model.text, model.declaration.kind),
            "data": data_of(state.name),
        }

    def _shown(self, model: Model) -> str:
        file, folder = model.declaration.file, self.project.settings.project
        return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)

    def _check(self, model: Model, check: Any) -> dict[str, Any]:
        row = self.contents.check_results.get((model.state.name, check.name))
        shown = {
            "name": check.name,
            "sentence": check.description or check.type,
            "place": check.place,
            "result": "not run yet",
            "unexpected": 0,
            "examples": [],
        }
        if row is None:
            return shown
        observed = Observed.from_json(row["observed"])
        failed = "failed" if check.severity == "error" else "warned"
        return shown | {
            "result": "passed" if row["success"] else failed,
            "unexpected": row["unexpected_rows"] or 0,
            "sentence": check.description or observed.sentence or check.type,
            "examples": observed.examples,
        }


def _digest(*known: object) -> str:
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def _reason(model: Model) -> str | None:
    """Why an answer is not up to date; of one that is, how it came about is not shown."""
    return None if model.state.state == "current" else model.state.reason


def _counts(history: History, *, over_streams: bool) -> list[dict[str, Any]]:
    """By epoch, how many rows appeared, vanished, and were there; without the first rows.

    Over streams rows come and go with time within an epoch, so that there is no such number.
    """
    copies, counts = history.copies, []
    for epoch, (appeared, vanished, at, _) in history.epochs.items():
        copies += appeared - vanished
        is_first = epoch == history.first
        counts.append(
            {
                "epoch": epoch,
                "at": at,
                # The first rows would make all others look flat.
                "appeared": 0 if is_first else appeared,
                "vanished": 0 if is_first else -vanished,
                "rows": None if over_streams else copies,
            }
        )
    return counts
