"""What a client gets when a request cannot be answered (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import JSONResponse

from weir.errors import QualityError, WeirError
from weir.text.secret_values import public

RETRY: Mapping[str, str] = {"Retry-After": "5"}
"""Headers of a problem that may be gone soon."""
_MEDIA_TYPE = "application/problem+json"


class DamagedStore(Exception):  # noqa: N818  (named after what is wrong)
    """A store of a copy of the graph is not what was written."""


class Problem(Exception):  # noqa: N818  (named after what the client gets)
    """A request that cannot be answered.

    Args:
        status: of HTTP.
        detail: what is wrong, in a sentence.
        hint: what to do next.
        headers: of the response.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.hint = status, detail, hint
        self.headers = dict(headers or {})

    @classmethod
    def of(cls, error: WeirError, status: int = HTTPStatus.NOT_FOUND) -> Problem:
        """What an error says, without the place, which is on the server: 409 for what is held."""
        is_held = isinstance(error, QualityError)
        return cls(HTTPStatus.CONFLICT if is_held else status, error.what, error.hint)

    def response(self) -> JSONResponse:
        """The response."""
        content = {
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **({"hint": self.hint} if self.hint else {}),
        }
        return JSONResponse(public(content), self.status, self.headers, _MEDIA_TYPE)
