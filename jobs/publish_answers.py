"""Append validated rows to the answer tables."""

import sys

from weir.process.standard_streams import run_process
from weir.publish.stage import main

if __name__ == "__main__":
    sys.exit(run_process(main))
