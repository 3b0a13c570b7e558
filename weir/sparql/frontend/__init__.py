"""The front end: the text of a query to its algebra, or an error with a line and a column.

`translate.translate` is the entry point. The lexer decides what a term is, rdflib's grammar what
the structure of the query is, and one function per production what the structure means.
"""
