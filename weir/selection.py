"""Which definitions a command is about: names, patterns, and what is said of them, as in dbt.

    --select 'room_*' --select tag:museum,state:behind --exclude owner:ana

What any `--select` names is selected, without what any `--exclude` names. Within one, criteria that
are separated by spaces are alternatives; those separated by commas must hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, get_args

from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.pending import Pending, State
from weir.remotes.readiness import is_edited
from weir.settings import Channel
from weir.text.near import meant


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition, and what it can be selected by.

    Attributes:
        name: its name.
        kind: what its file declares: query or program.
        owner: as its front matter says.
        tags: as its front matter says.
        states: its state, and `modified` if what is stored is of another text.
    """

    name: str
    kind: str
    owner: str = ""
    tags: tuple[str, ...] = ()
    states: frozenset[str] = frozenset()


_METHODS: Final[Mapping[str, Callable[[Candidate], Iterable[str]]]] = {
    "kind": lambda candidate: (candidate.kind,),
    "name": lambda candidate: (candidate.name,),
    "owner": lambda candidate: (candidate.owner,) if candidate.owner else (),
    "state": lambda candidate: candidate.states,
    "tag": lambda candidate: candidate.tags,
}
_STATES = (*get_args(State), "modified")


def selected(
    candidates: Sequence[Candidate], select: Sequence[str] = (), exclude: Sequence[str] = ()
) -> list[str]:
    """The names of the selected candidates, in their order; of all, if nothing is named.

    Args:
        candidates: all definitions.
        select: the values of `--select`.
        exclude: the values of `--exclude`.

    Raises:
        ConfigurationError: a value cannot be understood, or nothing is like it.
    """
    chosen = _named(candidates, "--select", select) if select else {c.name for c in candidates}
    left_out = _named(candidates, "--exclude", exclude)
    return [c.name for c in candidates if c.name in chosen and c.name not in left_out]


def names_of(
    pending: Pending, states: Mapping[str, str], select: Sequence[str], exclude: Sequence[str]
) -> list[str]:
    """The names of the selected definitions, in order.

    Args:
        pending: of the project.
        states: of the definitions that there are to select from, by name.
        select: values of `--select`.
        exclude: values of `--exclude`.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    edited = {m.name for m in pending.catalog.members if is_edited(m, pending.completion)}
    with_edits = {
        name: {state, "modified"} if name in edited else {state} for name, state in states.items()
    }
    return selected(candidates(pending.catalog, with_edits), select, exclude)


def candidates(catalog: Catalog, states: Mapping[str, Collection[str]]) -> list[Candidate]:
    """What there is to select from.

    Args:
        catalog: says the kind, the owner and the tags of definitions.
        states: those of each definition, by name; its file may be gone.
    """
    kinds = {declared.name: declared.kind.name for declared in catalog.declarations}
    members = {member.name: member for member in catalog.members}
    listed = []
    for name, own in sorted(states.items()):
        member = members.get(name)
        owner, tags = ("", ()) if member is None else (member.owner, member.tags)
        listed.append(Candidate(name, kinds.get(name, ""), owner, tags, frozenset(own)))
    return listed


def queries_of(channel: Channel, place: str, catalog: Catalog) -> list[str]:
    """The queries that a channel is notified of.

    Args:
        channel: of notifications.
        place: where it is declared, for errors.
        catalog: has the definitions.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    listed = candidates(catalog, dict.fromkeys(catalog.names, ()))
    try:
        return selected(listed, channel.select)
    except ConfigurationError as error:
        raise ConfigurationError(error.what, f"{place}.select", error.hint) from error


def _named(candidates: Sequence[Candidate], option: str, values: Sequence[str]) -> set[str]:
    names: set[str] = set()
    for value in values:
        alternatives = value.split()
        if not alternatives:
            raise ConfigurationError("nothing is named", option, _HINT)
        for alternative in alternatives:
            together = {candidate.name for candidate in candidates}
            for criterion in alternative.split(","):
                together &= _matching(candidates, option, criterion)
            names |= together
    return names


def _matching(candidates: Sequence[Candidate], option: str, criterion: str) -> set[str]:
    method, colon, pattern = criterion.partition(":")
    if not colon:
        method, pattern = "name", criterion
    if method not in _METHODS:
        known = f"{meant(method, _METHODS)}{_HINT}"
        raise ConfigurationError(f"{criterion}: there is no method {method}", option, known)
    values_of = _METHODS[method]
    names = {c.name for c in candidates if any(fnmatchcase(v, pattern) for v in values_of(c))}
    known_values = sorted({value for c in candidates for value in values_of(c)})
    # That nothing is in a state is no mistake.
    is_known = pattern in _STATES if method == "state" else bool(names)
    if not is_known and not names:
        known_values = list(_STATES) if method == "state" else known_values
        shown = ", ".join(known_values[:_MOST]) or "none"
        more = len(known_values) - _MOST
        listed = f"{shown}, and {more:,} more" if more > 0 else shown
        raise ConfigurationError(
            f"{criterion}: nothing is selected",
            option,
            f"{meant(pattern, known_values)}Known for `{method}:`: {listed}.",
        )
    return names


_MOST = 20
"""Values that a message lists."""
_HINT = f"Write a name, a pattern such as 'room_*', or a method: {', '.join(_METHODS)}."
