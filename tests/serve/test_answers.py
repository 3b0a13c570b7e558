"""`/answers` and `/why`: formats, tags, epochs, changes, and what there is instead."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import weir
from tests.support.projects.graphs import PAIRS, knows
from tests.support.projects.project import Project
from tests.support.serving import JSON, Client, Reply, serving

PAIRS_NOW = Counter({("urn:a", "urn:b"): 1, ("urn:a", "urn:c"): 1})


def bag(rows: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Rows with their weights summed up."""
    counted: Counter[tuple[str, str]] = Counter()
    for row in rows:
        counted[row["a"], row["b"]] += row["weight"]
    return Counter({row: weight for row, weight in counted.items() if weight})


def test_the_list_says_what_each_answer_is(server: Client) -> None:
    listed = {one["name"]: one for one in server.get("/answers").json}
    assert listed.keys() == {"pairs", "known"}
    assert listed["pairs"] == {
        "name": "pairs",
        "kind": "query",
        "epoch": 6,
        "rows": 2,
        "description": "Who knows whom.",
        "address": f"{server.url}/answers/pairs",
    }


READERS: dict[str, Callable[[Reply], Any]] = {
    "json": lambda reply: reply.json,
    "jsonl": lambda reply: [json.loads(line) for line in reply.text.splitlines()],
    "csv": lambda reply: csv.read_csv(io.BytesIO(reply.body)).to_pylist(),
    "parquet": lambda reply: pq.read_table(io.BytesIO(reply.body)).to_pylist(),
    "arrow": lambda reply: pa.ipc.open_file(reply.body).read_all().to_pylist(),
}


@pytest.mark.parametrize("ending", READERS)
def test_an_answer_is_the_same_rows_in_each_format(server: Client, ending: str) -> None:
    reply = server.get(f"/answers/pairs.{ending}")
    assert reply.status == 200
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert bag(READERS[ending](reply)) == PAIRS_NOW
    by_type = server.get("/answers/pairs", Accept=reply.media)
    assert (by_type.media, by_type.body) == (reply.media, reply.body)


def test_results_of_sparql_have_exact_terms(server: Client) -> None:
    reply = server.get("/answers/pairs.srj")
    assert reply.media == JSON
    assert reply.json["head"] == {"vars": ["a", "b"]}
    first = reply.json["results"]["bindings"][0]
    assert first == {
        "a": {"type": "uri", "value": "urn:a"},
        "b": {"type": "uri", "value": "urn:b"},
    }
    same = server.query(PAIRS)
    assert reply.rows == same.rows


def test_a_row_that_an_answer_has_twice_is_there_twice_in_results_of_sparql(
    growing: Project,
) -> None:
    growing.query("heads", "SELECT ?a { ?a <urn:knows> ?b }")
    growing.run()
    with serving(growing.settings) as client:
        assert client.get("/answers/heads.srj").rows == [{"a": "urn:a"}, {"a": "urn:a"}]


def test_an_answer_at_an_epoch_and_the_changes_since_give_the_present_one(server: Client) -> None:
    for epoch in range(1, 7):
        before = bag(server.get(f"/answers/pairs?epoch={epoch}").json)
        later = server.get(f"/answers/pairs?since={epoch}").json
        assert all(row["epoch"] > epoch for row in later)
        before.update(bag(later))
        assert Counter({row: n for row, n in before.items() if n}) == PAIRS_NOW


def test_changes_after_a_cursor_are_those_that_were_published_later(growing: Project) -> None:
    with serving(growing.settings) as client:
        cursor = client.get("/answers/pairs").headers["weir-cursor"]
        assert client.get(f"/answers/pairs?since={cursor}").json == []
        growing.change_set("A " + knows("x", "y"))
        growing.run()
        later = client.get(f"/answers/pairs?since={cursor}")
        assert bag(later.json) == {("urn:x", "urn:y"): 1}
        assert later.headers["weir-cursor"] != cursor
        with weir.Project(growing.folder) as project:
            assert later.headers["weir-cursor"] == project.answers["pairs"].cursor


def test_a_cursor_of_another_table_is_none_of_this_answer(server: Client) -> None:
    cursor = server.get("/answers/pairs").headers["weir-cursor"]
    assert server.get(f"/answers/pairs?since={cursor}").json == []
    other = f"another:{cursor.rpartition(':')[2]}"
    assert server.get(f"/answers/pairs?since={other}").status == 410


def test_a_tag_stands_for_what_was_published_and_for_the_form(growing: Project) -> None:
    paths = ["/answers/pairs", "/answers/pairs.csv", "/answers/pairs?epoch=2"]
    with serving(growing.settings) as client:
        tags = {path: client.get(path).headers["etag"] for path in paths}
        assert len({*tags.values()}) == len(paths)
        for path, tag in tags.items():
            same = client.get(path, If_None_Match=f'"other", {tag}')
            assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
            assert client.get(path, If_None_Match="*").status == 304
        growing.change_set("A " + knows("x", "y"))
        growing.run()
        for path, tag in tags.items():
            changed = client.get(path, If_None_Match=tag)
            assert changed.status == 200
            assert changed.headers["etag"] != tag


WRONG = {
    "/answers/pair": (404, "Did you mean pairs?"),
    "/answers/nothing.csv": (404, "There are: "),
    "/answers/pairs.exe": (404, ""),
    "/answers/pairs?epoch=7": (404, ""),
    "/answers/pairs?epoch=x": (400, ""),
    "/answers/pairs?since=nonsense": (410, "/answers/pairs"),
    "/answers/pairs?since=other:1": (410, "/answers/pairs"),
    "/answers/pairs?epoch=1&since=1": (400, ""),
    "/answers/pairs.srj?since=1": (400, ""),
    "/answers/pairs?epcoh=3": (400, ""),
    "/answers/Robert'); DROP": (404, ""),
    "/why/pair": (404, "Did you mean pairs?"),
    "/why/pairs?epoch=5&none=1": (404, "Columns: a, b."),
    "/why/pairs?a=nobody&epoch=5": (404, "since=0"),
    "/why/pairs?a=nobody": (404, "`weir log pairs` prints"),
}


@pytest.mark.parametrize("path", WRONG)
def test_what_is_not_there_is_refused_with_a_way_on(server: Client, path: str) -> None:
    status, hint = WRONG[path]
    reply = server.get(path.replace(" ", "%20"))
    assert (reply.status, reply.media) == (status, "application/problem+json")
    assert hint in reply.json.get("hint", "")


def test_a_held_answer_is_a_conflict_with_its_reason(growing: Project) -> None:
    check = "{type: expect_column_values_to_match_regex, kwargs: {column: a, regex: '^none$'}}"
    growing.query("checked", f"#+ checks:\n#+   - {check}\n{PAIRS}")
    with pytest.raises(weir.QualityError):
        growing.run()
    growing.query("later", PAIRS)
    with serving(growing.settings) as client:
        held = client.get("/answers/checked")
        assert (held.status, "held back" in held.json["detail"]) == (409, True)
        assert held.json["hint"]
        unpublished = client.get("/answers/later")
        assert (unpublished.status, "no published answer" in unpublished.text) == (404, True)


def test_why_names_the_changes_of_a_row(server: Client) -> None:
    reply = server.get("/why/pairs?epoch=5&a=urn:a&b=urn:c")
    (row,) = reply.json["rows"]
    assert (reply.json["epoch"], row["weight"]) == (5, 1)
    assert {change["subject"] for change in row["changes"]} == {"<urn:a>"}
