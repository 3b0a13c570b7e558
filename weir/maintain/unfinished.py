"""Whether maintain has anything to do for a definition, by the tables of it and of its upstreams.

That an upstream itself is behind is not considered.
"""

from __future__ import annotations

from weir.definitions.definition import Definition
from weir.maintain.derived_graphs import DerivedGraph
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.logs import recomputed_upstream
from weir.maintain.tasks import is_behind
from weir.progress.completion import Completion


def is_unfinished(completion: Completion, definition: Definition) -> bool:
    """Whether embeddings are behind, or what follows from them, or what they follow from is new.

    Raises:
        DamagedTable: the table of an upstream cannot be read.
    """
    lake, stored = completion.lake, completion.maintained(definition.name)
    if stored is None or is_behind(completion, definition):
        return is_behind(completion, definition)
    output = OutputStream.of(definition) or DerivedGraph.of(definition)
    if output is not None and output.is_behind(lake, stored.metadata):
        return True
    return recomputed_upstream(lake, definition, stored.metadata) is not None
