"""The SPARQL 1.1 protocol's query operation as an HTTP request.

https://www.w3.org/TR/sparql11-protocol/#query-operation
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from weir.remotes.http.request import FetchRequest

LONGEST_GET_URL = 2000
"""Beyond so many characters the query goes into the body: servers and proxies cut longer URLs."""
RESULTS_TYPE = "application/sparql-results+json"
FORM_TYPE = "application/x-www-form-urlencoded"


def query_request(endpoint: str, query: str, **settings: Any) -> FetchRequest:
    """The request that asks `endpoint` a SELECT query: GET, or POST with a form if it is long.

    settings: the other fields of `FetchRequest` (contact, limits, ...).

    Raises:
        ValueError: the query has half of a surrogate pair, or a setting cannot be sent.
    """
    form = urlencode({"query": query}, quote_via=quote, safe="")
    separator = "&" if "?" in endpoint else "?"
    url = f"{endpoint}{separator}{form}"
    common: Mapping[str, Any] = {"accept": RESULTS_TYPE, **settings}
    if len(url) <= LONGEST_GET_URL:
        return FetchRequest(url=url, method="GET", **common)
    return FetchRequest(
        url=endpoint, method="POST", body=form.encode(), content_type=FORM_TYPE, **common
    )
