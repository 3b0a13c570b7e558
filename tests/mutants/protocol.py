"""The mutants of the protocol between the stages, each with the tests that must fail on it.

Watermarks, verdicts, the ledger and its claims, the journal of ingest, the change feed,
publication, consolidation and the guards of sources. None of the tests starts Spark.
"""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_LOG_TESTS = ("tests/audit/test_logs.py",)
_PROGRESS = ("tests/progress/test_completion.py", "tests/lake/test_newest_commit.py")
_HELD = ("tests/progress/test_held.py",)
_PUBLISH = ("tests/publish/test_protocol.py", "tests/publish/test_appended_rows.py")
_MAINTAIN = ("tests/maintain/test_crash.py",)
_TASKS = ("tests/maintain/test_tasks.py",)
_FEED = ("tests/maintain/test_feed.py", "tests/lake/test_local_changes.py")
_INGEST = ("tests/ingest/test_crash.py",)
_STREAM = ("tests/ingest/test_stream_crash.py",)
_CLAIMS = ("tests/lake/test_ledger.py",)
_FENCE_TESTS = ("tests/lake/test_fences.py",)
_SUMMARY = ("tests/lake/test_untouched.py", "tests/lake/test_ledger_summary.py")
_GUARD_TESTS = ("tests/ingest/test_guards.py",)
_AUDIT, _REPAIR = ("tests/audit/test_audit.py",), ("tests/audit/test_repair.py",)
_COMPACT = ("tests/ingest/test_compact.py",)
_LOGS = ("tests/lake/test_old_commits.py", "tests/lake/test_commits.py")

_Change = tuple[str, str, str]
"""What is wrong, the original, the replacement."""


def _of(
    module: str, tests: tuple[str, ...], *changes: _Change, package: str = "weir"
) -> tuple[Mutant, ...]:
    return tuple(
        Mutant(name, module, original, replacement, package, tests)
        for name, original, replacement in changes
    )


_WATERMARKS = (
    *_of(
        "progress/watermarks",
        _PROGRESS,
        (
            "an untouched range counts though epochs before it are missing",
            "untouched[0] <= epoch < untouched[1]",
            "epoch < untouched[1]",
        ),
        (
            "an untouched range that starts at the watermark does not count",
            "untouched[0] <= epoch < untouched[1]",
            "untouched[0] < epoch < untouched[1]",
        ),
        (
            "an untouched range moves the watermark to its start",
            "epoch = untouched[1]",
            "epoch = untouched[0]",
        ),
        (
            "the epochs after an epoch include it",
            '[("epoch", ">", epoch)]',
            '[("epoch", ">=", epoch)]',
        ),
        (
            "the ledger's commit counts though a later one was made",
            "if known is None or not is_newest(",
            "if known is None or False and not is_newest(",
        ),
    ),
    *_of(
        "delta/file_rows",
        _PROGRESS,
        (
            "the newest epoch is that of the oldest file",
            "return max((number for",
            "return min((number for",
        ),
        package="lake",
    ),
    *_of(
        "delta/newest_commit",
        _PROGRESS,
        (
            "a commit of a table that was created again counts as the ledger's",
            "committed <= before.timestamp() and not",
            "not",
        ),
        (
            "a commit after the ledger's is not looked for",
            " and not os.path.exists(next_)",
            "",
        ),
        (
            "the newest commit counts though it is one of another job",
            "if metadata is None or metadata.job != job:",
            "if metadata is None:",
        ),
        package="lake",
    ),
    *_of(
        "damage/step_back",
        ("tests/lake/test_commits.py", "tests/lake/test_lake.py", *_PROGRESS),
        (
            "the newest metadata are those of any job",
            "if metadata is not None and job in (None, metadata.job)",
            "if metadata is not None",
        ),
        package="lake",
    ),
    *_of(
        "progress/backlog",
        _PROGRESS,
        (
            "rows of an edited query are published as an increment",
            "if old.fingerprint != new.fingerprint:\n        return",
            "if False:\n        return",
        ),
        (
            "rows that were replaced at the same base are published as an increment",
            "or _was_replaced(lake, table, published_from, maintained.version):",
            "or False:",
        ),
        (
            "the checked range of a recomputed state begins after its base",
            "return self.maintained.metadata.base - 1",
            "return self.maintained.metadata.base",
        ),
    ),
    *_of(
        "progress/backlog",
        _PUBLISH,
        (
            "a state without later rows is not published",
            "return self.rebuilt or self.maintained.metadata.watermark > self.from_epoch",
            "return self.maintained.metadata.watermark > self.from_epoch + 1",
        ),
        (
            "the answer before a recomputed state is the published one",
            "return 0 if self.rebuilt else self.rows_published",
            "return self.rows_published",
        ),
    ),
)
_VERDICTS = (
    *_of(
        "progress/verdicts",
        _PUBLISH,
        (
            "a verdict about another run of maintain is accepted",
            "is_same = (self.version, self.run_id)",
            "is_same = (self.version, rows.metadata.run_id)",
        ),
        (
            "a verdict about another version is accepted",
            "is_same = (self.version, self.run_id)",
            "is_same = (rows.version, self.run_id)",
        ),
        (
            "a verdict about another range is accepted",
            "(self.from_epoch == backlog.from_epoch or not backlog.has_rows)",
            "True",
        ),
    ),
    *_of(
        "progress/completion",
        (*_PUBLISH, *_PROGRESS),
        ("every verdict is a success", 'row["status"] == SUCCEEDED,', "True,"),
        (
            "the graph is validated as far as its first validation",
            'return max((row["to_epoch"] or 0 for row in runs), default=0)',
            'return min((row["to_epoch"] or 0 for row in runs), default=0)',
        ),
    ),
    *_of(
        "validate/stage",
        _PUBLISH,
        (
            "a graph that fails its checks is validated",
            "if all(validation.success for validation in graph):",
            "if graph or not graph:",
        ),
        (
            "a verdict names the run of validate",
            "checked_run=item.maintained.metadata.run_id",
            "checked_run=run_id",
        ),
        (
            "rows that fail a check pass",
            "status=SUCCEEDED if validation.success or is_accepted else FAILED",
            "status=SUCCEEDED",
        ),
        (
            "rows of an earlier text are checked",
            "if metadata.fingerprint != maintained.fingerprint:",
            "if False:",
        ),
    ),
    *_of(
        "progress/held",
        (*_HELD, *_PUBLISH),
        (
            "rows that were replaced are not checked again",
            "return verdict if verdict is not None and verdict.is_about(work) else None",
            "return verdict",
        ),
        (
            "rows of epochs that were not checked are published",
            "if graph_to < work.to_epoch:",
            "if graph_to < work.from_epoch:",
        ),
        (
            "rows are published before they are checked",
            "if held is None and needs_checks(completion, work, checks):",
            "if False:",
        ),
        (
            "rows that failed a check are held as if they were not checked",
            "if verdict is not None and not verdict.success:",
            "if False:",
        ),
        (
            "rows that failed a check are not checked again",
            "not verdict.success or verdict.checks",
            "verdict.checks",
        ),
        (
            "an answer is not checked by edited checks before it changes",
            "or verdict.checks != checks.get(work.query)",
            "",
        ),
    ),
)
_PUBLICATION = (
    *_of(
        "progress/backlog",
        _PUBLISH,
        (
            "the difference is one to the state at the base",
            "return max(self.maintained.metadata.base, self.published.epoch)",
            "return self.maintained.metadata.base",
        ),
    ),
    *_of(
        "publish/publication_query",
        _PUBLISH,
        (
            "a row alone without a transaction is lost",
            "left_join(rows_of(times",
            "inner_join(rows_of(times",
        ),
        (
            "rows at the published watermark are published again",
            'wanted.append(column("epoch") > number(work.from_epoch))',
            'wanted.append(column("epoch") >= number(work.from_epoch))',
        ),
        (
            "rows that vanished by an edit stay",
            'alias(exp.Neg(this=column("weight")), "weight")',
            'column("weight")',
        ),
    ),
    *_of(
        "publish/appended_rows",
        _PUBLISH,
        (
            "a row among others without a transaction is lost",
            'left_join(rows_of(times, "t")',
            'inner_join(rows_of(times, "t")',
        ),
        (
            "rows of many queries are published again",
            'column("epoch", "n") > column("after", "r")',
            'column("epoch", "n") >= column("after", "r")',
        ),
    ),
    *_of(
        "publish/publication",
        _PUBLISH,
        (
            "the size of an answer is that of its last change",
            '"rows": work.rows_published + net',
            '"rows": net',
        ),
        (
            "a publication leaves the watermark where it was",
            "watermark=work.to_epoch,",
            "watermark=work.from_epoch,",
        ),
        (
            "an untouched answer stays behind",
            "run.untouched(work.query, work.from_epoch, work.to_epoch)",
            "run.untouched(work.query, work.from_epoch, work.from_epoch)",
        ),
    ),
    *_of(
        "compute/arrow",
        ("tests/publish/test_appended_rows.py",),
        ("no rows cannot be cut", "[0, *ends][: len(ends)]", "[0, *ends[:-1]]"),
    ),
)
_BEHIND_STATES = (
    "elif stored.epoch < until:\n"
    '        why = f"changes before epoch {until} have been compacted away"\n'
    "    if why:"
)
_MAINTENANCE = (
    *_of(
        "maintain/tasks",
        (*_TASKS, *_MAINTAIN),
        (
            "an edited query goes on from its stored state",
            "if is_edited(definition, completion):\n        published",
            "if False:\n        published",
        ),
        (
            "an edit that was taken back is one",
            "if published is not None:\n            return new",
            "if False:\n            return new",
        ),
        (
            "a query goes on though its changes were consolidated",
            _BEHIND_STATES,
            _BEHIND_STATES.replace("stored.epoch < until", "False"),
        ),
        (
            "a query at the epoch of the consolidation is recomputed",
            _BEHIND_STATES,
            _BEHIND_STATES.replace("<", "<="),
        ),
        (
            "a query that is computed again starts at the newest epoch",
            "epoch = published.epoch",
            "epoch = completion.head",
        ),
        (
            "a verdict about an earlier commit has a state recomputed",
            "verdict.success or verdict.version != stored.version",
            "verdict.success",
        ),
        (
            "a state that fails again is recomputed forever",
            'stored.metadata.mode == "rebased" or is_right',
            "is_right",
        ),
        (
            "the base of a log is lost with the next commit",
            "base = task.stored.metadata.base",
            "base = 0",
        ),
    ),
    *_of(
        "maintain/changes",
        _FEED,
        (
            "a feed with deletions is read as one of insertions",
            "if kinds - {INSERT}:",
            "if False:",
        ),
        (
            "an epoch that is missing among the transactions is no gap",
            "if len(inside) != epochs.last - epochs.after:",
            "if False:",
        ),
        (
            "an epoch without changes needs the feed of an earlier one",
            "inside = [t for t in inside if t.changes] or inside",
            "pass",
        ),
        (
            "the feed is read from its last version",
            "return table, min(versions), max(versions)",
            "return table, max(versions), max(versions)",
        ),
        (
            "the changes include those of the epoch before",
            'column("epoch") > number(epochs.after)',
            'column("epoch") >= number(epochs.after)',
        ),
    ),
    *_of(
        "delta/change_feed",
        _FEED,
        (
            "a version that is gone is left out in silence",
            'raise ChangeFeedGap(f"{lake.location(table_name)}: {error}") from error',
            "continue",
        ),
        package="lake",
    ),
)
_JOURNAL = (
    *_of(
        "ingest/journal",
        _INGEST,
        (
            "epochs that exist are made again",
            "last.watermark > head(lake) and",
            "last.watermark >= head(lake) and",
        ),
        (
            "epochs that a dead run began are not finished",
            "last.watermark > head(lake) and",
            "last.watermark > head(lake) + 9 and",
        ),
        (
            "the triples of a dead run are forgotten",
            "if self._watermark(TRIPLES) < begun.watermark:",
            "if False:",
        ),
        (
            "the triples of a dead run are written twice",
            "if self._watermark(TRIPLES) < begun.watermark:",
            "if True:",
        ),
        (
            "rejected rows of a dead run are written twice",
            'new = _without_known(rows, "known_rejections")',
            'new = select("*", from_=subquery(rows, "new"))',
        ),
        (
            "an epoch that is finished names the versions of another table",
            "self._committed(QUADS), self._committed(TRIPLES))",
            "self._committed(TRANSACTIONS), self._committed(TRIPLES))",
        ),
        (
            "the state before a dead batch includes it",
            '"recovered_log", newest, literals)',
            '"recovered_log", begun.watermark, literals)',
        ),
    ),
    *_of(
        "ingest/journal",
        _STREAM,
        (
            "the rows of stream_epochs of a dead run are written twice",
            "if last is None or last.watermark < until:",
            "if until:",
        ),
        (
            "late rows of epochs that do not exist stay",
            "if last is not None and last.watermark > newest:\n            delete",
            "if False:\n            delete",
        ),
        (
            "epochs of a stream that a dead run began are not finished",
            "for table in (QUADS.name, *map(STREAMS.name, names)):",
            "for table in (QUADS.name,):",
        ),
    ),
)
_LEDGER = (
    *_of(
        "ledger/claims",
        _CLAIMS,
        (
            "of two that claim at once both win",
            "append_to(lake, rows, Transaction(_application(job), number))",
            'append_to(lake, rows, Transaction(f"{_application(job)}-{run_id}", number))',
        ),
        (
            "an active run does not keep another from starting",
            "if other is not None:",
            "if False:",
        ),
        (
            "a claim of another machine never ends",
            "since + timedelta(seconds=lease_seconds)",
            "since + timedelta(days=9999)",
        ),
        (
            "a claim of another machine that was not renewed just now does not count",
            "since + timedelta(seconds=lease_seconds)",
            "since",
        ),
        (
            "a row about a query ends a claim",
            'pc.and_(chosen, pc.equal(rows["job"], pa.scalar(job)))',
            'pc.equal(rows["job"], pa.scalar(job))',
        ),
        (
            "a run that takes over does not see what the dead one committed",
            "if open_claims:\n                # A run",
            "if False:\n                # A run",
        ),
        (
            "a run that has ended without a record keeps its process from the next",
            'return (claim["run_id"], job, claim["number"]) in _held',
            "return True",
        ),
        (
            "a run of another thread counts as dead",
            'return (claim["run_id"], job, claim["number"]) in _held',
            "return False",
        ),
        (
            "a dead claim is not marked",
            "for dead in open_claims\n",
            "for dead in open_claims[:0]\n",
        ),
        package="lake",
    ),
    *_of(
        "ledger/processes",
        _CLAIMS,
        (
            "a later process with the same id is the claimant",
            "return now == known_as",
            "return True",
        ),
        package="lake",
    ),
    *_of(
        "ledger/summary",
        _SUMMARY,
        (
            "a summary of another ledger is used",
            "if version > newest or commit_digest(lake, RUNS.name, version) != commit:",
            "if version > newest:",
        ),
        (
            "a summary forgets open claims",
            "if number == newest[job] or is_open or status == ABANDONED:",
            "if number == newest[job] or status == ABANDONED:",
        ),
        (
            "a summary forgets how far the graph was validated",
            "if furthest is not None:",
            "if False:",
        ),
        (
            "untouched ranges with a gap between them are one",
            "if start > last:",
            "if start > last + 1:",
        ),
        package="lake",
    ),
    *_of(
        "ledger/untouched",
        _SUMMARY,
        (
            "a row about all moves a query that the run reports itself",
            "if epoch == from_epoch and other not in own:",
            "if epoch == from_epoch:",
        ),
        (
            "a row about all moves queries that stand elsewhere",
            "if epoch == from_epoch and other not in own:",
            "if other not in own:",
        ),
        (
            "a row about all moves what an abandoned run reported",
            "if status == ABANDONED}",
            "if False and status}",
        ),
        package="lake",
    ),
    *_of(
        "delta/appended",
        (*_SUMMARY,),
        (
            "rows that a commit removed are not noticed",
            'raise NotAppended("a commit removed rows")',
            "continue",
        ),
        package="lake",
    ),
)
_CONSOLIDATION = (
    *_of(
        "compact/stage",
        _COMPACT,
        (
            "epochs that are not validated are consolidated",
            "slowest, members = completion.graph_validated_to, catalog.members",
            "slowest, members = completion.head, catalog.members",
        ),
        (
            "the newest epochs are consolidated",
            "completion.head - settings.limits.keep_epochs",
            "completion.head",
        ),
        (
            "changes that a removed query needs are consolidated",
            "for name in {*wants_all, *completion.last_maintenance}:",
            "for name in wants_all:",
        ),
        (
            "changes that a new query with its full history needs are consolidated",
            "elif wants_all.get(name):",
            "elif False:",
        ),
    ),
    *_of(
        "upkeep/consolidated",
        ("tests/lake/test_consolidated.py",),
        (
            "a consolidation forgets a later one",
            "latest = max(until, int(table.metadata().configuration.get(PROPERTY, 0)))",
            "latest = until",
        ),
        package="lake",
    ),
    *_of(
        "delta/commit",
        ("tests/lake/test_small_files.py", *_LOGS),
        (
            "a commit has the version of the newest commit of any",
            'if commit.get("userMetadata") == text:',
            "if commit:",
        ),
        package="lake",
    ),
    *_of(
        "storage/folder",
        ("tests/lake/test_removal.py",),
        ("a table is removed file by file", "log.rename(removed)", "pass"),
        package="lake",
    ),
    *_of(
        "upkeep/old_commits",
        _LOGS,
        (
            "the checkpoint that a log begins with is deleted",
            "if version < first)",
            "if version <= first)",
        ),
        package="lake",
    ),
)
_GUARDS = (
    *_of(
        "ingest/sources/guards",
        _GUARD_TESTS,
        (
            "a change set that leaves nothing is taken in",
            "if not self.allow_empty and held and held + inserted == deleted:",
            "if False:",
        ),
        (
            "a change set may delete any share",
            "elif held > FEW_QUADS and deleted > self.max_deleted_share * held:",
            "elif False:",
        ),
        (
            "any number of lines may be rejected",
            "if not self.max_rejected.allows(reading.malformed, lines):",
            "if False:",
        ),
        ("a file that is cut off is taken in", "if reading.cut_off is not None:", "if False:"),
    ),
    *_of(
        "ingest/stopped_sources",
        _GUARD_TESTS,
        (
            "accepting one change set accepts any of its source",
            "return (self.position, self.excess) == (position, excess)",
            "return True",
        ),
    ),
)
_FENCES = (
    *_of(
        "ledger/claims",
        _FENCE_TESTS,
        (
            "a run that lost its claim records its rows all the same",
            'run["status"] == ABANDONED for run',
            'run["status"] == "never" for run',
        ),
        (
            "a claim that is lost while its end is recorded is not noticed",
            "transaction = Transaction(_application(fence.name), fence.number)",
            "transaction = None",
        ),
        package="lake",
    ),
    *_of(
        "ledger/fences",
        _FENCE_TESTS,
        (
            "commits of another run with the claim do not matter",
            "if number not in (None, self.number):",
            "if False:",
        ),
        (
            "only what is committed after the last look counts",
            "known = self.looked_at.setdefault(table_name, version)",
            "known = version",
        ),
        (
            "a run that was superseded goes on with other tables",
            "if self.lost is not None:",
            "if False:",
        ),
        package="lake",
    ),
    *_of(
        "delta/file_commits",
        _FENCE_TESTS,
        (
            "a commit between the look and an append is passed over",
            "transactions += guard.transactions()",
            "guard.transactions()",
        ),
        package="lake",
    ),
)
_STORE_TESTS = ("tests/lake/storage/test_mirror.py",)
_STORES = (
    *_of(
        "storage/mirror",
        _STORE_TESTS,
        ("a commit that the store refused counts", "if created is None:", "if False:"),
        (
            "commits before a checkpoint of others are not brought",
            "{*log.needed(log.newest), *later}",
            "log.needed(log.newest)",
        ),
        (
            "a table that took the place of another is not noticed",
            "or last.etag != log.versions[newest]",
            "",
        ),
        ("commits of others to the ledger mean nothing", "if table == RUNS.name:", "if False:"),
        (
            "what an earlier process knew is not compared with the ledger",
            "if RUNS.name in recalled and self._followed(RUNS.name, recalled[RUNS.name]):",
            "if RUNS.name in recalled:",
        ),
        (
            "a table that is being removed is read",
            "if not listed.is_removed:",
            "if True:",
        ),
        (
            "a log that others shortened is another table",
            "if log.newest >= 0 and listed.versions.get(newest) != log.versions[newest]:",
            "if not log.brought <= listed.versions.keys():",
        ),
        (
            "a writer does not look after a pause",
            "time.monotonic() - log.listed_at > _OLD_SECONDS:",
            "False:",
        ),
        (
            "the record of a checkpoint that was undone stays",
            "write_whole(record, recorded)",
            "pass",
        ),
        (
            "after an error the list of the log counts",
            "self._log(table).generation = -1",
            "pass",
        ),
        (
            "a damaged copy of the cache is used",
            "if expected is not None and file_checksum(draft) != expected.file:",
            "if False:",
        ),
        ("a checkpoint that fails undoes the commit", "with suppress(StorageError):", "if True:"),
        package="lake",
    ),
    *_of(
        "storage/mirror",
        ("tests/lake/storage/test_moved.py",),
        (
            "a copy is a table before it is whole",
            'self.objects.write(_mark(new), b"")',
            "pass",
        ),
        (
            "what has the new name of a copy stays",
            "self._empty(new)",
            "pass",
        ),
        (
            "a table that is half removed is moved",
            "if any(entry.path == _mark(table) for entry in entries):",
            "if False:",
        ),
        (
            "a copy of this machine stands for what the store has lost",
            "            if again:\n                # A copy of",
            "            if False:\n                # A copy of",
        ),
        package="lake",
    ),
    *_of(
        "storage/storage",
        _STORE_TESTS,
        ("a vacuum deletes no file without a commit", "dry_run=True, full=True", "dry_run=True"),
        package="lake",
    ),
    *_of(
        "storage/objects",
        _STORE_TESTS,
        ("the digest of an object is not compared", "if expected in (None, digest):", "if True:"),
        (
            "a commit whose answer was lost is one of others",
            "is_ours = self.read(path) == content",
            "is_ours = False",
        ),
        package="lake",
    ),
    *_of(
        "ledger/claims",
        _STORE_TESTS,
        ("others at work mean nothing", "    if others:\n", "    if False:\n"),
        package="lake",
    ),
)
_AUDITS = (
    *_of(
        "damage/damaged_files",
        _AUDIT,
        (
            "a file that is missing is no damage",
            "return [*missing, *(file",
            "return [*(file",
        ),
        package="lake",
    ),
    *_of(
        "audit/files",
        _AUDIT,
        (
            "a commit of another program is ours",
            'if Metadata.from_json(commit.get("userMetadata")) is not None:',
            "if True:",
        ),
    ),
    *_of(
        "audit/graph",
        _AUDIT,
        (
            "a triple may be there twice",
            'column("held") <= number(1)',
            'column("held") <= number(2)',
        ),
        (
            "epochs are counted and not compared",
            "right = (rows, distinct, first, last) == (head, head, 1, head)",
            "right = last == head",
        ),
        (
            "only triples that are missing break the union",
            'having=sum_of(column("weight")).neq(number(0))',
            'having=sum_of(column("weight")) > number(0)',
        ),
    ),
    *_of(
        "audit/answers",
        _AUDIT,
        (
            "the epoch of the watermark is not compared",
            'published = column("epoch") <= number(until)',
            'published = column("epoch") < number(until)',
        ),
    ),
    *_of(
        "audit/recomputed",
        _AUDIT,
        (
            "only rows that are missing differ from the answer of the graph",
            'having=sum_of(column("weight")).neq(number(0))',
            'having=sum_of(column("weight")) > number(0)',
        ),
    ),
    *_of(
        "audit/sources",
        _AUDIT,
        (
            "only quads that the source does not have differ",
            'having=sum_of(column("weight")).neq(number(0))',
            'having=sum_of(column("weight")) < number(-1)',
        ),
    ),
    *_of(
        "audit/repairs",
        _REPAIR,
        (
            "embeddings are recomputed from a damaged log",
            "elif not graph_is_right:",
            "elif False:",
        ),
        (
            "a repaired answer follows from the embeddings that it followed from",
            '"embeddings_version": REPAIRED}',
            "}",
        ),
        (
            "a repaired answer has as many rows as before",
            '"rows": int(str(rows)), ',
            "",
        ),
        (
            "embeddings are kept that are to be recomputed",
            "lake.remove(table)",
            "pass",
        ),
    ),
    *_of(
        "progress/backlog",
        _REPAIR,
        (
            "a repaired answer is as it was published",
            "if published_from == REPAIRED:",
            "if False:",
        ),
    ),
)
_LOG_CHECKS = (
    *_of(
        "damage/step_back",
        _LOG_TESTS,
        (
            "a commit may go back behind the one before it",
            "return newer.watermark < older.watermark and not may_go_back",
            "return False",
        ),
        package="lake",
    ),
    *_of(
        "damage/log_checks",
        _LOG_TESTS,
        (
            "a commit may be another one than is noted",
            "if notes.digests.get(file.name, digest) != digest:",
            "if False:",
        ),
        (
            "a commit may be a copy of another one",
            "if other != file.name:",
            "if False:",
        ),
        (
            "the newest commit may be missing",
            "if notes.digests and not newest.exists():",
            "if False:",
        ),
        package="lake",
    ),
    *_of(
        "delta/bindings",
        ("tests/lake/test_bindings.py",),
        (
            "a name that is bound is bound to another relation",
            "if name in self:",
            "if False:",
        ),
        package="lake",
    ),
)
_NOTIFICATIONS = (
    *_of(
        "notify/stage",
        ("tests/notify/test_stage.py",),
        (
            "an answer is sent whole when a channel first sees it",
            "            if known is None or known.table_id",
            "            if known is not None and known.table_id",
        ),
        (
            "a message is delivered before it is recorded",
            "            self._record(due)\n            about",
            "            about",
        ),
        (
            "a later message overtakes one that failed",
            "                return delivered, str(error)",
            "                continue",
        ),
        (
            "the commits of the table before it was dropped are those of the new one",
            '            if known is None or known.table_id != to["table_id"]:',
            "            if known is None:",
        ),
    ),
    *_of(
        "progress/notifications",
        ("tests/notify/test_stage.py",),
        (
            "the clock of another machine decides what is newest",
            "before.version >= of_row.version",
            "False",
        ),
        (
            "what was delivered waits again",
            "            if message not in delivered",
            "            if True",
        ),
        (
            "a process that runs again and again tries at once",
            "left: timedelta = failed[-1][0] + wait - now",
            "left: timedelta = failed[-1][0] - now",
        ),
    ),
    *_of(
        "stage",
        ("tests/test_stage.py",),
        (
            "a run whose claim was taken over reports what it believes",
            "                    raise (fence.lost or superseded) from error",
            "                    raise error from superseded",
        ),
    ),
)
PROTOCOL_MUTANTS = (
    *_LOG_CHECKS,
    *_STORES,
    *_AUDITS,
    *_GUARDS,
    *_WATERMARKS,
    *_VERDICTS,
    *_PUBLICATION,
    *_MAINTENANCE,
    *_JOURNAL,
    *_LEDGER,
    *_CONSOLIDATION,
    *_FENCES,
    *_NOTIFICATIONS,
)
