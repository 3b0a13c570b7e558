"""The fewest of some steps that have an effect together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class Needed(Generic[Step]):
    """Steps that are needed for an effect.

    Attributes:
        steps: the steps.
        is_all: whether they have the effect together; else there are more than were looked for.
    """

    steps: Sequence[Step]
    is_all: bool


def fewest(
    steps: Sequence[Step], shortest: Callable[[Sequence[Step]], int | None], most: int
) -> Needed[Step] | None:
    """Steps that have an effect together; without one of them they have it not.

    The last step of the shortest prefix with the effect is needed by the steps before it. It is
    moved to the front, what came after it is left out, and so on, until the prefix has needed steps
    only. So `shortest` is called once more than there are needed steps, however many others there
    are. Where a step can take back the effect of another one, a step too many may be in the result,
    which has the effect all the same.

    Args:
        steps: the steps, in any order.
        shortest: the length of the shortest prefix with the effect; None if no prefix has it.
        most: so many needed steps at most.

    Returns:
        The steps; None if no prefix of all steps has the effect.

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
            return Needed(needed[:length], is_all=True)
        if len(needed) == most:
            return Needed(needed, is_all=False)
        last = length - len(needed) - 1
        needed.append(others[last])
        del others[last:]


def searched(has_effect: Callable[[int], bool], last: int) -> int | None:
    """How many first steps have an effect that one step fewer have not; None if none was seen.

    Few are tried first. If more steps may take an effect back, it need not be the least number.

    Args:
        has_effect: whether so many first steps have the effect, at least one; without any there is
            none.
        last: the number of all steps.
    """
    without, tried = 0, 1
    while not has_effect(min(tried, last)):
        if tried >= last:
            return None
        without, tried = tried, 2 * tried
    tried = min(tried, last)
    while tried - without > 1:
        middle = (without + tried) // 2
        if has_effect(middle):
            tried = middle
        else:
            without = middle
    return tried
