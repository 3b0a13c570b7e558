"""The catalog: what a project declares, read on demand and compiled at most once per process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeAlias, assert_never

from weir.catalog.compilation_cache import CompilationCache
from weir.catalog.maintained import Maintained
from weir.catalog.names import Declaration, Folders, declarations, folders_of
from weir.catalog.output_streams import Definition, Linked, linked
from weir.catalog.queries import RegisteredQuery, read_query
from weir.errors import ConfigurationError
from weir.settings import Settings

_Found: TypeAlias = Maintained | ConfigurationError
_Content: TypeAlias = "Definition | ConfigurationError"
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
    _read: dict[Declaration, _Content] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> Catalog:
        """The catalog of a project.

        Raises:
            ConfigurationError: the folder of queries does not exist.
        """
        return cls._of(folders_of(settings), settings.cache)

    @classmethod
    def of_folder(cls, folder: Path, cache: Path | None = None) -> Catalog:
        """The catalog of a folder of queries; without `cache` every process compiles it again.

        Raises:
            ConfigurationError: the folder does not exist.
        """
        return cls._of({"query": folder}, cache)

    @classmethod
    def _of(cls, folders: Folders, cache: Path | None) -> Catalog:
        return cls(declarations(folders), None if cache is None else CompilationCache(cache))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The declared names that tables can have, in the order of the files; none is opened."""
        return tuple(each.name for each in self.declarations if each.is_usable)

    def is_usable(self, name: str) -> bool:
        """Whether the file that declares a name has no error."""
        return not isinstance(self._find(self._by_name[name]), ConfigurationError)

    def member(self, name: str) -> Maintained:
        """What a file declares under a name.

        Raises:
            ConfigurationError: the first thing that is wrong with the file.
            KeyError: no file declares the name.
        """
        found = self._find(self._by_name[name])
        if isinstance(found, ConfigurationError):
            raise found.with_traceback(None)
        return found

    def query(self, name: str) -> RegisteredQuery:
        """The query that a file declares under a name.

        Raises:
            ConfigurationError: the first thing that is wrong with the file.
            KeyError: no file declares a query of the name.
        """
        found = self.member(name)
        if not isinstance(found, RegisteredQuery):
            raise KeyError(name)
        return found

    @cached_property
    def members(self) -> tuple[Maintained, ...]:
        """All that is declared without an error, in the order of the files."""
        found = (self._find(each) for each in self.declarations)
        return tuple(each for each in found if not isinstance(each, ConfigurationError))

    @property
    def queries(self) -> tuple[RegisteredQuery, ...]:
        """The queries among the members."""
        return tuple(each for each in self.members if isinstance(each, RegisteredQuery))

    @cached_property
    def errors(self) -> Mapping[str, ConfigurationError]:
        """The first thing that is wrong with each file that has an error, by the file's stem."""
        found = ((each.name, self._find(each)) for each in self.declarations)
        return {name: each for name, each in found if isinstance(each, ConfigurationError)}

    @cached_property
    def _by_name(self) -> Mapping[str, Declaration]:
        return {each.name: each for each in self.declarations}

    def _find(self, declaration: Declaration) -> _Found:
        found = self._content(declaration)
        if isinstance(found, ConfigurationError):
            return found
        is_linked = found.windowing is not None or found.registration is not None
        return self._checked[found.name] if is_linked else found

    @cached_property
    def _checked(self) -> Linked:
        """The same, but for programs whose views have the names of others'."""
        names = [each.name for each in self.declarations if each.kind == "program"]
        programs = [self._linked[name] for name in names if name in self._linked]
        if not programs:
            return self._linked
        # The grammar of programs takes its time to import.
        from weir.catalog.programs import RegisteredProgram, rival_views

        usable = [each for each in programs if isinstance(each, RegisteredProgram)]
        return {**self._linked, **rival_views(usable)}

    @cached_property
    def _linked(self) -> Linked:
        """What reads streams or gives them: other files say which ones."""
        found = map(self._content, self.declarations)
        return linked([each for each in found if not isinstance(each, ConfigurationError)])

    def _content(self, declaration: Declaration) -> _Content:
        # Within a catalog a file stays as it was first read.
        if declaration not in self._read:
            self._read[declaration] = _found(declaration, self.cache)
        return self._read[declaration]


def _found(declaration: Declaration, cache: CompilationCache | None) -> _Content:
    try:
        declaration.check_name()
        source = declaration.read()
    except ConfigurationError as error:
        return error
    return _compiled(declaration, source, cache)


@lru_cache(_REMEMBERED)
def _compiled(declaration: Declaration, source: bytes, cache: CompilationCache | None) -> _Content:
    try:
        match declaration.kind:
            case "query":
                return read_query(declaration, source, cache)
            case "program":
                # The grammar of programs takes its time to import.
                from weir.catalog.programs import read_program_file

                return read_program_file(declaration, source)
            case _:
                assert_never(declaration.kind)
    except ConfigurationError as error:
        return error
