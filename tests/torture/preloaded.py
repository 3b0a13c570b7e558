"""What a process needs to work, imported once for all that are forked; no library has started."""

from __future__ import annotations

import expectations.registration  # noqa: F401
import jobs.audit_lake
import jobs.cli.project
import jobs.cli.status
import jobs.compact_lake
import jobs.compute.resources
import jobs.refresh_remotes
import jobs.repair_lake
import jobs.rules.program  # noqa: F401
import tests.support.stages
import tests.torture.lived  # noqa: F401
from expectations.run import library

library()
