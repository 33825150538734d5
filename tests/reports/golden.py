"""The rendered texts kept in ``tests/golden``. To write them anew: ``python -m tests.reports.golden`` from the root."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, RenderableType

from agent_eval.reports.advice_tables import render_recommendation
from agent_eval.reports.bench_tables import render_bench
from agent_eval.reports.compare import comparison_of
from agent_eval.reports.doctor_tables import render_diagnosis
from agent_eval.reports.explain import explain
from agent_eval.reports.explained import render_explanation
from agent_eval.reports.shown import showing_of_comparison
from agent_eval.reports.tables import render_report, render_sections
from agent_eval.spark_backend.weight_path import decide, select
from agent_eval.types import (
    BuildEvidence,
    BuildStanding,
    Evidence,
    Interval,
    PairedEvidence,
    Reason,
    Recommendation,
    Source,
)
from tests.reports import bench_builders, doctor_builders
from tests.reports.builders import LETTERS, MACHINE, episode, manifest, run
from tests.tasks.judged import AIRPLANE, ANSWER, RADIOS, WIFI, WIFI_ON, at_the_switch, both_radios, flipping
from tests.tasks.recorded import recorded

FOLDER = Path(__file__).parent.parent / "golden"
WIDTHS = (80, 120)

_GOAL = "Set an alarm for 7:30 AM and [bold]nothing[/bold] else.\x1b[2J"


def _full() -> RenderableType:
    letters = {
        "bf16": "SSSSSSSSSSNLSSSSSSSSSSSN",
        "w4a16": "SSSSSSSSSRNLSSSSSSSSSSSS",
        "w4a8": "SRRESLPSWINOUSSSSSSSDSGN",
    }
    speeds = {
        "bf16": [41.0 + 0.3 * (block % 4) for block in range(24)],
        "w4a16": [80.0 + block % 3 for block in range(24)],
        "w4a8": [42.0 + block % 5 for block in range(24)],
    }
    records = run(letters, speeds, goal=_GOAL, fault="DeviceFault: no answer\nfrom the phone")
    return render_report(manifest(tasks=24), records, run="runs/nano-1234")


def _by_task() -> RenderableType:
    letters = {
        "bf16": ("SS", "SS", "NN", "SS", "SN", "LL", "SS", "SS", "NN", "SS", "SS", "SS"),
        "w4a16": ("SS", "SS", "NN", "NN", "SN", "LL", "SS", "SS", "NN", "SS", "SS", "SS"),
        "w4a8": ("SS", "PP", "NN", "NP", "NS", "LL", "SS", "SE", "NN", "SS", "RS", "SS"),
    }
    records = [
        episode(*LETTERS[letter], build=build, task=f"Task{task:02d}", seed=seed, block=2 * task + seed)
        for build, tasks in letters.items()
        for task, both in enumerate(tasks)
        for seed, letter in enumerate(both)
    ]
    return render_report(manifest(tasks=12, instances=2), records)


def _unfinished() -> RenderableType:
    records = run({"bf16": "SS", "w4a16": "S", "w4a8": "E"})
    return render_report(manifest(tasks=12, instances=2, model_kind="synthetic"), records)


def _alone() -> RenderableType:
    return render_report(manifest(("bf16",), tasks=2), run({"bf16": "SN"}, {"bf16": 40.0}))


def _in_flight() -> RenderableType:
    letters = {"bf16": "SSSSSSNSSSSS", "w4a16": "SSSSSRSSSSSS", "w4a8": "SSSSSSNSSSSS"}
    speeds = {
        "bf16": [21.0 + 0.3 * (block % 4) for block in range(12)],
        "w4a16": [31.0 + block % 3 for block in range(12)],
        "w4a8": [31.5 - block % 3 for block in range(12)],
    }
    made = manifest(
        tuple(letters), engine="vllm", engine_settings=("compile=off",), concurrency=4, constrained=True
    ).model_copy(update={"head_traps": {"w4a16": 0.002}})
    return render_report(made, run(letters, speeds))


def _empty() -> RenderableType:
    return render_report(manifest(), [])


def _adaptive() -> RenderableType:
    """A run that ended when it was decided, of which everything that must hold was checked and one thing does not."""
    letters = {
        "bf16": "SSSSSSSSNSSSSSSSSSSS",
        "w4a16": "SSSSSSSSSSSSSSNSSSSS",
        "w4a8": "NNNSNNNNNPNNNNNNNNNN",
        "bf16-again": "SSSSSSSSNSSSSSLSSSSS",
        "null": "P" * 20,
        "random": "NLNWNNPNNNLNNNPNNNNN",
        "oracle": "S" * 20,
    }
    speeds = {
        "bf16": [40.0 + 3 * (block % 4) for block in range(20)],
        "w4a16": [60.0 + block % 3 for block in range(20)],
        "w4a8": [45.0 + block % 5 for block in range(20)],
        "bf16-again": [52.0 - 4 * (block % 3) for block in range(20)],
    }
    builds = ("bf16", "w4a16", "w4a8", "null", "random", "oracle")
    made = manifest(builds, tasks=12, instances=8, decided_at_margin=0.15, noise_band="bf16").model_copy(
        update={"agents": builds[3:], "loaded_bytes": {"bf16": 3 * 2**20, "w4a16": 2**20, "w4a8": 2**20}}
    )
    records = [record.model_copy(update={"anonymous_bytes": 200 * 2**20}) for record in run(letters, speeds)]
    return render_report(made, records)


def _compared() -> RenderableType:
    """Two runs that differ in their phones: a build of both, one of each, and a reference agent of one."""
    first = manifest(("bf16", "w4a8"), tasks=12)
    second = manifest(("bf16", "w4a16", "oracle"), tasks=10, skin="german").model_copy(
        update={"agents": ("oracle",), "created": "2026-01-03T03:04:05+00:00"}
    )
    runs = (
        (Path("runs/english"), first, run({"bf16": "SSSSSSNSSSLS", "w4a8": "SSSRSSNSSPLE"}, goal=_GOAL)),
        (
            Path("runs/german"),
            second,
            run({"bf16": "SSSSSSSSSN", "w4a16": "SSNSSSNSS", "oracle": "S" * 10}, goal=_GOAL),
        ),
    )
    return render_sections(showing_of_comparison(comparison_of(runs)).sections)


def _recommendation() -> RenderableType:
    evidence = Evidence(
        run="runs/nano-1234",
        model="nano",
        model_kind="embedded",
        device_class="x86-avx512",
        reference="bf16",
        builds=(BuildEvidence("bf16", Interval(0.9, 0.8, 0.95, 60), Interval(0.0, 0.0, 0.06, 60), 0),),
        pairs=(
            PairedEvidence("w4a8", "bf16", 60, 9, 3, Interval(-0.1, -0.2, 0.0, 60), -0.2, 0.1, 0.1, 0.1,
                           "insufficient evidence", 40),
        ),
    )  # fmt: skip
    advice = Recommendation(
        build="bf16",
        conclusive=False,
        rule="insufficient-evidence",
        reasons=(
            Reason(
                "Insufficient evidence: w4a8 is undecided and might be preferred for priority speed, so bf16 is kept "
                "until then.",
                (
                    Source("run", "runs/nano-1234", ("recommendation.standings[1]",), "standing of w4a8"),
                    Source("question", "priority speed", ("priority",)),
                ),
            ),
            Reason(
                "A second reason with a [link] and a bell \x07 in it.",
                (Source("run", "runs/nano-1234", ("evidence.pairs[0]",), "60 pairs [bf16]/w4a8\x1b[2J"),),
                "w4a8",
            ),
            Reason("A third one.", (Source("document", "docs/measurements.md#spark-at-full-size"),)),
        ),
        pairs_needed=40,
        decision=decide(MACHINE, "speed"),
        standings=(
            BuildStanding("bf16", "reference", "measured here", 0.16, 0),
            BuildStanding("w4a8", "undecided", "verified by the reference study", 0.155, 40),
        ),
    )
    return render_recommendation(MACHINE, "speed", advice, evidence)


def _expected() -> RenderableType:
    return render_recommendation(MACHINE, "agentic", select(MACHINE, "agentic", None))


def _bench() -> RenderableType:
    return render_bench(bench_builders.whole())


def _bench_alone() -> RenderableType:
    only = bench_builders.arm("w4a8", [5000.0, 5100.0])
    unknown = {"load_before": None, "load_after": None, "disturbances": (None, None, None)}
    return render_bench(bench_builders.bench(only, twin=None, **unknown))


TEXTS = {
    "bench": _bench,
    "bench_one_build": _bench_alone,
    "doctor": lambda: render_diagnosis(doctor_builders.whole()),
    "doctor_ill": lambda: render_diagnosis(doctor_builders.ill()),
    "report": _full,
    "report_by_task": _by_task,
    "report_unfinished": _unfinished,
    "report_one_build": _alone,
    "report_in_flight": _in_flight,
    "report_adaptive": _adaptive,
    "report_empty": _empty,
    "compare": _compared,
    "recommendation": _recommendation,
    "recommendation_expected": _expected,
}


def _explained_reversal() -> RenderableType:
    """Everything at once: babble, damage, reversals, a loop, and texts that a terminal would obey."""
    diary = at_the_switch().babbles().flips(WIFI).flips(AIRPLANE, "switch Airplane mode")
    for _ in range(6):
        diary.flips(WIFI)
    return render_explanation(
        explain(recorded(WIFI_ON, diary.ends(), goal=_GOAL, thought="Wi-Fi: off, want [bold]on[/bold]\x1b[31m"))
    )


def _explained_parts() -> RenderableType:
    return render_explanation(explain(recorded(RADIOS, both_radios(WIFI, WIFI, "settings/bluetooth_on").ends())))


def _explained_answer() -> RenderableType:
    return render_explanation(explain(recorded(ANSWER, at_the_switch().completes("14"), goal="Which Android is it?")))


def _explained_fault() -> RenderableType:
    return render_explanation(explain(recorded(WIFI_ON, flipping(1).ends("harness_error"))))


EXPLAINED = {
    "explained_reversal": _explained_reversal,
    "explained_parts": _explained_parts,
    "explained_answer": _explained_answer,
    "explained_fault": _explained_fault,
}


def rendered(renderable: RenderableType, width: int) -> str:
    """Return what a terminal without colours shows, without the blanks at the ends of lines."""
    console = Console(width=width, color_system=None, highlight=False, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def file_of(name: str, width: int) -> Path:
    return FOLDER / f"{name}_{width}.txt"


if __name__ == "__main__":
    for each, make in {**TEXTS, **EXPLAINED}.items():
        for columns in WIDTHS:
            file_of(each, columns).write_text(rendered(make(), columns), encoding="utf-8")
