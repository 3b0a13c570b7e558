"""Bring the embeddings of all queries up to the newest epoch."""

import sys

from weir.maintain.stage import main
from weir.process.standard_streams import run_process

if __name__ == "__main__":
    sys.exit(run_process(main))
