"""The results of the checks as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from weir.expectations.suite import QualityResult

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem; }
td { border-bottom: 1px solid #ddd; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.passed { color: #17663a; } .failed { color: #a3132b; font-weight: 600; }
pre { margin: .25rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
"""


def quality_page(run_id: str, at: datetime, results: Sequence[QualityResult]) -> str:
    """The page: one table per suite and scope with each check, its result and unexpected rows."""
    failed = sum(not result.success for result in results)
    verdict = f"{failed} of {len(results)} failed" if failed else f"all {len(results)} passed"
    groups: dict[tuple[str, str], list[QualityResult]] = {}
    # Failed checks come first.
    for result in sorted(results, key=lambda result: result.success):
        groups.setdefault((result.suite, result.scope), []).append(result)
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        f"<title>Data quality: {verdict}</title><style>{_STYLE}</style></head><body>"
        f"<h1>Data quality: {verdict}</h1>"
        f"<p>Run {escape(run_id)}, {at:%Y-%m-%d %H:%M:%S} UTC</p>"
        + "".join(quality_table(*key, group) for key, group in groups.items())
        + "</body></html>\n"
    )


def quality_table(suite: str, scope: str, results: Sequence[QualityResult]) -> str:
    """The results of one suite for one scope, as a heading and a table."""
    rows = "".join(
        f"<tr><td class={'passed' if result.success else 'failed'}>"
        f"{'passed' if result.success else 'failed'}</td>"
        f"<td>{escape(result.sentence)}{_examples(result)}</td>"
        f"<td class=number>{result.unexpected_rows:,}</td></tr>"
        for result in results
    )
    title = f"{suite}: {scope}" if scope else suite
    return (
        f"<h2>{escape(title)}</h2><table><thead><tr><th>Result</th><th>What must hold</th>"
        f"<th>Unexpected rows</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _examples(result: QualityResult) -> str:
    return "".join(f"<pre>{escape(example)}</pre>" for example in result.examples)
