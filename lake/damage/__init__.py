"""What is wrong with a table, and how that is said: damaged files, logs and commits.

A log is checked before its numbers are used (`log_checks`), data files before a row of them is.
Errors of libraries become `storage_errors.StorageError`: what is wrong, at which file, what to do.
"""
