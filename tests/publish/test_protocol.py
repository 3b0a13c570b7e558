"""What publish may publish, and when; over a lake written by hand, without Spark."""

from __future__ import annotations

from jobs.publish_answers import PublishResult, publish_answers
from jobs.validate_answers import validate_answers
from tests.support.projects.handmade import HandMadeLake
from tests.support.projects.ingest import no_spark

SELECT = "SELECT ?s ?o WHERE { ?s <http://a/p> ?o }"


def validate(lake: HandMadeLake) -> None:
    validate_answers(no_spark, lake.settings, "v")


def publish(lake: HandMadeLake) -> PublishResult:
    return publish_answers(no_spark, lake.settings, "p")


def test_answers_of_which_none_has_a_row_are_published_together(lake: HandMadeLake) -> None:
    lake.ingest(1)
    for name in ("one", "two"):
        lake.query(name, SELECT)
        lake.maintain(name, [], base=1, mode="initial")
    validate(lake)
    publish(lake)
    assert (lake.answers("one"), lake.answers("two")) == ([], [])
