"""Queries over streams in tests: histories, the definitions, and runs in memory."""
