"""The command line: one function per command, each importing what it needs. Data goes to stdout, progress to stderr.

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

_LANGUAGES = ("en", "de", "zh")
_SPLITS = ("evaluation", "validation", "training")
_EXPORTS = ("inspect", "junit")
_FORMATS = ("text", "markdown", "json", "csv", "parquet")
_PRIORITIES: tuple[Priority, ...] = ("speed", "fidelity", "agentic")
_MORE_UNTIL_DECIDED = 4
_SYNTHETIC = "synth"
_OUTLIERS = "outliers"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = command_line().parse_args(arguments)
    try:
        code: int = options.command(options)
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

    tasks, instances = wiring.find_tasks(_names(options.tasks, "--tasks"))
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
            builds=_names(options.builds, "--builds"),
            model=options.model,
            prompt=options.prompt,
            tokens=options.tokens,
            passes=options.passes,
            threads=options.threads,
            engines=_names(options.engine, "--engine"),
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
            builds=_names(options.builds, "--builds") if options.builds is not None else (),
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

    tasks = [find_task(task.name) for task in wiring.find_tasks(_names(options.tasks, "--tasks")).tasks]
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
    advice = [Advice(each, select(run.manifest.machine, each, evidence)) for each in _PRIORITIES if evidence.builds]
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
    if options.model == _SYNTHETIC:
        return _build_synthetic(options, out)
    from agent_eval import wiring
    from agent_eval.spark_backend.convert import conversion_of, convert
    from agent_eval.spark_backend.llama.mixture import is_llama
    from agent_eval.spark_backend.quant.name import parse_build

    if options.to is None:
        hint = f"w4a16, w4a8, w4a8-asym, q4_k_m for llama.cpp, or {_OUTLIERS}"
        raise OperatorError("--to is missing; expected a build such as w4a8", hint=hint)
    if options.to == _OUTLIERS:
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

    _refuse_choices(options, f"{_OUTLIERS} quantises nothing")
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


# ----------------------------------------------------------------------------------------------------------------------
# options


def command_line() -> argparse.ArgumentParser:
    """Return the grammar of the command line."""
    parser = argparse.ArgumentParser(
        prog="agent-eval", description="Which build of a language model may I ship on this device, and how do I know?"
    )
    parser.add_argument("--version", action="version", version=f"agent-eval {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = _command(commands, "run", _run, "let builds attempt tasks; repeat the command to resume")
    builds = (
        "comma-separated builds of the model, BUILD=CHECKPOINT for one that is taken from its own, or reference "
        "agents: oracle, null, random, scripted:FILE; the reference is bf16, or the first without it "
        "(default: %(default)s)"
    )
    run.add_argument("--builds", default="bf16,w4a16,w4a8", help=builds)
    run.add_argument("--tasks", default="default", help="comma-separated tasks, or a suite (default: %(default)s)")
    instances = "instances per task (default: the suite's, otherwise 2; with --until decided four times that, at most)"
    run.add_argument("--instances", type=_positive, help=instances)
    ends = "end as soon as every build is shown to be worse than the reference, or no worse (default: play all)"
    run.add_argument("--until", choices=("decided",), help=ends)
    margin = "of non-inferiority, a share, for --until decided (default: %(default)s)"
    run.add_argument("--margin", type=_margin, default=0.1, help=margin)
    twice = "play the reference twice in every block, to measure what differs by chance"
    run.add_argument("--noise-band", action="store_true", help=twice)
    languages = "language of the goals: en, or de or zh where a task is worded in it (default: %(default)s)"
    run.add_argument("--language", choices=_LANGUAGES, default="en", help=languages)
    split = (
        "where sentences and parameters come from: evaluation; training, what nano was taught (in distribution); "
        "validation, what its training was watched by (default: %(default)s)"
    )
    run.add_argument("--split", choices=_SPLITS, default="evaluation", help=split)
    model = (
        "nano, nano-outliers (CONSTRUCTED to be hard to quantise), a checkpoint folder, or a hub id "
        "OWNER/NAME[@REVISION] (default: %(default)s)"
    )
    run.add_argument("--model", default="nano", help=model)
    run.add_argument("--out", help="run folder (default: runs/MODEL-DIGEST, the same for the same configuration)")
    run.add_argument("--seed", type=_natural, default=0, help="first instance seed (default: %(default)s)")
    run.add_argument("--device", default="sim", help="sim, tcp (the same over adb), or a serial (default: sim)")
    run.add_argument("--skin", default="default", help="look of the simulated phones; `agent-eval sim --list` has them")
    run.add_argument("--faults", default="", help="comma-separated faults of the simulated phones (default: none)")
    run.add_argument("--max-tokens", type=_positive, default=256, help="most tokens of one reply (default: 256)")
    run.add_argument("--max-seconds", type=_seconds, help="wall-clock limit of an episode; makes runs irreproducible")
    tokens = "most tokens of all replies of an episode (default: no limit)"
    run.add_argument("--max-episode-tokens", type=_positive, metavar="N", help=tokens)
    run.add_argument("--stop-on-loop", action="store_true", help="end an episode when it loops, not only flag it")
    engine = "what computes the builds, torch or vllm; llama.cpp's are its own in any case (default: %(default)s)"
    run.add_argument("--engine", default="torch", help=engine)
    flight = "episodes of a build in flight together, with vllm; speed is then that of a batch (default: 1)"
    run.add_argument("--concurrency", type=_positive, default=1, metavar="N", help=flight)
    held = "let replies be nothing but calls of the tools, with vllm (default: an invalid call is an outcome)"
    run.add_argument("--constrain", action="store_true", help=held)
    run.add_argument("--no-thinking", action="store_true", help="open replies after the thinking part")

    bench = _command(commands, "bench", _bench, "measure builds against each other: speed, memory, start")
    timed = "comma-separated builds, as for run; the others are compared with the first (default: %(default)s)"
    bench.add_argument("--builds", default="bf16,w4a16,w4a8", help=timed)
    bench.add_argument("--model", default="nano", help="as for run (default: %(default)s)")
    engines = "comma-separated engines, torch and vllm: every build in each of them (default: %(default)s)"
    bench.add_argument("--engine", default="torch", help=engines)
    bench.add_argument("--prompt", type=_positive, default=512, help="tokens of the prompt (default: %(default)s)")
    bench.add_argument("--tokens", type=_positive, default=128, help="tokens to decode (default: %(default)s)")
    bench.add_argument("--passes", type=_positive, default=5, help="passes that count (default: %(default)s)")
    bench.add_argument("--threads", type=_positive, help="threads that compute (default: as for run)")
    bench.add_argument("--json", metavar="FILE", help="write every sample to a file")

    build = _command(commands, "build", _build, "write a quantised checkpoint folder, or one with random weights")
    source = f"as for run, or {_SYNTHETIC}: random weights in the shape that --like names"
    build.add_argument("model", metavar="MODEL", help=source)
    build.add_argument("--out", metavar="FOLDER", required=True, help="checkpoint folder to write")
    target = (
        "w4a16, w4a8, w4a8-asym, or q4_k_m (GGUF); decides the format. Or outliers: the same function, harder to "
        "quantise, for tests"
    )
    build.add_argument("--to", metavar="BUILD", help=target)
    group = "weights to a scale (default: the largest that divides every width)"
    build.add_argument("--group", type=int, choices=(32, 64, 128), help=group)
    method = "how codes are chosen; gptq needs --calibration (default: %(default)s)"
    build.add_argument("--method", choices=("rtn", "search", "gptq"), default="search", help=method)
    texts = "what gptq reads: a file of text or JSON lines, or trajectories: the oracle's on this project's phone"
    build.add_argument("--calibration", metavar="FILE|trajectories", help=texts)
    build.add_argument("--keep-embedding", action="store_true", help="leave the embedding table in bfloat16")
    build.add_argument("--keep-head", action="store_true", help="leave the head in bfloat16, to see what it costs")
    shape = f"for {_SYNTHETIC}: 1.7b, 4b, mid or nano"
    build.add_argument("--like", metavar="SHAPE", help=shape)
    seed = f"for {_SYNTHETIC}: draws the weights; for {_OUTLIERS}: the powers of two (default: 0)"
    build.add_argument("--seed", type=_natural, default=0, help=seed)

    fidelity = _command(commands, "fidelity", _fidelity, "measure how far builds are from their reference, by token")
    fidelity.add_argument("run", metavar="RUN", help="run folder, whose reference is followed")
    beside = "comma-separated builds, as for run (default: all models of RUN but the reference)"
    fidelity.add_argument("--builds", help=beside)
    fidelity.add_argument("--model", help="as for run (default: the one that RUN was played with)")
    read = "UTF-8 text whose perplexity is measured (default: the goals of the tasks)"
    fidelity.add_argument("--text", metavar="FILE", help=read)
    continued = "prompts to continue greedily, one a line or a JSON list (default: twelve that come with the program)"
    fidelity.add_argument("--prompts", metavar="FILE", help=continued)
    few = "most episodes to follow, spread over RUN; 0: none (default: all)"
    fidelity.add_argument("--episodes", type=_natural, metavar="N", help=few)
    fidelity.add_argument("--tokens", type=_positive, default=64, help="of a continuation (default: %(default)s)")
    itself = "let each build reply for itself at every step too"
    fidelity.add_argument("--act", action="store_true", help=itself)
    fidelity.add_argument("--json", metavar="FILE", help="write every number to a file")

    report = _command(commands, "report", _report, "print what a run shows")
    report.add_argument("run", metavar="RUN", help="run folder")
    _add_showing(report)

    compared = _command(commands, "compare", _compare, "compare builds with each other, of one run or of several")
    compared.add_argument("runs", metavar="RUN", nargs="+", help="run folder")
    against = "build that the others are compared with (default: bf16 of the first RUN, or its first build)"
    compared.add_argument("--reference", metavar="BUILD[@RUN]", default="", help=against)
    _add_showing(compared)

    recommend = _command(commands, "recommend", _recommend, "advise a build for this machine, or say what is missing")
    what = "run folder; without one, what the decision table leads one to expect, unverified"
    recommend.add_argument("run", metavar="RUN", nargs="?", help=what)
    priority = "what matters most (default: %(default)s)"
    recommend.add_argument("--priority", choices=_PRIORITIES, default="agentic", help=priority)
    profile = "JSON file that describes the machine that the build is for; this machine if not given"
    recommend.add_argument("--profile", metavar="FILE", help=profile)
    _take_margin(recommend)
    cap = "most harm that a build may do, a share of episodes (default: the reference's upper bound plus the margin)"
    recommend.add_argument("--harm-cap", type=_margin, metavar="SHARE", help=cap)
    recommend.add_argument("--json", metavar="FILE", help="file to write (default: recommendation.json in RUN)")

    sim = _command(commands, "sim", _sim, "start simulated phones that adb, adbutils and uiautomator2 drive")
    sim.add_argument("--port", type=_port, default=5555, help="port of the first phone; 0: any (default: %(default)s)")
    sim.add_argument("--phones", type=_positive, default=1, help="how many, two ports apart (default: %(default)s)")
    sim.add_argument("--seed", type=_natural, default=0, help="seed of the first phone (default: %(default)s)")
    sim.add_argument("--skin", default="default", help="look of the phones; --list has them (default: %(default)s)")
    sim.add_argument("--faults", default="", help="comma-separated faults; --list has them (default: none)")
    view = "serve a page that looks inside, on this port or on any"
    sim.add_argument("--view", type=_port, nargs="?", const=0, metavar="PORT", help=view)
    sim.add_argument("--virtual-time", action="store_true", help="let time pass only when somebody waits for it")
    server = "port of the adb server to tell (default: ANDROID_ADB_SERVER_PORT, or 5037)"
    sim.add_argument("--adb-server-port", type=_port, metavar="PORT", help=server)
    sim.add_argument("--no-announce", action="store_true", help="tell no adb server")
    sim.add_argument("--list", action="store_true", help="list skins and faults, and start nothing")

    doctor = _command(commands, "doctor", _doctor, "say what this machine can run, and why not what it cannot")
    doctor.add_argument("--json", action="store_true", help="print everything as JSON")
    saved = "print only what this machine is, as JSON to save for `recommend --profile`"
    doctor.add_argument("--profile", action="store_true", help=saved)

    _command(commands, "tasks", _tasks, "list the tasks and suites")

    check = _command(commands, "check-suite", _check_suite, "show that the tasks and their judge can be trusted")
    check.add_argument("--tasks", default="default", help="comma-separated tasks, or a suite (default: %(default)s)")
    check.add_argument("--instances", type=_positive, default=2, help="instances per task (default: %(default)s)")
    check.add_argument("--seed", type=_natural, default=0, help="first instance seed (default: %(default)s)")

    replay = _command(commands, "replay", _replay, "play a recorded episode again and compare the phone's states")
    replay.add_argument("run", metavar="RUN", help="run folder")
    replay.add_argument("episode", metavar="EPISODE", help="BUILD/TASK/SEED, such as w4a8/WifiSet/0")

    explained = _command(commands, "explain", _explain, "tell in sentences why an episode got its label")
    explained.add_argument("run", metavar="RUN", help="run folder")
    explained.add_argument("episode", metavar="EPISODE", help="BUILD/TASK/SEED, such as w4a8/WifiSet/0")

    gate = _command(commands, "gate", _gate, "exit with 1 unless a run shows what is required of it")
    gate.add_argument("run", metavar="RUN", help="run folder")
    required = "such as 'non_inferior(w4a16)' or 'success(w4a8) >= 0.6'; may be given several times"
    gate.add_argument("--require", metavar="WHAT", action="append", required=True, help=required)
    _take_margin(gate)

    page = _command(commands, "html", _html, "write a run as one HTML file to look at, offline")
    page.add_argument("run", metavar="RUN", help="run folder")
    page.add_argument("--out", metavar="FILE", help="file to write (default: report.html in RUN)")
    _take_margin(page)

    exported = _command(commands, "export", _export, "write a run in the format of another program")
    exported.add_argument("run", metavar="RUN", help="run folder")
    exported.add_argument("--to", choices=_EXPORTS, required=True, help="logs for `inspect view`, or JUnit XML for CI")
    exported.add_argument("--out", metavar="PATH", required=True, help="folder of logs (inspect), or file (junit)")

    train = _command(commands, "train", _train, "train the embedded model on this project's phone, then score it")
    train.add_argument("--out", metavar="FOLDER", required=True, help="checkpoint folder to write")
    train.add_argument("--seed", type=_natural, default=0, help="seed of weights and data (default: %(default)s)")
    train.add_argument("--steps", type=_positive, help="optimisation steps (default: those of nano's own training)")

    scored = _command(commands, "score", _score, "score a trained model under each condition, and write its model card")
    scored.add_argument("folder", metavar="FOLDER", help="checkpoint folder that train wrote")
    scored.add_argument("--out", metavar="FOLDER", help="holds the runs (default: FOLDER-scores, beside it)")
    several = "instances of each taught task; other conditions in proportion (default: 4, some 2000 episodes)"
    scored.add_argument("--instances", type=_positive, metavar="N", help=several)
    return parser


def _add_showing(command: argparse.ArgumentParser) -> None:
    form = "text for a terminal, or a format that other programs read (default: %(default)s)"
    command.add_argument("--format", choices=_FORMATS, default="text", help=form)
    command.add_argument("--out", metavar="FILE", help="file to write, instead of printing; parquet needs it")
    _take_margin(command)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    function: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    command.set_defaults(command=function)
    return command


def _take_margin(command: argparse.ArgumentParser) -> None:
    margin = "of non-inferiority, as a share (default: the one that the run was to end by, otherwise 0.1)"
    command.add_argument("--margin", type=_margin, help=margin)


def _run_options(options: argparse.Namespace, tasks: Sequence[Task], instances: int) -> RunOptions:
    from agent_eval import wiring
    from agent_eval.conditions import Conditions

    builds = wiring.choose_builds(_names(options.builds, "--builds"))
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

    return wiring.check_faults(_names(text, "--faults")) if text else ()


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise OperatorError(f"{option} is empty: {text!r}", hint="pass comma-separated names")
    return names


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _natural(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def _margin(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1, such as 0.1")
    return value


def _port(text: str) -> int:
    value = _natural(text)
    if value > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: they end at 65535")
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


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
