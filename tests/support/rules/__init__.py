"""Rules over streams in tests: runs in memory, and the examples of the paper."""
