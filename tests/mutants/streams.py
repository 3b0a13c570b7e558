"""The mutants of windows, legs and the times of the graph."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STREAM_MUTANTS = (
    Mutant(
        "a sliding window is a microsecond longer",
        "engine/windows",
        'until: exp.Expr = column("instant") + number(width)',
        'until: exp.Expr = column("instant") + number(width + 1)',
    ),
    Mutant(
        "a window with a step includes its end",
        "engine/windows",
        'shift = window.origin if window.bounds == "[)"',
        'shift = window.origin if window.bounds == "never"',
    ),
    Mutant(
        "an event stays until the close after it left",
        "engine/windows",
        "_quotient(since_origin(), step) + number(early + 1)",
        "_quotient(since_origin(), step) + number(early + 2)",
    ),
    Mutant(
        "the first windows are partial ones",
        "engine/windows",
        'early = 0 if window.first == "full" else -(-width // step)',
        "early = -(-width // step)",
    ),
    Mutant(
        "the content of a window is a bag",
        "engine/windows",
        "content = presence(ends(weighted, POSITIONS), POSITIONS)",
        "content = weighted",
    ),
    Mutant(
        "elements of one instant are in the order of their lines",
        "engine/windows",
        'order = ("instant", "epoch", "line")',
        'order = ("instant", "line", "epoch")',
    ),
    Mutant(
        "an element before the range is forgotten",
        "engine/windows",
        "limit=elements,",
        "limit=elements - 1,",
    ),
    Mutant(
        "an empty window is absent",
        "plan/named_graphs",
        "return context.carry(lowering.pattern(pattern, context.inside(Scope(window=term))))",
        "scope = Scope(window=term)\n"
        "            inside = lowering.pattern(pattern, context.inside(scope))\n"
        "            return context.carry(joined(inside, has_graph(lowering.columns, scope)))",
    ),
    Mutant(
        "an instant at the frontier is final",
        "timeline/timeline",
        "final = min(values) - 1 + shift",
        "final = min(values) + shift",
    ),
    Mutant(
        "an epoch without events moves no frontier",
        "timeline/timeline",
        "reached[i] = frontier.get(epoch, reached[i])",
        "reached[i] = frontier.get(epoch if earliest else -1, reached[i])",
    ),
    Mutant(
        "late events are not evaluated",
        "timeline/legs",
        "low = min(low, max(earliest, origin) - 1)",
        "low = min(low, known)",
    ),
    Mutant(
        "a late epoch does not begin a leg",
        "timeline/legs",
        "if part and _affects(arrival, reached):",
        "if part and _affects(arrival, None):",
    ),
    Mutant(
        "rows have the last epoch of a run",
        "timeline/legs",
        "stamps.append(Stamp(upto, arrival.horizon, arrival.epoch))",
        "stamps.append(Stamp(upto, arrival.horizon, arrivals[-1].epoch))",
    ),
    Mutant(
        "a correction has the last epoch of a run",
        "timeline/legs",
        "stamps.append(Stamp(upto, known, arrivals[0].epoch))",
        "stamps.append(Stamp(upto, known, arrivals[-1].epoch))",
    ),
    Mutant(
        "what is stored is not subtracted",
        "timeline/recording",
        "if leg.corrects:",
        "if leg.corrects and leg.high < leg.low:",
    ),
    Mutant(
        "times of the graph fall",
        "timeline/graph_times",
        "newest = max(newest, at)",
        "newest = at",
    ),
    Mutant(
        "a change of the graph corrects what is final",
        "timeline/graph_times",
        "at = max(graph_epoch.event_time, graph_epoch.horizon + 1 - corrects_back)",
        "at = graph_epoch.event_time",
    ),
    Mutant(
        "the graph is as of the newest epoch",
        "timeline/graph_log",
        'alias(column("instant", "t"), "epoch")',
        'alias(number(low + 1), "epoch")',
    ),
    Mutant(
        "events in the look-back of a window are deleted",
        "timeline/retention",
        "return low - back",
        "return low - min(back, 1)",
    ),
    Mutant(
        "events that late ones need are deleted",
        "timeline/retention",
        "late = [frontier - lateness for frontier, lateness in bounds]",
        "late = [frontier for frontier, _ in bounds]",
    ),
    Mutant(
        "one element too few is kept",
        "timeline/retention",
        ").offset(window.elements - 1)\n\n\ndef complete_from(",
        ").offset(window.elements - 2 if window.elements > 1 else 0)\n\n\ndef complete_from(",
        tests=("tests/timeline/test_retention.py",),
    ),
    Mutant(
        "a query begins a microsecond before its window is whole",
        "timeline/retention",
        "return kept_from + width - 1",
        "return kept_from + width - 2",
    ),
    Mutant(
        "a query begins at a close whose window lacks events",
        "timeline/retention",
        "return origin + width + -((begin - kept_from) // step) * step",
        "return origin + width + ((kept_from - begin) // step) * step",
    ),
    Mutant(
        "what is in a window when a query begins appears earlier",
        "timeline/evaluation",
        'alias(greatest(column("since"), number(start)), "since")',
        'column("since")',
    ),
    Mutant(
        "the state of a consolidated log leaves out its last instant",
        "timeline/consolidation",
        'where=[column("instant") <= number(until)],',
        'where=[column("instant") < number(until)],',
    ),
    Mutant(
        "a correction of what was emitted is emitted as a change of its own",
        "timeline/elements",
        'weight = emitted(column("known")) - emitted(column("known") - column("weight"))',
        'weight = emitted(column("weight"))',
    ),
    Mutant(
        "a stream reports a correction at the closes of later epochs twice",
        "timeline/elements",
        'alias(greatest(column("instant"), column("reached") + number(1)), "instant"),',
        'column("instant"),',
    ),
    Mutant(
        "a stream forgets what was in the answer before the run",
        "timeline/elements",
        'where=[column("epoch") <= number(after)],',
        'where=[column("epoch") < number(0)],',
    ),
    Mutant(
        "a close that is final is not reported",
        "timeline/elements",
        'upto = least(column("until") - number(1), number(last))',
        'upto = least(column("until") - number(1), number(last - 1))',
    ),
    Mutant(
        "a report ends a close too late",
        "timeline/elements",
        'upto = least(column("until") - number(1), number(last))',
        'upto = least(column("until"), number(last))',
    ),
)
