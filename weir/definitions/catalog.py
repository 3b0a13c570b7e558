"""The catalog: what a project declares, read on demand and compiled at most once per process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeAlias

from weir.definitions.compilation_cache import CompilationCache
from weir.definitions.definition import Definition
from weir.definitions.derived_graphs import Unusable
from weir.definitions.kinds import Kind
from weir.definitions.names import Declaration, Folders, declarations, folders_of, no_query
from weir.definitions.predicate_views import rival_views
from weir.definitions.upstreams import Linked, linked, may_have_upstreams
from weir.errors import ConfigurationError
from weir.settings import Settings

_Content: TypeAlias = Definition | ConfigurationError
_REMEMBERED = 16_384
"""Definitions that a process remembers between the catalogs of its stages."""


@dataclass(frozen=True)
class Catalog:
    """What some folders declare.

    Names are those of files; a file is read when something else of it is needed. An error in one
    file does not affect the others.
    """

    declarations: tuple[Declaration, ...]
    cache: CompilationCache | None = None
    _read: dict[Path, _Content] = field(default_factory=dict, init=False, repr=False)
    """By file, for a file stays as it was first read."""
    _found: dict[Path, _Content] = field(default_factory=dict, init=False, repr=False)
    """With what other files say."""

    @classmethod
    def of(cls, settings: Settings) -> Catalog:
        """The catalog of a project.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        return cls.of_folders(folders_of(settings), settings.cache)

    @classmethod
    def of_folders(cls, folders: Folders, cache: Path | None = None) -> Catalog:
        """The catalog of some folders; without `cache` every process compiles them again.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        return cls(declarations(folders), None if cache is None else CompilationCache(cache))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The declared names that tables can have, in the order of the files; none is opened."""
        return tuple(declared.name for declared in self.declarations if declared.is_usable)

    def is_usable(self, name: str) -> bool:
        """Whether the file that declares a name has no error."""
        return not isinstance(self._find(self._by_name[name]), ConfigurationError)

    def member(self, name: str) -> Definition:
        """What a file declares under a name.

        Raises:
            ConfigurationError: the first thing that is wrong with the file.
            KeyError: no file declares the name.
        """
        content = self._find(self._by_name[name])
        if isinstance(content, ConfigurationError):
            raise content.with_traceback(None)
        return content

    @cached_property
    def members(self) -> tuple[Definition, ...]:
        """All that is declared without an error, in the order of the files."""
        contents = map(self._find, self.declarations)
        return tuple(content for content in contents if isinstance(content, Definition))

    def of_kind(self, kind: Kind) -> tuple[Definition, ...]:
        """What is declared of a kind without an error; no file of another kind is opened."""
        contents = (self._find(d) for d in self.declarations if d.kind is kind and d.is_usable)
        return tuple(content for content in contents if isinstance(content, Definition))

    def unusable(self, kind: Kind) -> tuple[Unusable, ...]:
        """What files of a kind that have an error say nevertheless; no other file is opened."""
        contents = ((d, self._find(d)) for d in self.declarations if d.kind is kind)
        return tuple(
            Unusable.of(declared, content)
            for declared, content in contents
            if isinstance(content, ConfigurationError)
        )

    @cached_property
    def errors(self) -> Mapping[str, ConfigurationError]:
        """The first thing that is wrong with each file that has an error, by the file's stem."""
        contents = {declared.name: self._find(declared) for declared in self.declarations}
        return {
            name: content
            for name, content in contents.items()
            if isinstance(content, ConfigurationError)
        }

    @cached_property
    def _by_name(self) -> Mapping[str, Declaration]:
        return {declared.name: declared for declared in self.declarations}

    def _find(self, declaration: Declaration) -> _Content:
        known = self._found.get(declaration.file)
        if known is None:
            known = self._content(declaration)
            if isinstance(known, Definition) and may_have_upstreams(known):
                known = self._linked[known.name]
            self._found[declaration.file] = known
        return known

    @cached_property
    def _linked(self) -> Linked:
        """What reads streams or gives them: other files say which ones, and may have its views."""
        contents = {declared: self._content(declared) for declared in self.declarations}
        links = linked(
            [content for content in contents.values() if isinstance(content, Definition)],
            [
                Unusable.of(declared, content)
                for declared, content in contents.items()
                if isinstance(content, ConfigurationError)
            ],
        )
        usable = (content for content in links.values() if isinstance(content, Definition))
        return {**links, **rival_views(usable)}

    def _content(self, declaration: Declaration) -> _Content:
        known = self._read.get(declaration.file)
        if known is None:
            known = self._read[declaration.file] = _read(declaration, self.cache)
        return known


def registered(settings: Settings, query: str) -> Definition:
    """The query or program of a name.

    Raises:
        ConfigurationError: there is none, or its file is wrong.
    """
    catalog = Catalog.of(settings)
    try:
        return catalog.member(query)
    except KeyError:
        raise no_query(settings, query, catalog.names) from None


def _read(declaration: Declaration, cache: CompilationCache | None) -> _Content:
    try:
        declaration.check_name()
        source = declaration.read()
    except ConfigurationError as error:
        return error
    return _compiled(declaration, source, cache)


@lru_cache(_REMEMBERED)
def _compiled(declaration: Declaration, source: bytes, cache: CompilationCache | None) -> _Content:
    try:
        return declaration.kind.read(declaration, source, cache)
    except ConfigurationError as error:
        return error
