"""Deleting rows of a table in one commit with metadata: those that a condition holds for."""

from __future__ import annotations

from deltalake import CommitProperties

from lake.commit import WRITER, checkpoint
from lake.lake import Lake
from lake.metadata import Metadata


def delete_later_rows(lake: Lake, table_name: str, epoch: int, metadata: Metadata) -> None:
    """Delete the rows of later epochs than `epoch`, in one commit with `metadata`."""
    delete_rows(lake, table_name, f"epoch > {epoch}", metadata)


def delete_rows(lake: Lake, table_name: str, condition: str, metadata: Metadata) -> None:
    """Delete the rows for which an SQL condition holds, in one commit with `metadata`."""
    table = lake.existing(table_name)
    checkpoint(f"{metadata.job}:before:delete:{table_name}")
    table.delete(
        condition,
        writer_properties=WRITER,
        commit_properties=CommitProperties(custom_metadata={"userMetadata": metadata.to_json()}),
    )
    checkpoint(f"{metadata.job}:after:delete:{table_name}")
    lake.committed(table_name)
