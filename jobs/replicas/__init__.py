"""Replicas of remote data: what is asked of remotes, and the rows of their answers."""
