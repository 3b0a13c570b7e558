"""Link traversal: documents that are found by following links, as one more remote.

`rules` reads links off triples, `search` says which documents they reach, `known` what an answer
makes of what is known of a page, `frontier` what to ask next: all pure. `evaluation` asks, commits
rounds to the `inbox`, and settles the budget; `fetching` asks over HTTP, through `pool`, whose one
child process fetches and reads (`reading`). `declarations` are those of traversals.yml, `matches`
the patterns of queries that say what is followed.
"""
