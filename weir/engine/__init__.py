"""From a plan to the statements that make the new rows of its nodes over a range of epochs.

`plan_delta` is the entry, `delta` the table of operators (`operators/`, a module each, with its
equation), `run` what an operator may ask for. `sweep` and `coverage` are the algebra of logs and
intervals, `neighbourhood` and `read_graph` find the part of the graph that changes can join with.
"""
