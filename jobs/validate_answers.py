"""Check the rows that are not published yet."""

import sys

from weir.process.standard_streams import run_process
from weir.validate.stage import main

if __name__ == "__main__":
    sys.exit(run_process(main))
