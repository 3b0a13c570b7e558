"""The values of a program as JSON, for its fingerprint."""

from __future__ import annotations

from weir.definitions.fingerprint import Json, plain
from weir.lars.stored_form import stored_form


def program_form(value: object) -> Json:
    """A value of a program as JSON; equal ones give equal text in any process."""
    return plain(value, _form)


def _form(value: object) -> Json:
    tag, fields = stored_form(value)
    return [tag, *(program_form(field) for field in fields)]
