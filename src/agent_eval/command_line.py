"""The grammar of the command line: every command, its options and what may be said for them; nothing is done here.

What options may be is written out where asking for it would load much: ``--help`` loads nothing but this.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from agent_eval import __version__
from agent_eval.errors import OperatorError

if TYPE_CHECKING:
    from agent_eval.types import Priority

LANGUAGES = ("en", "de", "zh")
SPLITS = ("evaluation", "validation", "training")
EXPORTS = ("inspect", "junit")
FORMATS = ("text", "markdown", "json", "csv", "parquet")
PRIORITIES: tuple[Priority, ...] = ("speed", "fidelity", "agentic")
SYNTHETIC = "synth"
"""The model of ``build`` that is drawn at random."""
OUTLIERS = "outliers"
"""What ``build --to`` takes for a checkpoint that is harder to quantise."""


def command_line() -> argparse.ArgumentParser:
    """Return the grammar of the command line."""
    parser = argparse.ArgumentParser(
        prog="agent-eval", description="Which build of a language model may I ship on this device, and how do I know?"
    )
    parser.add_argument("--version", action="version", version=f"agent-eval {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")

    run = _command(commands, "run", "let builds attempt tasks; repeat the command to resume")
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
    run.add_argument("--language", choices=LANGUAGES, default="en", help=languages)
    split = (
        "where sentences and parameters come from: evaluation; training, what nano was taught (in distribution); "
        "validation, what its training was watched by (default: %(default)s)"
    )
    run.add_argument("--split", choices=SPLITS, default="evaluation", help=split)
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

    bench = _command(commands, "bench", "measure builds against each other: speed, memory, start")
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

    build = _command(commands, "build", "write a quantised checkpoint folder, or one with random weights")
    source = f"as for run, or {SYNTHETIC}: random weights in the shape that --like names"
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
    shape = f"for {SYNTHETIC}: 1.7b, 4b, mid or nano"
    build.add_argument("--like", metavar="SHAPE", help=shape)
    seed = f"for {SYNTHETIC}: draws the weights; for {OUTLIERS}: the powers of two (default: 0)"
    build.add_argument("--seed", type=_natural, default=0, help=seed)

    fidelity = _command(commands, "fidelity", "measure how far builds are from their reference, by token")
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

    report = _command(commands, "report", "print what a run shows")
    report.add_argument("run", metavar="RUN", help="run folder")
    _add_showing(report)

    compared = _command(commands, "compare", "compare builds with each other, of one run or of several")
    compared.add_argument("runs", metavar="RUN", nargs="+", help="run folder")
    against = "build that the others are compared with (default: bf16 of the first RUN, or its first build)"
    compared.add_argument("--reference", metavar="BUILD[@RUN]", default="", help=against)
    _add_showing(compared)

    recommend = _command(commands, "recommend", "advise a build for this machine, or say what is missing")
    what = "run folder; without one, what the decision table leads one to expect, unverified"
    recommend.add_argument("run", metavar="RUN", nargs="?", help=what)
    priority = "what matters most (default: %(default)s)"
    recommend.add_argument("--priority", choices=PRIORITIES, default="agentic", help=priority)
    profile = "JSON file that describes the machine that the build is for; this machine if not given"
    recommend.add_argument("--profile", metavar="FILE", help=profile)
    _take_margin(recommend)
    cap = "most harm that a build may do, a share of episodes (default: the reference's upper bound plus the margin)"
    recommend.add_argument("--harm-cap", type=_margin, metavar="SHARE", help=cap)
    recommend.add_argument("--json", metavar="FILE", help="file to write (default: recommendation.json in RUN)")

    sim = _command(commands, "sim", "start simulated phones that adb, adbutils and uiautomator2 drive")
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

    doctor = _command(commands, "doctor", "say what this machine can run, and why not what it cannot")
    doctor.add_argument("--json", action="store_true", help="print everything as JSON")
    saved = "print only what this machine is, as JSON to save for `recommend --profile`"
    doctor.add_argument("--profile", action="store_true", help=saved)

    _command(commands, "tasks", "list the tasks and suites")

    check = _command(commands, "check-suite", "show that the tasks and their judge can be trusted")
    check.add_argument("--tasks", default="default", help="comma-separated tasks, or a suite (default: %(default)s)")
    check.add_argument("--instances", type=_positive, default=2, help="instances per task (default: %(default)s)")
    check.add_argument("--seed", type=_natural, default=0, help="first instance seed (default: %(default)s)")

    replay = _command(commands, "replay", "play a recorded episode again and compare the phone's states")
    replay.add_argument("run", metavar="RUN", help="run folder")
    replay.add_argument("episode", metavar="EPISODE", help="BUILD/TASK/SEED, such as w4a8/WifiSet/0")

    explained = _command(commands, "explain", "tell in sentences why an episode got its label")
    explained.add_argument("run", metavar="RUN", help="run folder")
    explained.add_argument("episode", metavar="EPISODE", help="BUILD/TASK/SEED, such as w4a8/WifiSet/0")

    gate = _command(commands, "gate", "exit with 1 unless a run shows what is required of it")
    gate.add_argument("run", metavar="RUN", help="run folder")
    required = "such as 'non_inferior(w4a16)' or 'success(w4a8) >= 0.6'; may be given several times"
    gate.add_argument("--require", metavar="WHAT", action="append", required=True, help=required)
    _take_margin(gate)

    page = _command(commands, "html", "write a run as one HTML file to look at, offline")
    page.add_argument("run", metavar="RUN", help="run folder")
    page.add_argument("--out", metavar="FILE", help="file to write (default: report.html in RUN)")
    _take_margin(page)

    exported = _command(commands, "export", "write a run in the format of another program")
    exported.add_argument("run", metavar="RUN", help="run folder")
    exported.add_argument("--to", choices=EXPORTS, required=True, help="logs for `inspect view`, or JUnit XML for CI")
    exported.add_argument("--out", metavar="PATH", required=True, help="folder of logs (inspect), or file (junit)")

    train = _command(commands, "train", "train the embedded model on this project's phone, then score it")
    train.add_argument("--out", metavar="FOLDER", required=True, help="checkpoint folder to write")
    train.add_argument("--seed", type=_natural, default=0, help="seed of weights and data (default: %(default)s)")
    train.add_argument("--steps", type=_positive, help="optimisation steps (default: those of nano's own training)")

    scored = _command(commands, "score", "score a trained model under each condition, and write its model card")
    scored.add_argument("folder", metavar="FOLDER", help="checkpoint folder that train wrote")
    scored.add_argument("--out", metavar="FOLDER", help="holds the runs (default: FOLDER-scores, beside it)")
    several = "instances of each taught task; other conditions in proportion (default: 4, some 2000 episodes)"
    scored.add_argument("--instances", type=_positive, metavar="N", help=several)
    return parser


def _add_showing(command: argparse.ArgumentParser) -> None:
    form = "text for a terminal, or a format that other programs read (default: %(default)s)"
    command.add_argument("--format", choices=FORMATS, default="text", help=form)
    command.add_argument("--out", metavar="FILE", help="file to write, instead of printing; parquet needs it")
    _take_margin(command)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")


def _take_margin(command: argparse.ArgumentParser) -> None:
    margin = "of non-inferiority, as a share (default: the one that the run was to end by, otherwise 0.1)"
    command.add_argument("--margin", type=_margin, help=margin)


def names(text: str, option: str) -> tuple[str, ...]:
    """Return what commas separate in the value of an option.

    Raises:
        OperatorError: There is nothing.
    """
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise OperatorError(f"{option} is empty: {text!r}", hint="pass comma-separated names")
    return found


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
