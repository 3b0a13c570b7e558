"""What is shown of an error of Spark: the message of its cause, too."""

from __future__ import annotations

import pytest

from weir.lake.damage.spark_errors import messages_of
from weir.lake.delta.change_feed import ChangeFeedGap, lost_files_are_a_gap

STACK = """org.apache.spark.SparkException: Exception thrown in awaitResult:\x20
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:53)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.util.concurrent.ExecutionException: Boxed Exception
\tat scala.concurrent.impl.Promise$.resolver(Promise.scala:87)
\t... 4 more
Caused by: org.apache.spark.sql.delta.DeltaIllegalStateException: \
[DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA] RemoveFile created without extended metadata.
\tat org.apache.spark.sql.delta.DeltaErrorsBase.removeFile(DeltaErrors.scala:1)
\t... 2 common frames omitted
"""
CAUSE = (
    "org.apache.spark.sql.delta.DeltaIllegalStateException:"
    " [DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA] RemoveFile created without extended"
    " metadata."
)


# As pyspark's errors are: the message in the text, the stack beside it.
OF_PYSPARK = type("SparkException", (Exception,), {"_stackTrace": STACK})(
    "Exception thrown in awaitResult: "
)
OF_PY4J = Exception(f"An error occurred while calling o12.count.\n: {STACK}")


@pytest.mark.parametrize("error", [OF_PYSPARK, OF_PY4J], ids=["pyspark", "py4j"])
def test_the_last_message_is_that_of_the_first_cause_and_none_has_a_stack(error: Exception) -> None:
    first, middle, last = messages_of(error)
    assert "Exception thrown in awaitResult:" in first
    assert middle.endswith("Boxed Exception")
    assert last == CAUSE


def test_an_error_of_python_is_its_message() -> None:
    assert messages_of(ValueError("a: b\nc")) == ("a: b\nc",)
    assert messages_of(ValueError()) == ()


def test_a_commit_that_delta_cannot_give_the_changes_of_is_a_gap() -> None:
    with pytest.raises(ChangeFeedGap), lost_files_are_a_gap("house"):
        raise OF_PYSPARK
