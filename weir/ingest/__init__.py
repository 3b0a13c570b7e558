"""The ingest stage: from the change sets of sources to epochs.

`sources/` has the kinds of sources. Change sets are ordered (`pending`), cut into batches, parsed
(`reading`), compared with what the graph holds (`netting`), and committed by a journal in an order
that a run which dies can finish (docs/crash-protocol.md). A source that cannot go on stops; the
others go on.
"""
