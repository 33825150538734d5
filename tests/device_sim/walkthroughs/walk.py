"""One scripted solution of one task: the phone that it starts on, what it does, and what must have changed after it.

Knows no task and no app.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agent_eval.device_sim import Phone
from agent_eval.types import PhoneSetup, Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand

Script = Callable[[Hand], str | None]
"""Does a task; returns the answer of a task that asks for one."""


@dataclass(frozen=True)
class Record:
    """A new record that a task asks for; fields that are not named may be anything."""

    prefix: str
    fields: Mapping[str, Scalar]


def record(prefix: str, **fields: Scalar) -> Record:
    """Name a new record."""
    return Record(prefix, fields)


@dataclass(frozen=True)
class Walk:
    """One scripted solution."""

    task: str
    """Number of a template, or name of a task of AndroidWorld."""
    steps: int
    """Actions that the script takes."""
    script: Script
    variant: str = ""
    """What tells the solutions of one task apart."""
    seed: int = 1
    state: Mapping[str, Scalar] = field(default_factory=dict)
    keep_alarms: bool = False
    faults: tuple[str, ...] = ()
    clipboard: str = ""
    sets: Mapping[str, Scalar] = field(default_factory=dict)
    """Persisted paths and what they hold in the end."""
    adds: tuple[Record, ...] = ()
    """Records that are new in the end, each one once."""
    gone: tuple[str, ...] = ()
    """Paths, or prefixes of records, that are there at the start and not in the end."""
    may: tuple[str, ...] = ()
    """Prefixes of what may change besides: what follows by itself from what was asked."""
    leaves: Mapping[str, Scalar] = field(default_factory=dict)
    """Transient paths and what they hold in the end."""
    answer: str | Callable[[Snapshot], str] = ""
    """The right answer, or how to find it in the state that the phone starts with."""
    check: Callable[[Snapshot, Snapshot], list[str]] | None = None
    """Says what is wrong with the end, given the start, where no single end is the right one."""

    @property
    def name(self) -> str:
        """What a test report calls it."""
        return f"{self.task}-{self.variant}" if self.variant else self.task

    def phone(self) -> Phone:
        """Make the phone that it starts on."""
        setup = PhoneSetup(self.seed, self.state, keep_alarms=self.keep_alarms, faults=self.faults)
        phone = Phone(setup)
        phone.clipboard = self.clipboard
        return phone


@functools.cache
def moment_of(seed: int) -> datetime:
    """Return the moment at which a phone of a seed starts."""
    return Phone(PhoneSetup(seed)).local_time


def problems(walk: Walk, before: Snapshot, after: Snapshot, answer: str | None) -> list[str]:
    """Say what is wrong with the state that a script left behind, and with its answer."""
    found = [
        f"{path} is {after.get(path)!r}, not {value!r}"
        for path, value in {**walk.sets, **walk.leaves}.items()
        if after.get(path) != value
    ]
    found += [f"{path} was never there" for path in walk.gone if not _below(before, path)]
    found += [f"{path} is still there" for path in walk.gone if _below(after, path)]
    expected = [*walk.may, *walk.gone]
    for wanted in walk.adds:
        numbers = _numbers(after, wanted.prefix) - _numbers(before, wanted.prefix)
        fitting = [
            path
            for number in sorted(numbers)
            if (path := f"{wanted.prefix}/{number}") not in expected
            and all(after.get(f"{path}/{name}") == value for name, value in wanted.fields.items())
        ]
        expected += fitting[:1]
        if not fitting:
            found.append(f"no new {wanted}; new are {[after.under(f'{wanted.prefix}/{n}') for n in sorted(numbers)]}")
    found += [
        f"also changed: {change}"
        for change in before.diff(after)
        if change.path not in walk.sets and not any(_is_below(change.path, prefix) for prefix in expected)
    ]
    right = walk.answer(before) if callable(walk.answer) else walk.answer
    if (answer or "") != right:
        found.append(f"the answer is {answer!r}, not {right!r}")
    return found + (walk.check(before, after) if walk.check is not None else [])


def _is_below(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(prefix.rstrip("/") + "/")


def _below(snapshot: Snapshot, prefix: str) -> bool:
    return any(_is_below(path, prefix) for path, _ in snapshot.persisted)


def _numbers(snapshot: Snapshot, prefix: str) -> set[int]:
    return {int(rest.partition("/")[0]) for rest in snapshot.under(prefix) if rest.partition("/")[0].isdigit()}
