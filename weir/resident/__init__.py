"""A process that runs the pipeline again and again, and keeps tables, DuckDB and a parser open.

A *round* is one run, or a check that finds nothing to do: `rounds` decides which. It compares the
stamps of files (`stamps`) before it opens anything. A signal ends the process after the stage that
is executing (`stopping`).
"""
