"""A project with two streams and a graph, run by the DAGs."""
