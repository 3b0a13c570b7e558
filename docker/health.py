"""Exit with 0 if a service answers, and its JSON has an expected value.

python health.py URL [PATH VALUE]     # PATH: keys joined by dots
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Sequence
from functools import reduce

TIMEOUT = 5
"""Seconds."""


def main(arguments: Sequence[str]) -> int:
    """Ask the service; an HTTP error or no answer raises."""
    url, *expected = arguments
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
        body = response.read()
    if not expected:
        return 0
    path, value = expected
    reported = reduce(lambda part, key: part[key], path.split("."), json.loads(body))
    print(f"{path}: {reported}")
    return 0 if reported == value else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
