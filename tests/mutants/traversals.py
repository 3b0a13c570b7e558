"""The mutants of link traversal: frontier, what is kept of pages, and the merge."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

TRAVERSAL_MUTANTS = (
    Mutant(
        "an IRI beyond the limits is an alias if its redirect is known",
        "traversals/search",
        "if not self._has_room(place):\n            return None\n        by_header = ",
        "by_header = ",
    ),
    Mutant(
        "Link headers lead on for more than one step",
        "traversals/search",
        "if page.by_header and by_header:",
        "if False:",
    ),
    Mutant(
        "a hint counts though the page that states it was not answered",
        "traversals/frontier",
        "return witness in self._answered\n",
        "return True\n",
        tests=("tests/traversals/test_hints.py",),
    ),
    Mutant(
        "a redirect leads from https to http",
        "traversals/search",
        'if place.startswith("https:") and page.target.startswith("http:"):',
        "if False:",
    ),
    Mutant(
        "the host of a redirect's target does not matter",
        "traversals/search",
        "if not self.may_ask(place):",
        "if not self.may_ask(iri):",
    ),
    Mutant(
        "a step of a path counts in any document",
        "traversals/search",
        "self._steps_of(place).get(iri, ())",
        "(s for own in self._steps_of(place).values() for s in own)",
    ),
    Mutant(
        "an inverse step leads to its object",
        "traversals/rules",
        "(triple[2], triple[0]) if step.is_inverse",
        "(triple[2], triple[0]) if False",
    ),
    Mutant(
        "a variable that stands twice may have two values",
        "traversals/rules",
        "elif bound.setdefault(own, term) != term:",
        "elif bound.setdefault(own, term) == '':",
    ),
    Mutant(
        "documents that no link leads to stay",
        "traversals/frontier",
        "if now - since < self.traversal.keep_unreachable:",
        "if True:",
    ),
    Mutant(
        "a host that loses most of its documents is believed",
        "traversals/frontier",
        "if is_suspect and iri not in self.suspects:",
        "if False:",
    ),
    Mutant(
        "what is gone makes no room",
        "traversals/frontier",
        "if not wave and self._gone:",
        "if False:",
    ),
    Mutant(
        "a page is asked for though it is fresh",
        "traversals/frontier",
        "self.known.get(iri, UNKNOWN).due_at <= now",
        "True",
    ),
    Mutant(
        "a failure empties a page",
        "traversals/known",
        "asked, failures=failures, due_at=due_at, reason=reason, fault=fault",
        "asked._empty(), failures=failures, due_at=due_at, reason=reason, fault=fault",
    ),
    Mutant(
        "a page that failed is asked for at once",
        "traversals/known",
        "due_at = now + max(pause, retry_after)",
        "due_at = now",
    ),
    Mutant(
        "a single 404 is believed",
        "traversals/known",
        "if is_for_good or misses >= gone_after:",
        "if True:",
    ),
    Mutant(
        "a round that is not the last takes documents out",
        "traversals/frontier",
        "aliases = frozenset(reached.aliases) | (before.aliases if before else frozenset())",
        "aliases = frozenset(reached.aliases)",
        tests=("tests/traversals/test_frontier.py",),
    ),
    Mutant(
        "reserved requests of a run that died are not spent",
        "remotes/budget",
        "for amount in (reserved | settled).values():",
        "for amount in settled.values():",
        tests=("tests/traversals/test_crash.py", "tests/remotes/test_budget.py"),
    ),
    Mutant(
        "the merge has a triple as often as documents have it",
        "ingest/netting",
        "net = _set_log(union_all([changes, before]), epoch)\n"
        "    return select(\n        alias(text(web_graph",
        "net = changes\n    return select(\n        alias(text(web_graph",
        tests=("tests/traversals/test_stages.py",),
    ),
    Mutant(
        "the merge has no history",
        "ingest/netting",
        "where=[is_part],\n    )\n    changes",
        "where=[exp.false()],\n    )\n    changes",
        tests=("tests/traversals/test_stages.py",),
    ),
)
