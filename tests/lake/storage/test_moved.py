"""A table of an object store that is copied or moved is whole or not there, at any time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.support.dying import Died
from tests.support.memory_store import MemoryLakes, mirror_of
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.storage.objects import ObjectStore
from weir.lake.tables import TRIPLES

OLD, NEW = "triples", "answers/moved"


@pytest.fixture
def lakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryLakes:
    """An object store with a table of three commits."""
    lakes = MemoryLakes(monkeypatch, tmp_path)
    make(lakes)
    return lakes


def make(lakes: MemoryLakes) -> None:
    for epoch in range(3):
        terms = {"subject": f"<s{epoch}>", "predicate": "<p>", "object": "<o>"}
        row = {**terms, "epoch": epoch, "weight": 1}
        write(lakes.lake(), TRIPLES, [row], Metadata(f"r{epoch}", "ingest", epoch))


def rows(lakes: MemoryLakes, table: str) -> list[dict[str, Any]] | None:
    """The rows that another process reads; None if it sees no table."""
    lake = lakes.lake()
    if not lake.exists(table):
        return None
    return sorted(lake.rows(table).to_pylist(), key=str)


@contextmanager
def dying_before_request(number: int) -> Iterator[list[str]]:
    """A context in which a process dies before a request; gives those that it has sent."""
    real, sent = ObjectStore._asked, list[str]()

    def asked(store: ObjectStore, kind: str, path: str) -> Any:
        if len(sent) >= number:
            raise Died
        sent.append(kind)
        return real(store, kind, path)

    with mock.patch.object(ObjectStore, "_asked", asked), suppress(Died):
        yield sent


def act(lake: Lake, what: str) -> None:
    if what == "copy":
        lake.copy(OLD, NEW)
    else:
        lake.storage.move(OLD, NEW)


def test_a_copy_has_the_rows_and_the_versions(lakes: MemoryLakes) -> None:
    lake = lakes.lake()
    lake.copy(OLD, NEW)
    assert rows(lakes, NEW) == rows(lakes, OLD)
    assert lake.version(NEW) == lake.version(OLD)
    first = lakes.lake().open(NEW, 1)
    assert first is not None
    assert first.to_pyarrow_table().num_rows == 1


def test_a_copy_that_dies_anywhere_is_no_table_and_is_made_by_the_next_call(
    lakes: MemoryLakes,
) -> None:
    whole = rows(lakes, OLD)
    for number in count():
        with dying_before_request(number) as sent:
            act(lakes.lake(), "copy")
        assert rows(lakes, OLD) == whole
        assert rows(lakes, NEW) in (None, whole), number
        act(lakes.lake(), "copy")
        assert rows(lakes, NEW) == whole
        lakes.lake().remove(NEW)
        if len(sent) < number:
            break
    assert number > 8


def test_a_move_that_dies_anywhere_leaves_the_table_whole_at_one_place_and_is_repeated(
    lakes: MemoryLakes,
) -> None:
    whole = rows(lakes, OLD)
    for number in count():
        with dying_before_request(number) as sent:
            act(lakes.lake(), "move")
        assert {str(rows(lakes, OLD)), str(rows(lakes, NEW))} <= {str(whole), "None"}
        assert whole in (rows(lakes, OLD), rows(lakes, NEW)), number
        act(lakes.lake(), "move")
        assert (rows(lakes, OLD), rows(lakes, NEW)) == (None, whole)
        assert not mirror_of(lakes.lake()).objects.below(OLD)
        lakes.lake().storage.move(NEW, OLD)
        if len(sent) < number:
            break
    assert number > 12


def test_what_has_the_new_name_is_replaced(lakes: MemoryLakes) -> None:
    whole = rows(lakes, OLD)
    act(lakes.lake(), "copy")
    mirror_of(lakes.lake()).objects.write(f"{NEW}/of_another.parquet", b"")
    act(lakes.lake(), "move")
    assert (rows(lakes, OLD), rows(lakes, NEW)) == (None, whole)
    assert not mirror_of(lakes.lake()).objects.look(f"{NEW}/of_another.parquet")


def test_a_move_that_is_repeated_changes_nothing(lakes: MemoryLakes) -> None:
    whole = rows(lakes, OLD)
    act(lakes.lake(), "move")
    act(lakes.lake(), "move")
    assert rows(lakes, NEW) == whole


def test_what_the_store_has_lost_is_damage_though_this_process_has_a_copy(
    lakes: MemoryLakes,
) -> None:
    lake = lakes.lake()
    assert lake.rows(OLD).num_rows == 3
    objects = mirror_of(lake).objects
    data = [entry.path for entry in objects.below(OLD) if entry.path.endswith(".parquet")]
    objects.delete(data[:1])
    (damaged,) = lake.damaged_files(OLD)
    assert data[0].endswith(damaged.name)


def test_all_below_a_folder_is_deleted_and_nothing_else(lakes: MemoryLakes) -> None:
    lake = lakes.lake()
    below = lake.below("_rebuilt/lake")
    below.storage.touch("made/1")
    lake.storage.clear("_rebuilt")
    assert not mirror_of(lake).objects.below("_rebuilt")
    assert rows(lakes, OLD) is not None
