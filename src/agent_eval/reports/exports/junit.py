"""A run as JUnit XML, which CI systems show: a suite of cases for each build, and one of what was compared.

The elements and attributes are those that the Ant task wrote and that CI systems read: ``testsuites``, ``testsuite``,
``testcase`` with ``failure``, ``error`` or ``skipped`` (github.com/testmoapp/junitxml lists them).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.explain import explain
from agent_eval.reports.layout import visible
from agent_eval.reports.report import Report, report_of
from agent_eval.reports.selection import latest

COMPARISONS = "compared with the reference"
"""Name of the suite in which a build is a case."""


def junit_xml(manifest: RunManifest, records: Sequence[EpisodeRecord], *, run: str = "") -> bytes:
    """Return the document.

    An episode that did not succeed is a failure whose type is its label; one that the harness lost is an error. A build
    that is worse than the reference is a failure; one on which there is not enough evidence is skipped.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        run: Name of the run; when it was created, by default.
    """
    report = report_of(manifest, records, run=run)
    root = ElementTree.Element("testsuites", name=_safe(f"agent-eval {report.evidence.run}"))
    counted = latest(records)
    for build in report.summary.builds:
        suite = _suite(root, manifest, build.build)
        for record in (record for record in counted if record.build == build.build):
            _episode(suite, record)
    if report.evidence.pairs:
        _comparisons(_suite(root, manifest, COMPARISONS), report)
    for suite in root:
        _count(suite, suite)
    _count(root, *root)
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _suite(root: ElementTree.Element, manifest: RunManifest, name: str) -> ElementTree.Element:
    at = manifest.created.split("+")[0].removesuffix("Z")
    suite = ElementTree.SubElement(root, "testsuite", name=_safe(name), timestamp=_safe(at))
    properties = ElementTree.SubElement(suite, "properties")
    configuration = manifest.configuration
    for key, value in (
        ("model", f"{configuration.model} ({manifest.model_kind})"),
        ("model digest", configuration.model_digest),
        ("suite digest", configuration.suite_digest),
        ("machine", f"{manifest.machine.device_class}: {manifest.machine.cpu_model}"),
        ("build", manifest.build_notes.get(name, "")),
    ):
        if value:
            ElementTree.SubElement(properties, "property", name=key, value=_safe(value))
    return suite


def _episode(suite: ElementTree.Element, record: EpisodeRecord) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_safe(f"{record.build}.{record.task}"),
        name=_safe(f"{record.task}/{record.seed}: {record.goal}"),
        time=f"{record.wall_s:.3f}",
    )
    outcome = record.outcome
    if outcome.label == "success":
        return
    lost = outcome.label == "harness_error"
    message = outcome.fault if lost and outcome.fault else outcome.label
    told = ElementTree.SubElement(case, "error" if lost else "failure", type=outcome.label, message=_safe(message))
    story = explain(record)
    told.text = "\n".join(
        _safe(line)
        for line in (
            *story.beginning,
            *(f"{step.number}. {' '.join((step.call, *step.notes))}" for step in story.steps),
            *story.ending,
        )
    )


def _comparisons(suite: ElementTree.Element, report: Report) -> None:
    for pair in report.evidence.pairs:
        margin = round(100 * pair.margin)
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_safe(COMPARISONS),
            name=_safe(f"{pair.build} is no worse than {pair.reference} by {margin} points"),
            time="0",
        )
        said = (
            f"{pair.pairs} pairs, {pair.lost} lost, {pair.gained} gained; difference of success "
            f"{100 * pair.difference.estimate:+.1f} points [{100 * pair.difference.low:+.1f}, "
            f"{100 * pair.difference.high:+.1f}], one-sided lower bound {100 * pair.lower_bound:+.1f}"
        )
        if pair.verdict == "worse":
            ElementTree.SubElement(case, "failure", type="worse", message=_safe(said))
        elif pair.verdict == "insufficient evidence":
            needed = f"; about {pair.pairs_needed} more pairs are needed"
            ElementTree.SubElement(case, "skipped", message=_safe(f"{pair.verdict}: {said}{needed}"))
        else:
            ElementTree.SubElement(case, "system-out").text = _safe(said)


def _count(at: ElementTree.Element, *suites: ElementTree.Element) -> None:
    """Write the sums of some suites' cases at an element."""
    cases = [case for suite in suites for case in suite.iter("testcase")]
    at.set("tests", str(len(cases)))
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        at.set(attribute, str(sum(case.find(element) is not None for case in cases)))
    at.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _safe(text: str) -> str:
    """Make visible what XML 1.0 has no way to write, such as an escape that a model wrote."""
    return visible(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
