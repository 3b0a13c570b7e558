"""The SPARQL algebra as frozen values: queries, patterns, property paths and expressions.

Names and structure are those of https://www.w3.org/TR/sparql11-query/#sparqlAlgebra. Beside the
values stand the two things every reader of them needs: traversal and the scope of variables.
"""
