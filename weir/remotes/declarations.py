"""The declared remotes: `remotes.yml` as values, every mistake with its place.

A remote is what SERVICE names. Its answers are kept as a replica, which is refreshed as far as a
budget allows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from weir.definitions.front_matter import Duration
from weir.errors import ConfigurationError
from weir.files.text import read_text
from weir.files.yaml_file import DeclaredName, YamlFile
from weir.rdf.terms import check_term
from weir.remotes.names import EVERY, check_every
from weir.remotes.policies.policies import Policy
from weir.remotes.policies.policy_options import PolicyError
from weir.remotes.policies.policy_text import policy_of
from weir.sparql.frontend.rspql.durations import parse_duration
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
        if value is None:
            return None
        reason = check_term(f"<{value}>", "graph")
        parts = urlsplit(value)
        if reason is not None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(reason or "not an http or https IRI")
        parameters = (name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        if "@" in parts.netloc or any(is_secret(name) for name in parameters):
            raise ValueError("a secret does not belong here: name a `connection`")
        return value

    @field_validator("every")
    @classmethod
    def _is_positive(cls, value: str) -> str:
        check_every(value)
        return value

    @field_validator("allow")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for network in networks:
            ip_network(network)
        return networks

    @model_validator(mode="after")
    def _fits(self) -> Remote:
        ages = [
            duration and parse_duration(duration)
            for duration in (self.warn_after, self.error_after)
        ]
        if ages[0] and ages[1] and ages[0] > ages[1]:
            raise ValueError("`warn_after` is later than `error_after`")
        if self.min_fresh is not None and self.warn_after is None:
            raise ValueError("`min_fresh` needs `warn_after`, which says what is fresh")
        if parse_duration(self.pause) > _LONGEST_PAUSE:
            raise ValueError("`pause` is longer than a minute: let evaluations be rarer (`every`)")
        if self.explore >= self.budget.keys:
            raise ValueError("`explore` leaves no key of the budget for the policy")
        return self

    @property
    def term(self) -> str:
        """Its IRI in N-Triples form."""
        return f"<{self.iri}>"

    @property
    def every_us(self) -> int:
        """Microseconds between two evaluations."""
        return parse_duration(self.every)

    @property
    def keys_of_request(self) -> int:
        """Keys that are asked for at once; a document is searched for all of them."""
        return self.budget.keys if self.kind == "file" else self.batch_keys

    @property
    def rule(self) -> Policy:
        """Its policy.

        Raises:
            PolicyError: it cannot be read.
        """
        if isinstance(self.policy, str):
            return policy_of(self.policy)
        options = dict(self.policy)
        return policy_of(str(options.pop("name", "")), options)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    remotes: tuple[Remote, ...]


_ADAPTER = TypeAdapter(_File)


def load_remotes(file: Path) -> Mapping[str, Remote]:
    """The remotes that `file` declares, by IRI in N-Triples form; none if there is no such file.

    Raises:
        ConfigurationError: it is not YAML, or has a wrong key or value.
    """
    try:
        text = read_text(file)
    except FileNotFoundError:
        return {}
    return _declared(file, text)


@lru_cache(8)
def _declared(file: Path, text: str) -> Mapping[str, Remote]:
    read = YamlFile.of(file, text)
    if read.content is None:  # empty, or only comments
        return {}
    try:
        remotes: tuple[Remote, ...] = _ADAPTER.validate_python(read.content).remotes
    except ValidationError as error:
        raise read.mistake(error, _File) from None
    by_term: dict[str, Remote] = {}
    for index, remote in enumerate(remotes):
        _check_policy(remote, read, index)
        if remote.name in {earlier.name for earlier in by_term.values()}:
            where = read.place(["remotes", index, "name"])
            raise ConfigurationError(f"two remotes are named {remote.name}", where)
        if remote.term in by_term:
            where = read.place(["remotes", index, "iri"])
            raise ConfigurationError(f"two remotes are {remote.iri}", where)
        by_term[remote.term] = remote
    return by_term


def place_of_name(file: Path, name: str) -> str:
    """Where a file of remotes says the name of one."""
    names = [remote.name for remote in load_remotes(file).values()]
    read = YamlFile.of(file, read_text(file))
    return read.place(["remotes", names.index(name), "name"])


def _check_policy(remote: Remote, read: YamlFile, index: int) -> None:
    try:
        remote.rule  # noqa: B018  (raises)
    except PolicyError as error:
        option = [error.option] if error.option else []
        where = read.place(["remotes", index, "policy", *option])
        raise ConfigurationError(error.what, where, error.hint) from None
