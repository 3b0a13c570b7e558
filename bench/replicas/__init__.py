"""The experiment of refresh policies: the paper's claims, measured over synthetic or given data.

Zahmatkesh, Della Valle, Dell'Aglio: Using Rank Aggregation in Continuously Answering SPARQL Queries
on Streaming and Quasi-static Linked Data (DEBS 2017), called "the paper" here.
"""
