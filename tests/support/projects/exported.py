"""The published answer of a CONSTRUCT, written by hand, and its exports."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.opened import call
from tests.support.projects.handmade import Change, HandMadeLake, publish_by_hand
from weir.export.formats import Format
from weir.export.ldes import WrittenStream, write_stream
from weir.export.patches import WrittenPatch, write_patches
from weir.export.rdf import write_rdf
from weir.export.triples import TRIPLE
from weir.project import Project

CONSTRUCT = "PREFIX ex: <http://ex/>\nCONSTRUCT { ?s ex:p ?o } WHERE { ?s ex:p ?o }"


class Answer:
    """The published answer `g` of a lake."""

    def __init__(self, lake: HandMadeLake) -> None:
        self.lake = lake
        self.published = 0
        lake.query("g", CONSTRUCT)

    def publish(self, *changes: Change, epoch: int | None = None) -> None:
        """Publish changes (epoch, weight, subject, predicate, object) up to an epoch.

        If it is not a later one than before, the query was edited.
        """
        before, self.published = self.published, epoch or max(change[0] for change in changes)
        is_edited = before == self.published
        self.lake.ingest(max(0, self.published - self.lake.epochs))
        publish_by_hand(
            self.lake,
            "g",
            TRIPLE,
            changes,
            watermark=self.published,
            is_maintained=True,
            mode="edited" if is_edited else "incremental" if before else "initial",
            difference_at=before if is_edited else None,
        )

    def rdf(self, format_: Format = Format.ntriples, epoch: int | None = None) -> str:
        """The answer, written."""
        output = io.BytesIO()
        written = self.call(write_rdf, "g", output, format_, epoch)
        assert written.epoch == (self.published if epoch is None else epoch)
        return output.getvalue().decode()

    def patches(self, folder: Path, **epochs: int) -> list[WrittenPatch]:
        """Write the patches that a folder lacks."""

        def write(project: Project) -> list[WrittenPatch]:
            return [*write_patches(project, "g", folder, **epochs)]

        return call(write, self.lake.settings)

    def stream(self, folder: Path, base: str = "") -> WrittenStream:
        """Write the members that a folder lacks."""
        written: WrittenStream = self.call(write_stream, "g", folder, base)
        return written

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of the project gives."""
        return call(function, self.lake.settings, *arguments)
