"""The function library has what the algebra may name."""

from __future__ import annotations

from weir.sparql.algebra.casts import CASTS
from weir.sparql.functions.library import FUNCTIONS
from weir.sparql.functions.special_forms import SPECIAL_FORMS


def test_the_functions_named_by_an_iri_are_the_casts() -> None:
    assert {name for name in FUNCTIONS if name.startswith("<http")} == CASTS


def test_no_special_form_is_a_function_of_values_as_well() -> None:
    assert not FUNCTIONS.keys() & SPECIAL_FORMS.keys()
