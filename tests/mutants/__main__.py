"""Runs mutants and reports which of them the tests kill.

    python -m tests.mutants                     all
    python -m tests.mutants distinct            those whose name contains a word
    python -m tests.mutants --of streams        those of an area (`tests/mutants/areas.py`)
    python -m tests.mutants --of rules --lane test --most 3
                                                by the tests of `make test` alone, three at random

Each mutant is applied to a copy of the tree, in which the tests of its area run until the first
failure, without Spark: the whole sizes of laws, or what a lane runs of them. A
mutant that survives shows that a test is missing.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

from tests.mutants.areas import AREAS
from tests.mutants.killing import verdict
from tests.mutants.mutant import Mutant
from tests.support.laws import FIRST_SEED


def chosen(words: str, area: str | None, most: int | None) -> list[Mutant]:
    """The mutants whose name contains words, of an area, and of each area at most so many."""
    rng = random.Random(os.environ.get(FIRST_SEED, "0"))
    mutants = []
    for name, all_mutants in AREAS.items():
        if area in (None, name):
            named = [mutant for mutant in all_mutants if words in mutant.name]
            mutants += named if most is None else rng.sample(named, min(most, len(named)))
    return mutants


def main() -> None:
    """Run all mutants, or those that are named."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("words", nargs="?", default="", help="a part of the mutants' names")
    parser.add_argument("--of", choices=AREAS, help="only the mutants of an area")
    parser.add_argument("--lane", help="run the tests of a lane, with its part of the laws")
    parser.add_argument("--most", type=int, help="so many mutants of each area, by WEIR_SEED")
    parser.add_argument("--known", action="store_true", help="the tests are known to pass")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at once (%(default)s)")
    options = parser.parse_args()
    mutants = chosen(options.words, options.of, options.most)
    if not mutants:
        sys.exit(f"no mutant has {options.words!r} in its name")
    survived = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as processes:
        if not options.known:
            original = replace(mutants[0], replacement=mutants[0].original)
            tests = dict.fromkeys(mutant.tests for mutant in mutants)
            originals = [replace(original, tests=files) for files in tests]
            for unbroken in processes.map(partial(verdict, lane=options.lane), originals):
                if unbroken.failure:
                    sys.exit(f"the tests fail without a mutant: {unbroken.failure}")
        verdicts = [processes.submit(partial(verdict, m, options.lane)) for m in mutants]
        for done in as_completed(verdicts):
            print(done.result(), flush=True)
            if done.result().failure is None:
                survived.append(done.result().name)
    print(f"{len(mutants) - len(survived)} of {len(mutants)} killed")
    if survived:
        sys.exit(f"survived: {', '.join(sorted(survived))}")


if __name__ == "__main__":
    main()
