"""The declared remotes: `remotes.yml` as values, every mistake with its place.

A remote is what SERVICE names. Its answers are kept as a replica, which is refreshed as far as a
budget allows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from weir.definitions.front_matter import Duration
from weir.errors import ConfigurationError
from weir.files.text import text_if_any
from weir.files.yaml_file import DeclaredName, Part, YamlFile
from weir.lake.tables import REPLICAS
from weir.rdf.terms import check_term
from weir.remotes.kept import Words
from weir.remotes.names import EVERY, check_every
from weir.remotes.policies.policies import Policy
from weir.remotes.policies.policy_options import PolicyError
from weir.remotes.policies.policy_text import policy_of
from weir.text.durations import parse_duration
from weir.text.secret_keys import is_secret

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kKMG]?)B")
_UNITS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}


def _size(value: object) -> object:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise ValueError("not a size such as 500kB or 20MB")
    return int(float(match[1]) * _UNITS[match[2]])


_LONGEST_PAUSE = 60_000_000
Size = Annotated[int, BeforeValidator(_size)]
"""Bytes; in the file a number, or a text such as 20MB."""


def check_address(iri: str) -> str:
    """The IRI of what is asked.

    Raises:
        ValueError: it is not an http or https IRI, or has a secret.
    """
    reason = check_term(f"<{iri}>", "graph")
    parts = urlsplit(iri)
    if reason is not None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(reason or "not an http or https IRI")
    parameters = (name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    if "@" in parts.netloc or any(is_secret(name) for name in parameters):
        raise ValueError("a secret does not belong here: name a `connection`")
    return iri


def check_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    """Networks that are asked although they are not public.

    Raises:
        ValueError: one is none.
    """
    for network in networks:
        ip_network(network)
    return networks


def check_ages(warn_after: str | None, error_after: str | None, min_fresh: float | None) -> None:
    """Check the limits of the age of answers.

    Raises:
        ValueError: they contradict each other.
    """
    warn, error = (age and parse_duration(age) for age in (warn_after, error_after))
    if warn and error and warn > error:
        raise ValueError("`warn_after` is later than `error_after`")
    if min_fresh is not None and warn_after is None:
        raise ValueError("`min_fresh` needs `warn_after`, which says what is fresh")


def declared_policy(policy: str | Mapping[str, Any]) -> Policy:
    """A policy as it is declared: its name, or its name and options.

    Raises:
        PolicyError: it cannot be read.
    """
    if isinstance(policy, str):
        return policy_of(policy)
    options = dict(policy)
    return policy_of(str(options.pop("name", "")), options)


def check_policy(policy: str | Mapping[str, Any], read: YamlFile, place: Sequence[Part]) -> None:
    """Check a policy, whose place in the file an error names.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        declared_policy(policy)
    except PolicyError as error:
        where = read.place([*place, error.option] if error.option else place)
        raise ConfigurationError(error.what, where, error.hint) from None


class Budget(BaseModel):
    """The most that one evaluation may spend on a remote; what is spent first ends it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keys: int = Field(50, ge=1, description="keys that are asked for")
    requests: int = Field(10, ge=1, description="requests that are sent")
    bytes: Size = Field(
        20_000_000,
        ge=10_000,
        description="bytes on the wire, both directions, headers included; at least 10kB",
    )
    seconds: float = Field(
        20,
        ge=1,
        le=3600,
        description="seconds that requests take, 1 to 3600; one gets at most half of them",
    )


class Remote(BaseModel):
    """A declared remote."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: DeclaredName = Field(description="name, unique among remotes and sources")
    iri: str = Field(description="what SERVICE names")
    kind: Literal["endpoint", "file"] = Field(
        "endpoint",
        description="`endpoint`: it is asked by the SPARQL protocol; `file`: an RDF document that"
        " is fetched once per evaluation and queried here",
    )
    url: str | None = Field(None, description="where it is asked or fetched; by default its IRI")
    connection: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.\-]+$",
        description="Airflow connection with user and password, or a token",
    )
    every: Duration = Field(EVERY, description="time between two evaluations")
    budget: Budget = Field(
        default_factory=lambda: Budget.model_validate({}),
        description="the most that an evaluation may spend; its keys are below",
    )
    policy: str | dict[str, Any] = Field(
        "LRU.F+",
        description="which keys are asked for first: a name, or {name: NAME} with its options",
    )
    batch_keys: int = Field(50, ge=1, le=1000, description="keys of one request")
    max_rows: int = Field(10_000, ge=1, description="mappings of one key; more are not taken")
    pause: Duration = Field("PT1S", description="time between two requests to it, at most PT1M")
    explore: int = Field(
        0, ge=0, description="keys of the budget that are drawn at random, to measure staleness"
    )
    warn_after: Duration | None = Field(None, description="age of the oldest key that is warned of")
    error_after: Duration | None = Field(None, description="age of the oldest key that is an error")
    min_fresh: float | None = Field(
        None, ge=0, le=1, description="least share of keys younger than `warn_after`"
    )
    keep_unused: Duration = Field(
        "P30D",
        description="age of the newest answer of a block at which its answers leave the graph if no"
        " query has the block any more",
    )
    contact: str = Field(
        min_length=3, description="who answers for the requests: an address in the User-Agent"
    )
    allow: tuple[str, ...] = Field(
        (), description="networks that are asked although they are not public: 127.0.0.1/32"
    )
    ports: tuple[int, ...] = Field((), description="ports beside 80 and 443")

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        # The view `replica_<remote>` would be that of the events of a stream.
        if name.endswith("_events"):
            raise ValueError("views of streams end in _events")
        return name

    @field_validator("iri", "url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        return None if value is None else check_address(value)

    @field_validator("every")
    @classmethod
    def _is_positive(cls, value: str) -> str:
        check_every(value)
        return value

    @field_validator("allow")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        return check_networks(networks)

    @model_validator(mode="after")
    def _fits(self) -> Remote:
        check_ages(self.warn_after, self.error_after, self.min_fresh)
        if parse_duration(self.pause) > _LONGEST_PAUSE:
            raise ValueError("`pause` is longer than a minute: let evaluations be rarer (`every`)")
        if self.explore >= self.budget.keys:
            raise ValueError("`explore` leaves no key of the budget for the policy")
        return self

    @property
    def term(self) -> str:
        """The IRI of the remote in N-Triples form."""
        return f"<{self.iri}>"

    @property
    def every_us(self) -> int:
        """Microseconds between two evaluations."""
        return parse_duration(self.every)

    @property
    def inbox(self) -> str:
        """The table of its rounds."""
        return REPLICAS.name(self.name)

    @property
    def place(self) -> str:
        """Who is asked, for people."""
        return self.iri

    @property
    def address(self) -> str:
        """What stands for the URL and the connection by which it is asked; shows neither."""
        text = json.dumps([self.url or self.iri, self.connection])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def words(self) -> Words:
        """How reasons speak of its keys."""
        return Words(
            "key",
            "endpoint",
            f"had more mappings than `max_rows` ({self.max_rows:,}) and kept what they had:"
            " raise it, or narrow the block",
            "came back empty at once and kept what they had:"
            " the next evaluation has to say the same",
        )

    @property
    def keys_of_request(self) -> int:
        """Keys that are asked for at once; a document is searched for all of them."""
        return self.budget.keys if self.kind == "file" else self.batch_keys

    @property
    def rule(self) -> Policy:
        """The parsed policy of the remote.

        Raises:
            PolicyError: it cannot be read.
        """
        return declared_policy(self.policy)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    remotes: tuple[Remote, ...]


def load_remotes(file: Path) -> Mapping[str, Remote]:
    """The remotes that `file` declares, by IRI in N-Triples form; none if there is no such file.

    Raises:
        ConfigurationError: it is not YAML, or has a wrong key or value.
    """
    return _declared(file, text_if_any(file))


@lru_cache(8)
def _declared(file: Path, text: str) -> Mapping[str, Remote]:
    read = YamlFile.of(file, text)
    if read.content is None:  # no file, an empty one, or only comments
        return {}
    by_term: dict[str, Remote] = {}
    for index, remote in enumerate(read.validated(_File).remotes):
        check_policy(remote.policy, read, ["remotes", index, "policy"])
        if remote.name in {earlier.name for earlier in by_term.values()}:
            where = read.place(["remotes", index, "name"])
            raise ConfigurationError(f"two remotes are named {remote.name}", where)
        if remote.term in by_term:
            where = read.place(["remotes", index, "iri"])
            raise ConfigurationError(f"two remotes are {remote.iri}", where)
        by_term[remote.term] = remote
    return by_term
