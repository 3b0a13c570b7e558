"""Replicas of remote data: questions to remotes, and the rows of their answers."""
