"""The kinds of sources, a module each: patches, snapshots, Delta tables, rounds of remotes.

`source.Source` is what they have in common: which change sets are pending after a position, and
their rows. `declared` reads `sources.yml`.
"""
