"""Builds that take a set time, on a machine with a clock of its own: what a bench is measured with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_eval.bench import Bandwidth, Opened, Used
from agent_eval.errors import CheckpointError
from agent_eval.reports.bench_record import Timed


@dataclass
class FakeMachine:
    """A machine with two cores, on which an hour passes only when somebody computes."""

    clock: float = 0.0
    computed: float = 0.0
    """Processor time of all, seconds of one core."""
    foreign: float = 0.0
    """Cores that others keep busy."""
    stolen: float = 0.0
    """Cores that a hypervisor takes away."""
    tells: bool = True
    files: dict[str, float] = field(default_factory=dict)
    """Share of each build's files that is in memory."""
    log: list[str] = field(default_factory=list)

    cores = 2

    def passes(self, seconds: float, own_cores: float) -> None:
        """Let time pass while an arm computes on some cores."""
        self.clock += seconds
        self.computed += seconds * (own_cores + self.foreign + self.stolen)

    def forget(self, build: str) -> float | None:
        """Drop the files."""
        self.log.append(f"forget {build}")
        self.files[build] = 0.0
        return 0.0

    def resident(self, build: str) -> float | None:
        """Tell how much is in memory."""
        return self.files.get(build, 0.0)

    def busy(self) -> tuple[float, float] | None:
        """Tell the time of all processes and what was stolen."""
        return (self.computed, self.clock * self.stolen) if self.tells else None

    def now(self) -> float:
        """Tell the time."""
        return self.clock


class FakeArm:
    """A build that computes one token in a set time, on one core."""

    def __init__(self, machine: FakeMachine, build: str, token_s: float, *, broken: bool = False) -> None:
        self._machine, self._build, self._token_s, self._broken = machine, build, token_s, broken
        self._own = 0.0
        self._closed = False

    def _compute(self, tokens: int, what: str) -> Timed:
        self._machine.log.append(f"{what} {self._build}")
        seconds = tokens * self._token_s
        self._own += seconds
        self._machine.passes(seconds, own_cores=1)
        return Timed(tokens=tokens, seconds=seconds)

    def open(self) -> Opened:
        """Read the files."""
        self._machine.log.append(f"open {self._build}")
        if self._broken:
            raise CheckpointError("the shards are cut off", hint="download them again")
        load_s = 3.0 if self._machine.files.get(self._build, 0.0) == 0 else 1.0
        self._machine.files[self._build] = 1.0
        return Opened(
            load_s=load_s,
            first_token_s=self._token_s,
            memory_before=100,
            memory_peak=300,
            memory_settled=200,
            notes=f"the fake {self._build}",
            kernels="none",
            compiled=True,
            size_bytes=100,
            read_per_token=1000,
            parts=(),
            head=None,
        )

    def prefill(self, prompt: Sequence[int]) -> Timed:
        """Compute a prompt in a tenth of the time."""
        timed = self._compute(len(prompt), "prefill")
        return Timed(tokens=timed.tokens, seconds=timed.seconds / 10)

    def decode(self, prompt: Sequence[int], tokens: int) -> Timed:
        """Decode."""
        assert len(prompt) == 1
        return self._compute(tokens, "decode")

    def use(self, prompt: Sequence[int], tokens: int) -> Used:
        """Do both."""
        del prompt, tokens
        return Used(peak=250, mapped=50)

    def stream(self) -> Bandwidth:
        """Read memory."""
        self._machine.log.append(f"stream {self._build}")
        return Bandwidth(10_000.0, "kernels")

    def processor_time(self) -> float:
        """Tell what was computed."""
        return self._own

    def close(self) -> None:
        """Close; the machine notes it once."""
        if not self._closed:
            self._machine.log.append(f"close {self._build}")
        self._closed = True
