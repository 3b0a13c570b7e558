"""Expectations of the answers of remotes about keys, and of the rounds that fetched them."""

from __future__ import annotations

from weir.expectations.suite import Expectation, Suite

REPLICAS_SUITE = Suite(
    name="replicas",
    # One row per key of a round. `times`: its rows of the part `key`. Of its mappings in the round:
    # `found_rows`, `found_content`, `least_number` (the least number of one), `repeated` (how many
    # have two rows) and `changed_mappings` (how many changed). `requests`: requests of the
    # evaluation with the id; `patterns`: rows of `services`.
    columns=(
        "remote",
        "round",
        "pattern",
        "key",
        "status",
        "times",
        "rows",
        "rows_round",
        "content",
        "found_rows",
        "found_content",
        "least_number",
        "repeated",
        "changed_mappings",
        "answers",
        "changes",
        "requests",
        "patterns",
    ),
    shown=(
        "remote",
        "round",
        "pattern",
        "key",
        "status",
        "times",
        "rows",
        "rows_round",
        "found_rows",
        "changed_mappings",
    ),
    expectations=(
        Expectation(
            "keys_are_asked_once_per_round",
            "A round says of a key once what is known of it.",
            "times = 1",
        ),
        Expectation(
            "content_agrees_with_mappings",
            "A key has as many mappings as it says, with its content, none a negative number of"
            " times.",
            # The mappings of a key that did not change are in an earlier round.
            "times = 0 OR (rows >= 0 AND (CASE WHEN rows_round = round THEN rows = found_rows"
            " AND (content = found_content OR (status = 'dropped' AND content IS NULL"
            " AND rows = 0))"
            " AND least_number >= 0 AND repeated = 0"
            " ELSE found_rows = 0 AND (rows_round IS NULL OR rows_round < round) END))",
        ),
        Expectation(
            "only_answers_change_mappings",
            "Only the mappings of keys that changed, are gone or are dropped become others.",
            "times = 0 OR (status IN ('changed', 'gone', 'dropped') OR (changed_mappings = 0"
            " AND status IN ('unchanged', 'failed', 'suspect', 'too_large')))"
            " AND (status NOT IN ('gone', 'dropped') OR rows = 0)",
        ),
        Expectation(
            "changes_are_among_answers",
            "A key has changed at most as often as it was answered again.",
            "times = 0 OR (changes >= 0 AND answers >= changes)",
        ),
        Expectation(
            "keys_have_a_request",
            "Every key was asked for by a recorded request of the evaluation, or is dropped.",
            "times = 0 OR requests = 1 OR (status = 'dropped' AND requests = 0)",
        ),
        Expectation(
            "patterns_are_registered",
            "Every pattern that a remote was asked for is in `services`.",
            "patterns >= 1",
        ),
    ),
)

ROUNDS_SUITE = Suite(
    name="rounds",
    # One row per round. `commits`: how many have its number; `round_before`, `evaluation_before`,
    # `changed_round_before`: of the commit before; `changed_round`: the newest round, up to this
    # one, that changed a mapping, by the commit; `changed_keys`, `changed_mappings`: by its rows;
    # `transactions`: new epochs with this round; `ingested_before`, `ingested`: the newest ingested
    # round without and with these epochs. `is_new` is false if the round was checked earlier, when
    # it was not ingested yet.
    columns=(
        "remote",
        "round",
        "round_before",
        "evaluation",
        "evaluation_before",
        "commits",
        "changed_round",
        "changed_round_before",
        "changed_keys",
        "changed_mappings",
        "transactions",
        "ingested_before",
        "ingested",
        "is_new",
    ),
    shown=(
        "remote",
        "round",
        "round_before",
        "evaluation",
        "commits",
        "changed_round",
        "changed_keys",
        "changed_mappings",
        "transactions",
        "ingested_before",
        "ingested",
    ),
    expectations=(
        Expectation(
            "evaluated_once",
            "The rounds of a remote are 1, 2, 3, ..., each one evaluation, later than the one"
            " before.",
            "NOT is_new OR (commits = 1 AND round = round_before + 1 AND (evaluation IS NULL"
            " OR evaluation_before IS NULL OR evaluation > evaluation_before))",
        ),
        Expectation(
            "changes_are_marked",
            "The commit of a round says which round changed a mapping last.",
            "NOT is_new OR commits = 0 OR (CASE WHEN changed_mappings > 0"
            " THEN changed_round = round"
            " ELSE changed_round = changed_round_before"
            # The first answer about a key may be that it has no mapping.
            " OR (changed_keys > 0 AND changed_round = round) END)",
        ),
        Expectation(
            "rounds_with_changes_are_epochs",
            "Of the ingested rounds those that changed a mapping are one epoch each, and no other.",
            "transactions = (CASE WHEN round > ingested_before AND round <= ingested"
            " AND changed_round = round THEN 1 ELSE 0 END)",
        ),
    ),
)
