"""The messages of an error and, if it is Spark's, of its causes in the JVM (imports no Spark)."""

from __future__ import annotations

import re

_FRAMES = re.compile(r"\n\s+(?:at |\.\.\. \d+ (?:more|common frames))[^\n]*")
_CAUSE = "\nCaused by: "
_STACK = "\n\nJVM stacktrace:\n"


def messages_of(error: BaseException) -> tuple[str, ...]:
    """The message of an error, then those of its causes in the JVM, without stacks.

    If another thread or an executor failed, Spark's own message is often only
    `Exception thrown in awaitResult:`. An error of py4j has the causes in its message, an error of
    pyspark in an attribute.
    """
    message = str(error).partition(_STACK)[0]
    own, *causes = _without_frames(message).split(_CAUSE)
    stack = getattr(error, "_stackTrace", None) or ""
    causes += _without_frames(stack).split(_CAUSE)[1:]
    # An error often repeats its cause.
    return tuple(dict.fromkeys(text for text in map(str.strip, (own, *causes)) if text))


def _without_frames(text: str) -> str:
    return _FRAMES.sub("", text)
