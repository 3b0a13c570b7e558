"""RDF files to rows of terms: readers of all syntaxes, terms, labels of blank nodes.

Untrusted files are parsed in a child process with limits (`worker`). Terms are N-Triples text
(`terms`). Labels of blank nodes are computed from the content (`counted_labels`), so that two
versions of a document can be compared.
"""
