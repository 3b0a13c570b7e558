"""What pages are made of: templates, styles, scripts, and charts.

`page` renders a template of `templates/` with values that the caller has read. `charts` turns rows
into Vega-Lite charts, which the browser draws. `assets/` has the styles and scripts of Weir;
`javascript/` the libraries that they use, which `make setup` puts there. Pages load nothing from
elsewhere and work as files, in a file share, or as an artifact of a task.
"""
