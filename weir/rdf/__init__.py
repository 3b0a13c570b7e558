"""RDF documents to rows of terms: readers of all syntaxes, terms, labels of blank nodes.

Untrusted files are parsed in a child process with limits (`worker`). Terms are N-Triples text
(`terms`). Blank nodes get labels that follow from the content (`counted_labels`), so that two
versions of a document can be compared.
"""
