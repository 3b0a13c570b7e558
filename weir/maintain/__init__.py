"""The maintain stage: the tasks per query, and their execution for queries at one epoch."""
