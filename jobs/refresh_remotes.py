"""Ask the remotes that are due; without Spark."""

import sys

from weir.process.standard_streams import run_process
from weir.refresh.stage import main

if __name__ == "__main__":
    sys.exit(run_process(main))
