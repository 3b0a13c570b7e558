"""The maintain stage: what is to be done per query, and doing it for queries at one epoch."""
