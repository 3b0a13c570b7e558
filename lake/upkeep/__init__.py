"""Keeping tables small: merging files, consolidating logs, deleting rows, files and commits.

None of this changes the state of a table, a change that a query still needs, or a watermark.
"""
