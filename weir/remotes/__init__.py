"""Remotes: SPARQL endpoints and documents that SERVICE names, and what is kept of their answers.

A remote is declared in remotes.yml with a budget. A round is one evaluation of it: keys are
elected, asked for, and what was found is committed to `replicas/<remote>`, its inbox. The replica
is what the rounds so far say of every key. To refresh is to make the rounds that are due
(weir/refresh); ingest makes epochs of them. Freshness is how old the answers of a replica are.
"""
