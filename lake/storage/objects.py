"""An object store: S3, Google Cloud Storage or Azure, by the library that delta-rs uses too.

Every object that this process writes has a digest of its content among its attributes, which is
compared whenever the object is read.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import obstore
from obstore import exceptions
from obstore.store import from_url

from weir.lake.damage.storage_errors import RESTORE, DamagedTable, StorageError, table_of

Item = TypeVar("Item")

DIGEST = "weir-digest"
"""The attribute of an object that has the digest of its content."""
_AT_ONCE = 8
"""Requests that are under way at the same time."""
_ATTEMPTS = 3
"""How often an object is read that is not what was written, before it counts as damaged."""
_PART = 16 << 20
"""An object of more bytes is sent in parts."""
_CLIENT = frozenset(
    {
        "allow_http",
        "allow_invalid_certificates",
        "connect_timeout",
        "proxy_url",
        "proxy_ca_certificate",
        "proxy_excludes",
        "timeout",
        "user_agent",
    }
)
"""Options of the connection, by the names of delta-rs; the others are those of the store."""
_OF_DELTA_RS = frozenset({"aws_s3_allow_unsafe_rename", "aws_conditional_put", "conditional_put"})
"""Options that say how delta-rs commits: Weir commits by a conditional request, always."""
_RETRIES: Any = {"max_retries": 8, "retry_timeout": timedelta(seconds=60)}
_CODE = re.compile(r"<Code>(\w+)</Code>")
_AGAIN = "Then run again: what was committed is whole, and the run goes on from there."
_CREDENTIALS = "Correct the credentials (`storage_options`, environment or Airflow connection)."
_REASONS: Mapping[str, tuple[str, str]] = {
    "SignatureDoesNotMatch": ("the store refuses the secret key", _CREDENTIALS),
    "InvalidAccessKeyId": ("the store does not know the access key", _CREDENTIALS),
    "ExpiredToken": ("the token has expired", "Get a new token, and run again."),
    "InvalidToken": ("the store refuses the token", "Get a new token, and run again."),
    "RequestTimeTooSkewed": (
        "the clock of this machine differs too much from that of the store",
        "Set the clock, and run again.",
    ),
    "AccessDenied": (
        "the store denies access",
        "Allow to list, read, write and delete below this address.",
    ),
    "NoSuchBucket": ("there is no such bucket", "Create it, or correct `lake`."),
    "SlowDown": ("the store asks to slow down", f"Wait a while. {_AGAIN}"),
}
_TEXTS: tuple[tuple[re.Pattern[str], tuple[str, str]], ...] = (
    (
        re.compile("builder error"),
        (
            "the endpoint is not encrypted (http), which has to be allowed",
            'Add AWS_ALLOW_HTTP = "true" to `storage_options`, or name an endpoint with https.',
        ),
    ),
    (
        re.compile("Forbidden|Unauthorized"),
        ("the store denies access", _CREDENTIALS),
    ),
    (
        re.compile("error sending request|connect|timed out|dns|Broken pipe|reset", re.IGNORECASE),
        ("the store does not answer", f"Look at the network and the endpoint. {_AGAIN}"),
    ),
)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object: its path below the address of the store, its version, size and time."""

    path: str
    etag: str
    size: int
    modified: datetime

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.path.rpartition("/")[2]


def side_by_side(ask: Callable[[Item], None], items: Iterable[Item]) -> None:
    """Ask for each item, for several at the same time; the first error is raised."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        # All of them, so that an error is raised.
        for _ in threads.map(ask, items):
            pass


class ObjectStore:
    """The objects below one address.

    All methods raise a `StorageError` if the store does not do what it is asked for.

    Args:
        address: such as `s3://bucket/lake`.
        options: credentials and more, by the names of delta-rs.

    Attributes:
        requests: how many there were, by kind (list, get, put, head, copy, delete), for tests of
            cost; of a large object that is sent in parts, one is counted.
    """

    def __init__(self, address: str, options: Mapping[str, str] | None = None) -> None:
        self.address = address.rstrip("/")
        self.requests: Counter[str] = Counter()
        self._lock = threading.Lock()
        of_store, of_client = _options(options or {})
        with self._errors(""):
            self._store = from_url(
                self.address, config=of_store, client_options=of_client, retry_config=_RETRIES
            )

    def below(self, folder: str, after: str | None = None) -> list[StoredObject]:
        """The objects in a folder and below it, by path; only those that sort behind `after`."""
        with self._asked("list", folder):
            listed = obstore.list(self._store, folder, offset=after, chunk_size=1_000).collect()
        return sorted(map(_stored, listed), key=lambda entry: entry.path)

    def folders(self, folder: str = "") -> list[str]:
        """The paths of the folders in a folder."""
        with self._asked("list", folder):
            listed = obstore.list_with_delimiter(self._store, folder or None)
        return sorted(listed["common_prefixes"])

    def read(self, path: str) -> bytes:
        """The content of an object.

        Raises:
            FileNotFoundError: there is none.
            DamagedTable: it is not what was written.
        """
        for _ in range(_ATTEMPTS):
            with self._asked("get", path):
                result = obstore.get(self._store, path)
                content = bytes(result.bytes())
                expected = result.attributes.get(DIGEST)
            if expected in (None, _digest([content])):
                return content
        raise self._damaged(path)

    def download(self, path: str, file: Path) -> None:
        """Write the content of an object to a file, which must not exist.

        Raises:
            FileNotFoundError: there is none.
            DamagedTable: it is not what was written.
        """
        for _ in range(_ATTEMPTS):
            with self._asked("get", path), file.open("wb") as target:
                result = obstore.get(self._store, path)
                expected, modified = result.attributes.get(DIGEST), result.meta["last_modified"]
                digest = _digest(_copied(result.stream(), target))
            # By its time a reader of the ledger recognises a commit.
            os.utime(file, (modified.timestamp(), modified.timestamp()))
            if expected in (None, digest):
                return
        raise self._damaged(path)

    def write(self, path: str, content: bytes | Path) -> StoredObject:
        """Create or replace an object."""
        is_large = isinstance(content, Path) and content.stat().st_size > _PART
        digest = {DIGEST: _digest(_parts(content))}
        with self._asked("put", path):
            result = obstore.put(
                self._store,
                path,
                content if is_large or isinstance(content, bytes) else content.read_bytes(),
                attributes=digest,
                use_multipart=is_large,
                chunk_size=_PART,
            )
        return _written(path, result, content)

    def create(self, path: str, content: bytes) -> StoredObject | None:
        """Create an object; None if there is one with other content.

        If the answer to a request is lost, it is repeated, and finds the object that it created.
        """
        attributes = {DIGEST: _digest([content])}
        for _ in range(_ATTEMPTS):
            try:
                with self._asked("put", path):
                    result = obstore.put(
                        self._store, path, content, attributes=attributes, mode="create"
                    )
                return _written(path, result, content)
            except exceptions.AlreadyExistsError:
                # A store may refuse one of two requests at once, and then do neither.
                with suppress(FileNotFoundError):
                    is_ours = self.read(path) == content
                    return self.look(path) if is_ours else None
        what = "the store neither creates this object nor has it"
        raise StorageError(what, f"{self.address}/{path}", f"Look at the store. {_AGAIN}")

    def look(self, path: str) -> StoredObject | None:
        """What is known of an object without its content; None if there is none."""
        try:
            with self._asked("head", path):
                return _stored(obstore.head(self._store, path))
        except FileNotFoundError:
            return None

    def copy(self, paths: Iterable[tuple[str, str]]) -> None:
        """Copy objects within the store, from the first path of each pair to the second."""

        def copy_one(pair: tuple[str, str]) -> None:
            with self._asked("copy", pair[0]):
                obstore.copy(self._store, *pair)

        side_by_side(copy_one, paths)

    def delete(self, paths: Iterable[str]) -> None:
        """Delete objects; those that are not there do no harm."""
        for path in paths:
            try:
                with self._asked("delete", path):
                    obstore.delete(self._store, path)
            except FileNotFoundError:
                # Another process deleted it.
                continue

    @contextmanager
    def _asked(self, kind: str, path: str) -> Iterator[None]:
        with self._lock:
            self.requests[kind] += 1
        with self._errors(path):
            yield

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except exceptions.AlreadyExistsError:
            raise
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise self._error(path, error) from None
            raise
        except (exceptions.BaseError, ValueError) as error:
            raise self._error(path, error) from None

    def _error(self, path: str, error: Exception) -> StorageError:
        text = str(error)
        code = _CODE.search(text)
        reason = _REASONS.get(code[1]) if code is not None else None
        # The lines after the first name places in the code of the library.
        first = text.partition("\n")[0].partition(": <?xml")[0]
        if reason is None:
            # Before it is the path, which may have any words.
            cause = first.rpartition(" - ")[2]
            reason = next((reason for form, reason in _TEXTS if form.search(cause)), None)
        what, hint = reason or (first, f"Look at the store. {_AGAIN}")
        where = f"{self.address}/{path}".rstrip("/")
        table = table_of(where) if path else ""
        return StorageError(f"{what} (table {table})" if table else what, where, hint)

    def _damaged(self, path: str) -> DamagedTable:
        where = f"{self.address}/{path}"
        what = f"the content of this object is not what was written (table {table_of(where)})"
        return DamagedTable(what, where, RESTORE)


def _options(options: Mapping[str, str]) -> tuple[Any, Any]:
    """The options of the store and those of the connection."""
    of_store: dict[str, str] = {}
    of_client: dict[str, str] = {}
    for name, value in options.items():
        plain = name.lower()
        of_connection = plain.removeprefix("aws_")
        if of_connection in _CLIENT:
            of_client[of_connection] = value
        elif plain not in _OF_DELTA_RS:
            of_store[name] = value
    return of_store or None, of_client or None


def _stored(meta: Any) -> StoredObject:
    return StoredObject(meta["path"], _plain(meta["e_tag"]), meta["size"], meta["last_modified"])


def _written(path: str, result: Any, content: bytes | Path) -> StoredObject:
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    return StoredObject(path, _plain(result["e_tag"]), size, datetime.now().astimezone())


def _plain(etag: str | None) -> str:
    return (etag or "").removeprefix("W/").strip('"')


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _parts(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as source:
        while part := source.read(1 << 20):
            yield part


def _copied(stream: Iterable[Any], target: Any) -> Iterator[bytes]:
    for part in stream:
        content = bytes(part)
        target.write(content)
        yield content
