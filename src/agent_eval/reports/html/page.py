"""Puts the page together: the summary as HTML, the episodes as data, style and scripts inline, nothing from outside.

What runs is what its hash in the content security policy names. What models and phones wrote is data: in the template
it is escaped, in the script it becomes text of elements and never markup.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

from agent_eval.outcome import LABELS
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports import numbers
from agent_eval.reports.html import overview, plots
from agent_eval.reports.html.colours import LABEL_COLOURS, build_colour
from agent_eval.reports.html.payload import payload_of, script_json
from agent_eval.reports.html.plots import Plot
from agent_eval.reports.layout import visible
from agent_eval.reports.report import Report, report_of
from agent_eval.types import Priority, Recommendation

PAGE_NAME = "report.html"
"""File of a run folder that the page is written to unless a person says otherwise."""
SCRIPTS = ("text.js", "run.js", "list.js", "viewer.js", "beside.js", "plots.js", "page.js")
"""Parts of the page's script, in the order in which they stand in it."""
EMPTY = ""
"""plotly.js makes an empty style element and adds its rules through the object model, which the policy allows."""


class Advice(NamedTuple):
    """What the selector says for one priority."""

    priority: Priority
    recommendation: Recommendation


def html_page(
    manifest: RunManifest,
    records: Sequence[EpisodeRecord],
    *,
    margin: float | None = None,
    run: str = "",
    advice: Sequence[Advice] = (),
) -> str:
    """Return a run as one HTML page that needs nothing else; equal for equal arguments.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share; the one that the run was to end by, or 0.1, if None.
        run: Name of the run; when it was created, by default.
        advice: What is recommended on the machine of the run; none where it has no model.

    Raises:
        RunFolderError: the records were made with different versions of a task.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def harmless(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=PackageLoader("agent_eval.reports", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=harmless,
    )
    report = report_of(manifest, records, margin=margin, run=run)
    drawn = _plots(report)
    drawing = plots.library()
    style = _file("page.css").replace("/* colours */", _colour_rules(report))
    script = "\n".join(_file(name) for name in SCRIPTS)
    data = payload_of(manifest, records) | {
        "labels": list(LABELS),
        "plots": [{"id": plot.id, "figure": plot.figure} for plot in drawn],
    }
    return environment.get_template("page.html.jinja").render(
        policy=_policy(scripts=(drawing.script, script), styles=(style, EMPTY)),
        style=Markup(style),  # noqa: S704 - our own file
        scripts=[Markup(drawing.script), Markup(script)],  # noqa: S704 - plotly's and our own files
        data=Markup(script_json(data)),  # noqa: S704 - nothing in it can end its element
        placeholders=drawing.placeholders,
        report=report,
        run=report.evidence.run,
        advice=advice,
        drawn={plot.id for plot in drawn},
        caveats=overview.caveats(report),
        parts=overview.other_parts(report),
        outcomes=overview.outcomes(report),
        harness_errors=overview.harness_errors(report),
        rates=overview.rates(report),
        pairs=overview.pairs(report, records),
        migrations=[(pair, overview.migration(pair)) for pair in report.summary.pairs if pair.migration],
        discordant=overview.discordant(report),
        speed=overview.speed(report),
        by_task=overview.by_task(report, records),
        machine=numbers.machine(manifest.machine),
        further=numbers.further,
    )


def _plots(report: Report) -> list[Plot]:
    flows = [pair for pair in report.summary.pairs if pair.migration]
    made = [
        plots.rates_plot(report) if any(build.judged for build in report.summary.builds) else None,
        plots.speed_plot(report),
        *(plots.migration_plot(pair, number) for number, pair in enumerate(flows, start=1)),
    ]
    return [plot for plot in made if plot is not None]


def _policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _colour_rules(report: Report) -> str:
    labels = [f'[data-label="{label}"]{{--mark:{colour}}}' for label, colour in LABEL_COLOURS.items()]
    builds = [f'[data-build="{n}"]{{--mark:{build_colour(n)}}}' for n in range(len(report.summary.builds))]
    return "\n".join((*labels, *builds))


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")
