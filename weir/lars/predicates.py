"""The predicates of a program: their numbers of arguments, and the origins of their atoms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from weir.lars.errors import ProgramError, ProgramSyntaxError, UnsupportedProgram
from weir.lars.syntax import At, Atom, CountedAtom, CountingWindow, Place, RuleSet
from weir.lars.syntax import Literal as BodyLiteral

Origin = Literal["rules", "facts", "stream", "graph"]
"""Where atoms come from: rules derive them, the text states them, streams or the graph have them.

Atoms of facts and of the graph are background: they hold at all points or at none.
"""

_PHRASES: Mapping[Origin, str] = {
    "rules": "is derived by rules",
    "facts": "has facts",
    "stream": "is read from a stream",
    "graph": "is read from the graph",
}


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate.

    Attributes:
        name: of the predicate.
        arity: number of arguments.
        origin: of its atoms.
        place: of its declaration in the front matter, else of its first head, else of its first
            use.
    """

    name: str
    arity: int
    origin: Origin
    place: Place

    @property
    def is_background(self) -> bool:
        """Whether its atoms hold at all points or at none."""
        return self.origin in ("facts", "graph")


def predicates_of(
    rules: RuleSet,
    declared: Mapping[str, Predicate],
    file: str,
    undeclared: Literal["stream", "graph"] = "stream",
) -> dict[str, Predicate]:
    """The predicates of a program by name.

    Args:
        rules: of the program.
        declared: the predicates for which the front matter has a pattern.
        file: name of the text, for errors.
        undeclared: the origin of one that is neither derived nor declared.

    Raises:
        ProgramSyntaxError: a predicate has two arities.
        UnsupportedProgram: a predicate has two origins, or two differ in case only.
    """
    predicates = {**declared}
    origins: dict[str, Origin] = {name: known.origin for name, known in declared.items()}
    atoms: list[tuple[Atom, Origin]] = [(rule.head.atom, "rules") for rule in rules.rules]
    atoms += [(atom, "facts") for atom in rules.facts]
    for atom, origin in atoms:
        before = origins.setdefault(atom.predicate, origin)
        if before != origin:
            raise UnsupportedProgram(
                atom.predicate,
                file,
                atom.place,
                f"it {_PHRASES[origin]} here, and {_PHRASES[before]} elsewhere",
                "Use two predicates, and a rule that derives one from the other.",
            )
    for atom in _atoms(rules):
        name, arity = atom.predicate, len(atom.arguments)
        first = predicates.setdefault(
            name, Predicate(name, arity, origins.get(name, undeclared), atom.place)
        )
        if first.arity != arity:
            raise ProgramSyntaxError(
                name,
                file,
                atom.place,
                f"{arity} arguments here, and {first.arity} at {first.place}",
                "A predicate has the same number of arguments everywhere.",
            )
    for counted in _counted(rules):
        if counted.arguments:
            name, arity = counted.predicate, len(counted.arguments)
            predicates.setdefault(name, Predicate(name, arity, "stream", counted.place))
    _check_case(predicates, file)
    return predicates


def check_reads(
    rules: RuleSet, predicates: Mapping[str, Predicate], streams: int, file: str
) -> None:
    """Refuse body elements that have no meaning for the origin of their atom.

    Args:
        rules: of the program.
        predicates: by name.
        streams: how many the program reads.
        file: name of the text, for errors.

    Raises:
        UnsupportedProgram: a tuple window over derived or background atoms or in a program of
            several streams, or that counts atoms of another origin than the stream, or not those
            that it reads; `@` without a window over background atoms.
        ProgramSyntaxError: a window counts atoms with another number of arguments.
    """
    for rule in rules.rules:
        for literal in rule.literals:
            error = _misread(literal, predicates[literal.atom.predicate], streams, file)
            error = error or _miscounted(literal, predicates, file)
            if error is not None:
                raise error


def _misread(
    literal: BodyLiteral, predicate: Predicate, streams: int, file: str
) -> ProgramError | None:
    name = predicate.name
    if isinstance(literal.window, CountingWindow):
        what = str(literal.window)
        if predicate.origin == "rules":
            # Example in section 2.1: a derived atom would itself become the last tuple.
            reason = f"tuples are events, and {name} {_PHRASES['rules']} ({predicate.place})"
            hint = "Use a time window, or a tuple window over the atoms that the rules read."
        elif predicate.is_background:
            reason = f"tuples are events, and {name} {_PHRASES[predicate.origin]}"
            hint = "Leave the window out: the atom holds at all points or at none."
        elif streams > 1:
            reason = f"the last tuples of {streams} streams have no order"
            hint = "Use a time window, or a program for each stream."
        else:
            return None
        return UnsupportedProgram(what, file, literal.place, reason, hint)
    if literal.window is None and isinstance(literal.modality, At) and predicate.is_background:
        return UnsupportedProgram(
            f"@ {name}",
            file,
            literal.place,
            f"{name} {_PHRASES[predicate.origin]}, so it holds at all points or at none",
            f"Leave @ out, or say which points are meant: win^10 @T {name}.",
        )
    return None


def _miscounted(
    literal: BodyLiteral, predicates: Mapping[str, Predicate], file: str
) -> ProgramError | None:
    """Why a window cannot count what it says that it counts; it reads atoms of the stream."""
    if not isinstance(literal.window, CountingWindow) or not literal.window.counted:
        return None
    for atom in literal.window.counted:
        known = predicates.get(atom.predicate)
        if known is None:
            return UnsupportedProgram(
                atom.predicate,
                file,
                atom.place,
                "no rule reads such atoms, so nothing says how many arguments they have",
                f"Write {atom.predicate}(_,_), or say it in the front matter, under `atoms`.",
            )
        if known.origin != "stream":
            reason = f"tuples are events, and {known.name} {_PHRASES[known.origin]}"
            hint = "A window counts atoms of the stream."
            return UnsupportedProgram(str(atom), file, atom.place, reason, hint)
        if atom.arguments and len(atom.arguments) != known.arity:
            return ProgramSyntaxError(
                str(atom),
                file,
                atom.place,
                f"{len(atom.arguments)} arguments here, and {known.arity} at {known.place}",
                f"Write {known.name} alone for all its atoms.",
            )
    own = literal.atom.predicate
    if own not in {atom.predicate for atom in literal.window.counted}:
        return UnsupportedProgram(
            str(literal.window),
            file,
            literal.place,
            f"it does not count {own}, so that no {own} is in it",
            f"Add {own} to what it counts.",
        )
    return None


def _atoms(rules: RuleSet) -> Iterator[Atom]:
    """The atoms of a program: first the heads, then the others, both in the order of the text."""
    yield from (rule.head.atom for rule in rules.rules)
    bodies = (literal.atom for rule in rules.rules for literal in rule.literals)
    yield from sorted((*rules.facts, *bodies), key=lambda atom: atom.place)


def _counted(rules: RuleSet) -> Iterator[CountedAtom]:
    """The atoms that tuple windows count."""
    for rule in rules.rules:
        for literal in rule.literals:
            if isinstance(literal.window, CountingWindow):
                yield from literal.window.counted


def _check_case(predicates: Mapping[str, Predicate], file: str) -> None:
    """Refuse names that differ in case only: views, named after predicates, ignore case."""
    taken: dict[str, Predicate] = {}
    for predicate in predicates.values():
        if predicate.origin != "rules":
            continue
        other = taken.setdefault(predicate.name.lower(), predicate)
        if other is not predicate:
            raise UnsupportedProgram(
                predicate.name,
                file,
                predicate.place,
                f"it differs from {other.name} at {other.place} in case only",
                "Rename one: each has a view of its name, in which case does not matter.",
            )
