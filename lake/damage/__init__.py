"""Damaged files, logs and commits of tables, and the errors that report them.

A log is checked before it is used (`log_checks`), and a data file before a row of it is used.
Errors of libraries become `storage_errors.StorageError`: what is wrong, at which file, what to do.
"""
