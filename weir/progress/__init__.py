"""How far everything is, read from the tables alone: watermarks, backlog, verdicts.

`completion.Completion` reads them once for a lake. A *watermark* is the epoch up to which a table
is complete, the *backlog* of a query what its embeddings have and its answer has not, a *verdict*
the result of the last checks of exactly these rows.
"""
