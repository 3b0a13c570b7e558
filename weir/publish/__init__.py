"""The publish stage: validated rows are appended to the answer tables.

`publication_query` is the statement, `publication` commits it for many queries at once,
`epoch_times` gives each epoch its time, `results` says what a run did for each query.
"""
