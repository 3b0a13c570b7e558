"""Published answers of CONSTRUCT queries for programs that read RDF: no Spark, no claim.

`triples` reads the log of an answer as a graph, `rdf` writes its state at an epoch, `patches` its
changes as a folder of RDF Patch. The command line and the Python interface call the same functions.
"""
