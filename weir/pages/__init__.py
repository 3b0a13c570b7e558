"""HTML pages for people, without scripts or external resources: their templates and charts.

`page` renders a template of `templates/` with values that the caller has read: `weir report`, the
validation, the check of freshness. `charts` turns rows into Vega-Lite charts, which are drawn when
the page is written. A page works offline, in an e-mail and as an artifact of a task.
"""
