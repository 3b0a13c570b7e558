"""RSP-QL: windows and stream operators, read from the tokens before SPARQL's grammar sees them.

    [REGISTER (STREAM | RSTREAM | ISTREAM | DSTREAM) name AS]
    (SELECT | CONSTRUCT) [RSTREAM | ISTREAM | DSTREAM] ...
    FROM NAMED WINDOW name ON [STREAM] name '[' (RANGE d [STEP d] | ELEMENTS n [STEP n]) ']'
    WHERE { ... WINDOW name { ... } ... }

`stream_syntax.read_stream_syntax` is the entry point. What SPARQL does not have is cut out, and
WINDOW in WHERE is read as GRAPH; every other token stays where it is, so that errors keep their
line and column. Without REGISTER, the query's own name is that of its stream; without an operator,
the answer is a relation only.
"""
