"""Removing a table: it is whole, or there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.lake.delta.commit import create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import answers

TABLE = answers("q", ("s",))


class Died(BaseException):
    """The end of the process."""


def filled(root: str) -> None:
    """Three commits with a row each."""
    for epoch in (1, 2, 3):
        write(Lake(root), TABLE, [{"epoch": epoch, "weight": 1}], Metadata("p", "publish", epoch))


def rows(root: str) -> int | None:
    return Lake(root).rows(TABLE.name).num_rows if Lake(root).exists(TABLE.name) else None


@pytest.mark.parametrize("deleted", range(8))
def test_a_removal_that_dies_leaves_the_table_or_none_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deleted: int
) -> None:
    root, left = str(tmp_path), deleted
    filled(root)

    def dying(*arguments: object, **options: object) -> None:
        nonlocal left
        if not left:
            raise Died
        left -= 1
        unlink(*arguments, **options)  # type: ignore[arg-type]

    unlink = os.unlink
    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", dying)
        try:
            Lake(root).remove(TABLE.name)
        except Died:
            assert rows(root) in (None, 3)
    if rows(root) is not None:
        Lake(root).remove(TABLE.name)
    create_if_missing(Lake(root), TABLE)
    assert rows(root) == 0
    Lake(root).remove(TABLE.name)
    assert rows(root) is None
