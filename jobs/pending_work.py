"""Say by the exit code whether there is anything to do; without Spark."""

import sys

from weir.pending import main
from weir.process.standard_streams import run_process

if __name__ == "__main__":
    sys.exit(run_process(main))
