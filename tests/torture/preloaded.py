"""What a process needs to work, imported once for all that are forked; no library has started."""

from __future__ import annotations

import tests.support.stages
import tests.torture.lived  # noqa: F401
import weir.audit.repair
import weir.audit.stage
import weir.cli.project
import weir.cli.status
import weir.compact.stage
import weir.compute.database
import weir.expectations.registration
import weir.refresh.stage
import weir.rules.program  # noqa: F401
from weir.expectations.run import library

library()
