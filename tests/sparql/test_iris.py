"""Reference resolution: the examples of RFC 3986, 5.4."""

from __future__ import annotations

import pytest

from weir.sparql.iris import is_absolute, resolve

_EXAMPLES = """
g:h g:h
g http://a/b/c/g
./g http://a/b/c/g
g/ http://a/b/c/g/
/g http://a/g
//g http://g
?y http://a/b/c/d;p?y
g?y http://a/b/c/g?y
#s http://a/b/c/d;p?q#s
g#s http://a/b/c/g#s
g?y#s http://a/b/c/g?y#s
;x http://a/b/c/;x
g;x?y#s http://a/b/c/g;x?y#s
. http://a/b/c/
./ http://a/b/c/
.. http://a/b/
../ http://a/b/
../g http://a/b/g
../.. http://a/
../../ http://a/
../../g http://a/g
../../../g http://a/g
/./g http://a/g
/../g http://a/g
g. http://a/b/c/g.
..g http://a/b/c/..g
./../g http://a/b/g
./g/. http://a/b/c/g/
g/./h http://a/b/c/g/h
g/../h http://a/b/c/h
g;x=1/./y http://a/b/c/g;x=1/y
g?y/../x http://a/b/c/g?y/../x
"""


@pytest.mark.parametrize("example", _EXAMPLES.strip().split("\n"))
def test_a_reference_is_resolved_as_the_rfc_says(example: str) -> None:
    reference, iri = example.split(" ")
    assert resolve(reference, "http://a/b/c/d;p?q") == iri


def test_the_empty_reference_is_the_base_without_its_fragment() -> None:
    assert resolve("", "http://a/b?c#d") == "http://a/b?c"


@pytest.mark.parametrize("iri", ["http://a/x/../b", "urn:a/../b", "http://a/./b"])
def test_an_absolute_iri_stays_as_it_is_written(iri: str) -> None:
    assert resolve(iri, "http://a/b/") == iri


def test_a_path_is_merged_with_a_base_that_has_only_an_authority() -> None:
    assert resolve("g", "http://a") == "http://a/g"


@pytest.mark.parametrize(("reference", "absolute"), [("urn:x", True), ("x", False), ("1:x", False)])
def test_an_absolute_iri_has_a_scheme(reference: str, absolute: bool) -> None:
    assert is_absolute(reference) is absolute
