"""The front end: the text of a query to its algebra, or an error with a line and a column.

`translate.translate` is the entry point. The lexer recognises terms, rdflib's grammar gives
the structure of the query, and one function per production translates that structure.
"""
