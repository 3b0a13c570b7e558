"""The validate stage: suites over the new epochs of the graph and the new rows of answers.

`validation_queries`, `answer_rows` and `stream_rows` select the rows of the graph, of answers and
of streams, `validation` runs the suites, `quality_results` writes their results.
"""
