"""Why a row of an answer appeared or vanished at an epoch: computed when somebody asks.

Nothing is recorded for it. What the epoch changed, and what its changes can join with, is read as
maintain reads it; then the changes are taken back one after the other, and the engine says after
which of them the row is as it was before (`explanation`). That holds for every operator, since no
operator has a case of its own. `fewest` chooses the changes, `graph_steps` writes the histories
that the engine evaluates.
"""
