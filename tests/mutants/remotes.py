"""The mutants of SERVICE, of rounds and of the protocol of refreshes."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

REMOTE_MUTANTS = (
    Mutant(
        "the keys of a block inside LIMIT come from outside",
        "sparql/algebra/services",
        "_Around(graphs=around.graphs, top=top_of(pattern))",
        "replace(around, top=top_of(pattern))",
    ),
    Mutant(
        "filters keep their conditions on the right of OPTIONAL",
        "sparql/algebra/services",
        "conditions=kept(self.conditions),",
        "conditions=self.conditions,",
    ),
    Mutant(
        "remotes are given conditions on what a block may leave unbound",
        "sparql/algebra/pushed_filters",
        "if name not in service.certain:",
        "if False:",
        tests=("tests/sparql/frontend/test_pushed_filters.py",),
    ),
    Mutant(
        "remotes are given `!=` with a literal",
        "sparql/algebra/pushed_filters",
        'dict.fromkeys(("!=", "NOT IN"), _is_iri)',
        'dict.fromkeys(("!=", "NOT IN"), _has_equality)',
        tests=("tests/sparql/frontend/test_pushed_filters.py",),
    ),
    Mutant(
        "graphs of replicas of http remotes are not reserved",
        "rdf/reserved_graphs",
        'f"<{prefix[:-1]};"',
        'f"<{prefix}h"',
    ),
    Mutant(
        "a round says what was before by what is after",
        "remotes/key_rows",
        '"before": key_round.before.get(row, 0),',
        '"before": key_round.rows.get(row, 0),',
    ),
    Mutant(
        "the mappings of a key are those of its newest round",
        "remotes/key_rows",
        "round_.number if is_changed else history.rows_round",
        "round_.number",
    ),
    Mutant(
        "a mapping that is given more often appears from the first on",
        "remotes/replica_quads",
        "range(min(before, after) + 1, max(before, after) + 1)",
        "range(1, max(before, after) + 1)",
    ),
    Mutant(
        "a sudden loss is believed at once",
        "remotes/rounds",
        "LOST_KEYS = 10\n",
        "LOST_KEYS = 10**6\n",
    ),
    Mutant(
        "a sudden loss is never believed",
        "remotes/rounds",
        " and not known.is_suspect",
        "",
    ),
    Mutant(
        "every round is one that changes a mapping",
        "remotes/evaluation",
        "evaluated.round if is_changed else changed_before,",
        "evaluated.round,",
    ),
    Mutant(
        "a round skips the changed one before it",
        "remotes/evaluation",
        "changed_before = self.last.mark.changed_round if self.last else 0",
        "changed_before = self.last.mark.changed_before if self.last else 0",
    ),
    Mutant(
        "requests after a round count from the second commit on",
        "remotes/evaluation",
        "            version_of_requests(self.lake),",
        "            version_of_requests(self.lake) + 1,",
    ),
    Mutant(
        "failures of earlier evaluations are forgotten",
        "remotes/evaluation",
        "self._attempts()[-ATTEMPTS:]",
        "()",
    ),
    Mutant(
        "a remote that asked to wait is asked",
        "remotes/evaluation",
        "[time_at(stored) if stored is not None else None, self.log.not_before()]",
        "[None, self.log.not_before()]",
    ),
    Mutant(
        "the oldest round of a key is what is known of it",
        "remotes/known_keys",
        '[descending(column("round"))]',
        '[column("round")]',
    ),
    Mutant(
        "mappings that have gone are known",
        "remotes/known_keys",
        'column("multiplicity", "m") > number(0)',
        'column("multiplicity", "m") >= number(0)',
    ),
    Mutant(
        "what a killed run had reserved is not spent",
        "remotes/budget",
        "(reserved | settled).values()",
        "settled.values()",
    ),
    Mutant(
        "what was settled counts as it was reserved",
        "remotes/budget",
        "(reserved | settled).values()",
        "(settled | reserved).values()",
    ),
    Mutant(
        "a chunk reserves all that is left",
        "remotes/budget",
        "left.bytes // (2 * number)",
        "left.bytes // number",
    ),
    Mutant(
        "a first answer does not wait for its keys",
        "remotes/readiness",
        "if is_first and keys.missing and",
        "if limit is not None and keys.missing and",
    ),
    Mutant(
        "a first answer has epochs at which keys were not answered",
        "publish/stage",
        "return work.of_services() if catalog",
        "return work if catalog",
    ),
    Mutant(
        "a key whose requests failed has no mappings",
        "remotes/readiness",
        'is_missing = is_null(column("answered_at", "k"))',
        'is_missing = is_null(column("asked_at", "k"))',
    ),
    Mutant(
        "the first epoch of an answer is lost with the next commit",
        "progress/backlog",
        "if self.published is None or self.is_first_of_text:",
        "if True:",
    ),
    Mutant(
        "a first answer does not wait for rounds to be ingested",
        "remotes/readiness",
        'any_of([is_missing, column("first_round", "k") > number(until)])',
        "is_missing",
    ),
    Mutant(
        "an epoch of a round has no time of its own",
        "ingest/sources/rounds",
        "event_time=time_at(changed.mark.evaluation)",
        "event_time=time_at(0)",
    ),
    Mutant(
        "a clock that is set back gives a second evaluation",
        "remotes/schedule",
        "time_at(due if last is None else max(due, last.evaluation))",
        "time_at(due)",
    ),
    Mutant(
        "the rows of freshness that a killed run did not write stay missing",
        "remotes/freshness_log",
        "if metadata.watermark < mark.round:",
        "if metadata.watermark > mark.round:",
    ),
    Mutant(
        "answers of blocks that queries have are dropped once they are old",
        "remotes/unused",
        "if pattern not in asked and at <= before",
        "if at <= before",
    ),
    Mutant(
        "keys beyond the most of a round are never dropped",
        "remotes/unused",
        "    if len(dropped) < AT_ONCE:\n        for",
        "    if True:\n        for",
    ),
    Mutant(
        "keys that were dropped count as asked for",
        "remotes/key_rows",
        '"status": DROPPED,',
        '"status": DROPPED, "asked_at": history.answered_at,',
    ),
    Mutant(
        "a round that only drops keys is no epoch",
        "remotes/evaluation",
        "            history.known.rows for history in dropped.values()",
        "            False for history in dropped.values()",
    ),
    Mutant(
        "a killed run forgets that the remote asked to wait",
        "remotes/evaluation",
        "self.log.not_before()]",
        "None]",
    ),
)
