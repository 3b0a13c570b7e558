"""Figures for monitors: how far and how fresh a project is, in the text format of Prometheus.

`figures` has what is measured, `written` writes it: a run into the file of the setting `metrics`,
`weir metrics` on standard output, `weir serve` at `/metrics`.
"""
