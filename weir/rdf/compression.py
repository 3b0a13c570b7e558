"""Reading compressed files, in blocks.

All members of a file are read (gzip members, bz2 and xz streams, Zstandard frames); a zip must have
one file. No reader holds more than a block of the content, so that the limits of parsing apply.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, cast

import pyarrow as pa

ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""The endings of compressed files that are read."""
_OTHERS = (
    *(".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tzst", ".7z", ".rar", ".lz4", ".br", ".z"),
    *(".lz", ".lzma", ".lzo", ".zstd", ".sz", ".jar", ".cab", ".arj"),
)
_BLOCK = 1 << 16
_BUFFER = 1 << 20
_XZ_PADDING = 4
_ZIP_END = struct.Struct("<4s8xL6x")  # signature, bytes of the central directory
_ZIP_END_BYTES = 22
_ZIP_COMMENT_BYTES = (1 << 16) - 1
_ZIP_DIRECTORY_BYTES = 1 << 20
_ZIP64 = 0xFFFFFFFF
_ENCRYPTED = 1


class ArchiveError(Exception):
    """A compressed file that cannot be used; the message is the reason."""


class RefusedArchive(ArchiveError):  # noqa: N818  (named after what is wrong)
    """A zip that is refused though it is not broken: it has several files, or is encrypted."""


class CutOffArchive(ArchiveError):  # noqa: N818  (named after what is wrong)
    """A compressed file that is cut off."""


def ending_of(name: str) -> str:
    """The one of `ENDINGS` that a name has; '' if none."""
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")


def without_ending(name: str) -> str:
    """The name of the content of a file, without the ending for compression."""
    return name[: len(name) - len(ending_of(name))]


def refused_archive(name: str) -> str | None:
    """Why a file with this name is not read, if it is another kind of archive; else None."""
    if without_ending(name).lower().endswith(_OTHERS):
        return f"an archive that is not read: {', '.join(ENDINGS)} with one file are"
    return None


def decompressed(file: pa.NativeFile, ending: str) -> IO[bytes]:
    """The content of a seekable file; `ending` is one of `ENDINGS` or ''.

    Errors are raised by this call, or when the content is read.

    Raises:
        CutOffArchive: the file is cut off or empty.
        ArchiveError: it is not such a file, has bytes after its end, or has more than one file.
        OSError: it cannot be read.
    """
    if not ending:
        return cast(IO[bytes], file)
    with _errors_as_ours():
        if not file.read(1):
            raise CutOffArchive("the compressed file is broken: it is empty")
        file.seek(0)
        read = _OPENERS[ending](file)
    return io.BufferedReader(_Content(read), _BUFFER)


def name_in_zip(file: pa.NativeFile) -> str:
    """The name of the one file in a zip.

    Raises:
        RefusedArchive: it has no file or several, or it is encrypted.
        ArchiveError: it is broken.
        OSError: it cannot be read.
    """
    with _errors_as_ours(), _zip(file) as archive:
        return _only_file(archive).filename


@contextmanager
def _errors_as_ours() -> Iterator[None]:
    """A context that turns any error of a library about a damaged archive into `ArchiveError`."""
    try:
        yield
    except (ArchiveError, MemoryError):
        raise
    except EOFError as error:
        how = str(error) or "it is cut off"
        raise CutOffArchive(f"the compressed file is broken: {how}") from None
    except Exception as error:
        # An error with a number comes from the system.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ArchiveError(f"the compressed file is broken: {error}") from None


class _Content(io.RawIOBase):
    """The content that a function reads, as a stream; its errors become `ArchiveError`."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read at most as many bytes as there is room for."""
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        with _errors_as_ours():
            content = self._read(min(len(target), _BLOCK))
        target[: len(content)] = content
        return len(content)


def _gzip(file: pa.NativeFile) -> Callable[[int], bytes]:
    return gzip.GzipFile(fileobj=file).read


def _zstandard(file: pa.NativeFile) -> Callable[[int], bytes]:
    stream = pa.CompressedInputStream(file, "zstd")

    def read(size: int) -> bytes:
        try:
            return stream.read(size)
        except OSError as error:
            if error.errno is None and "Truncated" in str(error):
                raise EOFError(str(error)) from None
            raise

    return read


def _bzip2(file: pa.NativeFile) -> Callable[[int], bytes]:
    return _Streams(file, bz2.BZ2Decompressor, padding=0).read


def _xz(file: pa.NativeFile) -> Callable[[int], bytes]:
    return _Streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), _XZ_PADDING).read


class _Streams:
    """The content of consecutive compressed streams.

    The standard library's readers silently stop at bytes that are not a stream.

    Args:
        file: the compressed file.
        decompressor: makes a new one for each stream.
        padding: zeros between streams are a multiple of this; 0 if there must be none.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        decompressor: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor],
        padding: int,
    ) -> None:
        self._file, self._new, self._padding = file, decompressor, padding
        self._decompressor = decompressor()
        self._rest = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; b'' at the end."""
        while True:
            if self._decompressor.eof:
                if not self._next_stream():
                    return b""
            elif self._decompressor.needs_input and not self._rest:
                self._rest = self._file.read(_BLOCK)
                if not self._rest:
                    raise EOFError("it ends in the middle of a stream")
            try:
                content = self._decompressor.decompress(self._rest, size)
            except (OSError, ValueError) as error:
                raise lzma.LZMAError(str(error)) from None
            self._rest = self._decompressor.unused_data if self._decompressor.eof else b""
            if content:
                return content

    def _next_stream(self) -> bool:
        """Go to the next stream; returns whether there is one."""
        zeros = 0
        while not (rest := self._rest.lstrip(b"\0") if self._padding else self._rest):
            zeros += len(self._rest)
            self._rest = self._file.read(_BLOCK)
            if not self._rest:
                break
        zeros += len(self._rest) - len(rest)
        if self._padding and zeros % self._padding:
            raise lzma.LZMAError("bytes after its end")
        self._rest = rest
        if rest:
            self._decompressor = self._new()
        return bool(rest)


def _zip_content(file: pa.NativeFile) -> Callable[[int], bytes]:
    archive = _zip(file)
    return archive.open(_only_file(archive)).read


def _zip(file: pa.NativeFile) -> zipfile.ZipFile:
    """A zip archive with a directory of bounded size.

    Raises:
        ArchiveError: the file is not a zip, or its directory is too large.
    """
    size = file.size()
    file.seek(max(0, size - _ZIP_END_BYTES - _ZIP_COMMENT_BYTES))
    tail = file.read()
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) - end < _ZIP_END_BYTES:
        file.seek(0)
        if file.read(4) == b"PK\3\4":
            raise CutOffArchive("the compressed file is broken: it has no directory at its end")
        raise ArchiveError("the compressed file is broken: it is no zip file")
    _, directory_bytes = _ZIP_END.unpack_from(tail, end)
    if not directory_bytes:
        raise RefusedArchive("a zip file with 0 files; one is read")
    if directory_bytes == _ZIP64:
        raise RefusedArchive("a zip file in the form zip64; write it without, or another archive")
    if directory_bytes > _ZIP_DIRECTORY_BYTES:
        raise RefusedArchive("a zip file with many files; one is read")
    if len(tail) - end - _ZIP_END_BYTES != int.from_bytes(tail[end + 20 : end + 22], "little"):
        raise ArchiveError("the compressed file is broken: bytes after its end")
    return zipfile.ZipFile(cast(IO[bytes], file))


def _only_file(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The one file in a zip; folders, and paths with a name after `.` or `_`, do not count."""
    files = [
        info
        for info in archive.infolist()
        if not info.filename.endswith("/")
        and not any(part.startswith((".", "_")) for part in info.filename.split("/"))
    ]
    if len(files) != 1:
        names = ", ".join(f"{info.filename[:80]!a}" for info in files[:3])
        shown = f" ({names}{', ...' if len(files) > 3 else ''})" if files else ""
        raise RefusedArchive(f"a zip file with {len(files)} files{shown}; one is read")
    if ending_of(files[0].filename) or refused_archive(files[0].filename):
        raise RefusedArchive("a zip file with a compressed file in it")
    if files[0].flag_bits & _ENCRYPTED:
        raise RefusedArchive("a zip file that is encrypted")
    return files[0]


_OPENERS: dict[str, Callable[[pa.NativeFile], Callable[[int], bytes]]] = {
    ".gz": _gzip,
    ".bz2": _bzip2,
    ".xz": _xz,
    ".zst": _zstandard,
    ".zip": _zip_content,
}
