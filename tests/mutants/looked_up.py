"""The mutants of what is looked up in the graph instead of being stored."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LOOKED_UP_MUTANTS = (
    Mutant(
        "other matches of a left row are not looked up when one on the right changes",
        "plan/looked_up",
        "back = () if is_single else self._on_to_left(node, right)",
        "back = ()",
    ),
    Mutant(
        "a right side is taken to have one row for a value",
        "plan/looked_up",
        "return isinstance(node, Component) and {*node.variables} - {MEMBER} <= keys",
        "return isinstance(node, Component)",
    ),
    Mutant(
        "a way goes on by variables that a subquery does not show",
        "plan/looked_up",
        "return {name: places[name] for name in variables if name in places}",
        "return places if variables else {}",
    ),
    Mutant(
        "a left row without a match leads nowhere",
        "plan/looked_up",
        "yield from ({**other, **way} for other",
        "yield from ({**way, **other} for other",
    ),
    Mutant(
        "a node that another operator reads as a whole is not stored",
        "plan/looked_up",
        "            case _:\n                yield from node.children",
        "            case _:\n                pass",
    ),
    Mutant(
        "rows are looked up by objects from other rows of their node",
        "plan/looked_up",
        '_BACK: tuple[Position, ...] = ("subject",)',
        '_BACK: tuple[Position, ...] = ("subject", "object")',
    ),
    Mutant(
        "a value leads into another scope",
        "plan/lookups",
        "known = {name: place for name, place in places.items() if place.scope == component.scope}",
        "known = {**places}",
    ),
    Mutant(
        "a node that is looked up is stored, too",
        "plan/plan",
        "if child not in read_back.nodes",
        "if child",
    ),
    Mutant(
        "a looked-up node has no rows from before the range",
        "engine/run",
        "epochs = EpochRange(BEFORE_ALL, FOREVER - 1, from_nothing=True)",
        "epochs = EpochRange(self.epochs.after, FOREVER - 1, from_nothing=True)",
    ),
    Mutant(
        "when a window last had a key is not stored",
        "plan/plan",
        "kept.extend(child for node in keys for child in node.children)",
        "pass",
        tests=("tests/remotes/test_windows.py",),
    ),
)
