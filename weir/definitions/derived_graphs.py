"""Derived graphs: what a definition with the key `graph` gives, and which ones another one reads.

A reader names them by `reads`, in FROM, or in GRAPH. The rest of the dataset does not have them:
neither the union of all graphs, nor `GRAPH ?g`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

from weir.definitions.definition import Definition
from weir.definitions.derived_keys import REWRITTEN, RULE_SETS
from weir.definitions.fingerprint import fingerprint
from weir.definitions.names import Declaration
from weir.definitions.plan_body import logs_of
from weir.errors import ConfigurationError
from weir.plan.scope import Scope
from weir.rdf.terms import TermError, iri_term
from weir.text.near import enumerated, meant


@dataclass(frozen=True, slots=True)
class Unusable:
    """A file with an error, which may give a graph that others read, or guard the graph.

    Attributes:
        name: of what it declares.
        error: the first one.
        graph: the IRI that its front matter names, in N-Triples form; None if it names none.
        rules: the rule set that its front matter names; None if it names none.
        has_door: whether its front matter has one.
    """

    name: str
    error: ConfigurationError
    graph: str | None = None
    rules: str | None = None
    has_door: bool = False

    @classmethod
    def of(cls, declaration: Declaration, error: ConfigurationError) -> Self:
        """That of a declaration."""
        try:
            text = declaration.read().decode(errors="replace")
        except ConfigurationError:
            return cls(declaration.name, error)
        comment = declaration.kind.comment
        said, rules = _said(text, comment, "graph"), _said(text, comment, "rules")
        graph = None
        with suppress(TermError):
            graph = None if said is None else iri_term(said)
        has_door = _said(text, comment, "door") is not None
        return cls(declaration.name, error, graph, rules, has_door)


class DerivedGraphs:
    """The derived graphs of a project.

    Args:
        definitions: all that are declared without an error.
        unusable: the other files.
    """

    def __init__(
        self, definitions: Iterable[Definition], unusable: Sequence[Unusable] = ()
    ) -> None:
        self._unusable = unusable
        self._by_name = {one.name: one for one in definitions}
        self._givers: dict[str, list[Definition]] = {}
        for one in self._by_name.values():
            if one.graph is not None:
                self._givers.setdefault(one.graph, []).append(one)

    def check_giver(self, giver: Definition) -> None:
        """Check that no other definition gives the graph that one gives.

        Raises:
            ConfigurationError: another one does; with the line.
        """
        others = [one for one in self._givers.get(giver.graph or "", ()) if one.name != giver.name]
        if others:
            # None of them is taken: which one its readers mean, nobody knows.
            raise ConfigurationError(
                f"{' and '.join(one.file.name for one in others)} gives the graph {giver.graph}"
                " too",
                place_of_key(giver, "graph"),
                "Give one of the graphs another name.",
            )

    def named_by(self, reader: Definition) -> Mapping[str, Sequence[Definition]]:
        """The derived graphs that a definition names by their IRIs, with those that give them.

        Raises:
            ConfigurationError: it asks for the names of graphs with FROM NAMED, of which one is
                derived.
        """
        named: dict[str, Sequence[Definition]] = {}
        for scope in dict.fromkeys(seed.scope for seed in reader.body.seeds):
            for graph in scope.graphs or ():
                if graph not in self._givers:
                    self._check_usable(reader, str(reader.file), graph=graph)
                    continue
                if scope.each:
                    raise ConfigurationError(
                        f"GRAPH with a variable does not read the derived graph {graph}",
                        str(reader.file),
                        f"Write GRAPH {graph}, and leave FROM NAMED {graph} out.",
                    )
                named[graph] = self._givers[graph]
        return named

    def read_by(self, reader: Definition) -> Mapping[str, Definition]:
        """The definitions whose graphs one reads by its keys, by names or names of rule sets.

        Raises:
            ConfigurationError: there is none of a name, or it gives no graph; with the line.
        """
        scopes = [seed.scope for seed in reader.body.seeds]
        names = dict.fromkeys(name for scope in scopes for name in scope.derived)
        return {name: self._giver(reader, name) for name in names}

    def _giver(self, reader: Definition, name: str) -> Definition:
        if name in RULE_SETS:
            return self._of_rules(reader, name)
        one = self._by_name.get(name)
        if one is not None and one.graph is not None:
            return one
        place = _place_of(reader, name)
        self._check_usable(reader, place, name=name)
        known = sorted(name for name, other in self._by_name.items() if other.graph is not None)
        why = "there is no such definition" if one is None else f"{one.file.name} gives none"
        near = [*known, REWRITTEN, *RULE_SETS] if place != place_of_key(reader, "reads") else known
        hint = (
            f"{meant(name, near)}There are: {enumerated(known)}."
            if known
            else f"{meant(name, near)}A CONSTRUCT query with `graph: IRI` in its front matter gives"
            " one."
        )
        raise ConfigurationError(f"there is no derived graph {name}: {why}", place, hint)

    def _check_usable(self, reader: Definition, place: str, **said: str) -> None:
        """Check that no file with an error says what a reader reads.

        To read something else, or nothing, until it is corrected would change the answer.

        Raises:
            ConfigurationError: one does.
        """
        for one in self._unusable:
            if one.name != reader.name and all(getattr(one, key) == said[key] for key in said):
                raise with_error(one.name, "graph", one.error, place)

    def _of_rules(self, reader: Definition, rules: str) -> Definition:
        """The one program with a rule set."""
        givers = [one for one in self._by_name.values() if one.rules == rules]
        place = place_of_key(reader, "entailment")
        if len(givers) == 1:
            _check_same_graphs(reader, rules, givers[0], place)
            return givers[0]
        if givers:
            files = " and ".join(one.file.name for one in givers)
            raise ConfigurationError(
                f"entailment: {files} both have `rules: {rules}`",
                place,
                f"Write the name of one: entailment: {givers[0].name}.",
            )
        self._check_usable(reader, place, rules=rules)
        raise ConfigurationError(
            f"entailment: no program has `rules: {rules}`, which derives what follows, once for all"
            " its readers",
            place,
            f"Write programs/{rules.replace('-', '_')}.lars with two lines: `%+ rules: {rules}` and"
            " `%+ graph: IRI`.",
        )


def _check_same_graphs(reader: Definition, rules: str, giver: Definition, place: str) -> None:
    """Check that what follows, follows from the graphs that a reader reads.

    Raises:
        ConfigurationError: it follows from others.
    """
    (own,) = {seed.scope.graphs for seed in giver.body.seeds}
    for scope in dict.fromkeys(seed.scope for seed in reader.body.seeds):
        if rules in scope.derived and scope.graphs != own:
            raise ConfigurationError(
                f"entailment: {rules} is of {replace(scope, derived=()).name}, and"
                f" {giver.file.name} derives what follows from {Scope(own).name}",
                place,
                f"Read the same: leave FROM out, or change default_graph. Or write reads:"
                f" [{giver.name}], which merges both.",
            )


def with_error(giver: str, what: str, error: ConfigurationError, place: str) -> ConfigurationError:
    """What is wrong with a reader of a definition that has an error.

    Args:
        giver: the name of that definition.
        what: stream or graph.
        error: that error.
        place: where it is read.
    """
    return ConfigurationError(
        f"the query {giver}, whose {what} it reads, has an error: {error.what}",
        place,
        f"Correct {giver} first.",
    )


def over_derived(
    reader: Definition, named: Mapping[str, str], givers: Sequence[Definition]
) -> Definition:
    """A definition that reads derived graphs.

    Args:
        reader: the definition, as its file alone says it.
        named: what it names by something else than their names, by IRIs or the rules that they
            have, with the names of the definitions.
        givers: all whose graphs it reads.
    """
    own, body = reader.fingerprint, reader.body.over(named)
    return replace(
        reader,
        body=body,
        reads=logs_of(seed.scope for seed in body.seeds),
        fingerprint=fingerprint([own, [*sorted(named)]]) if named else own,
        derived=tuple(givers),
    )


def _place_of(reader: Definition, name: str) -> str:
    """Where a definition names a derived graph by a key."""
    place = place_of_key(reader, "reads")
    entailed = place_of_key(reader, "entailment")
    lines = reader.text.splitlines()
    number = entailed.rpartition(":")[2]
    is_entailed = number.isdecimal() and lines[int(number) - 1].split(":")[1].strip() == name
    return entailed if is_entailed else place


def place_of_key(definition: Definition, key: str) -> str:
    """The file and the line of a key of its front matter, or the file alone."""
    for number, _ in _lines_of(definition.text, definition.kind.comment, key):
        return f"{definition.file}:{number}"
    return str(definition.file)


def _said(text: str, comment: str, key: str) -> str | None:
    """What the front matter of a text says of a key; the rest of it need not be right."""
    return next((value.strip("'\"") for _, value in _lines_of(text, comment, key)), None)


def _lines_of(text: str, comment: str, key: str) -> Iterator[tuple[int, str]]:
    """The lines of a key of the front matter: the number and the value."""
    mark = f"{comment}+"
    for number, line in enumerate(text.splitlines(), start=1):
        said, _, value = line.removeprefix(mark).partition(":")
        if line.startswith(mark) and said.strip() == key:
            yield number, value.partition(" #")[0].strip()
