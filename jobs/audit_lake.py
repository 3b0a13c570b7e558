"""Examine what the lake holds."""

import sys

from weir.audit.stage import main
from weir.process.standard_streams import run_process

if __name__ == "__main__":
    sys.exit(run_process(main))
