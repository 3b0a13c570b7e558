"""SPARQL 1.1 as values: what a query text means, and what its expressions evaluate to.

`algebra` holds the frozen values of a query; `frontend` translates a text into them; `functions`
evaluates expressions and aggregates. `frontend` and `functions` know the algebra and nothing of
each other; none of the three knows plans, engines or storage.
"""
