"""What is checked of remotes: rounds that are new, and how fresh each replica is now.

Rounds do not change, so each is checked once (rounds.py: how far, what is new, and which commits
nobody has still to read). The suites read rows that DuckDB makes of them (frames.py).
"""
