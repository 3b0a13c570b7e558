"""The kinds of faults, how often each was injected, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """What is done to a process, or to what surrounds it."""

    KILL = "SIGKILL at a random moment of a run"
    KILL_AT_COMMIT = "SIGKILL between two commits of a run"
    KILL_COMPACTION = "SIGKILL of compaction"
    KILL_DROP = "SIGKILL of `weir drop`"
    KILL_AUDIT = "SIGKILL of an audit"
    KILL_REPAIR = "SIGKILL of `weir repair`"
    KILL_OF_TWO = "SIGKILL of one of two processes"
    INTERRUPT = "SIGINT at a random moment of a run"
    TWO_RUNS = "two runs at once"
    RUN_AND_COMPACTION = "a run beside compaction"
    RUN_AND_AUDIT = "a run beside an audit"
    CLOCK = "the clock is set"
    DAY = "the clock is set by a day"
    DISK_FULL = "the disk is full"
    NO_DESCRIPTORS = "no file can be opened any more"


KILLS = (
    Fault.KILL,
    Fault.KILL_AT_COMMIT,
    Fault.KILL_COMPACTION,
    Fault.KILL_DROP,
    Fault.KILL_AUDIT,
    Fault.KILL_REPAIR,
    Fault.KILL_OF_TWO,
)


@dataclass(slots=True)
class Tally:
    """How often faults of each kind were injected, and what came of it.

    Attributes:
        injected: faults.
        effective: those that kept the work from its end, or left a claim without an end.
        detected: of these, those that the process reported, or the next run found.
        recovered: faults after which the next undisturbed run left what an undisturbed project has.
        lost: rows that were missing, too many or wrong afterwards.
        killed_at: how many kills there were after each checkpoint.
    """

    injected: Counter[Fault] = field(default_factory=Counter)
    effective: Counter[Fault] = field(default_factory=Counter)
    detected: Counter[Fault] = field(default_factory=Counter)
    recovered: Counter[Fault] = field(default_factory=Counter)
    lost: Counter[Fault] = field(default_factory=Counter)
    killed_at: Counter[str] = field(default_factory=Counter)

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return sum(self.injected[kind] for kind in KILLS)

    def table(self) -> str:
        """The table, as Markdown."""
        lines = [
            "| fault | injected | took effect | detected | recovered | rows lost or wrong |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        columns = (self.injected, self.effective, self.detected, self.recovered, self.lost)
        for kind in Fault:
            if self.injected[kind]:
                numbers = " | ".join(f"{column[kind]:,}" for column in columns)
                lines.append(f"| {kind} | {numbers} |")
        return "\n".join(lines)

    def places(self) -> str:
        """At which stage processes were killed."""
        stages: Counter[str] = Counter()
        for checkpoint, count in self.killed_at.items():
            stages[checkpoint.partition(":")[0] or "before the first checkpoint"] += count
        return ", ".join(f"{stage} {count}" for stage, count in stages.most_common())
