"""The golden run: scripted builds whose differences are known beforehand, played for real on this project's own phone.

``PLAN`` says what each build does with each instance, in a letter. The matrix, the phone, the tasks and the judge are
the project's own; only the minds are scripted. So every figure of a report can be worked out by hand from the plan, and
``test_golden_run`` does. To look at the run: ``python -m tests.reports.golden_run FOLDER`` from the root.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agent_eval import wiring
from agent_eval.actions import ToolCall, arguments_of
from agent_eval.agent import NullAgent, misbehaving
from agent_eval.contracts import Decision, Device, Instance, PhoneControl, Policy, Sink
from agent_eval.episode import NO_LIMITS
from agent_eval.matrix import draw_instances, run_matrix, work_units
from agent_eval.records import EpisodeRecord, RunConfiguration, RunFolder, RunManifest
from agent_eval.tasks import find_task, suite_digest
from agent_eval.types import ActionResult, Generation, Observation, Timing
from tests.fakes import BreakingDevice, call
from tests.reports.builders import MACHINE

SEED, INSTANCES = 0, 2

LETTERS: Mapping[str, str] = {
    "S": "does what was asked, and declares",
    "U": "does it, undoes it, does it again, and declares",
    "R": "does it, undoes it, and declares",
    "O": "does it, then something that nobody asked for, and declares",
    "D": "does it, then waits for ever",
    "P": "declares at once",
    "A": "looks it up, and declares another answer",
    "G": "gives up at once",
    "I": "writes no calls",
    "W": "opens another app and stays there",
    "L": "waits for ever",
    "E": "plays on a device that breaks, whenever it is tried",
    "F": "plays on a device that breaks the first time, and then does what was asked",
}
"""What a build does with an instance."""

PLAN = """
task                 reference  better  equal  worse  reversing  undecided
WifiSet                     LL      SS     LL     LL         RR         LL
BluetoothSet                LL      SS     SL     WL         RR         LI
AirplaneSet                 DD      SS     DS     DD         RR         DD
DoNotDisturbSet             LL      SS     LL     LL         RR         SL
DarkThemeSet                WW      SW     WW     PP         RR         WW
TorchSet                    DD      SD     DD     DR         RR         DD
StopwatchRun                GG      SG     GG     GG         RR         GG
WifiSetAlready              DD      SD     DD     DR         RU         DD
BluetoothSetAlready         DD      SD     DD     SR         RR         DD
AlarmAlready                SS      SS     SS     SS         SS         SS
NfcOn                       SS      SS     SS     LS         SS         SS
AlarmToggle                 SS      SS     SS     SS         SS         FS
PlaySong                    SS      SS     SS     SS         SS         SS
TakePhoto                   SS      OS     SS     SS         SS         SS
DeviceInfo                  SS      SS     SS     AA         SS         SA
ContactNumber               SS      SS     AS     AP         SS         PS
AlarmVibrates               SS      SS     SS     SS         SS         ES
NextEvent                   SS      SS     SS     SS         SS         SS
OpenApp                     SS      SS     SS     WW         SS         SS
BrightnessSet               SS      SS     SS     SS         LS         SS
DismissNotification         SS      SS     SS     SS         SS         SS
ContactAdd                  SS      SS     SS     II         SS         DS
SmsReplyLatest              SS      SS     SS     PP         SS         SS
NoteDeleteNewest            SS      SS     SS     OO         SS         SP
AlarmDelete                 SS      SS     SS     PG         SS         SS
ContactDelete               SS      SS     SS     SS         SS         SS
TimerCreate                 SS      SS     SS     LL         SS         SL
ScreenTimeoutSet            SS      SS     PS     DD         SS         SS
NotePrependHeader           SS      SS     SS     IS         SS         SS
EventDelete                 SS      SS     SS     SS         SS         SS
"""
"""A row for each task, a column for each build, in it a letter for each of the two instances."""

RATES: Mapping[str, float] = {
    "reference": 40.0,
    "better": 60.0,
    "equal": 80.0,
    "worse": 120.0,
    "reversing": 160.0,
    "undecided": 100.0,
}
"""Tokens per second that each build is said to decode; prompts are read ten times as fast."""

MACHINE_SWAY = (1.0, 0.9, 1.1)
"""Factors of speed by block that meet all builds alike, as a busy machine does."""
OWN_SWAY = (0.98, 1.0, 1.01, 1.03, 0.99, 1.02, 0.97)
"""Factors of speed by block that meet one build."""
TOKENS, PROMPT_TOKENS = 12, 240

UNDO: Mapping[str, str] = {
    "WifiSet": "Wi-Fi",
    "BluetoothSet": "Use Bluetooth",
    "AirplaneSet": "Airplane mode",
    "DoNotDisturbSet": "Use Do Not Disturb",
    "DarkThemeSet": "Dark theme",
    "TorchSet": "Flashlight",
    "StopwatchRun": "Pause",
    "WifiSetAlready": "Wi-Fi",
    "BluetoothSetAlready": "Use Bluetooth",
}
"""What undoes a task once it is done."""

CAMERA_TASKS = ("TakePhoto",)


class Plan(NamedTuple):
    """The table of letters, read."""

    builds: tuple[str, ...]
    tasks: tuple[str, ...]
    letters: Mapping[tuple[str, str, int], str]
    """Build, task and instance seed to a letter."""


def read_plan(text: str = PLAN) -> Plan:
    """Read the table."""
    head, *rows = (line.split() for line in text.strip().splitlines())
    builds = tuple(head[1:])
    letters = {
        (build, row[0], SEED + place): letter
        for row in rows
        for build, both in zip(builds, row[1:], strict=True)
        for place, letter in enumerate(both)
    }
    return Plan(builds, tuple(row[0] for row in rows), letters)


# ----------------------------------------------------------------------------------------------------------------------
# minds


def mind(letter: str, instance: Instance, phone: PhoneControl) -> Policy:
    """Return who plays an instance as a letter says."""
    expert = instance.oracle(phone)
    label = UNDO.get(instance.task, "")
    minds: Mapping[str, Callable[[], Policy]] = {
        "S": lambda: expert,
        "U": lambda: misbehaving.goes_on(expert, label, "Start" if label == "Pause" else label),
        "R": lambda: misbehaving.goes_on(expert, label),
        "O": lambda: (
            misbehaving.starts_the_stopwatch_on_top(expert)
            if instance.task in CAMERA_TASKS
            else misbehaving.takes_a_photo_on_top(expert)
        ),
        "D": lambda: misbehaving.never_declares(expert),
        "P": NullAgent,
        "A": lambda: misbehaving.answers(expert, "I cannot tell"),
        "G": misbehaving.gives_up,
        "I": misbehaving.babbles,
        "W": lambda: misbehaving.loops_on("Calculator", "there is no such element"),
        "L": misbehaving.only_waits,
        "E": lambda: expert,
        "F": lambda: expert,
    }
    return minds[letter]()


class Timed:
    """Follows another policy, and says what each reply took a model of a known speed."""

    def __init__(self, policy: Policy, rate: float) -> None:
        self._policy = policy
        self._timing = Timing(
            prompt_tokens=PROMPT_TOKENS,
            prefill_tokens=PROMPT_TOKENS,
            prefill_s=PROMPT_TOKENS / (10 * rate),
            decode_tokens=TOKENS,
            decode_s=TOKENS / rate,
            first_token_s=PROMPT_TOKENS / (10 * rate),
        )

    def begin(self, goal: str) -> None:
        """Start an episode."""
        self._policy.begin(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        """Decide as the other does."""
        reply = self._policy.decide(observation, result).reply
        if isinstance(reply, ToolCall):
            text = call(reply.action.name, **arguments_of(reply.action))
        else:
            text = "I would rather not."
        prompt = "\n".join(f"[{each.index}] {each.role} {each.label}" for each in observation.elements)
        return Decision(reply, prompt, Generation(text, "stop", TOKENS, self._timing))


def rate_of(build: str, block: int) -> float:
    """Return how many tokens per second a build decodes in a block."""
    place = list(RATES).index(build)
    return RATES[build] * MACHINE_SWAY[block % len(MACHINE_SWAY)] * OWN_SWAY[(block + place) % len(OWN_SWAY)]


# ----------------------------------------------------------------------------------------------------------------------
# the run


@dataclass
class ScriptedStation:
    """Where the episodes of one scripted build are played, on a device that breaks where the plan says so."""

    build: str
    letters: Mapping[tuple[str, str, int], str]
    blocks: Mapping[str, int]
    """Instance to its block."""
    hands: Device
    phone: PhoneControl
    tries: dict[str, int] = field(default_factory=dict)
    letter: str = ""
    instance: str = ""

    def policy(self, instance: Instance) -> Policy:
        """Return who plays an instance; called at each try."""
        self.instance, self.letter = instance.id, self.letters[self.build, instance.task, instance.seed]
        self.tries[instance.id] = self.tries.get(instance.id, 0) + 1
        return Timed(mind(self.letter, instance, self.phone), rate_of(self.build, self.blocks[instance.id]))

    @property
    def device(self) -> Device:
        """The hands for the episode whose policy was asked for last."""
        breaks = self.letter == "E" or (self.letter == "F" and self.tries[self.instance] == 1)
        return BreakingDevice(self.hands, lambda count: count == 1) if breaks else self.hands


class _Stopped:
    """A sink that writes what the timings add up to in place of what was measured, so that equal runs are equal."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def append(self, record: EpisodeRecord) -> None:
        timings = [step.timing for step in record.steps if step.timing is not None]
        seconds = sum(timing.prefill_s + timing.decode_s for timing in timings)
        self._sink.append(record.model_copy(update={"wall_s": seconds, "anonymous_bytes": None}))


def manifest_of(plan: Plan, instances: Sequence[Instance]) -> RunManifest:
    """Return the manifest of the run."""
    return RunManifest(
        configuration=RunConfiguration(
            builds=plan.builds,
            tasks=plan.tasks,
            task_versions=tuple(find_task(name).version for name in plan.tasks),
            instances=INSTANCES,
            seed=SEED,
            model="scripted",
            model_digest="0" * 64,
            device="sim",
            max_tokens=64,
            thinking=False,
            stop_on_loop=False,
            max_episode_s=None,
            suite_digest=suite_digest(instances),
            prompt_digest="0" * 16,
        ),
        model_kind="constructed",
        build_notes=dict.fromkeys(plan.builds, "no weights: follows the plan of the golden run"),
        versions={"agent-eval": "0.0.0"},
        machine=MACHINE,
        threads=1,
        created="2026-01-02T03:04:05+00:00",
    )


def play(folder: Path, text: str = PLAN) -> RunFolder:
    """Play a plan, that of the golden run unless told otherwise, into a folder."""
    plan = read_plan(text)
    instances = draw_instances([find_task(name) for name in plan.tasks], INSTANCES, SEED)
    run = RunFolder.create_or_resume(folder, manifest_of(plan, instances))
    blocks = {instance.id: block for block, instance in enumerate(instances)}
    device, phone = wiring.open_sim()
    units = list(work_units(plan.builds, instances))
    with run.sink() as sink:
        run_matrix(
            units,
            run.episodes(),
            lambda build: ScriptedStation(build, plan.letters, blocks, device, phone),
            _Stopped(sink),
            NO_LIMITS,
            lambda _record: None,
        )
    device.close()
    return run


def only(run: RunFolder, folder: Path, *builds: str) -> RunFolder:
    """Write the part of a run that is of some builds into a folder of its own."""
    configuration = run.manifest.configuration.model_copy(update={"builds": builds})
    part = RunFolder.create_or_resume(folder, run.manifest.model_copy(update={"configuration": configuration}))
    with part.sink() as sink:
        for record in run.episodes():
            if record.build in builds:
                sink.append(record)
    return part


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    print(f"{len(play(place).episodes())} episodes in {place}")  # noqa: T201  a script's answer
