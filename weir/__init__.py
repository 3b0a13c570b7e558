"""Weir keeps the answers of registered SPARQL queries over a changing RDF graph up to date.

A run is a pipeline of stages over tables of Delta Lake: `ingest` makes epochs of change sets,
`maintain` computes what each epoch changes in the answers, `validate` checks it, `publish` appends
it to the answer tables. `weir.project.Project` is what stages work on, `weir.pipeline` runs them,
`weir.cli` is the command line. `weir.lake`, `weir.expectations` and `weir.jobs` are links to the
folders beside this one. docs/architecture.md is the picture.
"""
