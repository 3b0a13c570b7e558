"""How far each table is complete, read from the tables alone: watermarks, backlog, verdicts.

`completion.Completion` reads them once for a lake. A *watermark* is the epoch up to which a table
is complete; the *backlog* of a query are the rows of its embeddings that its answer lacks; a
*verdict* is the result of the last checks of exactly these rows.
"""
