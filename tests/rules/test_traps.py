"""Points at which rules are easily evaluated wrongly, each pinned by a small program."""

from __future__ import annotations

from tests.support.rules.memory import ProgramMemory
from tests.support.rules.papers import atom_of, program_of, triple_of
from tests.support.streams.histories import Epochs, StreamBatch
from weir.rules.points import PointAxis

Event = tuple[int, str]
"""An instant and an atom."""


def test_a_late_tuple_shifts_the_tuples_of_later_points() -> None:
    epochs = (_batch((1, "p(a)"), (3, "p(b)"), frontier=6), _batch((2, "p(c)"), frontier=7))
    log = _log("d(X) <- win^#2 diamond p(X).", epochs)
    assert log == {
        (1, 1, 1, "d(a)"),
        (1, 3, 1, "d(b)"),
        (2, 2, 1, "d(c)"),
        (2, 3, -1, "d(a)"),
    }


def test_the_points_of_a_tumbling_window_are_those_of_one_block_up_to_now() -> None:
    """Blocks of 0 to 3 and 4 to 7."""
    epochs = (_batch((1, "p(a)"), (3, "p(b)"), (5, "p(a)"), frontier=9),)
    log = _log("d(X) <- win^(0,3) step 4 diamond p(X).", epochs)
    assert log == {
        (1, 1, 1, "d(a)"),
        (1, 3, 1, "d(b)"),
        (1, 4, -1, "d(a)"),
        (1, 4, -1, "d(b)"),
        (1, 5, 1, "d(a)"),
        (1, 8, -1, "d(a)"),
    }


def test_the_last_whole_block_is_seen_from_its_end_until_the_next_ends() -> None:
    """Blocks of 1 to 4 and 5 to 8: what is at 5 is not seen before 8."""
    epochs = (_batch((1, "p(a)"), (5, "p(b)"), frontier=14),)
    log = _log("d(X) <- win^3 step 4 diamond p(X).", epochs)
    assert log == {
        (1, 4, 1, "d(a)"),
        (1, 8, -1, "d(a)"),
        (1, 8, 1, "d(b)"),
        (1, 12, -1, "d(b)"),
    }


def test_a_late_event_corrects_every_point_of_the_windows_that_it_is_in() -> None:
    epochs = (_batch((1, "p(a)"), frontier=10), _batch((2, "p(b)"), frontier=11))
    log = _log("d(X) <- win^3 step 4 diamond p(X).", epochs)
    assert {row for row in log if row[3] == "d(b)"} == {(2, 4, 1, "d(b)"), (2, 8, -1, "d(b)")}


def test_in_a_window_that_ends_before_the_stream_begins_no_box_holds() -> None:
    """The stream begins at 2; the window of 2 and 3 ends at 0."""
    epochs = (_batch((2, "p"), (3, "p"), (4, "p"), frontier=5),)
    assert _log("q <- win^1 step 4 box p.", epochs) == {(1, 4, 1, "q")}
    text = "a <- win^(0,2) step 4 @T p.\nq <- win^1 step 4 box a."
    assert (1, 2, 1, "q") not in _log(text, epochs)


def test_a_plain_head_is_in_no_window_that_ended_before_it() -> None:
    text = "a <- p.\nq <- win^1 step 4 diamond a."
    epochs = (_batch(*((point, "p") for point in range(6)), frontier=6),)
    log = _log(text, epochs)
    assert {row for row in log if row[3] == "q"} == {
        (1, 0, 1, "q"),
        (1, 1, -1, "q"),
        (1, 4, 1, "q"),
        (1, 5, -1, "q"),
    }


def test_a_late_tuple_shifts_only_the_windows_that_count_it() -> None:
    epochs = (
        _batch((1, "p(a)"), (3, "p(b)"), (4, "p(d)"), frontier=6),
        _batch((2, "r(c)"), (2, "p(c)"), frontier=7),
    )
    text = "d(X) <- win^#3{p} diamond p(X).\ne(X) <- win^#3{p,r(a)} diamond p(X).\nf(X) <- r(X)."
    log = _log(text, epochs)
    assert {row for row in log if row[3].startswith(("d", "e")) and row[0] == 2} == {
        (2, 2, 1, "d(c)"),
        (2, 2, 1, "e(c)"),
        (2, 4, -1, "d(a)"),
        (2, 4, -1, "e(a)"),
    }


def test_a_box_in_a_window_that_counts_some_tuples_begins_at_the_first_of_them() -> None:
    epochs = (_batch((0, "r"), (1, "p"), (1, "r"), (2, "p"), (2, "r"), (3, "r"), frontier=4),)
    log = _log("q <- win^#2{p} box p.\nall <- win^#2 box p.\ns <- r.", epochs)
    assert {row for row in log if row[3] in ("q", "all")} == {
        (1, 1, 1, "all"),
        (1, 2, 1, "q"),
        (1, 3, -1, "all"),
        (1, 3, -1, "q"),
    }


def test_tuples_of_a_point_are_in_the_order_of_instant_epoch_and_line() -> None:
    epochs = (
        _batch((12, "p(b)"), (11, "p(a)"), frontier=10),
        _batch((11, "p(c)"), frontier=20),
    )
    log = _log("d(X) <- win^#2 diamond p(X).", epochs, PointAxis(unit=10))
    assert log == {(2, 10, 1, "d(c)"), (2, 10, 1, "d(b)")}


def test_a_box_holds_across_the_border_of_two_runs() -> None:
    epochs = tuple(_batch((point, "a"), frontier=point + 1) for point in range(6))
    log = _log("q <- win^2 box a.", (_batch((-2, "b"), frontier=0), *epochs))
    assert log == {(4, 2, 1, "q")}


def test_a_diamond_is_one_interval_across_the_border_of_two_runs() -> None:
    epochs = (
        _batch((0, "a"), frontier=2),
        _batch(frontier=3),
        _batch((3, "a"), frontier=4),
        _batch(frontier=10),
    )
    assert _log("q <- win^2 diamond a.", epochs) == {(1, 0, 1, "q"), (4, 6, -1, "q")}


def test_an_atom_does_not_support_itself_in_a_box() -> None:
    epochs = (_batch((0, "p"), (1, "p"), (4, "p"), frontier=8),)
    text = "a <- p.\na <- win^1 box a."
    assert _log(text, epochs) == {(1, 0, 1, "a"), (1, 2, -1, "a"), (1, 4, 1, "a"), (1, 5, -1, "a")}


def test_recursion_fills_the_box_that_it_reads() -> None:
    """What is placed at a point makes the box at the next round, where more is placed."""
    text = "@T a <- win^3 @T p.\n@T b <- win^1 box a, win^3 @T r.\n@T a <- win^3 @T b."
    epochs = (_batch((0, "p"), (1, "p"), (2, "r"), (2, "p"), frontier=3),)
    assert (1, 2, 1, "b") in _log(text, epochs)


def test_instants_of_a_point_are_one_point() -> None:
    epochs = (_batch((10, "a"), (19, "a"), (20, "b"), frontier=29), _batch(frontier=40))
    log = _log("q <- a.\nr <- win^1 @T a, b.", epochs, PointAxis(unit=10))
    # The point of 20 is final when the frontier is at its end.
    assert log == {(1, 10, 1, "q"), (2, 20, -1, "q"), (2, 20, 1, "r"), (2, 30, -1, "r")}


def test_a_point_without_events_is_evaluated() -> None:
    epochs = (_batch((0, "p"), (3, "p"), frontier=5),)
    log = _log("idle <- not p.", epochs)
    assert log == {(1, 1, 1, "idle"), (1, 3, -1, "idle"), (1, 4, 1, "idle")}


def test_a_late_event_corrects_what_was_recorded() -> None:
    epochs = (_batch((0, "p"), (3, "p"), frontier=5), _batch((1, "p"), frontier=5))
    corrected = {(2, 1, -1, "idle"), (2, 2, 1, "idle")}
    assert corrected <= _log("idle <- not p.", epochs)


def test_a_derived_atom_of_an_earlier_point_is_not_remembered() -> None:
    epochs = (_batch((0, "a"), frontier=6),)
    log = _log("q <- win^1 diamond a.\nr <- win^3 diamond q.", epochs)
    assert {change for change in log if change[3] == "r"} == {(1, 0, 1, "r"), (1, 2, -1, "r")}


def test_an_expression_that_is_an_error_derives_nothing() -> None:
    epochs = (_batch((0, "p(a)"), (0, "p(1)"), frontier=1),)
    log = _log("q(N) <- p(X), N = X + 1.\nr(X) <- p(X), X + 1 > 0.", epochs)
    assert log == {(1, 0, 1, "q(2)"), (1, 0, 1, "r(1)")}


def _batch(*events: Event, frontier: int) -> StreamBatch:
    return StreamBatch("s", tuple((triple_of(atom), at) for at, atom in events), frontier)


def _log(
    text: str, epochs: Epochs, axis: PointAxis | None = None
) -> set[tuple[int, int, int, str]]:
    """Epoch, instant, weight, atom of every row, if each epoch is a run of its own."""
    names = {"a", "b", "p", "r", "p(x)"}
    used = {name for name in names if _occurs(name, text)}
    memory = ProgramMemory(program_of(text, used), epochs, axis)
    for epoch in range(1, len(epochs) + 1):
        memory.run(epoch - 1, epoch)
    return {(epoch, at, weight, atom_of(row)) for epoch, at, weight, row in memory.log()}


def _occurs(name: str, text: str) -> bool:
    """Whether a rule reads such an atom."""
    if name == "p(x)":
        return "p(" in text
    return f" {name}" in text and f"{name}(" not in text
