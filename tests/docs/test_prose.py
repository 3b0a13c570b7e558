"""The documents are short, wrapped and linked; documents and code use plain words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from setup.steps import ROOT

LONGEST_LINE = 100
MOST_WORDS = {"README.md": 900, "docs/reference.md": 3000}
"""Of the pages that people read first; what does not fit has a page of its own."""
PRIVATE_WORDS = re.compile(
    r"\b(tells?|told|telling|anew|mend(s|ed|ing)?|foreseen|by the book|judg(e|es|ed|ing)|whatever"
    r"|whoever|what is there|(is|are) asked of|made known to|spar(e|es|ed|ing)|for ever)\b",
    re.IGNORECASE,
)
"""Words that this project once used in a sense of its own; docs/concepts.md has the usual ones."""
VAGUE_NAMES = {"each", "found"}
"""No variable has them: they say that a value was looped over or looked for, not what it is."""
STORED = '_DOMAIN_KEY = "_:told"'
"""The one line of code with a private word: the order of columns in stored plans depends on it."""

PAGES = sorted(
    {
        page.relative_to(ROOT)
        for pattern in ("*.md", "[!.]*/*.md", "docs/**/*.md")
        for page in ROOT.glob(pattern)
    }
)
SOURCES = sorted(
    file.relative_to(ROOT) for file in ROOT.glob("[!.]*/**/*.py") if file != Path(__file__)
)
_PATH = re.compile(
    r"`((?:bench|dags|docs|expectations|jobs|lake|weir|queries|requirements|setup|tests)/[\w./-]+)`"
)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MAY_BIND = re.compile(rf"\b({'|'.join(VAGUE_NAMES)})\s*([^\w\s.]|in\b)")
"""Other files need not be parsed, which would take seconds."""
_WORDS_OF_A_NAME = re.compile(r"_+|(?<=[a-z])(?=[A-Z])")
_ONLY_A_LINK = re.compile(r"\s*(-|\d+\.)? *\[[^]]*\]\([^)]*\)")


@pytest.mark.parametrize("page", MOST_WORDS)
def test_a_page_that_people_read_first_is_short(page: str) -> None:
    words = (ROOT / page).read_text(encoding="utf-8").split()
    assert len(words) <= MOST_WORDS[page]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_prose_is_wrapped(page: Path) -> None:
    long = (line for line in _prose(page) if len(line) > LONGEST_LINE)
    can_be_wrapped = (line for line in long if " " in line and not _ONLY_A_LINK.fullmatch(line))
    assert [*can_be_wrapped] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    text = "\n".join(_prose(page, tables=True))
    targets = {link for link in _LINK.findall(text) if "://" not in link}
    assert {target for target in targets if not _exists(page, target)} == set()


# A record of a decision names the files of its time.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name != "decisions"], ids=str
)
def test_files_that_the_documents_name_exist(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {path for path in _PATH.findall(text) if not (ROOT / path).exists()} == set()


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs/decisions"
    listed = {*_LINK.findall((folder / "README.md").read_text(encoding="utf-8"))}
    assert {file.name for file in folder.glob("0*.md")} - listed == set()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_prose_has_no_private_words(page: Path) -> None:
    lines = _prose(page, tables=True)
    assert [line for line in lines if PRIVATE_WORDS.search(line)] == []


def test_code_has_no_private_words() -> None:
    """In names, comments, docstrings and messages."""
    lines = [
        f"{file}:{number}: {line.strip()}"
        for file in SOURCES
        for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1)
        if PRIVATE_WORDS.search(_WORDS_OF_A_NAME.sub(" ", line)) and line != STORED
    ]
    assert lines == []


def test_a_variable_is_named_after_what_it_holds() -> None:
    places = [
        f"{file}:{line}: {name}"
        for file in SOURCES
        if _MAY_BIND.search(code := (ROOT / file).read_text(encoding="utf-8"))
        for line, name in _bound_names(ast.parse(code))
        if name in VAGUE_NAMES
    ]
    assert places == []


def _bound_names(module: ast.Module) -> Iterator[tuple[int, str | None]]:
    """The variables, parameters and functions with their lines; not the fields of classes."""
    nodes = [*ast.walk(module)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    fields = {
        statement.target
        for node in classes
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if node not in fields:
                yield node.lineno, name
            case ast.arg(arg=name) | ast.FunctionDef(name=name):
                yield node.lineno, name
            case ast.MatchAs(name=name) | ast.ExceptHandler(name=name):
                yield node.lineno, name


def _prose(page: Path, *, tables: bool = False) -> Iterator[str]:
    """The lines of a page that are not code, nor of a table unless they are wanted."""
    is_code = False
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("    ") and (tables or not line.startswith("|")):
            yield line


def _exists(page: Path, target: str) -> bool:
    name, _, heading = target.partition("#")
    file = (ROOT / page).parent / name if name else ROOT / page
    if not heading or file.suffix != ".md":
        return file.exists()
    return file.is_file() and heading in _anchors(file)


def _anchors(file: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
