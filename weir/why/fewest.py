"""The fewest of some steps that have an effect together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Step = TypeVar("Step")


def fewest(
    steps: Sequence[Step], shortest: Callable[[Sequence[Step]], int | None]
) -> Sequence[Step] | None:
    """Steps that have an effect together; without one of them they have it not.

    The last step of the shortest prefix with the effect is needed by the steps before it. It is
    moved to the front, what came after it is left out, and so on, until the prefix has needed steps
    only. So `shortest` is called once more than there are needed steps, however many others there
    are. Where a step can take back the effect of another one, a step too many may be in the result,
    which has the effect all the same.

    Args:
        steps: the steps, in any order.
        shortest: the length of the shortest prefix with the effect; None if no prefix has it.

    Returns:
        The steps; None if all of them together do not have the effect, nor has a prefix of them.

    Source: Marques-Silva, Janota, Belov: Minimal Sets over Monotone Predicates (CAV 2013), the
    insertion-based algorithm.
    """
    needed: list[Step] = []
    others = [*steps]
    while True:
        length = shortest([*needed, *others])
        if length is None:
            return None
        if length <= len(needed):
            return needed[:length]
        last = length - len(needed) - 1
        needed.append(others[last])
        del others[last:]
