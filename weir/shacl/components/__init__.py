"""The constraint components of SHACL, a module per family; each a class that knows its algebra.

https://www.w3.org/TR/shacl/#core-components
"""
