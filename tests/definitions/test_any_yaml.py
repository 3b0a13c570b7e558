"""Files that declare something, with any YAML in them: a value or a mistake with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weir.definitions.front_matter import read_head
from weir.definitions.program_keys import ProgramFrontMatter, declarations
from weir.definitions.query_keys import QueryFrontMatter
from weir.errors import ConfigurationError
from weir.files.yaml_text import YamlError, read_yaml
from weir.ingest.sources.declared import load_sources
from weir.ingest.sources.delta import DeltaTable
from weir.ingest.sources.patches import Patches
from weir.ingest.sources.snapshots import Snapshots
from weir.ingest.sources.stream import Stream
from weir.remotes.declarations import Budget, Remote, load_remotes
from weir.remotes.names import declared_remotes

VALUES = (
    *("&a [*a]", "[" * 40, "[]", "{}", "~", "[1, [2, [3]]]", "!!set {a, b}", "!!omap [a: 1]"),
    *("1", "-1", "1e400", ".nan", "9" * 400, "true", "'" + "9" * 400 + "m'", "9" * 4000 + "%"),
    *("2026-01-01", "2026-02-31", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"),
    *("'\\0'", '"\\0"', '"\\ud800"', '"\\x1b[2J"', "!!binary aGVsbG8=", "'P1000000000000Y'"),
    *("{1: 2}", "{[a]: b}", "{null: x}", "'é'", "'a\n b'", "'1/0%'", "'nan%'", "{x: 1}"),
    *("PT" + "9" * 5000 + "S", "!!python/object:os.system x", "? ", "- - -", "<<: *b"),
)
KEYS = ("1", "null", "[a]", "{a: b}", "? a", "2026-01-01", '"\\ud800"')


def _read_query(file: Path) -> object:
    return read_head(file.read_text(), "q.rq", QueryFrontMatter, "#")


def _read_program(file: Path) -> object:
    head = read_head(file.read_text(), "p.lars", ProgramFrontMatter, "%")
    said = head.values
    return (said.unit_us, said.origin_us, said.corrects_back_us, declarations(head))


def _texts() -> Iterator[tuple[Callable[[Path], object], str]]:
    for value in VALUES:
        for key in (*QueryFrontMatter.model_fields, *KEYS):
            yield _read_query, f"#+ {key}: {value}\nSELECT"
        for key in (*ProgramFrontMatter.model_fields, *KEYS):
            yield _read_program, f"%+ stream: s\n%+ {key}: {value}\n"
        kinds = (("snapshots", Snapshots), ("patches", Patches), ("delta", DeltaTable))
        for kind, source in kinds:
            entry = f"sources:\n - name: s\n   kind: {kind}\n   location: d\n"
            for key in (*source.model_fields, *KEYS):
                yield load_sources, f"{entry}   {key}: {value}\n"
            for key in (*Stream.model_fields, *KEYS):
                yield load_sources, f"{entry}   stream:\n     {key}: {value}\n"
        remote = "remotes:\n - name: r\n   iri: http://a.example/\n   contact: a@a.example\n"
        for key in (*Remote.model_fields, *KEYS):
            yield load_remotes, f"{remote}   {key}: {value}\n"
            yield declared_remotes, f"{remote}   {key}: {value}\n"
        for key in Budget.model_fields:
            yield load_remotes, f"{remote}   budget: {{{key}: {value}}}\n"
        for key in ("name", "alpha"):
            yield load_remotes, f"{remote}   policy: {{{key}: {value}}}\n"
        for text in (value, f"sources: {value}", f"remotes: [{value}]", f"{value}: {value}"):
            for read in (load_sources, load_remotes, declared_remotes):
                yield read, text
            yield _read_query, f"#+ {text}"
            yield _read_program, f"%+ {text}"


@pytest.mark.usefixtures("slow")
def test_any_value_of_any_key_is_read_or_is_a_mistake_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "declared"
    mistakes = []
    for read, text in _texts():
        file.write_text(text)
        try:
            read(file)
        except ConfigurationError as error:
            mistakes.append((error.where, text))
    assert len(mistakes) > 1_000
    # Nothing has no place.
    placeless = {text for where, text in mistakes if not where.rpartition(":")[2].isdigit()}
    assert placeless <= {"~"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: &x [*x]", (2, 8)),
        ("a: &a [" + "x, " * 99 + "x]\nb: &b [" + "*a, " * 99 + "*a]\nc: *b", (2, 396)),
        ("a: " + "[" * 3_000, (1, 35)),
        ("- " * 20_000, (1, 65)),
        ("a: 1\nb: \0", (2, 4)),
        ("a: 2026-02-31", (1, 4)),
        ("a: 1\n---\nb: 2", (2, 1)),
    ],
    ids=["alias of itself", "bomb", "brackets", "dashes", "NUL", "date", "two documents"],
)
def test_what_is_not_read_has_a_place(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(YamlError) as raised:
        read_yaml(text)
    assert (raised.value.line, raised.value.column) == place


def test_aliases_stand_for_what_they_name() -> None:
    assert read_yaml("a: &a {b: [1]}\nc: *a\nd: {<<: *a, e: 2}")[0] == {
        "a": {"b": [1]},
        "c": {"b": [1]},
        "d": {"b": [1], "e": 2},
    }
