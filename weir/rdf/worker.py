"""The child process that parses untrusted files.

It gets the limits of parsing, then a request (`ParseRequest` as JSON) per file, and answers each
with messages of `pipe_protocol`, from `Started` to `End`.
"""

from __future__ import annotations

import json
import sys
import traceback
from importlib.abc import MetaPathFinder
from typing import IO

from weir.rdf.limits import ParseLimits
from weir.rdf.parse import parse
from weir.rdf.parse_events import Unusable
from weir.rdf.pipe_protocol import End, Failed, Started, write_message
from weir.rdf.records import ParseRequest, Rejection
from weir.sandbox.limits import limit_seconds
from weir.sandbox.serving import serve


def main() -> None:
    """Parse the files that are asked for until there are no more."""
    sys.meta_path.insert(0, _WithoutPandas())
    limits: ParseLimits | None = None

    def answer(message: bytes, output: IO[bytes]) -> None:
        nonlocal limits
        if limits is None:
            limits = ParseLimits(**json.loads(message))
            return
        limit_seconds(limits.parse_seconds)
        _parse(ParseRequest(**json.loads(message)), limits, output)

    serve(answer)


class _WithoutPandas(MetaPathFinder):
    """Hides pandas, which pyarrow imports on first use if it is installed: it costs a second."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """No pandas; every other module is for the other finders."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError("a parser needs no pandas", name=name)


def _parse(request: ParseRequest, limits: ParseLimits, output: IO[bytes]) -> None:
    write_message(output, Started())
    output.flush()
    try:
        for event in parse(request, limits):
            write_message(output, event)
    except OSError as error:
        write_message(output, Failed(error.errno or 0, error.strerror or str(error)))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - see below
        # One file that a reader did not expect must not end the run of all sources: its own stops.
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"a defect of its reader: {type(error).__name__} in {place.name}: {error}"
        write_message(output, Unusable(Rejection(request.file, 0, 0, reason, "")))
    write_message(output, End())
    output.flush()


if __name__ == "__main__":
    main()
