"""Upkeep of the lake: merging files, consolidating logs, deleting what is no longer needed.

`stage` does it for all tables; `old_events` decides which events of streams can be deleted. The
operations on single tables are in `weir.lake.upkeep`.
"""
