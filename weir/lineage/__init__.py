"""Lineage: what each stage of a run read and wrote, as run events of OpenLineage.

https://openlineage.io/docs/spec/object-model. `done` is what the ledger says of one run, `datasets`
names the tables and sources, `columns` says which columns feed which, `facets` describes them,
`events` makes the events, and `emission` writes them into a file or sends them to an endpoint, as
the setting `openlineage` says.
"""
