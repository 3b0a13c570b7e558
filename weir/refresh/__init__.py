"""The refresh stage: declared remotes are asked for the keys that answers depend on."""
