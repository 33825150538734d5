"""The commands: one function each, importing what it needs. Data goes to stdout, progress to stderr.

Exit codes: 0 done; 1 the answer is no (a replay that differs, a recommendation without enough evidence is still 0);
2 bad input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent_eval import __version__, environment
from agent_eval.command_line import OUTLIERS, PRIORITIES, SYNTHETIC, command_line, names
from agent_eval.errors import AgentEvalError, OperatorError
from agent_eval.progress import TrainingProgress, tell, watch

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from agent_eval.contracts import Instance, Task
    from agent_eval.records import EpisodeRecord, RunFolder
    from agent_eval.reports.formats import Showing
    from agent_eval.reports.recommendation_record import RecommendationRecord
    from agent_eval.spark_backend.convert import ConversionReport
    from agent_eval.types import MachineProbe, Priority
    from agent_eval.wiring import RunOptions

_MORE_UNTIL_DECIDED = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = command_line().parse_args(arguments)
    try:
        code = _COMMANDS[options.command](options)
    except AgentEvalError as error:
        print(f"agent-eval: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("agent-eval: interrupted; nothing recorded is lost", file=sys.stderr)
        print("hint: repeat the same command to go on", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader of our output went away, as `head` does; what is left unwritten is not wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


# ----------------------------------------------------------------------------------------------------------------------
# commands


def _run(options: argparse.Namespace) -> int:
    from agent_eval.spark_backend import launcher

    launcher.prepare(vllm=options.engine == "vllm")
    from agent_eval import wiring
    from agent_eval.running import play_run

    tasks, instances = wiring.find_tasks(names(options.tasks, "--tasks"))
    most = _MORE_UNTIL_DECIDED * instances if options.until else instances
    chosen = _run_options(options, tasks, options.instances or most)
    out = Path(options.out) if options.out else None
    run = play_run(chosen, out, tell, watch(chosen.concurrency))
    _print_report(run)
    if wiring.models_among(chosen.builds):
        _print_recommendation(run, "agentic", _probe(None), options)
    return 0


def _bench(options: argparse.Namespace) -> int:
    from agent_eval.spark_backend import launcher

    launcher.prepare(vllm="vllm" in options.engine)
    from agent_eval.bench import BenchOptions, run_bench
    from agent_eval.reports.bench_tables import render_bench

    record = run_bench(
        BenchOptions(
            builds=names(options.builds, "--builds"),
            model=options.model,
            prompt=options.prompt,
            tokens=options.tokens,
            passes=options.passes,
            threads=options.threads,
            engines=names(options.engine, "--engine"),
        ),
        tell,
    )
    if options.json:
        record.write(Path(options.json))
    _print(render_bench(record))
    return 0


def _fidelity(options: argparse.Namespace) -> int:
    from agent_eval.spark_backend import launcher

    launcher.prepare()
    from agent_eval.fidelity import FidelityOptions, measure_fidelity
    from agent_eval.reports.fidelity_tables import render_fidelity

    record = measure_fidelity(
        FidelityOptions(
            run=Path(options.run),
            builds=names(options.builds, "--builds") if options.builds is not None else (),
            model=options.model,
            text=Path(options.text) if options.text else None,
            prompts=Path(options.prompts) if options.prompts else None,
            episodes=options.episodes,
            tokens=options.tokens,
            act=options.act,
        ),
        tell,
    )
    _print(render_fidelity(record))  # first: it is there even where the file cannot be written
    if options.json:
        record.write(Path(options.json))
    return 0


def _report(options: argparse.Namespace) -> int:
    from agent_eval.reports.shown import showing_of_run

    run = _open_run(options.run)
    _show(showing_of_run(run.manifest, run.episodes(), margin=options.margin, run=str(run.path)), options)
    return 0


def _compare(options: argparse.Namespace) -> int:
    from agent_eval.reports.compare import comparison_of
    from agent_eval.reports.shown import showing_of_comparison

    runs = [_open_run(path) for path in options.runs]
    compared = [(run.path, run.manifest, run.episodes()) for run in runs]
    comparison = comparison_of(compared, reference=options.reference, margin=options.margin)
    _show(showing_of_comparison(comparison), options)
    return 0


def _recommend(options: argparse.Namespace) -> int:
    from agent_eval.reports.recommendation_record import RECOMMENDATION_NAME

    if options.run is None:
        expected = _print_recommendation(None, options.priority, _probe(options.profile), options)
        if options.json:
            expected.write(Path(options.json))
            tell(f"written: {options.json}")
        return 0
    run = _open_run(options.run)
    if set(run.manifest.configuration.builds) <= set(run.manifest.agents):
        raise OperatorError(
            f"the run {options.run!r} has no build of a model; it has {', '.join(run.manifest.agents)}",
            hint="recommend from a run such as `agent-eval run --builds bf16,w4a16,w4a8`",
        )
    record = _print_recommendation(run, options.priority, _probe(options.profile), options)
    file = Path(options.json) if options.json else run.path / RECOMMENDATION_NAME
    record.write(file)
    tell(f"written: {file}")
    return 0


def _sim(options: argparse.Namespace) -> int:
    from agent_eval.conditions import Conditions
    from agent_eval.device_sim.serve import SimOptions, serve
    from agent_eval.types import PhoneSetup

    if options.list:
        _list_conditions()
        return 0
    conditions = Conditions(options.skin, _faults(options.faults))
    seeds = range(options.seed, options.seed + options.phones)
    unknown = serve(
        SimOptions(
            setups=tuple(conditions.added_to(PhoneSetup(seed=seed, keep_alarms=True)) for seed in seeds),
            port=options.port,
            realtime=not options.virtual_time,
            view=options.view is not None,
            view_port=options.view or 0,
            adb_server_port=None if options.no_announce else options.adb_server_port or environment.adb_server_port(),
        ),
        tell,
    )
    for name, count in sorted(unknown.items(), key=lambda item: (-item[1], item[0])):
        tell(f"not on this phone: {name} (asked for {'once' if count == 1 else f'{count} times'})")
    return 0


def _list_conditions() -> None:
    from rich.table import Table

    from agent_eval.conditions import RANDOM_SKIN, SKINS
    from agent_eval.device_sim.faults import FAULTS

    skins = Table("skin", "language", "text", "density", "Wi-Fi", "order of rows", box=None, pad_edge=False)
    for name, skin in SKINS.items():
        order = f"vendor {skin.row_order}" if skin.row_order else "AOSP"
        density = f"{skin.density} dpi"
        skins.add_row(name, skin.locale, f"{skin.font_scale:g}", density, skin.wording or "as drawn", order)
    skins.add_row(RANDOM_SKIN, *["drawn"] * 5)
    faults = Table("fault", "number", "what it does", box=None, pad_edge=False)
    for name, fault in FAULTS.items():
        faults.add_row(name, fault.number, fault.summary)
    console = _console()
    console.print(skins)
    console.print()
    console.print(faults)


def _doctor(options: argparse.Namespace) -> int:
    if options.profile:
        print(json.dumps(asdict(_probe(None)), indent=2))
        return 0
    from agent_eval.doctor import diagnose

    found = diagnose(tell)
    if options.json:
        print(json.dumps(found.as_json(), indent=2))
        return 0 if found.runs else 1
    try:
        from agent_eval.reports.doctor_tables import render_diagnosis
    except ImportError:  # a library that reports are made with is missing: the findings say so
        print("\n".join(found.plain()))
    else:
        _print(render_diagnosis(found))
    return 0 if found.runs else 1


def _tasks(options: argparse.Namespace) -> int:
    from rich.table import Table
    from rich.text import Text

    from agent_eval.tasks import SUITES, TASKS

    del options
    table = Table("task", box=None, pad_edge=False)
    for column in ("tier", "budget", "kind"):
        table.add_column(column, justify="right")
    table.add_column("goal, for example", overflow="fold")
    for name, task in TASKS.items():
        instance = task.draw(0)
        kinds = "".join(letter for trait, letter in _KINDS.items() if trait in task.traits)
        table.add_row(name, str(task.tier), str(instance.budget), kinds, Text(instance.goal))
    suites = Table("suite", "episodes", box=None, pad_edge=False)
    suites.add_column("what it is")
    for name, suite in SUITES.items():
        suites.add_row(name, f"{len(suite.tasks)} x {suite.instances}", suite.summary)
    console = _console()
    console.print(table)
    console.print(", ".join(f"{letter}: {trait.replace('_', ' ')}" for trait, letter in _KINDS.items()))
    console.print()
    console.print(suites)
    return 0


def _check_suite(options: argparse.Namespace) -> int:
    from rich.table import Table

    from agent_eval import wiring
    from agent_eval.gates import GATES, check_suite
    from agent_eval.reports.layout import visible
    from agent_eval.tasks import find_task

    tasks = [find_task(task.name) for task in wiring.find_tasks(names(options.tasks, "--tasks")).tasks]
    began = time.monotonic()
    table = Table("gate", box=None, pad_edge=False)
    for column in ("tried", "failed"):
        table.add_column(column, justify="right")
    table.add_column("what must be so")
    failed: list[str] = []
    for place, (gate, found) in enumerate(check_suite(tasks, range(options.seed, options.seed + options.instances)), 1):
        wrong = len(found.problems)
        verdict = "passed" if wrong == 0 else f"{wrong} of {found.tried} FAILED"
        tell(f"gate {place:2d}/{len(GATES)}  {gate.name:16} {verdict}  ({time.monotonic() - began:.0f} s)")
        note = f" ({found.note})" if found.note else ""
        table.add_row(gate.name, str(found.tried), str(wrong) if wrong else ".", gate.claim + note)
        failed += [f"{gate.name}: {visible(problem)}" for problem in found.problems]
    console = _console()
    console.print(f"{len(tasks)} tasks, {options.instances} instances each, from seed {options.seed}")
    console.print(table)
    for line in failed:
        console.print(line, markup=False, style="red")
    console.print("every gate passed" if not failed else f"{len(failed)} checks failed")
    return 1 if failed else 0


_KINDS = {"already_true": "V", "answer": "A", "infeasible": "I", "guard": "G", "multi_app": "M"}
"""Trait of a task to the letter that stands for it."""


def _replay(options: argparse.Namespace) -> int:
    from agent_eval import wiring
    from agent_eval.conditions import Conditions
    from agent_eval.replay import replay_episode
    from agent_eval.tasks import find_task

    run = _open_run(options.run)
    record = _episode(run, options.episode)
    configuration = run.manifest.configuration
    instance = find_task(record.task).draw(record.seed, configuration.split, configuration.language)
    _require_same_instance(record, instance)
    if configuration.device not in wiring.SIMULATED:
        raise OperatorError(
            f"{record.episode} was played on the phone {configuration.device!r}, whose state nobody can bring back",
            hint="episodes on a simulated phone (--device sim or tcp) can be replayed",
        )
    with wiring.open_device("sim", Conditions(configuration.skin, configuration.faults)) as (device, phone):
        steps = replay_episode(record, instance, device, phone)
    for step in steps:
        print(f"{'same' if step.same else 'DIFFERS'}  {step.number:3d}  {step.reached}  {step.call}")
    if not steps[-1].same:
        print(f"replay differs at step {steps[-1].number}: recorded {steps[-1].expected}, reached {steps[-1].reached}")
        return 1
    print(f"replay of {record.episode} reached all {len(steps)} recorded snapshots")
    return 0


def _explain(options: argparse.Namespace) -> int:
    from agent_eval.reports.explain import explain
    from agent_eval.reports.explained import render_explanation

    _print(render_explanation(explain(_episode(_open_run(options.run), options.episode))))
    return 0


def _gate(options: argparse.Namespace) -> int:
    from agent_eval.reports import report_of
    from agent_eval.reports.advice_tables import render_findings
    from agent_eval.reports.requirements import check, parse_requirement

    requirements = [parse_requirement(text) for text in options.require]
    run = _open_run(options.run)
    report = report_of(run.manifest, run.episodes(), margin=options.margin, run=str(run.path))
    findings = [check(report, requirement) for requirement in requirements]
    if not report.decided and any(build.recorded < report.summary.planned for build in report.summary.builds):
        tell("warning: the run is not complete; what it shows is of the episodes so far")
    _print(render_findings(findings))
    return int(any(finding.standing != "met" for finding in findings))


def _html(options: argparse.Namespace) -> int:
    from agent_eval.records import write_atomically
    from agent_eval.reports import evidence_of
    from agent_eval.reports.html import PAGE_NAME, Advice, html_page
    from agent_eval.spark_backend.weight_path import select

    run = _open_run(options.run)
    records, name = run.episodes(), run.path.resolve().name
    evidence = evidence_of(run.manifest, records, margin=options.margin, run=name)
    # on the machine of the run, not on this one: so the page is the same wherever it is made
    advice = [Advice(each, select(run.manifest.machine, each, evidence)) for each in PRIORITIES if evidence.builds]
    page = html_page(run.manifest, records, run=name, margin=options.margin, advice=advice)
    file = Path(options.out) if options.out else run.path / PAGE_NAME
    try:
        write_atomically(file, page)
    except OSError as error:
        raise OperatorError(
            f"cannot write {str(file)!r}: {error.strerror or error}",
            hint="name a file in a folder that is there with --out",
        ) from error
    tell(f"{file.stat().st_size / 1e6:.1f} MB; open it in any browser, it needs nothing else")
    print(file)
    return 0


def _export(options: argparse.Namespace) -> int:
    from agent_eval.reports.exports import FORMATS

    run, out = _open_run(options.run), Path(options.out)
    files = FORMATS[options.to](run.manifest, run.episodes(), out)
    for file, content in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        except OSError as error:
            raise OperatorError(
                f"cannot write {str(file)!r}: {error}", hint="choose another place with --out"
            ) from error
        print(file)
    return 0


def _build(options: argparse.Namespace) -> int:
    from agent_eval.records import require_empty
    from agent_eval.spark_backend import launcher

    launcher.prepare()
    out = Path(options.out)
    require_empty(out, f"checkpoint folder {str(out)!r}")
    if options.model == SYNTHETIC:
        return _build_synthetic(options, out)
    from agent_eval import wiring
    from agent_eval.spark_backend.convert import conversion_of, convert
    from agent_eval.spark_backend.llama.mixture import is_llama
    from agent_eval.spark_backend.quant.name import parse_build

    if options.to is None:
        hint = f"w4a16, w4a8, w4a8-asym, q4_k_m for llama.cpp, or {OUTLIERS}"
        raise OperatorError("--to is missing; expected a build such as w4a8", hint=hint)
    if options.to == OUTLIERS:
        return _build_outliers(options, out)
    if is_llama(options.to):
        return _build_llama(options, out)
    conversion = conversion_of(
        parse_build(options.to),
        group=options.group,
        method=options.method,
        keep_embedding=options.keep_embedding,
        keep_head=options.keep_head,
    )
    folder = wiring.find_checkpoint(options.model)
    calibration = wiring.calibration_of(folder, options.calibration) if conversion.method == "gptq" else None
    threads = wiring.threads_for(folder)
    _print_conversion(convert(folder, out, conversion, calibration=calibration, threads=threads, tell=tell))
    return 0


def _print_conversion(report: ConversionReport) -> None:
    """Print what a conversion did, file by file."""
    _print_files(report.folder)
    worst, gates = report.worst, sum(tensor.name.endswith("g_proj") for tensor in report.kept)
    kept = [tensor.name for tensor in report.kept if tensor.name in ("model.embedding", "lm_head")]
    print(f"format {report.format}: {report.build}, groups of {report.group}, method {report.method}")
    if report.calibration:
        print(f"calibration {report.calibration}")
    bits = report.bits_per_weight
    print(f"{len(report.quantised)} matrices in {bits:.3f} bits a weight; {report.size_bytes:,} bytes of weights")
    print(f"least signal to noise: {worst.name}, {worst.snr_db:.1f} dB")
    norms = len(report.kept) - gates - len(kept)
    print(f"not quantised: {', '.join([f'{gates} g_proj', f'{norms} norms', *kept])}")
    if report.head_trap:
        print("HEAD TRAP: the head stays in bfloat16; it is read in full for every token")


def _build_llama(options: argparse.Namespace, out: Path) -> int:
    from agent_eval import wiring
    from agent_eval.spark_backend.llama.builds import write_llama_folder

    _refuse_choices(options, f"{options.to} is llama.cpp's mixture of formats")
    folder = wiring.find_checkpoint(options.model)
    write_llama_folder(folder, options.to, out, threads=wiring.threads_for(folder), tell=tell)
    _print_files(out)
    return 0


def _build_outliers(options: argparse.Namespace, out: Path) -> int:
    from agent_eval import wiring
    from agent_eval.spark_backend.checkpoints.outliers import outlier_checkpoint

    _refuse_choices(options, f"{OUTLIERS} quantises nothing")
    outlier_checkpoint(wiring.find_checkpoint(options.model), out, options.seed, tell=tell)
    _print_files(out)
    print(f"CONSTRUCTED: computes what {options.model} does, and is harder to quantise; for tests of quantisation only")
    return 0


def _refuse_choices(options: argparse.Namespace, why: str) -> None:
    """Refuse what chooses how a build is quantised, for folders that leave no choice."""
    given = {
        "--group": options.group,
        "--keep-embedding": options.keep_embedding,
        "--keep-head": options.keep_head,
        "--method": options.method != "search",
    }
    useless = [name for name, value in given.items() if value]
    if useless:
        hint = "name a build such as w4a8 to choose groups and methods"
        raise OperatorError(f"{why}; {useless[0]} does not apply", hint=hint)


def _print_files(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size:>13,}  {file}")


def _build_synthetic(options: argparse.Namespace, out: Path) -> int:
    from agent_eval.spark_backend.checkpoints.shapes import SHAPES, find_shape
    from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint

    if options.like is None:
        raise OperatorError(
            f"--like is missing; expected one of: {', '.join(SHAPES)}", hint="a synthetic checkpoint needs a shape"
        )
    config = find_shape(options.like)
    synthetic_checkpoint(out, config, options.seed, tell=tell)
    print(f"{out}: random weights in the shape {options.like}, {config.parameters / 1e9:.3g} billion; for speed only")
    return 0


def _train(options: argparse.Namespace) -> int:
    from agent_eval.spark_backend import launcher

    launcher.prepare()
    from agent_eval.scoring import INSTANCES, default_out
    from agent_eval.training import TrainingPlan, train_nano

    folder = Path(options.out)
    with TrainingProgress() as progress:
        train_nano(folder, TrainingPlan(seed=options.seed, steps=options.steps or TrainingPlan.steps), progress.show)
    return _score_into(folder, default_out(folder), INSTANCES)


def _score(options: argparse.Namespace) -> int:
    from agent_eval.spark_backend import launcher

    launcher.prepare()
    from agent_eval.scoring import INSTANCES, default_out

    folder = Path(options.folder)
    out = Path(options.out) if options.out else default_out(folder)
    return _score_into(folder, out, options.instances or INSTANCES)


def _score_into(folder: Path, out: Path, instances: int) -> int:
    from agent_eval.reports.model_card import success_table
    from agent_eval.scoring import MODEL_CARD, SCORES, score

    scores = score(folder, out, tell, watch(1), instances=instances)
    print(success_table(scores))
    print(f"\n{folder / SCORES}\n{folder / MODEL_CARD}")
    return 0


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": _run,
    "bench": _bench,
    "build": _build,
    "fidelity": _fidelity,
    "report": _report,
    "compare": _compare,
    "recommend": _recommend,
    "sim": _sim,
    "doctor": _doctor,
    "tasks": _tasks,
    "check-suite": _check_suite,
    "replay": _replay,
    "explain": _explain,
    "gate": _gate,
    "html": _html,
    "export": _export,
    "train": _train,
    "score": _score,
}


# ----------------------------------------------------------------------------------------------------------------------
# what is asked for


def _run_options(options: argparse.Namespace, tasks: Sequence[Task], instances: int) -> RunOptions:
    from agent_eval import wiring
    from agent_eval.conditions import Conditions

    builds = wiring.choose_builds(names(options.builds, "--builds"))
    return wiring.RunOptions(
        builds=builds.names,
        own_checkpoints=builds.own_checkpoints,
        tasks=tuple(task.name for task in tasks),
        instances=instances,
        seed=options.seed,
        model=options.model,
        max_tokens=options.max_tokens,
        thinking=not options.no_thinking,
        stop_on_loop=options.stop_on_loop,
        max_episode_s=options.max_seconds,
        max_episode_tokens=options.max_episode_tokens,
        language=options.language,
        split=options.split,
        device=options.device,
        conditions=Conditions(options.skin, _faults(options.faults)),
        adb_port=environment.adb_server_port(),
        engine=options.engine,
        concurrency=options.concurrency,
        constrained=options.constrain,
        decided_at_margin=options.margin if options.until else None,
        noise_band=options.noise_band,
    )


def _faults(text: str) -> tuple[str, ...]:
    from agent_eval import wiring

    return wiring.check_faults(names(text, "--faults")) if text else ()


# ----------------------------------------------------------------------------------------------------------------------
# output


def _open_run(path: str) -> RunFolder:
    from agent_eval.records import RunFolder

    return RunFolder.open(Path(path))


def _episode(run: RunFolder, name: str) -> EpisodeRecord:
    records = {record.episode: record for record in run.episodes()}
    record = records.get(name)
    if record is None:
        example = f", such as {next(iter(records))}" if records else ""
        raise OperatorError(
            f"unknown episode {name!r}: the run has {len(records)} others",
            hint=f"an episode is BUILD/TASK/SEED{example}",
        )
    return record


def _require_same_instance(record: EpisodeRecord, instance: Instance) -> None:
    if record.task_version != instance.version:
        raise OperatorError(
            f"{record.episode} was recorded with version {record.task_version} of the task; this is version "
            f"{instance.version}",
            hint="replay with the version of agent-eval that the run's manifest names",
        )
    if (record.goal, record.parameters) != (instance.goal, dict(instance.parameters)):
        raise OperatorError(
            f"{record.episode} was recorded with the goal {record.goal!r}; this version draws {instance.goal!r}",
            hint="replay with the version of agent-eval that the run's manifest names",
        )


def _print_report(run: RunFolder) -> None:
    from agent_eval.reports.tables import render_report

    _print(render_report(run.manifest, run.episodes(), run=str(run.path)))


def _probe(profile: str | None) -> MachineProbe:
    """Return the machine that a file describes; this one without a file."""
    from agent_eval.spark_backend.probe import probe_machine, read_profile

    return read_profile(Path(profile)) if profile else probe_machine()


def _print_recommendation(
    run: RunFolder | None, priority: Priority, probe: MachineProbe, options: argparse.Namespace
) -> RecommendationRecord:
    """Print what is advised from a run, or what is expected without one.

    Args:
        run: None for no evidence.
        priority: What matters most.
        probe: The machine that it is for.
        options: ``margin``, and perhaps ``harm_cap``.
    """
    from agent_eval.reports import evidence_of
    from agent_eval.reports.advice_tables import render_recommendation
    from agent_eval.reports.recommendation_record import RecommendationRecord
    from agent_eval.spark_backend.weight_path import select

    evidence = None
    if run is not None:
        evidence = evidence_of(run.manifest, run.episodes(), margin=options.margin, run=str(run.path))
    harm_cap = getattr(options, "harm_cap", None)
    recommendation = select(probe, priority, evidence, harm_cap=harm_cap)
    _print(render_recommendation(probe, priority, recommendation, evidence))
    return RecommendationRecord(
        agent_eval=__version__,
        machine=probe,
        device_class=probe.device_class,
        priority=priority,
        margin=evidence.pairs[0].margin if evidence and evidence.pairs else None,
        harm_cap=harm_cap,
        recommendation=recommendation,
        evidence=evidence,
    )


def _show(showing: Showing, options: argparse.Namespace) -> None:
    """Print a report in the format that was asked for, or write it to a file."""
    from agent_eval.reports.formats import FORMATS

    if options.format == "parquet" and not options.out:
        raise OperatorError(
            "the format parquet is not for printing; --out is missing",
            hint="name a file with --out, such as `--out report.parquet`",
        )
    if options.format != "text":
        content = FORMATS[options.format](showing)
        if not options.out:
            print(content.decode(), end="")
            return
    else:
        from agent_eval.reports.tables import render_sections, text_of

        if not options.out:
            _print(render_sections(showing.sections))
            return
        content = text_of(showing.sections).encode()
    try:
        Path(options.out).write_bytes(content)
    except OSError as error:
        raise OperatorError(
            f"cannot write {options.out!r}: {error.strerror or error}",
            hint="name a file in a folder that is there with --out",
        ) from None
    tell(f"written: {options.out}")


def _print(renderable: RenderableType) -> None:
    _console().print(renderable)


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)
