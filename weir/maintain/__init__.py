"""Maintain: keep the embeddings of all definitions complete up to the newest epoch.

`tasks` says what is to be done, `maintenance` does it: leg after leg, along a `course` that differs
by axis (`epoch_course`, `instant_course`), computing and committing by `new_rows`. `outcome`
records what was done, for the caller and the ledger.
"""
