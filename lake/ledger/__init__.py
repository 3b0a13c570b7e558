"""The ledger of runs, and the claims by which one run of a job goes on at a time.

`runs` has the rows, `summary` the few of them that readers need, `untouched` one row for all
queries that a run did not touch. A claim is renewed (`leases`), and a run that lost its claim
commits nothing more (`fences`).
"""
