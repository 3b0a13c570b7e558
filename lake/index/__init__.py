"""Sorted copies of logs on this machine, by which a few rows are found without a scan."""
