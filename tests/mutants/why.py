"""The mutants of explanations."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

WHY_MUTANTS = (
    Mutant(
        "an event that is taken back is still there before the instant",
        "why/windows",
        "looks_back = not self.moment.is_first",
        "looks_back = False",
    ),
    Mutant(
        "a correction is measured against nothing",
        "why/plan_surroundings",
        "return change - before",
        "return change",
    ),
    Mutant(
        "what others push out at the instant is no step",
        "why/windows",
        "held = _with_displaced(held, instant)",
        "pass",
    ),
    Mutant(
        "a step that is taken back lets no earlier element in",
        "why/last_elements",
        "            fill(turn)\n",
        "",
    ),
    Mutant(
        "an event that is taken back is still read by rules",
        "why/programs",
        "                where=[there],\n",
        '                where=[column(KNOWN, "e")],\n',
        tests=("tests/why/test_program_laws.py",),
    ),
)
