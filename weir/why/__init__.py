"""Why a row of an answer appeared or vanished: computed when somebody asks.

Nothing is recorded for it. What changed, and what that can join with, is read as maintain reads it;
then the changes are taken back one after the other, and the engine says after which of them the row
is as it was before. That holds for every operator, since no operator has a case of its own.

`surroundings` has the search, `fewest` its steps. Of an answer over the graph the surroundings are
those of an epoch (`graph`), over streams those of an instant as known at an epoch (`moments`,
`windows`); both evaluate the plan on an axis of `worlds`. Of a program, the rules are evaluated at
a point (`programs`), and lead from an atom to what they read (`derivations`). `places` says where
what is named is written.
"""
