"""Lineage: what each stage of a run read and wrote, as run events of OpenLineage.

https://openlineage.io/docs/spec/object-model. `done` is what the ledger says of one run, `datasets`
names the tables and sources, `facets` describes them, `events` makes the events, and `emission`
writes them into a file or sends them to an endpoint, as the setting `openlineage` says.

Which columns of the graph feed a column of an answer is not among them: what a plan says of its
patterns are predicates, not the variables that take their terms to a column.
"""
