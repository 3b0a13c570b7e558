"""The site: what its pages cost by the number of queries, all of them and those that changed.

The queries are those of the scenario `fleet`. The first writing grows with the number of queries;
after that, the cost follows the answers that changed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from bench.browser import CHROMIUM, browser
from bench.fleet import change_sets, constants_of, texts, written
from bench.nomisma import BASE_ID
from bench.places import WORK, Project, patches, project, shared_data
from bench.results import Scenario, Target, Timing, machine
from bench.session import measure
from weir.project import Project as OpenProject
from weir.settings import Settings
from weir.site.writing import write_site

FULL_SIZES = (10, 100, 1_000, 10_000)
_AIMED = 1_000
AIM, AIM_SHOWN = 1.0, 2.0
"""Seconds that the site of 1,000 answers adds to a run that changes one, and until a browser shows
its start page."""
_SITE = "site"
Seconds = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SitePages:
    """The scenario.

    Args:
        sizes: numbers of registered queries.
        repeats: of each writing but the first.
        progress: receives a line per step.
    """

    sizes: Sequence[int]
    repeats: int
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """The first writing, one after a run that changed nothing, one after a change set."""
        timings, notes, targets = [], [], []
        for size in self.sizes:
            self.progress(f"{size:,} queries")
            first, unchanged, changed, note, shown = self._measured(size)
            timings += [
                Timing(f"{size:,} queries, first", "cold", (first,)),
                Timing(f"{size:,} queries, nothing changed", "warm", unchanged),
                Timing(f"{size:,} queries, one answer changed", "warm", changed),
            ]
            if shown:
                timings.append(Timing(f"{size:,} queries, the start page in Chromium", "", shown))
            notes.append(note)
            if size == _AIMED:
                targets = [_target(f"site of {size:,} queries, one changed", AIM, changed)]
                if shown:
                    what = f"site of {size:,} queries, its start page in Chromium"
                    targets.append(_target(what, AIM_SHOWN, shown))
        return Scenario(
            name="site",
            title="The site of many queries",
            sizes={"queries": max(self.sizes), "repeats": self.repeats},
            full=tuple(self.sizes) == FULL_SIZES,
            timings=timings,
            targets=targets,
            rows=[],
            notes=notes,
            machine=machine(),
        )

    def _measured(self, size: int) -> tuple[float, Seconds, Seconds, str, Seconds]:
        folder = WORK / f"site{size}"
        base = shared_data() / "nomisma" / "base.nq.gz"
        constants = constants_of(base, max(size // 2, self.repeats + 1))
        queries = written(folder / "queries", islice(texts(constants), size))
        source = {
            "name": "nomisma",
            "kind": "patches",
            "location": str(patches(folder / "changes", [])),
            "base": str(base),
            "base_id": BASE_ID,
        }
        prepared = project(folder / "prepared", queries, source)
        measure([prepared])
        shutil.rmtree(prepared.config.parent / _SITE, ignore_errors=True)
        first = _seconds(prepared)
        unchanged = tuple(_seconds(prepared) for _ in range(self.repeats))
        changed = []
        for number in range(self.repeats):
            change_sets(folder / "changes", constants, number + 1)
            measure([prepared])
            changed.append(_seconds(prepared))
        files = [file for file in (prepared.config.parent / _SITE).rglob("*") if file.is_file()]
        megabytes = sum(file.stat().st_size for file in files) / 1e6
        note = f"{size:,} queries: {len(files):,} files, {megabytes:.1f} MB."
        shown = _shown(prepared.config.parent / _SITE, self.repeats)
        return first, unchanged, tuple(changed), note, shown


def _target(what: str, aim: float, seconds: Seconds) -> Target:
    reached = median(seconds)
    return Target(what, f"<= {aim:.0f} s", f"{reached:.1f} s", reached <= aim)


def _shown(site: Path, repeats: int) -> Seconds:
    """How long until the table of answers on the start page has rows; nothing without Chromium."""
    if CHROMIUM is None:
        return ()
    seconds = []
    with browser() as running:
        for _ in range(repeats):
            page = running.new_page()
            started = time.monotonic()
            page.goto((site / "index.html").as_uri())
            page.wait_for_selector(".tabulator-row")
            seconds.append(time.monotonic() - started)
            page.close()
    return tuple(seconds)


def _seconds(prepared: Project) -> float:
    """How long the site takes, in a process that has everything imported."""
    opened = OpenProject(Settings.load(Path(prepared.config)))
    try:
        started = time.monotonic()
        write_site(opened, prepared.config.parent / _SITE)
        return time.monotonic() - started
    finally:
        opened.close()
