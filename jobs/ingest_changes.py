"""Ingest the new change sets of all sources."""

import sys

from weir.ingest.stage import main
from weir.process.standard_streams import run_process

if __name__ == "__main__":
    sys.exit(run_process(main))
