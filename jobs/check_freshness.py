"""Check how fresh the replicas are; without Spark."""

import sys

from weir.freshness.stage import main
from weir.process.standard_streams import run_process

if __name__ == "__main__":
    sys.exit(run_process(main))
