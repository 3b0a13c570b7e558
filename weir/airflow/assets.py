"""The assets of the lake's tables, whose events wake DAGs up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from airflow.sdk import Asset

from weir.definitions.described import Described, described
from weir.definitions.names import folders_of
from weir.errors import ConfigurationError
from weir.lake.tables import ANSWERS, QUADS, split_name
from weir.remotes.names import DeclaredRemote
from weir.settings import Settings


@dataclass(frozen=True, slots=True)
class LakeAssets:
    """The assets of a lake.

    Attributes:
        lake: where it is.
        described: what the declared queries and programs say about themselves, by name.
        project: the name of the project, if this Airflow runs several; else empty.
    """

    lake: str
    described: Mapping[str, Described]
    project: str = ""

    @classmethod
    def of(cls, settings: Settings, project: str = "") -> Self:
        """The assets of a project's lake."""
        try:
            declared = described(folders_of(settings))
        except ConfigurationError:
            # The task itself says what is wrong.
            declared = {}
        return cls(settings.lake, declared, project)

    def quads(self) -> Asset:
        """The asset whose event means: there may be new changes."""
        return self._table(QUADS.name)

    def inbox(self, remote: DeclaredRemote) -> Asset:
        """The asset whose event means: ingest has something to take of this remote."""
        return self._table(remote.inbox)

    def answer(self, query: str) -> Asset:
        """The asset of a published answer, with what the file of the query says about it."""
        about = self.described.get(query, Described()).model_dump(mode="json")
        said = {name: value for name, value in about.items() if value}
        return self._table(ANSWERS.name(query), **said)

    def answers(self) -> list[Asset]:
        """The assets of the answers of all declared queries and programs."""
        return [*map(self.answer, self.described)]

    def _table(self, table: str, **about: Any) -> Asset:
        """The asset of a table.

        Its URI does not contain the location of the lake: Airflow binds a name to its first URI,
        and would refuse to run the tasks of an asset after the lake has moved.
        """
        extra = {"location": f"{self.lake}/{table}", **about}
        group, _ = split_name(table)
        name = f"{self.project}/{table}" if self.project else table
        uri = f"x-weir://{self.project or 'lake'}/{table}"
        return Asset(name=name, uri=uri, group=group, extra=extra)
