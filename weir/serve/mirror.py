"""Copies of the graph at some epochs, as stores of Oxigraph in the project's cache folder.

The mirror is derived from the lake and never the truth: it may be removed at any time. A copy is a
folder that never changes once it has its name. The next one begins as links to the files of another
copy, and is given what the log says between the two epochs, backwards too: so its cost follows the
change. A process that is killed leaves a draft, which the next one removes. A copy is used only if
the logs of the lake still begin as they did when it was made.

The default graph of a copy is the union of all graphs but the reserved ones, as in queries that are
registered; named graphs are as in the lake. A published answer is the graph
`urn:weir:answer:<name>` of the copies for those queries that name it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from pathlib import Path

from weir.lake.counted import counted
from weir.lake.lake import Lake
from weir.maintain.tasks import states_until
from weir.progress.completion import Completion
from weir.project import Project
from weir.serve.answer_graphs import answer_lines, answers_named
from weir.serve.copies import LOGS, STORES, Copy, link, logs_of, own_folder
from weir.serve.filling import LINES, changed_lines, writer
from weir.serve.problems import RETRY, DamagedStore, Problem
from weir.text.secret_values import without_secrets

_DRAFT = "draft-"
_LOOK_SECONDS = 0.2


@dataclass(slots=True)
class Mirror:
    """The copies of the graph of a project, in a folder that no other process uses meanwhile.

    Attributes:
        project: has the lake; nothing else uses this value.
        progress: called with what takes long.
    """

    project: Project
    progress: Callable[[str], None]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _copies: dict[str, Copy] = field(default_factory=dict, init=False)
    _used: dict[str, int] = field(default_factory=dict, init=False)
    _folder: Path = field(init=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _seen: tuple[float, Completion] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._folder = self._open.enter_context(own_folder(self.project.settings))
        for folder in self._folder.iterdir():
            copy = Copy.read(folder)
            if copy is None or copy.name != folder.name:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                self._copies[copy.name] = copy

    def close(self) -> None:
        """Close the project, unless a copy is being made: then the end of the process does."""
        if self._lock.acquire(blocking=False):
            self.project.close()
            self._open.close()

    def discard(self, store: Path) -> None:
        """Remove a copy that cannot be read: it is made again when it is asked."""
        with self._lock:
            if store.parent.name in self._copies:
                self._remove(store.parent.name)

    def prepare(self) -> None:
        """Make the copy of the newest epoch, so that the first query need not wait for it."""
        try:
            with self.at(None):
                pass
        except Exception as error:  # noqa: BLE001  (the thread would end, and nobody see it)
            self.progress(without_secrets(f"the graph is not copied: {error}"))

    @contextmanager
    def at(self, epoch: int | None, words: str = "") -> Iterator[tuple[int, Path]]:
        """The store of an epoch, made if it is missing, and not removed while the block runs.

        Args:
            epoch: by default the newest.
            words: the text of a query: those answers are in the store whose graphs it can name.

        Raises:
            Problem: there is no such epoch, or it is not known any more.
        """
        with self._alone():
            completion = self._completion()
            at = self._known(completion, epoch)
            answers = answers_named(completion, words)
            copy = self._copy(completion, at, answers)
            self._used[copy.name] = self._used.get(copy.name, 0) + 1
            self._copies[copy.name] = self._copies.pop(copy.name)  # the last one was used last
        try:
            yield at, self._folder / copy.name / STORES[0]
        finally:
            with self._lock:
                self._used[copy.name] -= 1
                self._remove_surplus()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=self.project.settings.serve.query_seconds):
            what = "the graph is being copied, which takes a while at first"
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, what, "", RETRY)
        try:
            yield
        finally:
            self._lock.release()

    def _completion(self) -> Completion:
        """How far the lake is complete; it is looked at a few times a second at most."""
        now = time.monotonic()
        if self._seen is None or now - self._seen[0] > _LOOK_SECONDS:
            completion = Completion.read(self.project.open_lake())
            self._drop_outdated(completion)
            self._seen = now, completion
        return self._seen[1]

    def _known(self, completion: Completion, epoch: int | None) -> int:
        newest, oldest = newest_epoch(completion), max(states_until(completion), 1)
        if newest == 0:
            raise Problem(
                HTTPStatus.NOT_FOUND, "the graph has no epoch yet", "`weir run` ingests some."
            )
        if epoch is None:
            return newest
        kept = f"Epochs {oldest} to {newest} are kept."
        if not 1 <= epoch <= newest:
            raise Problem(HTTPStatus.NOT_FOUND, f"there is no epoch {epoch}", kept)
        if epoch < oldest:
            what = f"the changes up to epoch {oldest} were compacted away"
            raise Problem(HTTPStatus.GONE, what, kept)
        return epoch

    def _copy(self, completion: Completion, epoch: int, answers: Mapping[str, int]) -> Copy:
        """A copy, made if it is missing: from the nearest one, or from nothing."""
        key = json.dumps([epoch, *sorted(answers.items())])
        name = f"{epoch}" + (f"-{hashlib.sha256(key.encode()).hexdigest()[:16]}" if answers else "")
        if name in self._copies:
            return self._copies[name]
        if answers:
            before: Copy | None = self._copy(completion, epoch, {})
        else:
            plain = [copy for copy in self._copies.values() if not copy.answers]
            before = min(plain, key=lambda copy: abs(copy.epoch - epoch), default=None)
        try:
            return self._made(completion, name, before, epoch, answers)
        except DamagedStore:
            if before is None:
                raise
            self._remove(before.name)
            return self._copy(completion, epoch, answers)

    def _made(
        self,
        completion: Completion,
        name: str,
        before: Copy | None,
        epoch: int,
        answers: Mapping[str, int],
    ) -> Copy:
        draft = self._folder / f"{_DRAFT}{uuid.uuid4().hex}"
        try:
            draft.mkdir()
            if before is None:
                quads = counted(completion.quads, "quad")
                self.progress(f"copying the graph at epoch {epoch}, {quads}")
            else:
                link(self._folder / before.name, draft)
            self._write(draft, completion.lake, 0 if before is None else before.epoch, epoch)
            if answers:
                self._write_answers(draft, epoch, answers)
            copy = Copy(name, epoch, answers, logs_of(completion.lake))
            copy.write(draft)
            draft.rename(self._folder / name)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        self._copies[name] = copy
        return copy

    def _write(self, folder: Path, lake: Lake, before: int, epoch: int) -> None:
        if before == epoch:
            return
        with writer(folder) as write:
            for weight in (-1, 1):
                for log in LOGS:
                    settings = self.project.settings
                    for lines in changed_lines(settings, lake, log.name, before, epoch, weight):
                        write(b"+" if weight > 0 else b"-", lines)

    def _write_answers(self, folder: Path, epoch: int, answers: Iterable[str]) -> None:
        with writer(folder) as write:
            for name in answers:
                lines = answer_lines(self.project, name, epoch)
                while some := [*islice(lines, LINES)]:
                    write(b"+", "\n".join(some).encode())

    def _drop_outdated(self, completion: Completion) -> None:
        """Remove the copies of other logs, of logs that lost rows, and of consolidated epochs.

        What changed since an epoch that was consolidated is not in the log any more.
        """
        oldest = states_until(completion)
        for copy in [*self._copies.values()]:
            if copy.epoch < oldest or not copy.is_of(completion.lake):
                self._remove(copy.name)

    def _remove_surplus(self) -> None:
        newest = max((copy.epoch for copy in self._copies.values()), default=0)
        for has_answers in (False, True):
            unused = [
                copy.name
                for copy in self._copies.values()
                if bool(copy.answers) is has_answers
                and not self._used.get(copy.name)
                # Later ones begin with it.
                and (has_answers or copy.epoch != newest)
            ]
            for name in unused[: max(len(unused) - self.project.settings.serve.epochs + 1, 0)]:
                self._remove(name)

    def _remove(self, name: str) -> None:
        # A process that has it open reads it to the end.
        self._copies.pop(name, None)
        shutil.rmtree(self._folder / name, ignore_errors=True)


def newest_epoch(completion: Completion) -> int:
    """The newest epoch whose checks passed, 0 before the first: what it says is published."""
    return completion.graph_validated_to
