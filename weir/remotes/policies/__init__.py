"""Which keys of a replica are refreshed when the budget is not enough for all of them.

Zahmatkesh, Della Valle, Dell'Aglio: Using Rank Aggregation in Continuously Answering SPARQL Queries
on Streaming and Quasi-static Linked Data (DEBS 2017), called "the paper" here.
"""
