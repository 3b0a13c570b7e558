"""The site of a project: what changed, whether it is right, why, and how fresh it is.

`writing.write_site` makes a folder of pages that needs no server. `overview` is its start page,
`answers` has a page per query and program, and `project_pages` the others; `lineage` says what
reads what. `files` writes what is new and leaves the rest, so that the cost follows the change.
Templates, styles and scripts are those of `weir.pages`.
"""
