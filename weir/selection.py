"""Which definitions a command is about: names, patterns, and what is said of them, as in dbt.

    --select 'room_*' --select tag:museum,state:behind --exclude owner:ana

What any `--select` names is selected, without what any `--exclude` names. Within one, criteria that
are separated by spaces are alternatives; those separated by commas must hold together. A criterion
with `+` before it also names the definitions whose streams or graphs those that it names read, and
with `+` behind it those that read theirs, also by others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, get_args

from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.ingest.sources.declared import load_sources
from weir.pending import Pending, State
from weir.project import Project
from weir.remotes.readiness import is_edited
from weir.settings import CONFIG_FILE, Settings
from weir.text.near import enumerated, meant
from weir.timeline.stream_names import streams_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition, and what it can be selected by.

    Attributes:
        name: its name.
        kind: what its file declares: query, program or shapes.
        owner: as its front matter says.
        tags: as its front matter says.
        states: its state, and `modified` if what is stored is of another text.
        sources: the sources that it reads: those of its streams, and all of the graph if it reads
            the graph.
        upstreams: the definitions whose streams or graphs it reads.
    """

    name: str
    kind: str
    owner: str = ""
    tags: tuple[str, ...] = ()
    states: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    upstreams: tuple[str, ...] = ()


_METHODS: Final[Mapping[str, Callable[[Candidate], Iterable[str]]]] = {
    "kind": lambda candidate: (candidate.kind,),
    "name": lambda candidate: (candidate.name,),
    "owner": lambda candidate: (candidate.owner,) if candidate.owner else (),
    "source": lambda candidate: candidate.sources,
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
    return names_in(pending.settings, pending.catalog, with_edits, select, exclude)


def declared_names_of(
    project: Project, catalog: Catalog, select: Sequence[str], exclude: Sequence[str]
) -> list[str]:
    """The names of the selected definitions of those that are declared, in order.

    The lake is read only if a criterion is about states.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    if _is_named("state", (*select, *exclude)):
        pending = Pending(project)
        states = {name: state.state for name, state in pending.definitions.items()}
        return names_of(pending, states, select, exclude)
    names = [declared.name for declared in catalog.declarations]
    return names_in(project.settings, catalog, dict.fromkeys(names, ()), select, exclude)


def names_in(
    settings: Settings,
    catalog: Catalog,
    states: Mapping[str, Collection[str]],
    select: Sequence[str],
    exclude: Sequence[str] = (),
) -> list[str]:
    """The names of the selected definitions, in order.

    Args:
        settings: of the project.
        catalog: says the kind, the owner and the tags of definitions, and what they read.
        states: those of each definition, by name; its file may be gone.
        select: values of `--select`.
        exclude: values of `--exclude`.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it; or one names a
            source, and the file of sources is wrong.
    """
    of_graph: tuple[str, ...] = ()
    if _is_named("source", (*select, *exclude)):
        sources = load_sources(settings.sources)
        of_graph = tuple(source.name for source in sources if source.stream is None)
    # A space in a selection means "or".
    kinds = {one.name: one.kind.name.partition(" ")[0] for one in catalog.declarations}
    members = {member.name: member for member in catalog.members}
    candidates = []
    for name, own in sorted(states.items()):
        candidate = Candidate(name, kinds.get(name, ""), states=frozenset(own))
        if (member := members.get(name)) is not None:
            candidate = replace(
                candidate,
                owner=member.owner,
                tags=member.tags,
                sources=(*streams_of(member.axis), *(of_graph if member.reads else ())),
                upstreams=member.upstreams,
            )
        candidates.append(candidate)
    return selected(candidates, select, exclude)


def queries_of(channel: str, settings: Settings, catalog: Catalog) -> list[str]:
    """The queries that a channel is notified of.

    Args:
        channel: its name.
        settings: of the project, which declare it.
        catalog: has the definitions.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    select = settings.notify[channel].select
    try:
        return names_in(settings, catalog, dict.fromkeys(catalog.names, ()), select)
    except ConfigurationError as error:
        place = f"{settings.project / CONFIG_FILE}: notify.{channel}.select"
        raise ConfigurationError(error.what, place, error.hint) from error


def _is_named(method: str, values: Iterable[str]) -> bool:
    """Whether a criterion of some values is of a method."""
    criteria = (criterion for value in values for criterion in re.split(r"[\s,]", value))
    return any(criterion.removeprefix("+").startswith(f"{method}:") for criterion in criteria)


def _named(candidates: Sequence[Candidate], option: str, values: Sequence[str]) -> set[str]:
    names: set[str] = set()
    for value in values:
        alternatives = value.split()
        if not alternatives:
            raise ConfigurationError("nothing is named", option, _HINT)
        for alternative in alternatives:
            together = {candidate.name for candidate in candidates}
            for criterion in alternative.split(","):
                together &= _with_relatives(candidates, option, criterion)
            names |= together
    return names


def _with_relatives(candidates: Sequence[Candidate], option: str, criterion: str) -> set[str]:
    """What a criterion names, with `+` before or behind it with what is up- or downstream."""
    names = _matching(candidates, option, criterion.removeprefix("+").removesuffix("+"))
    upstreams = {candidate.name: {*candidate.upstreams} for candidate in candidates}
    related = {*names}
    if criterion.startswith("+"):
        related |= _reached(names, upstreams)
    if criterion.endswith("+"):
        readers = {
            name: {reader for reader, read in upstreams.items() if name in read}
            for name in upstreams
        }
        related |= _reached(names, readers)
    return related


def _reached(names: Collection[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    """The names that edges lead to from some names, also by others."""
    reached: set[str] = set()
    open_ = [*names]
    while open_:
        new = {*edges.get(open_.pop(), ())} - reached
        reached |= new
        open_ += new
    return reached


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
        raise ConfigurationError(
            f"{criterion}: nothing is selected",
            option,
            f"{meant(pattern, known_values)}Known for `{method}:`: {enumerated(known_values)}.",
        )
    return names


_HINT = f"Write a name, a pattern such as 'room_*', or a method: {', '.join(_METHODS)}."
