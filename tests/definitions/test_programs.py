"""Programs in the catalog: names of views, columns of views, sizes of windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import Project
from weir.definitions.catalog import Catalog
from weir.errors import ConfigurationError
from weir.timeline.axis import Instants

HEAD = '%+ stream: s\n%+ prefixes: {"": "http://example.org/"}\n'


def catalog(tmp_path: Path, **programs: str) -> Catalog:
    """A catalog of these programs; their front matter is `HEAD`."""
    project = Project(tmp_path)
    for name, rules in programs.items():
        project.program(name, HEAD + rules)
    return Catalog.of(project.settings)


@pytest.mark.parametrize(
    "predicate", ["current", "b_intervals", "b_current", "b_events", "b_stream", "changes"]
)
def test_a_predicate_is_not_named_as_another_view_ends(tmp_path: Path, predicate: str) -> None:
    declared = catalog(tmp_path, p=f"{predicate}(X) <- q(X).")
    with pytest.raises(ConfigurationError, match="which is another one") as raised:
        declared.member("p")
    assert raised.value.where.endswith("p.lars:3:1")


def test_two_programs_have_no_view_of_one_name(tmp_path: Path) -> None:
    declared = catalog(tmp_path, a="b_c(X) <- q(X).", a_b="c(X) <- q(X).", a_c="d(X) <- q(X).")
    assert [*declared.errors] == ["a", "a_b"]
    assert "its view would be a_b_c, as that of a predicate of a_b.lars" in str(
        declared.errors["a"]
    )
    assert declared.member("a_c").name == "a_c"


def test_arguments_are_not_named_like_other_columns_of_the_view(tmp_path: Path) -> None:
    compiled = catalog(tmp_path, p="a(S,Weight,S_term) <- q(S,Weight), r(S,S_term).").member("p")
    assert compiled.predicates["a"].arguments == ("s", "a2", "a3")


def test_a_window_is_no_longer_than_instants_can_count(tmp_path: Path) -> None:
    days = "%+ unit: P1D\na(X) <- win^1000000000 diamond q(X)."
    declared = catalog(tmp_path, p=days, q="a(X) <- win^1000000000 diamond q(X).")
    with pytest.raises(ConfigurationError, match="longer than 3,000 years") as raised:
        declared.member("p")
    assert raised.value.where.endswith("p.lars:4:9")
    assert declared.member("q")


def test_a_window_with_a_step_is_as_long_as_it_looks_back(tmp_path: Path) -> None:
    days = "%+ unit: P1D\na(X) <- win^1 step 1000000000 diamond q(X)."
    with pytest.raises(ConfigurationError, match="longer than 3,000 years") as raised:
        catalog(tmp_path, p=days).member("p")
    assert "win^1 step 1000000000" in str(raised.value)


def test_a_program_with_another_window_is_another_program(tmp_path: Path) -> None:
    """Also one whose window counts other triples, of atoms that no rule reads."""
    rules = "a(X) <- win^{} diamond q(X)."
    windows = ["2", "2 step 1", "2 step 3", "(0,2) step 3", "#2", "#2{q}", "#2{q(x)}", "#2{q,r(_)}"]
    texts = [rules.format(window) for window in windows]
    texts.append('%+ atoms: {"r(X)": "?X :r ?Y"}\n' + texts[-1])
    declared = catalog(tmp_path, **{f"p{i}": text for i, text in enumerate(texts)})
    prints = {declared.member(f"p{i}").fingerprint for i in range(len(texts))}
    assert len(prints) == len(texts)


def test_a_program_of_microseconds_has_points(tmp_path: Path) -> None:
    compiled = catalog(tmp_path, p="%+ unit: PT0.000001S\na(X) <- q(X).").member("p")
    assert isinstance(compiled.axis, Instants)
    assert compiled.axis.points is not None
