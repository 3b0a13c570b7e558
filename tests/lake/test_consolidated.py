"""Up to which epoch a log is a state only."""

from __future__ import annotations

from pathlib import Path

from weir.lake.delta.commit import create_if_missing
from weir.lake.lake import Lake
from weir.lake.tables import QUADS
from weir.lake.upkeep.consolidated import consolidated_until, note_consolidation


def test_a_log_is_a_state_up_to_the_latest_of_its_consolidations(tmp_path: Path) -> None:
    assert consolidated_until(Lake(str(tmp_path)), QUADS.name) == 0
    create_if_missing(Lake(str(tmp_path)), QUADS)
    epochs = []
    for until in (3, 7, 5):
        note_consolidation(Lake(str(tmp_path)), QUADS.name, until)
        epochs.append(consolidated_until(Lake(str(tmp_path)), QUADS.name))
    assert epochs == [3, 7, 7]
