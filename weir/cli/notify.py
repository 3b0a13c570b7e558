"""`weir notify`: delivers what waits, or tries a channel."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.options import Options, Output
from weir.cli.output import print_json, print_line
from weir.cli.progress import progress


def notify(
    context: typer.Context,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="CHANNEL", help="Send this channel one message that says it is a test."
        ),
    ] = None,
) -> None:
    """Notify the channels of what changed in answers, as a run does at its end.

    With `--test`, a channel is tried: what it answers is printed, and nothing is recorded. What
    cannot be delivered ends with exit code 1.
    """
    from weir.notify.stage import notify_channels
    from weir.stage import new_run_id

    options = Options.of(context)
    if test is not None:
        _test(options, test)
        return
    with options.project() as project, progress("notify") as report:
        done = notify_channels(project, new_run_id("notify"), report)
    if options.output is Output.json:
        print_json({"delivered": dict(done.delivered), "failed": dict(done.failed)})
    else:
        print_line(f"Notify: {done.summary}.")
        for warning in done.warnings:
            print_line(f"warning: {warning}")
    raise typer.Exit(1 if done.failed else 0)


def _test(options: Options, channel: str) -> None:
    from weir.notify.trial import send_test

    with options.project() as project, progress("notify") as report:
        report(f"a test to {channel}")
        sent = send_test(project.settings, channel)
    if options.output is Output.json:
        print_json({"channel": channel, "id": sent.message, "answer": sent.answer})
        return
    print_line(f"Delivered the test {sent.message} to {channel}: {sent.answer}.")
