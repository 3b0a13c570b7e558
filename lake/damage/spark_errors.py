"""What an error says, with its causes in the JVM if it is one of Spark (imports no Spark)."""

from __future__ import annotations

import re

_FRAMES = re.compile(r"\n\s+(?:at |\.\.\. \d+ (?:more|common frames))[^\n]*")
_CAUSE = "\nCaused by: "
_STACK = "\n\nJVM stacktrace:\n"


def messages_of(error: BaseException) -> tuple[str, ...]:
    """The message of an error, then those of its causes in the JVM, without stacks.

    Of what failed in another thread or on an executor, Spark's own message is often no more than
    `Exception thrown in awaitResult:`. An error of py4j has the causes in its message, one of
    pyspark beside it.
    """
    message = str(error).partition(_STACK)[0]
    own, *causes = _without_frames(message).split(_CAUSE)
    stack = getattr(error, "_stackTrace", None) or ""
    causes += _without_frames(stack).split(_CAUSE)[1:]
    # An error often repeats its cause.
    return tuple(dict.fromkeys(text for text in map(str.strip, (own, *causes)) if text))


def _without_frames(text: str) -> str:
    return _FRAMES.sub("", text)
