"""Many runs of one change set each: what a run costs after the runs before it, without upkeep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.nomisma import BASE_ID, Nomisma
from bench.places import WORK, patches
from bench.results import Scenario, Target, Timing, machine
from bench.session import measure

FULL_RUNS, COMPARED = 200, 10
AIM = 1.2
"""The last runs over the first ones."""
_CONCEPT = "<http://nomisma.org/id/5-Taler>"
_MATCH = "<http://www.w3.org/2004/02/skos/core#exactMatch>"


@dataclass(slots=True)
class Runs:
    """The scenario: so many runs in one process, each after another change set has arrived."""

    runs: int
    nomisma: Nomisma
    progress: Callable[[str], None]

    def run(self) -> Scenario:
        """The first runs beside the last ones."""
        folder = WORK / "runs"
        ahead = _change_sets(folder / "ahead", 1 + self.runs)
        arrived = patches(folder / "arrived", [])
        copy = self.nomisma.copy("runs", arrived)
        self.progress(f"{self.runs} runs of one change set each")
        session = measure([copy] * len(ahead), arrivals=[(file, arrived) for file in ahead])
        # The first run is cold: it imports everything.
        warm = session.runs[1:]
        samples = [run.seconds for run in warm]
        first, last = samples[:COMPARED], samples[-COMPARED:]
        ratio = _median(last, "in all") / _median(first, "in all")
        before, after = (
            median(run.cpu for run in some) for some in (warm[:COMPARED], warm[-COMPARED:])
        )
        return Scenario(
            name="runs",
            title=f"nomisma, {self.runs} runs of one change set each, ten queries, no upkeep",
            sizes={"runs": self.runs},
            full=self.runs == FULL_RUNS,
            timings=[*_timings(first, "the first ten runs"), *_timings(last, "the last ten runs")],
            targets=[
                Target(
                    "the last ten runs over the first ten",
                    f"<= {AIM}",
                    f"{ratio:.2f}",
                    ratio <= AIM,
                )
            ],
            notes=[
                "One process, so that starting it is not part of a run; medians of ten runs.",
                f"Processor: {before:.2f} s a run at first, {after:.2f} s at last"
                f" ({after / before:.2f} times), which depends less on what else the machine does.",
            ],
            machine=machine(),
        )


def _timings(samples: Sequence[Mapping[tuple[str, str], float]], name: str) -> list[Timing]:
    whole = Timing(name, "warm", tuple(sample["", "in all"] for sample in samples))
    stages = ("ingest", "maintain", "validate", "publish")
    return [
        whole,
        *(
            Timing(f"  {stage}", "warm", tuple(sample["", stage] for sample in samples), name)
            for stage in stages
        ),
    ]


def _median(samples: Sequence[Mapping[tuple[str, str], float]], what: str) -> float:
    return median(sample["", what] for sample in samples)


def _change_sets(folder: Path, count: int) -> list[Path]:
    """Patches of one triple each, another match of a concept."""
    made = patches(folder, [])
    before = BASE_ID
    for number in range(1, count + 1):
        added = f"A {_CONCEPT} {_MATCH} <urn:bench:match:{number}> {_CONCEPT} ."
        lines = (f"H id <urn:bench:{number}> .", f"H prev <{before}> .", "TX .", added, "TC .", "")
        (made / f"{number:04}.nqp").write_text("\n".join(lines))
        before = f"urn:bench:{number}"
    return sorted(made.iterdir())
