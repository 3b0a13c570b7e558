"""Merge small files, consolidate logs, delete what is no longer needed."""

import sys

from weir.compact.stage import main
from weir.process.standard_streams import run_process

if __name__ == "__main__":
    sys.exit(run_process(main))
