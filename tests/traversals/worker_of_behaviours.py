"""The child process of a pool that reads documents as their content says.

Run in place of `weir.traversals.pool_worker`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from weir.traversals import pool_worker, reading


def read(content: bytes, content_type: str, url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Do what the document says."""
    match content.decode():
        case "raise":
            raise ValueError(f"about {url}")
        case "recurse":
            return read_deeply()
        case "memory":
            return {"size": len(bytearray(1 << 40))}
        case "hang":
            time.sleep(60)
        case "slow":
            time.sleep(1.5)
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
            time.sleep(60)
        case "exit":
            os._exit(3)
        case "out of memory":
            os._exit(77)
        case "print":
            print("no frame", flush=True)
            os.write(2, b"no frame")
        case "no JSON":
            return {"object": object()}
        case "surrogate":
            return {"text": "\ud800"}
        case "environment":
            return {"variables": sorted(os.environ)}
    return {
        "content": content,
        "type": content_type,
        "url": url,
        "options": dict(options),
    }


def read_deeply() -> dict[str, Any]:
    """Recurse without end."""
    return read_deeply()


if __name__ == "__main__":
    reading.read = read
    pool_worker.main()
