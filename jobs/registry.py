"""The registered queries: `queries/*.rq`, SPARQL with a `#+` YAML front matter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jobs.errors import ConfigurationError
from jobs.sparql.algebra import Query


class FrontMatter(BaseModel):
    """What the `#+` lines of a query file may say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str = Field("", description="what the query is for, one sentence")
    owner: str = Field("", description="who to ask about it")
    tags: tuple[str, ...] = Field((), description="words to find it by")
    default_graph: Literal["union", "default"] = Field(
        "union",
        description="what patterns without FROM read: all graphs merged, or the unnamed graph",
    )
    history: Literal["current", "full"] = Field(
        "current", description="on first registration: the current answer, or one delta per epoch"
    )
    max_rows: int | None = Field(
        None, ge=1, description="an answer with more rows fails validation"
    )
    allow_product: bool = Field(False, description="permit a cartesian product of large components")


@dataclass(frozen=True, slots=True)
class RegisteredQuery:
    """A query that Weir maintains."""

    name: str
    file: Path
    text: str
    front_matter: FrontMatter
    query: Query
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Registry:
    """What a folder of query files holds: usable queries by name, what is wrong with others."""

    queries: tuple[RegisteredQuery, ...]
    errors: tuple[ConfigurationError, ...]


def load_registry(folder: Path) -> Registry:
    """Read every `*.rq` of `folder`; one bad file does not hide the others.

    Raises:
        ConfigurationError: the folder is not there.
    """
    raise NotImplementedError
