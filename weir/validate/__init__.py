"""The validate stage: suites over the new epochs of the graph and the new rows of answers.

`validation_queries` selects the rows, `answer_rows` has the rules of answers, `stream_rows` those
of streams, `validation` runs the suites, `quality_results` writes what they found.
"""
