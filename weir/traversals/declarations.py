"""The declared traversals: `traversals.yml` as values, every mistake with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from weir.definitions.front_matter import Duration
from weir.errors import ConfigurationError
from weir.files.text import text_if_any
from weir.files.yaml_file import DeclaredName, YamlFile
from weir.lake.tables import DOCUMENTS
from weir.remotes.declarations import (
    Size,
    check_address,
    check_ages,
    check_networks,
    check_policy,
    declared_policy,
)
from weir.remotes.kept import Words
from weir.remotes.names import check_every
from weir.remotes.policies.policies import Policy
from weir.sparql.algebra.paths import Closure, Inverse, Link
from weir.sparql.algebra.paths import Path as PropertyPath
from weir.sparql.algebra.patterns import PathPattern, Project
from weir.sparql.algebra.queries import Select
from weir.sparql.frontend.errors import QueryError
from weir.text.durations import parse_duration
from weir.traversals.names import EVERY
from weir.traversals.rules import Match, Rules

Follow = Literal["match", "all", "none"]


class TraversalLimits(BaseModel):
    """What bounds the dataset; a budget bounds an evaluation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    depth: int = Field(20, ge=0, description="links from a seed to a document")
    documents: int = Field(100_000, ge=1, le=1_000_000, description="documents in all")
    per_host: int = Field(10_000, ge=1, description="documents of one host")
    document_bytes: Size = Field(2_000_000, ge=1_000, description="bytes of a document, decoded")


class TraversalBudget(BaseModel):
    """The most that one evaluation may spend; what is spent first ends it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: int = Field(1_000, ge=1, description="requests that are sent")
    bytes: Size = Field(50_000_000, ge=10_000, description="bytes on the wire, both directions")
    seconds: float = Field(
        300, ge=1, le=3600, description="seconds that requests take, and that it lasts"
    )


class SeedsOfQuery(BaseModel):
    """The IRIs in the answer of a query."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str = Field(description="name of the query, which must not read the traversal")


class Traversal(BaseModel):
    """A declared traversal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: DeclaredName = Field(description="name, unique among traversals, remotes and sources")
    seeds: SeedsOfQuery | tuple[str, ...] = Field(
        (),
        description="IRIs from which links are followed; or {query: NAME} for those in its answer",
    )
    follow: Follow | tuple[str, ...] = Field(
        "match",
        description="`match`: the IRIs that stand for variables in triples that match a pattern of"
        " a query over the traversal; `all`; `none`: the seeds alone; or predicates, `^` for those"
        " whose subjects are followed, and paths from the seeds",
    )
    queries: tuple[str, ...] | None = Field(
        None, description="for `match`: the queries whose patterns count; default: all that read it"
    )
    hosts: tuple[str, ...] | Literal["any"] | None = Field(
        None,
        description="hosts that are asked, `*.example.org` for all below; `any`; default:"
        " those of the seeds",
    )
    limits: TraversalLimits = Field(
        default_factory=lambda: TraversalLimits.model_validate({}),
        description="of the dataset; its keys are below",
    )
    budget: TraversalBudget = Field(
        default_factory=lambda: TraversalBudget.model_validate({}),
        description="the most that an evaluation may spend; its keys are below",
    )
    every: Duration = Field(EVERY, description="time between two evaluations")
    policy: str | dict[str, Any] = Field(
        "LRU", description="which documents are asked for first: as in remotes.yml"
    )
    pause: Duration = Field("PT0.1S", description="time between two requests to one host")
    contact: str = Field(
        min_length=3, description="who answers for the requests: an address in the User-Agent"
    )
    connection: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.\-]+$",
        description="Airflow connection with user and password, or a token, for the origins of the"
        " declared seeds",
    )
    allow: tuple[str, ...] = Field(
        (), description="networks that are asked although they are not public: 127.0.0.1/32"
    )
    ports: tuple[int, ...] = Field((), description="ports beside 80 and 443")
    robots: bool = Field(True, description="whether robots.txt of each host is obeyed")
    statements: Literal["all", "authoritative"] = Field(
        "all", description="`authoritative`: only triples whose subject the document describes"
    )
    ignore: tuple[str, ...] = Field((), description="predicates whose triples are left out")
    hints: tuple[str, ...] = Field(
        (),
        description="predicates, such as dct:modified: a document is not asked for while another"
        " one of its origin that is up to date states the same of it, at most for `recheck_after`",
    )
    formats: tuple[Literal["html"], ...] = Field(
        (), description="`html`: JSON-LD in pages is read, too"
    )
    contexts: dict[str, Path] = Field(
        default_factory=dict, description="files of the remote contexts of JSON-LD, by IRI"
    )
    epoch_per: Literal["round", "document"] = Field(
        "round", description="whether each round, or each document, is an epoch"
    )
    keep_unreachable: Duration = Field(
        "P1D", description="time for which a document stays that no link leads to any more"
    )
    gone_after: int = Field(2, ge=1, description="answers 404 in a row that are believed")
    recheck_after: Duration = Field(
        "P7D", description="longest time for which a document is not asked for again"
    )
    redirect_ttl: Duration = Field(
        "P1D", description="time for which a redirect is not asked for again"
    )
    warn_after: Duration | None = Field(None, description="age of the oldest document to warn of")
    error_after: Duration | None = Field(None, description="age of the oldest document: an error")
    min_fresh: float | None = Field(
        None, ge=0, le=1, description="least share of documents younger than `warn_after`"
    )

    @field_validator("seeds")
    @classmethod
    def _are_addresses(cls, seeds: SeedsOfQuery | tuple[str, ...]) -> Any:
        return seeds if isinstance(seeds, SeedsOfQuery) else tuple(map(check_address, seeds))

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
    def _fits(self) -> Traversal:
        if not self.seeds and self.follow != "match":
            raise ValueError("it has no `seeds`; only `follow: match` has those of the queries")
        if self.queries is not None and self.follow != "match":
            raise ValueError("`queries` goes with `follow: match`")
        if self.connection is not None and not self.own_seeds:
            raise ValueError("`connection` is for the origins of declared `seeds`; there are none")
        check_ages(self.warn_after, self.error_after, self.min_fresh)
        return self

    @property
    def every_us(self) -> int:
        """Microseconds between two evaluations."""
        return parse_duration(self.every)

    @property
    def seed_query(self) -> str | None:
        """The query whose answer has the seeds; None if they are declared."""
        return self.seeds.query if isinstance(self.seeds, SeedsOfQuery) else None

    @property
    def own_seeds(self) -> tuple[str, ...]:
        """The seeds that are declared."""
        return () if isinstance(self.seeds, SeedsOfQuery) else self.seeds

    @property
    def inbox(self) -> str:
        """The table of its rounds."""
        return DOCUMENTS.name(self.name)

    @property
    def place(self) -> str:
        """Where it begins, for people."""
        if self.seed_query is not None:
            return f"the IRIs in the answer of {self.seed_query}"
        if not self.own_seeds:
            return "the IRIs of its queries"
        first, more = ", ".join(self.own_seeds[:3]), len(self.own_seeds) - 3
        return f"{first} and {more:,} more" if more > 0 else first

    @property
    def address(self) -> str:
        """Empty: what a host wants holds for all connections."""
        return ""

    @property
    def words(self) -> Words:
        """How reasons speak of its documents."""
        size = self.limits.document_bytes
        return Words(
            "document",
            "seeds",
            f"were larger than `document_bytes` ({size:,}): raise it, or do not follow their links",
            "were said to be gone and are kept: the next evaluation has to say the same",
        )

    @property
    def rule(self) -> Policy:
        """Its policy.

        Raises:
            PolicyError: it cannot be read.
        """
        return declared_policy(self.policy)

    def rules(self, prefixes: Mapping[str, str], matches: Sequence[Match] = ()) -> Rules:
        """What is followed.

        Args:
            prefixes: of the file.
            matches: for `match`, the patterns of the queries over it.

        Raises:
            ValueError: a path is none.
        """
        if self.follow == "match":
            return Rules(matches=tuple(matches))
        if self.follow in ("all", "none"):
            return Rules(every=self.follow == "all")
        paths = [path_of(text, prefixes) for text in self.follow]
        forward = {path.predicate for path in paths if isinstance(path, Link)}
        backward = {
            path.path.predicate
            for path in paths
            if isinstance(path, Inverse) and isinstance(path.path, Link)
        }
        others = [path for path in paths if not _is_predicate(path)]
        return Rules(False, (), frozenset(forward), frozenset(backward), tuple(others))


def _is_predicate(path: PropertyPath) -> bool:
    match path:
        case Link() | Inverse(Link()):
            return True
        case _:
            return False


def path_of(text: str, prefixes: Mapping[str, str]) -> PropertyPath:
    """A property path of SPARQL.

    Raises:
        ValueError: it is none.
    """
    # Most runs read no path, and rdflib's grammar takes its time to import.
    from weir.sparql.frontend.translate import translate

    prologue = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in prefixes.items())
    try:
        # In a closure no part of a path becomes a triple pattern.
        query = translate(f"{prologue}SELECT * {{ ?s ({text})* ?o }}")
    except QueryError as error:
        raise ValueError(
            f"{text!r} is no property path: {error.construct}: {error.reason}"
        ) from None
    match query.form:
        case Select(pattern=Project(pattern=PathPattern(path=Closure(path, 0)))):
            return path
        case _:
            raise ValueError(f"{text!r} is no property path")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prefixes: dict[str, str] = Field(default_factory=dict)
    traversals: tuple[Traversal, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared traversal, and what its file says of all."""

    traversal: Traversal
    prefixes: Mapping[str, str]

    def rules(self, matches: Sequence[Match] = ()) -> Rules:
        """What is followed; `matches` are the patterns of the queries over it, for `match`."""
        return self.traversal.rules(self.prefixes, matches)

    def hints(self) -> frozenset[str]:
        """The predicates of its `hints`, in N-Triples form.

        Raises:
            ValueError: one is no predicate.
        """
        paths = {text: path_of(text, self.prefixes) for text in self.traversal.hints}
        for text, path in paths.items():
            if not isinstance(path, Link):
                raise ValueError(f"{text!r} is no predicate")
        return frozenset(path.predicate for path in paths.values() if isinstance(path, Link))


def load_traversals(file: Path) -> Mapping[str, Declared]:
    """The traversals that `file` declares, by name; none if there is no such file.

    Raises:
        ConfigurationError: it is not YAML, or has a wrong key or value.
    """
    return _declared(file, text_if_any(file))


@lru_cache(8)
def _declared(file: Path, text: str) -> Mapping[str, Declared]:
    read = YamlFile.of(file, text)
    if read.content is None:  # no file, an empty one, or only comments
        return {}
    content = read.validated(_File)
    read.check_names("traversals", [traversal.name for traversal in content.traversals])
    by_name: dict[str, Declared] = {}
    for index, traversal in enumerate(content.traversals):
        declared = Declared(traversal, content.prefixes)
        for key, check in (("follow", declared.rules), ("hints", declared.hints)):
            try:
                check()
            except ValueError as error:
                where = read.place(["traversals", index, key])
                raise ConfigurationError(f"{key}: {error}", where) from None
        check_policy(traversal.policy, read, ["traversals", index, "policy"])
        by_name[traversal.name] = declared
    return by_name
