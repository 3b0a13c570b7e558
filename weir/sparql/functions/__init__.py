"""Evaluation of SPARQL expressions and aggregates over typed RDF terms.

`evaluate` compiles an expression to a function of a row of values; `library` and `special_forms`
are its tables of functions, with one module per family; `aggregates` and `ordering` implement the
set functions and the order of terms. https://www.w3.org/TR/sparql11-query/#expressions
"""
