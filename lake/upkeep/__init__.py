"""What keeps tables small: merging files, consolidating logs, deleting rows, files and commits.

None of it changes the state of a table, a change that a query still needs, or a watermark.
"""
