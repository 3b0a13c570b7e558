"""The areas of the mutants, each with the tests that must kill them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.mutants.derived import DERIVED_MUTANTS
from tests.mutants.documents import DOCUMENT_MUTANTS
from tests.mutants.engine import ENGINE_MUTANTS
from tests.mutants.entailment import ENTAILMENT_MUTANTS
from tests.mutants.exists import EXISTS_MUTANTS
from tests.mutants.looked_up import LOOKED_UP_MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.netting import NETTING_MUTANTS
from tests.mutants.origins import ORIGIN_MUTANTS
from tests.mutants.pages import SERVE_MUTANTS, SITE_MUTANTS
from tests.mutants.protocol import PROTOCOL_MUTANTS
from tests.mutants.remotes import REMOTE_MUTANTS
from tests.mutants.replicas import REPLICA_MUTANTS
from tests.mutants.review import REVIEW_MUTANTS
from tests.mutants.rules import RULE_MUTANTS
from tests.mutants.shapes import SHAPES_MUTANTS
from tests.mutants.streams import STREAM_MUTANTS
from tests.mutants.traversals import TRAVERSAL_MUTANTS
from tests.mutants.why import WHY_MUTANTS

_ENGINE = (
    "tests/engine/test_grammar_laws.py",
    "tests/engine/test_shared_shapes.py",
    "tests/engine/test_w3c_histories.py",
)
_TRAVERSALS = (
    "tests/traversals/test_frontier.py",
    "tests/traversals/test_frontier_laws.py",
)
_EXISTS = ("tests/engine/test_exists.py", "tests/engine/test_grammar_laws.py")
_BLOCKS = (
    "tests/sparql/frontend/test_service_keys.py",
    "tests/rdf/test_reserved_graphs.py",
    "tests/engine/test_services.py",
)
"""By which keys blocks are asked for, and which graphs have their rows."""
_REFRESHES = tuple(
    f"tests/remotes/test_{name}.py"
    for name in (
        "budget",
        "rounds",
        "answers",
        "asking",
        "evaluations",
        "unused",
        "refresh_remotes",
    )
)
"""Quick ones first."""


def _by(mutants: tuple[Mutant, ...], *tests: str) -> tuple[Mutant, ...]:
    """The mutants with these tests, but for those that name their own."""
    return tuple(mutant if mutant.tests else replace(mutant, tests=tests) for mutant in mutants)


def _of_remotes(mutant: Mutant) -> Mutant:
    if mutant.tests:
        return mutant
    is_in_queries = mutant.module.startswith(("sparql/", "rdf/"))
    return replace(mutant, tests=_BLOCKS if is_in_queries else _REFRESHES)


AREAS: Mapping[str, tuple[Mutant, ...]] = {
    "engine": _by(ENGINE_MUTANTS, *_ENGINE),
    "looked up": _by(
        LOOKED_UP_MUTANTS, "tests/plan/test_looked_up.py", "tests/engine/test_looked_up.py"
    ),
    "origins": _by(ORIGIN_MUTANTS, "tests/plan/test_origins.py"),
    "shapes": _by(SHAPES_MUTANTS, "tests/shacl/test_components.py", "tests/shacl/test_laws.py"),
    "exists": _by(EXISTS_MUTANTS, *_EXISTS),
    "derived graphs": _by(DERIVED_MUTANTS, "tests/engine/test_derived_graphs.py"),
    "entailment": _by(ENTAILMENT_MUTANTS, "tests/engine/test_entailment.py"),
    "timeline": _by(STREAM_MUTANTS, "tests/timeline/test_laws.py"),
    "rules": _by(RULE_MUTANTS, "tests/rules/test_many_atoms.py", "tests/rules/test_laws.py"),
    "policies": _by(REPLICA_MUTANTS, "tests/remotes/policies/test_elections.py"),
    "remotes": tuple(map(_of_remotes, REMOTE_MUTANTS)),
    "netting": _by(NETTING_MUTANTS, "tests/ingest/test_netting.py"),
    "protocol": PROTOCOL_MUTANTS,
    "documents": DOCUMENT_MUTANTS,
    "site": SITE_MUTANTS,
    "serve": SERVE_MUTANTS,
    "traversals": _by(TRAVERSAL_MUTANTS, *_TRAVERSALS),
    "review": REVIEW_MUTANTS,
    "why": _by(WHY_MUTANTS, "tests/why/test_window_laws.py"),
}
