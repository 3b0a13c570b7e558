"""SERVICE beside a window: Listing 1 of paper 003, a refresh after each close of the window."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.opened import engine_of, no_spark
from tests.support.projects.replicas import IRI, START, ReplicaProject
from weir.compute.sql import column, rows_of, select
from weir.definitions.catalog import Catalog
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.remotes.wanted import WANTED, askers, make_wanted

NAMESPACE = "http://example.org/"
LISTING = f"""#+ corrects_back: PT1M
PREFIX : <{NAMESPACE}>
SELECT ?user
FROM NAMED WINDOW :W ON mentions [RANGE 3m STEP 1m]
WHERE {{
  WINDOW :W {{ ?user :hasMentions ?mentionsNum }}
  SERVICE <{IRI}> {{ ?user :hasFollowers ?fCount }}
  FILTER (?fCount > 100)
}}
"""
USERS = ("ann", "bob", "cat", "dan", "eve")
RANGE, THRESHOLD = 3, 100
MINUTE = 60_000_000


@pytest.fixture
def project(tmp_path: Path) -> ReplicaProject:
    started = ReplicaProject(tmp_path)
    started.declare_remote(every="PT1M", budget={"keys": 2})
    mentions = {"name": "mentions", "kind": "patches", "location": "mentions"}
    started.declare(mentions | {"stream": {"time": "transaction"}})
    started.folders("mentions")
    started.query("influencers", LISTING)
    return started


def mention(project: ReplicaProject, minute: float, *users: str) -> None:
    """Append the mentions of a minute to the stream; without users time passes."""
    number = len([*(project.folder / "mentions").iterdir()])
    at = (START + timedelta(minutes=minute)).isoformat()
    what = [f'A <{NAMESPACE}{user}> <{NAMESPACE}hasMentions> "{number}" .' for user in users]
    what = what or [f'A <{NAMESPACE}x> <{NAMESPACE}beat> "{number}" .']
    project.patch(f"mentions/{number:04}.rdfp", *what, time=at)


def answer_at(project: ReplicaProject, minute: int) -> Counter[str]:
    """The answer at an instant, as it is known now."""
    answer: Counter[str] = Counter()
    for row in project.table("answers/influencers"):
        if row["event_time"] <= START + timedelta(minutes=minute):
            answer[row["user"].rpartition("/")[2][:-1]] += row["weight"]
    return +answer


def replica(project: ReplicaProject) -> dict[str, int]:
    """The followers in the replica: of each key the newest round with mappings."""
    newest: dict[str, tuple[int, int]] = {}
    for row in project.table("replicas/wd"):
        if row["part"] == "mapping" and row["multiplicity"]:
            user = row["key"].rpartition("/")[2][:-1]
            count = int(row["mapping"].split('\\"')[-2])
            newest[user] = max(newest.get(user, (0, 0)), (row["round"], count))
    return {user: count for user, (_, count) in newest.items()}


@pytest.mark.usefixtures("sampled")
def test_at_each_close_the_answer_is_that_of_window_and_replica(project: ReplicaProject) -> None:
    rng = random.Random(3)
    events: list[tuple[int, str]] = []
    distances = []
    for minute in range(4, 14):
        for user in USERS:
            project.remote.set(
                f"{NAMESPACE}{user}", f"{NAMESPACE}hasFollowers", rng.randint(90, 110)
            )
        users = rng.sample(USERS, 2)
        mention(project, minute - 0.5, *users)
        events += [(minute, user) for user in users]
        mention(project, minute)
        project.now = START + timedelta(minutes=minute)
        project.run()
        project.refresh()
        project.run()
        content = Counter(user for when, user in events if minute - RANGE < when <= minute)
        known = replica(project)
        waits = not (project.folder / "lake" / "answers").exists()
        if waits:
            assert {*content} - {*known}
            continue
        expected = Counter({u: n for u, n in content.items() if known.get(u, 0) > THRESHOLD})
        assert answer_at(project, minute) == expected, minute
        distances.append(expected != content)
    assert len(distances) > 5
    elected = [row["elected"] for row in project.freshness()]
    assert max(elected) == 2


def test_a_candidate_is_dated_by_the_last_close_at_which_the_window_got_it(
    project: ReplicaProject,
) -> None:
    mention(project, 3.5, "ann", "bob")
    mention(project, 4.5, "bob")
    mention(project, 6)
    project.run()
    lake = open_lake(project.settings)
    with engine_of(project.settings, "refresh", no_spark, lake) as engine:
        queries = Catalog.of(project.settings).members
        make_wanted(engine, askers(queries, Completion.read(lake)))
        names = [column(name) for name in ("key", "seen")]
        seen_by_key = {
            str(key).rpartition("/")[2][:-1]: seen
            for key, seen in engine.rows(select(*names, from_=rows_of(WANTED)))
        }
    # The log of the query ends with the close of minute 6; ann was seen at that of minute 4.
    assert seen_by_key == {"ann": 2 * MINUTE, "bob": 1 * MINUTE}
