"""What catalogues read of a project: four documents in the published schemas of dbt's artefacts.

`contents` reads once what the project declares and how far it is; each document is a module that
writes a part of it down: what is declared (`manifest`), the published tables (`catalog`), what the
newest run did (`run_results`), how fresh the sources are (`sources`). `written` makes the files.
"""
