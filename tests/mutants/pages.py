"""The mutants of the site and of the server: what is shown, sent, refused and kept."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_SITE = ("tests/site/test_site.py",)
_FILES = ("tests/site/test_files.py",)
_LATEST = ("tests/site/test_latest.py",)
_CELLS = ("tests/site/test_cells.py",)
_COUNTS = ("tests/site/test_graph_counts.py",)
SITE_MUTANTS = (
    Mutant(
        "a file of the same content is written again",
        "site/files",
        "if self._before.get(path) != digest or not (self._folder / path).exists():",
        "if True:",
        tests=_FILES,
    ),
    Mutant(
        "a file that was deleted is not written again",
        "site/files",
        "if self._before.get(path) != digest or not (self._folder / path).exists():",
        "if self._before.get(path) != digest:",
        tests=_FILES,
    ),
    Mutant(
        "files of nothing stay",
        "site/files",
        "for path in {*self._before} - {*self._files}:",
        "for path in ():",
        tests=_FILES,
    ),
    Mutant(
        "what another version kept is used",
        "site/files",
        'self._kept: Mapping[str, Mapping[str, Any]] = state.get("kept", {}) if is_known else {}',
        'self._kept: Mapping[str, Mapping[str, Any]] = state.get("kept", {})',
        tests=_FILES,
    ),
    Mutant(
        "a page does not follow its answer",
        "site/answers",
        "return _digest(versions, model.text, str(model.table), prefixes, lineage)",
        "return _digest(model.text, str(model.table), prefixes, lineage)",
        tests=_SITE,
    ),
    Mutant(
        "a page does not follow the state of its answer",
        "site/answers",
        "key = _digest(data_key, *said)",
        "key = _digest(data_key)",
        tests=_SITE,
    ),
    Mutant(
        "a page that said damage is left when the files are restored",
        "site/answers",
        'keys = {} if content.get("damage") else',
        "keys = {} if False else",
        tests=_SITE,
    ),
    Mutant(
        "changes of an epoch in two commits are not added up",
        "site/history",
        "before[0] + change.appeared,",
        "change.appeared,",
        tests=_SITE,
    ),
    Mutant(
        "rows before the oldest epoch of the chart are not counted",
        "site/history",
        "copies += appeared - vanished\n",
        "copies += 0\n",
        tests=_SITE,
    ),
    Mutant(
        "a history goes on though its columns are others",
        "site/history",
        "(known.table_id, known.variables) != wanted",
        "known.table_id != wanted[0]",
        tests=_SITE,
    ),
    Mutant(
        "rows of different things are said to have changed",
        "site/latest",
        'of_key.setdefault(json.dumps(row[0]) if row else "", [])',
        'of_key.setdefault("", [])',
        tests=_LATEST,
    ),
    Mutant(
        "two copies of a row are said to have changed",
        "site/latest",
        "if signs == [-1, 1] and len(same[0][1]) > 1:",
        "if len(signs) == 2 and len(same[0][1]) > 1:",
        tests=_LATEST,
    ),
    Mutant(
        "rows are said to have changed though some are not known",
        "site/latest",
        "if sum(abs(weight) for weight, _ in rows) < appeared + vanished:",
        "if False:",
        tests=_LATEST,
    ),
    Mutant(
        "the first rows are listed one by one",
        "site/latest",
        '"rows": [] if is_first else lines[:_ROWS],',
        '"rows": lines[:_ROWS],',
        tests=_LATEST,
    ),
    Mutant(
        "an integer that JavaScript rounds is a number",
        "site/cells",
        "return value if abs(value) < _EXACT else str(value)",
        "return value",
        tests=_CELLS,
    ),
    Mutant(
        "an integer with zeros before it is a number",
        "site/cells",
        "and len(text) < 16 and _CANONICAL.fullmatch(text):",
        "and len(text) < 16:",
        tests=_CELLS,
    ),
    Mutant(
        "truth values make a column of numbers",
        "site/cells",
        "if isinstance(cell, bool) or cell is None or isinstance(cell, list):",
        "if cell is None or isinstance(cell, list):",
        tests=_CELLS,
    ),
    Mutant(
        "counts begin again with each epoch",
        "site/graph_counts",
        "counts[term] = counts.get(term, 0) + more",
        "counts[term] = more",
        tests=_COUNTS,
    ),
    Mutant(
        "counts of another lake are extended",
        "site/graph_counts",
        'if known.get("table") != table_id or known["epoch"] > head:',
        'if known and known["epoch"] > head:',
        tests=_COUNTS,
    ),
    Mutant(
        "a failed run is listed beside what explains it",
        "site/overview",
        "and not any(p.word in _EXPLAINING for p in listed):",
        "and True:",
        tests=_SITE,
    ),
    Mutant(
        "all is well though something is wrong",
        "site/overview",
        "    if not words:\n",
        "    if True:\n",
        tests=_SITE,
    ),
)
_GUARD = ("tests/serve/test_guard.py",)
_ANSWERS = ("tests/serve/test_answers.py",)
_CHANGES = ("tests/serve/test_changes.py",)
_MIRROR = ("tests/serve/test_mirror.py",)
_PROTOCOL = ("tests/serve/test_protocol.py",)
_HOSTILE = ("tests/serve/test_hostile.py",)
SERVE_MUTANTS = (
    Mutant(
        "a page of another site may ask this machine",
        "serve/guard",
        "if self._hosts is not None and name.lower() not in self._hosts:",
        "if False:",
        tests=_GUARD,
    ),
    Mutant(
        "any token will do",
        "serve/guard",
        "if self._wanted is not None and not hmac.compare_digest(given, self._wanted):",
        "if self._wanted is not None and not given:",
        tests=_GUARD,
    ),
    Mutant(
        "refusals lack the headers that protect readers",
        "serve/guard",
        "await answer(scope, receive, send_with_headers)",
        "await answer(scope, receive, send_with_headers if problem is None else send)",
        tests=_GUARD,
    ),
    Mutant(
        "an answer has the same tag in each format",
        "serve/answers",
        "_tag(commits.cursor, ending, epoch, since, terms)",
        "_tag(commits.cursor, epoch, since, terms)",
        tests=_ANSWERS,
    ),
    Mutant(
        "an answer has the same tag after a publication",
        "serve/answers",
        "_tag(commits.cursor, ending, epoch, since, terms)",
        "_tag(ending, epoch, since, terms)",
        tests=_ANSWERS,
    ),
    Mutant(
        "a cursor of another table is known",
        "progress/answer_commits",
        "if table_id != self.table_id or not is_number",
        "if not is_number",
        tests=("tests/progress/test_answer_commits.py",),
    ),
    Mutant(
        "a row that an answer has twice is sent once",
        "serve/answer_files",
        'for _ in range(row["weight"]):',
        "for _ in range(1):",
        tests=_ANSWERS,
    ),
    Mutant(
        "changes since an epoch include it",
        "serve/answer_files",
        "WHERE epoch > {since} ORDER BY ALL",
        "WHERE epoch >= {since} ORDER BY ALL",
        tests=_ANSWERS,
    ),
    Mutant(
        "rows that vanished are sent as added",
        "serve/changes",
        'by_sign[row["weight"] > 0].append(row)',
        "by_sign[True].append(row)",
        tests=_CHANGES,
    ),
    Mutant(
        "a client that comes back misses what was published meanwhile",
        "serve/changes",
        "seen = commits_after(commits, last)",
        "commits_after(commits, last)",
        tests=_CHANGES,
    ),
    Mutant(
        "an empty draft of a copy is used",
        "serve/mirror",
        "if copy is None or copy.name != folder.name:",
        "if copy is None:",
        tests=_MIRROR,
    ),
    Mutant(
        "a copy of another lake is used",
        "serve/mirror",
        "if copy.epoch < oldest or not copy.is_of(completion.lake):",
        "if copy.epoch < oldest:",
        tests=_MIRROR,
    ),
    Mutant(
        "an epoch before a copy is made as one after it",
        "serve/filling",
        "weight = wanted if epoch > before else -wanted",
        "weight = wanted",
        tests=_MIRROR,
    ),
    Mutant(
        "a value goes with its first spelling",
        "serve/store_worker",
        "        if not left:\n            self._graph.remove(own)",
        "        self._graph.remove(own)",
        tests=_MIRROR,
    ),
    Mutant(
        "reserved graphs can be asked",
        "serve/filling",
        'where += [is_unreserved(), column("graph").neq(text(""))]',
        'where += [column("graph").neq(text(""))]',
        tests=_MIRROR,
    ),
    Mutant(
        "an epoch that is not checked yet is answered",
        "serve/mirror",
        "return completion.graph_validated_to",
        "return completion.head",
        tests=_MIRROR,
    ),
    Mutant(
        "SERVICE is not refused",
        "serve/query_worker",
        'if any(token.is_word("SERVICE") for token in read):',
        "if False:",
        tests=_HOSTILE,
    ),
    Mutant(
        "several default graphs repeat their triples",
        "serve/query_worker",
        "if len(defaults) > 1:",
        "if False:",
        tests=_PROTOCOL,
    ),
    Mutant(
        "a result may have any size",
        "serve/query_worker",
        "        if self._left < 0:\n",
        "        if False:\n",
        tests=_HOSTILE,
    ),
    Mutant(
        "the second of two media types that are liked alike is sent",
        "serve/protocol",
        "if quality_of > liked:",
        "if quality_of >= liked:",
        tests=_PROTOCOL,
    ),
    Mutant(
        "an update is taken for a query",
        "serve/protocol",
        'if "update" in by_name:',
        "if False:",
        tests=_PROTOCOL,
    ),
    Mutant(
        "the body of a request may have any size",
        "serve/protocol",
        "            if left < 0:\n",
        "            if False:\n",
        tests=_PROTOCOL,
    ),
)
