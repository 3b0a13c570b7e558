"""The start page: whether all is well, what is wrong, and what changed lately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from weir.artifacts.contents import Contents
from weir.errors import ConfigurationError
from weir.progress.verdicts import can_be_accepted
from weir.site.files import page_of
from weir.status.status import Status

_LATEST: Final = 6
"""Most change sets on the start page."""
_ANSWERS: Final = 10
"""Most answers of each of them."""
_PROBLEMS: Final = 50
"""Most problems on the start page; the others are counted."""
_NEXT: Final = {
    "held": "`weir show --held {of}` prints the rows. Correct the data or the check.",
    "behind": "`weir run` brings it up to date.",
    "stopped": "Correct what it says, then `weir run`.",
    "rejected": "`weir sql 'SELECT * FROM rejected'` prints the lines with their reasons.",
    "stale": "`weir run --refresh` asks the remote again.",
    "undelivered": "The next run tries again; `weir sql 'SELECT * FROM notifications'` has all.",
}
"""What to do, by fault."""
_ACCEPT: Final = (
    "`weir show --held {of}` prints the rows. Correct the data or the check, or accept the answer:"
    " `weir run --accept {of}`."
)
"""What to do about an answer that only guards and limits of changes hold."""
_AFTERWARDS: Final = "`weir run` brings it up to date, once what stops it is corrected."
"""What to do about an answer that is behind because files cannot be used."""
_WORDS: Final = {
    "held": "held back",
    "stopped": "stopped",
    "behind": "behind",
    "rejected": "rejected",
    "stale": "stale",
    "undelivered": "not delivered",
}
"""The states of problems by fault; what others follow from comes first."""


_EXPLAINING: Final = ("held back", "stopped", "behind")
"""What a failed run is about, so that it is not listed itself."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and what to do.

    Attributes:
        of: the query, source, remote or channel.
        word: how it is.
        reason: why.
        next: what to do.
        href: its page.
    """

    of: str
    word: str
    reason: str
    next: str
    href: str


def problems(
    status: Status, contents: Contents, wrong: Iterable[ConfigurationError] = ()
) -> list[Problem]:
    """All that is wrong, what holds answers back first.

    Args:
        status: of the project.
        contents: what it declares.
        wrong: files of declarations that cannot be used.
    """
    pages = {model.state.name for model in contents.models}
    wrong = [*wrong]
    listed = [
        Problem(
            of,
            _WORDS[fault],
            contents.within(reason),
            _next(fault, reason, is_stopped=bool(wrong)).format(of=of),
            page_of(of) if of in pages else "sources.html",
        )
        for fault, of, reason in status.faults()
    ]
    listed += [
        Problem(
            contents.within(error.where),
            _WORDS["stopped"],
            error.what,
            error.hint,
            "sources.html",
        )
        for error in wrong
        if str(error) != status.sources.error
    ]
    if status.failed_run is not None and not any(p.word in _EXPLAINING for p in listed):
        failed = status.failed_run
        listed.append(
            Problem(
                failed.job,
                "failed",
                contents.within(failed.reason),
                "`weir run` tries again.",
                "runs.html",
            )
        )
    order = [*_WORDS.values()]
    return sorted(listed, key=lambda p: order.index(p.word) if p.word in order else len(order))


def _next(fault: str, reason: str, *, is_stopped: bool) -> str:
    """What to do about a fault."""
    if fault == "held" and can_be_accepted(reason):
        return _ACCEPT
    return _AFTERWARDS if fault == "behind" and is_stopped else _NEXT[fault]


def overview(
    status: Status,
    contents: Contents,
    shown: Mapping[str, Mapping[str, Any]],
    wrong: Iterable[ConfigurationError],
) -> dict[str, Any]:
    """What the template of the start page shows.

    Args:
        status: of the project.
        contents: what it declares.
        shown: what the page of each answer gave for it, by name.
        wrong: as of `problems`.
    """
    listed_problems = problems(status, contents, wrong)
    return {
        "problems": listed_problems[:_PROBLEMS],
        "more_problems": max(len(listed_problems) - _PROBLEMS, 0),
        "verdict": _verdict(listed_problems, status),
        "latest": _latest(shown),
    }


def _latest(shown: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The newest change sets that changed answers: at, cause, `answers`, and how many are not."""
    changes = sorted(
        ({"name": name, **epoch} for name, answer in shown.items() for epoch in answer["latest"]),
        key=lambda change: (change["epoch"], change["at"] or "", change["cause"]),
        reverse=True,
    )
    groups = []
    for (_, at, cause), together in groupby(
        changes, key=lambda change: (change["epoch"], change["at"], change["cause"])
    ):
        answers = sorted(together, key=lambda change: change["name"])
        shown_of, more = answers[:_ANSWERS], max(len(answers) - _ANSWERS, 0)
        groups.append({"at": at, "cause": cause, "answers": shown_of, "more": more})
        if len(groups) == _LATEST:
            break
    return groups


def listed(
    status: Status, contents: Contents, shown: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Each answer as tables and the search of all pages have it."""
    queries = {query.query: query for query in status.queries}
    models = {model.state.name: model for model in contents.models}
    for name in sorted({*queries, *models}):
        model, query = models.get(name), queries.get(name)
        definition = None if model is None else model.definition
        of_page = shown.get(name, {})
        latest: Sequence[Mapping[str, Any]] = of_page.get("latest", ())
        yield {
            "name": name,
            "kind": "removed" if model is None else model.declaration.kind.name,
            "state": "new" if query is None else query.state,
            "rows": None if query is None else query.rows,
            "changed": latest[0]["at"] if latest else None,
            "description": "" if definition is None else definition.description,
            "owner": "" if definition is None else definition.owner,
            "tags": [] if definition is None else [*definition.tags],
            "columns": of_page.get("columns", []),
            "page": model is not None,
        }


def _verdict(wrong: Iterable[Problem], status: Status) -> dict[str, Any]:
    """One line that says whether all is well."""
    words = Counter(problem.word for problem in wrong)
    number = len(status.queries)
    if not words:
        answers = "The only answer is" if number == 1 else f"All {number:,} answers are"
        text = f"{answers} right and up to date." if number else "No query is registered yet."
        if warned := sum(query.warning is not None for query in status.queries):
            of = "1 answer warns" if warned == 1 else f"{warned:,} answers warn"
            text = f"{text.removesuffix('.')}; checks of {of}."
        return {"well": True, "text": text}
    parts = ", ".join(f"{count:,} {word}" for word, count in words.items())
    total = words.total()
    needs = "1 thing needs" if total == 1 else f"{total:,} things need"
    return {"well": False, "text": f"{needs} attention: {parts}."}
