"""Programs over streams by clingo, with Ticker's static encoding: seconds of the processor a point.

Each point is a program of its own, as in Ticker's mode with clingo: the rules, and as facts the
atoms of the last `window` points and of the point. That clingo reads them is part of its time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

import clingo

from tests.support.lars.notation import read_program
from tests.support.lars.ticker import encoding

_Event = tuple[str, str, str]
_NUMBER = re.compile(r'"(-?[0-9]+)"\^\^.*')


def seconds_of_point(
    text: str, events: Mapping[int, Sequence[_Event]], now: int, arity: int
) -> float:
    """What the evaluation of a point takes.

    Args:
        text: of the program, in the notation of the paper.
        events: the triples of the points up to `now` that are in its windows.
        now: the point.
        arity: of the atoms that are read: with one argument it is the object of the triple.
    """
    rules = encoding(read_program(text))
    facts = [f"now({now}). start({min(events)}). point({min(events)}..{now})."]
    for point, triples in events.items():
        for subject, predicate, object_ in triples:
            terms = (subject, object_)[2 - arity :]
            values = ",".join([*map(_value, terms), str(point)])
            facts.append(f"at_{_local(predicate)}({values}).")
    program = "\n".join((rules, *facts))
    begun = time.process_time()
    control = clingo.Control(["0"], logger=lambda *_: None)
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        for model in models:
            model.symbols(atoms=True)
    return time.process_time() - begun


def _value(term: str) -> str:
    """A number as one, an IRI as a string."""
    number = _NUMBER.fullmatch(term)
    return number[1] if number else f'"{term[1:-1]}"'


def _local(predicate: str) -> str:
    return predicate.rstrip(">").rpartition("/")[2]
