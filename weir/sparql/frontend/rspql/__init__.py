"""RSP-QL: windows and stream operators, read from the tokens before SPARQL's grammar sees them.

    [REGISTER (STREAM | RSTREAM | ISTREAM | DSTREAM) name AS]
    (SELECT | CONSTRUCT) [RSTREAM | ISTREAM | DSTREAM] ...
    FROM NAMED WINDOW name ON [STREAM] name '[' (RANGE d [STEP d] | ELEMENTS n [STEP n]) ']'
    WHERE { ... WINDOW name { ... } ... }

`stream_syntax.read_stream_syntax` is the entry point. It cuts out what SPARQL does not have, and
WINDOW in WHERE is then read as GRAPH. All other tokens keep their place, and errors so their line
and column. Without REGISTER, the stream is named like the query; without an operator, the query has
no stream, only an answer.
"""
