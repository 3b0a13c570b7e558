"""Derived graphs: what a definition with the key `graph` gives, and which ones another one reads.

A reader names them by `reads`, in FROM, or in GRAPH. The rest of the dataset does not have them:
neither the union of all graphs, nor `GRAPH ?g`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from weir.definitions.definition import Definition
from weir.definitions.derived_keys import RULE_SETS
from weir.definitions.fingerprint import fingerprint
from weir.definitions.plan_body import logs_of
from weir.errors import ConfigurationError
from weir.text.near import enumerated, meant


class DerivedGraphs:
    """The derived graphs of a project.

    Args:
        definitions: all that are declared without an error.
    """

    def __init__(self, definitions: Iterable[Definition]) -> None:
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
        known = sorted(name for name, other in self._by_name.items() if other.graph is not None)
        why = "there is no such definition" if one is None else f"{one.file.name} gives none"
        hint = (
            f"{meant(name, known)}There are: {enumerated(known)}."
            if known
            else "A CONSTRUCT query with `graph: IRI` in its front matter gives one."
        )
        raise ConfigurationError(
            f"there is no derived graph {name}: {why}", _place_of(reader, name), hint
        )

    def _of_rules(self, reader: Definition, rules: str) -> Definition:
        """The one program with a rule set."""
        givers = [one for one in self._by_name.values() if one.rules == rules]
        if len(givers) == 1:
            return givers[0]
        place = place_of_key(reader, "entailment")
        if givers:
            files = " and ".join(one.file.name for one in givers)
            raise ConfigurationError(
                f"entailment: {files} both have `rules: {rules}`",
                place,
                f"Write the name of one: entailment: {givers[0].name}.",
            )
        raise ConfigurationError(
            f"entailment: no program has `rules: {rules}`, which derives what follows, once for all"
            " its readers",
            place,
            f"Write programs/{rules.replace('-', '_')}.lars with two lines: `%+ rules: {rules}` and"
            " `%+ graph: IRI`.",
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

    Raises:
        ConfigurationError: it is one that cannot read them.
    """
    if reader.axis.windows:
        raise ConfigurationError(
            f"a query with windows does not read derived graphs, as that of {givers[0].name}",
            str(reader.file),
            "Read it in a query without windows.",
        )
    if reader.door is not None:
        raise ConfigurationError(
            f"a report with a door does not read derived graphs, as that of {givers[0].name}: what"
            " a change set will add to them is not known before it is taken",
            reader.door.place,
            "Write `gate` instead, which holds answers.",
        )
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
    mark = f"{definition.kind.comment}+"
    for number, line in enumerate(definition.text.splitlines(), start=1):
        if line.startswith(mark) and line.removeprefix(mark).strip().startswith(f"{key}:"):
            return f"{definition.file}:{number}"
    return str(definition.file)
