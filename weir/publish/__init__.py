"""The publish stage: validated rows are appended to the answer tables.

`publication_query` is the statement, `publication` commits its rows for many queries at once,
`epoch_times` gives each epoch its time, `results` reports what a run did for each query.
"""
