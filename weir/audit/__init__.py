"""Audit and repair: checks of everything that the lake holds, and rebuilding what is wrong.

`stage` runs the checks of `files`, `graph`, `answers`, `sources` and `recomputed`. `repair`
rebuilds tables that follow from others (`repairs`), and with `--from-sources` the log of the graph
(`from_sources`, `replay`, `damaged_log`, `epoch_counts`, `replacement`).
"""
