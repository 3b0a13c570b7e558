"""Upkeep of the lake: which rows no query needs any more."""
