"""Weir keeps the answers of registered SPARQL queries over a changing RDF graph up to date.

A run is a pipeline of stages over tables of Delta Lake: `ingest` makes epochs of change sets,
`maintain` computes what each epoch changes in the answers, `validate` checks it, `publish` appends
it to the answer tables. `weir.project.Project` is what stages work on, `weir.pipeline` runs them,
`weir.cli` is the command line, `weir.api` what this package offers: `weir.Project("folder")`.
`weir.lake`, `weir.expectations` and `weir.jobs` are links to the folders beside this one.
docs/architecture.md is the picture.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from weir.api.answer import Answer
    from weir.api.project import Project, Run
    from weir.errors import BusyError, ConfigurationError, QualityError, WeirError

__all__ = [
    "Answer",
    "BusyError",
    "ConfigurationError",
    "Project",
    "QualityError",
    "Run",
    "WeirError",
]
_MODULES: Final = {
    **dict.fromkeys(("Project", "Run"), "weir.api.project"),
    "Answer": "weir.api.answer",
    **dict.fromkeys(
        ("BusyError", "ConfigurationError", "QualityError", "WeirError"), "weir.errors"
    ),
}


def __getattr__(name: str) -> object:
    # Imported when it is used: programs of Weir import modules below, and need to start fast.
    if name not in _MODULES:
        raise AttributeError(f"module 'weir' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
