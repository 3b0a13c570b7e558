"""The definitions of a project as they were at a commit, a tag or a branch of git."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weir.definitions.catalog import Catalog
from weir.definitions.kinds import QUERY, Kind
from weir.definitions.names import folders_of
from weir.errors import ConfigurationError
from weir.lake.scratch import scratch_folder
from weir.lake.whole_files import write_whole
from weir.settings import Settings

_SECONDS = 60


@contextmanager
def definitions_at(settings: Settings, revision: str) -> Iterator[Catalog]:
    """The catalog of the files of a revision, which are there until the block ends.

    Raises:
        ConfigurationError: the folder is in no repository, or that has no such revision.
    """
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as parent:
        folders: dict[Kind, Path] = {}
        for kind, folder in folders_of(settings).items():
            folders[kind] = Path(parent) / kind.folder
            folders[kind].mkdir()
            for name, content in _files(settings.project, folder, revision, kind):
                write_whole(folders[kind] / name, content)
        assert folders[QUERY].is_dir(), "there is a folder for each kind"
        yield Catalog.of_folders(folders)


def _files(project: Path, folder: Path, revision: str, kind: Kind) -> Iterator[tuple[str, bytes]]:
    """The files directly in a folder with the ending of a kind: name, content."""
    commit = _git(project, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    top = Path(_git(project, "rev-parse", "--show-toplevel").decode().strip())
    try:
        inside = folder.resolve().relative_to(top.resolve())
    except ValueError:
        raise ConfigurationError(
            "the folder is not in the repository of the project", str(folder), ""
        ) from None
    at = commit.decode().strip()
    listed = _git(top, "ls-tree", "-z", "--name-only", at, f"{inside.as_posix()}/")
    for path in filter(None, listed.decode().split("\0")):
        if path.endswith(kind.suffix):
            yield Path(path).name, _git(top, "cat-file", "blob", f"{at}:{path}")


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            check=True,
            timeout=_SECONDS,
        )
    except FileNotFoundError:
        raise ConfigurationError(
            "git is not installed", "--base", "Leave --base out to compare with what is published."
        ) from None
    except subprocess.TimeoutExpired:
        raise ConfigurationError(
            f"git took more than {_SECONDS} s", "--base", "Is the repository on a slow disk?"
        ) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1].removeprefix("fatal: ") if said else "git failed"
        hint = "Name a commit, tag or branch; without --base, what is published is compared with."
        raise ConfigurationError(f"git: {why}", "--base", hint) from None
    return done.stdout
