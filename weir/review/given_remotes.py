"""Answers over remotes and traversals whose data are given.

The definition is maintained and they are asked in turn, by the code of a run, until nothing that
they say changes any more. pyoxigraph in this process answers for remotes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyoxigraph

from weir.errors import WeirError
from weir.ingest.stage import ingest_changes
from weir.maintain.stage import maintain_queries
from weir.project import Project
from weir.publish.stage import publish_answers
from weir.refresh.stage import RefreshResult, Surroundings, refresh_remotes
from weir.remotes.asking import Fetch, Fetched
from weir.remotes.budget import Amount
from weir.remotes.declarations import Remote
from weir.remotes.evaluation import Clock
from weir.remotes.http.outcomes import Failure
from weir.review.given_documents import Documents, GivenSurroundings
from weir.validate.stage import validate_answers

_RUN_ID = "given"
_KEYS = 1_000_000
_EVERY = timedelta(minutes=1)
_MOST_ROUNDS = 20
"""A remote whose keys come from another one's answers is asked in a later round."""


def declarations(iris: Collection[str]) -> Sequence[Mapping[str, Any]]:
    """Remotes with these IRIs, as `remotes.yml` declares them: all keys are asked in each round."""
    return [
        {
            "name": f"remote{number}",
            "iri": iri,
            "contact": "nobody@example.org",
            "every": "PT1M",
            "pause": "PT0S",
            "budget": {"keys": _KEYS, "requests": _KEYS},
        }
        for number, iri in enumerate(sorted(iris))
    ]


def maintain_with_remotes(
    project: Project,
    name: str,
    seeds: Collection[str],
    data: Mapping[str, str],
    documents: Documents,
) -> None:
    """Maintain a definition of the catalog, and ask its remotes, until nothing changes.

    Args:
        project: has a graph, the remotes of `declarations`, and the traversals.
        name: of the definition.
        seeds: the definitions in whose answers traversals begin; they are published.
        data: the N-Quads of each remote, by its IRI.
        documents: of each traversal.

    Raises:
        WeirError: it cannot be computed, or a remote cannot answer.
    """
    remotes = _Remotes(data, documents)
    for _ in range(_MOST_ROUNDS):
        maintained = maintain_queries(project, _RUN_ID, only=[name, *seeds])
        if seeds:
            validate_answers(project, _RUN_ID)
            publish_answers(project, _RUN_ID)
        refreshed = refresh_remotes(project, _RUN_ID, surroundings=remotes.surroundings)
        for error in (*maintained.errors, *refreshed.errors):
            raise error
        # What is not given of documents is no mistake: a link may lead anywhere.
        if reason := next(iter(RefreshResult(refreshed.remotes).warnings), None):
            raise WeirError(reason, "")
        if not _has_news(refreshed):
            return
        ingest_changes(project, _RUN_ID)
    raise WeirError(f"remotes are asked for more after {_MOST_ROUNDS} rounds", "")


def _has_news(refreshed: RefreshResult) -> bool:
    """Whether a remote said something new, or a document did."""
    rows = (row for one in refreshed.remotes for row in one.rows)
    pages = (dict(one.outcomes) for one in refreshed.traversals)
    return any(row["changed"] + row["gone"] for row in rows) or any(
        page.keys() & {"new", "changed", "moved", "gone"} for page in pages
    )


class _Remotes:
    """The remotes, on a clock that goes on from one evaluation to the next.

    Args:
        data: the N-Quads of each, by its IRI.
        documents: of each traversal.
    """

    def __init__(self, data: Mapping[str, str], documents: Documents) -> None:
        self._documents = documents
        self._stores = {iri: _store(quads) for iri, quads in data.items()}
        self._now = datetime(2000, 1, 1, tzinfo=UTC)

    @property
    def surroundings(self) -> Surroundings:
        """What the next refresh has around it."""
        self._now += _EVERY
        now = self._now
        clock = Clock(lambda: now, lambda _: None)
        return GivenSurroundings(clock=clock, open=self._opened, documents=self._documents)

    def _opened(self, remote: Remote, sent: Sequence[datetime]) -> Fetch:
        del sent
        store = self._stores[remote.iri]

        def fetch(query: str, most: Amount, bindings: int) -> Fetched:
            took = Amount(1, most.keys, 0, 0.0)
            try:
                solutions = store.query(query)
            except (SyntaxError, RuntimeError, OSError) as error:
                return Fetched(Failure("not_results", str(error)), took, self._now)
            assert isinstance(solutions, pyoxigraph.QuerySolutions), "it is a SELECT"
            names = [variable.value for variable in solutions.variables]
            rows = [
                {name: str(row[name]) for name in names if row[name] is not None}
                for row in solutions
            ]
            return Fetched(rows[:bindings], took, self._now)

        return fetch


def _store(quads: str) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.load(quads, pyoxigraph.RdfFormat.N_QUADS)
    return store
