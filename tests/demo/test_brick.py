"""The demo's answers on the Brick ontology, compared with pyoxigraph at every version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, RdfFormat, Store

from demo.changes import Row, deltas, versions
from tests.support.opened import on_spark
from tests.support.stages import STAGES
from weir.ingest.sources.declared import load_sources
from weir.ingest.sources.snapshots import Snapshots
from weir.settings import CONFIG_FILE, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEMO = Path(__file__).parent.parent.parent / "demo"
QUERIES = tuple(sorted(file.stem for file in DEMO.glob("queries/*.rq")))


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo's lake, built from scratch."""
    settings = Settings.load(DEMO / CONFIG_FILE)
    settings = settings.model_copy(update={"lake": str(tmp_path_factory.mktemp("lake"))})
    for stage in STAGES.values():
        on_spark(spark, stage, settings, "test")
    return settings.lake


@pytest.fixture(scope="module")
def stores() -> dict[str, Store]:
    """One store per version of the ontology."""
    (source,) = load_sources(Settings.load(DEMO / CONFIG_FILE).sources)
    assert isinstance(source, Snapshots)
    by_version = {}
    for file in sorted(Path(source.location).glob(source.glob)):
        by_version[file.parent.name] = Store()
        by_version[file.parent.name].load(
            path=str(file), format=RdfFormat.TURTLE, base_iri=source.base_iri
        )
    return by_version


def test_every_version_is_an_epoch(lake: str, stores: dict[str, Store]) -> None:
    assert [(version.epoch, version.name) for version in versions(lake)] == [
        (epoch, name) for epoch, name in enumerate(stores, start=1)
    ]


@pytest.mark.parametrize("query", QUERIES)
def test_the_deltas_add_up_to_the_answer_at_every_version(
    lake: str, stores: dict[str, Store], query: str
) -> None:
    text = (DEMO / "queries" / f"{query}.rq").read_text()
    state: Counter[Row] = Counter()
    for delta in deltas(lake, query):
        state = state + delta.added - delta.removed
        assert state == Counter(_rows(stores[delta.version], text))


def _rows(store: Store, query: str) -> Iterator[Row]:
    answer = store.query(query)
    match answer:
        case QueryBoolean():
            truth = str(bool(answer)).lower()
            yield (f'"{truth}"^^<http://www.w3.org/2001/XMLSchema#boolean>',)
        case QueryTriples():
            yield from {(str(t.subject), str(t.predicate), str(t.object)) for t in answer}
        case QuerySolutions():
            yield from (tuple(str(term) for term in solution) for solution in answer)
