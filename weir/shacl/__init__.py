"""Shapes: from the Turtle of a SHACL shapes graph to the algebra of its validation report.

A row of the report is a result: a focus node and what is wrong with it. So a report is the answer
of a query, and the engine keeps it as it keeps any other. https://www.w3.org/TR/shacl/
"""
