"""The types of the columns of an answer, and its rows with them.

`column_type` says which type a column has and what a term is in it, `layout` which columns a table
`current/<name>` has, `rows` converts many terms at once. No table is read here.
"""
