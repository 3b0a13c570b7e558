"""Checks that a project writes: what they say, and whether rows of an answer meet them.

`arguments` has the expectations by name, `declared` reads them with their places, `values` says
what a term is to a check, `rows` and `unexpected_query` compute. No table is read here.
"""
