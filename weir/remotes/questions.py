"""The text that asks a remote for the mappings of a block, by some keys or as a whole.

    SELECT variables { VALUES (key) { .. } { block } } LIMIT most + 1

By the algebra of SPARQL that is, of any block, the join of the keys with its solutions. One
solution more than is wanted shows that the answer was cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Key = tuple[str, ...]
"""The terms of the key's variables, in N-Triples form, none of them a blank node."""


@dataclass(frozen=True, slots=True)
class Block:
    """What is asked for: a block of SERVICE with its key (`weir.sparql.algebra.patterns.Service`).

    Attributes:
        remote: the IRI of the remote, in N-Triples form.
        pattern: its id.
        text: the block without its braces.
        variables: what its solutions may bind.
        certain: those that every solution binds.
        key: those by whose values it is asked.
    """

    remote: str
    pattern: str
    text: str
    variables: tuple[str, ...]
    certain: frozenset[str]
    key: tuple[str, ...]


def question(block: Block, keys: Sequence[Key], most: int) -> str:
    """The query for the mappings of some keys; of the whole block if it has no key.

    Args:
        block: what is asked for.
        keys: the keys, each once; the empty one if the block has no key.
        most: mappings that are wanted at most.
    """
    shown = " ".join(f"?{name}" for name in block.variables) or "*"
    values = ""
    if block.key:
        names = " ".join(f"?{name}" for name in block.key)
        rows = " ".join(f"({' '.join(key)})" for key in keys)
        values = f"VALUES ({names}) {{ {rows} }} "
    return f"SELECT {shown} WHERE {{ {values}{{ {block.text} }} }} LIMIT {most + 1}"
