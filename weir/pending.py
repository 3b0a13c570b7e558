"""Whether maintain, validate or publish has anything to do (no Spark).

As a program: exit code 0 if there is, 99 if not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from weir.catalog.catalog import Catalog
from weir.expected_errors import as_user_error
from weir.ingest.undeclared import undeclared
from weir.maintain.damaged import damaged_queries
from weir.maintain.emitted_streams import OutputStream
from weir.progress.completion import Completion
from weir.progress.over_limit import over_limit
from weir.settings import Settings
from weir.text.printable import printable_lines

NOTHING_TO_DO = 99
"""Exit code if there is nothing; Airflow then skips what depends on it."""


def has_pending_work(settings: Settings) -> bool:
    """Whether an epoch is not validated, or a query is new, edited, behind, too large or wrong.

    Raises:
        ConfigurationError: the folder of queries does not exist.
    """
    catalog, completion = Catalog.of(settings), Completion.read(settings.open_lake())
    newest = completion.head
    if catalog.errors or completion.graph_validated_to < newest:
        return True
    if undeclared(catalog.members, settings) or damaged_queries(completion, catalog.members):
        return True
    for query in catalog.members:
        found = completion.maintained(query.name)
        output = OutputStream.of(query)
        if found is not None and output and output.is_behind(completion.lake, found.metadata):
            return True
        if newest and (
            found is None or found.epoch < newest or found.metadata.fingerprint != query.fingerprint
        ):
            return True
    if over_limit(completion, catalog):
        return True
    return bool(completion.backlog(query.name for query in catalog.members))


def main(argv: Sequence[str] | None = None) -> int:
    """Exit with the code that says whether there is pending work."""
    parser = argparse.ArgumentParser(prog="pending_work", description=__doc__)
    parser.add_argument("--config", type=Path, help="configuration file (default: weir.toml)")
    try:
        found = has_pending_work(Settings.load(parser.parse_args(argv).config))
    except Exception as error:
        expected = as_user_error(error)
        if expected is None:
            raise
        print(printable_lines(f"error: {expected}"), file=sys.stderr)
        return expected.exit_code
    return 0 if found else NOTHING_TO_DO
