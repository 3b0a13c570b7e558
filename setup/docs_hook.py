"""Lets MkDocs show documents that also link to the code beside them.

README.md of the repository is the first page. Links to files outside of docs/ lead nowhere on a
site, so that only their text is left.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

_ROOT: Final = Path(__file__).parents[1]
_OUTSIDE_OF_README: Final = re.compile(
    r"\[([^\]]*)\]\((?:bench|demo|docker|examples|CONTRIBUTING|LICENSE)[^)\s]*\)"
)


def on_files(files: Files, config: Any) -> Files:
    """Add README.md of the repository as the first page."""
    text = (_ROOT / "README.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "README.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leave the text of links to files outside of docs/."""
    path = page.file.src_uri
    outside = _OUTSIDE_OF_README if path == "README.md" else _up(path.count("/") + 1)
    return outside.sub(r"\1", markdown)


def _up(levels: int) -> re.Pattern[str]:
    """Links that go up so many folders."""
    return re.compile(rf"(?<!!)\[([^\]]*)\]\((?:\.\./){{{levels}}}[^)\s]*\)")
