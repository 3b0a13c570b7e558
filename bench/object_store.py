"""SeaweedFS, a real object store: one process that listens on this machine only.

`WEIR_STORE=http://127.0.0.1:7070` uses another server instead, with the bucket and keys below.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from weir.lake.damage.storage_errors import StorageError
from weir.lake.storage.objects import ObjectStore

ANOTHER = "WEIR_STORE"
_KEY, _SECRET = "weir", "a secret of the tests"
_PORTS = ("s3", "master", "volume", "filer", "admin")
_GRPC = 10_000
"""Each server also listens on a port so much higher."""


@dataclass(frozen=True, slots=True)
class Store:
    """A running store.

    Attributes:
        endpoint: its address.
        bucket: of the tests.
    """

    endpoint: str
    bucket: str = "lake"

    @property
    def options(self) -> dict[str, str]:
        """The storage options."""
        return {
            "AWS_ACCESS_KEY_ID": _KEY,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }

    def empty(self) -> str:
        """The address of a lake of which nothing exists."""
        return f"s3://{self.bucket}/{uuid.uuid4().hex}/lake"

    def objects(self, address: str) -> ObjectStore:
        """What is below an address."""
        return ObjectStore(address, self.options)


@contextmanager
def running_store(folder: Path) -> Iterator[Store]:
    """Start the server; it ends with the block."""
    if endpoint := os.environ.get(ANOTHER):
        yield Store(endpoint)
        return
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    command = [
        str(Path(sys.executable).with_name("weed")),
        "mini",
        f"-dir={folder}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-webdav=false",
        "-admin.ui=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-metricsPort=0",
        "-bucket=lake",
        *(f"-{name}.port={port}" for name, port in ports.items()),
    ]
    environment = {"AWS_ACCESS_KEY_ID": _KEY, "AWS_SECRET_ACCESS_KEY": _SECRET}
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
            stdout=log,
            stderr=log,
        )
        try:
            store = Store(f"http://127.0.0.1:{ports['s3']}")
            _wait(process, store, folder / "log.txt")
            yield store
        finally:
            process.kill()
            process.wait(30)


def _wait(process: subprocess.Popen[bytes], store: Store, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(("127.0.0.1", int(store.endpoint.rpartition(":")[2])), 1):
                store.objects(store.empty()).write("ready", b"")
                return
        except (OSError, StorageError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(log.read_text(errors="replace")[-2_000:]) from None
            time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    """Ports that are free, and 10,000 above of which are free, too."""
    free: list[int] = []
    with ExitStack() as sockets:
        # Processes that start one after another look in different places.
        for port in range(20_000 + os.getpid() * 37 % 20_000, 45_000):
            try:
                for number in (port, port + _GRPC):
                    bound = sockets.enter_context(socket.socket())
                    bound.bind(("127.0.0.1", number))
            except OSError:
                continue
            free.append(port)
            if len(free) == count:
                return free
    raise AssertionError("no free port")
