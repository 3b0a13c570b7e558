"""Which settings are secrets, by their names, and whether others can read their file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

_WORDS = re.compile(
    "passw|passphrase|secret|token|access_?key|account_?key|private_?key|master_?key|sas_?key|"
    "api_?key|storage_?options|credential$|azure_sas_"
)
_REFERENCE = re.compile(
    r"(file|path|_provider|_endpoint|_enabled)$|_provider_type(_|$)|"
    r"^spark_kubernetes_(driver|executor)_(secrets|secretkeyref)_"
)
"""Names of settings that say where a secret is, or who provides it."""
_OPTION = re.compile(r"-D([^\s=]+)=(\S+)")
_USER_IN_URL = re.compile(r"://[^/@\s:]+:[^/@\s]+@")


def is_secret(key: str) -> bool:
    """Whether a setting of Hadoop, delta-rs or Spark is a password or a key, by its name."""
    name = re.sub(r"[.\-]", "_", key).lower()
    return _WORDS.search(name) is not None and _REFERENCE.search(name) is None


def secret_settings(conf: Mapping[str, str]) -> list[str]:
    """The Spark settings with a secret: by name, in a Java option, or as the user of a URL."""
    return [key for key, value in conf.items() if _holds_secret(key, value)]


def is_readable_by_others(file: Path) -> bool:
    """Whether the file's group or all users may read it."""
    return os.name == "posix" and bool(file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _holds_secret(key: str, value: str) -> bool:
    options = _OPTION.findall(value)
    named = [(key, value), *options]
    return _USER_IN_URL.search(value) is not None or any(
        is_secret(name) and text.lower() not in ("true", "false") for name, text in named
    )
