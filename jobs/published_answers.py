"""Print what a run did for each query, as JSON; without Spark."""

import sys

from weir.process.standard_streams import run_process
from weir.publish.results import main

if __name__ == "__main__":
    sys.exit(run_process(main))
