"""A course: how tasks that share their legs get along their axis to the newest epoch.

Each class of course has the same methods, for what the path does with any of them: `legs`; `open`,
which reads what the tasks share on a leg, and gives those that may have new rows; `open_stored` and
`inputs`, what these are computed with; `form`, how they are committed; `committed` or `unchanged`,
what came of it; `left`, the tasks that are not reported yet; `finish`, what follows from all legs.
"""

from __future__ import annotations

from typing import TypeAlias

from weir.maintain.epoch_course import EpochCourse
from weir.maintain.instant_course import InstantCourse

Course: TypeAlias = EpochCourse | InstantCourse
