"""One build of a bench in a process of its own: the process, and the end that its parent holds.

The two talk in lines of JSON: requests on the child's standard input, replies on a pipe of their own, so that what
libraries print disturbs nothing. The child ends when its input does.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_eval import environment
from agent_eval.bench import ArmBuild, Bandwidth, Opened, Used
from agent_eval.errors import AgentEvalError, OperatorError
from agent_eval.reports.bench_record import HeadRecord, PartRecord, Timed
from agent_eval.wiring import choose_engine

if TYPE_CHECKING:
    from agent_eval.contracts import Engine
    from agent_eval.spark_backend.families import OpenedBuild
    from agent_eval.spark_backend.ledger import Ledger

LEAST_S = 0.25
"""A measurement is repeated until it has taken this long: the clock and the scheduler cost a small model more."""


class ProcessArm:
    """A build in a child process.

    Args:
        measured: Build, checkpoint and engine.
        threads: Threads that compute.
        context: Most tokens of prompt and generation together.
        variables: Environment variables of the child, beside the number of threads.
    """

    def __init__(
        self, measured: ArmBuild, *, threads: int, context: int, variables: Mapping[str, str] | None = None
    ) -> None:
        self._build = measured.build
        replies, theirs = os.pipe()
        work = {
            "folder": str(measured.folder),
            "build": measured.build,
            "engine": measured.engine,
            "threads": threads,
            "context": context,
            "replies": theirs,
        }
        self._child = subprocess.Popen(  # noqa: S603  this program itself, no shell
            [sys.executable, "-m", "agent_eval.bench_arm", json.dumps(work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment.for_child({"OMP_NUM_THREADS": str(threads), **(variables or {})}),
            pass_fds=(theirs,),
            text=True,
        )
        os.close(theirs)
        self._replies = os.fdopen(replies, encoding="utf-8")

    def open(self) -> Opened:
        """Load the build."""
        told = self._ask("open")
        parts = tuple(PartRecord(**part) for part in told.pop("parts"))
        head = told.pop("head")
        return Opened(parts=parts, head=None if head is None else HeadRecord(**head), **told)

    def prefill(self, prompt: Sequence[int]) -> Timed:
        """Compute a prompt."""
        return Timed(**self._ask("prefill", prompt=list(prompt)))

    def decode(self, prompt: Sequence[int], tokens: int) -> Timed:
        """Decode tokens after a prompt."""
        return Timed(**self._ask("decode", prompt=list(prompt), tokens=tokens))

    def use(self, prompt: Sequence[int], tokens: int) -> Used:
        """Do both once while watching the memory."""
        return Used(**self._ask("use", prompt=list(prompt), tokens=tokens))

    def stream(self) -> Bandwidth:
        """Measure how fast the threads read memory."""
        return Bandwidth(**self._ask("stream"))

    def processor_time(self) -> float:
        """Return how long the child has computed."""
        return float(self._ask("processor_time")["seconds"])

    def close(self) -> None:
        """End the child."""
        if self._child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it has ended by itself
                self._child.stdin.close()
        try:
            self._child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._replies.close()

    def _ask(self, what: str, **arguments: Any) -> dict[str, Any]:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self._child.stdin.flush()
            line = self._replies.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self._child.wait()
            raise OperatorError(
                f"the process of {self._build} ended with {code} when it was asked to {what}",
                hint="-9 is what the system does when memory runs out; what it printed is above",
            )
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise OperatorError(reply["error"], hint=reply["hint"])
        return reply


class ThisMachine:
    """What the measuring asks of the machine that this process runs on.

    Args:
        arms: What the arms measure, by name.
    """

    def __init__(self, arms: Mapping[str, ArmBuild]) -> None:
        self._arms = arms

    def forget(self, build: str) -> float | None:
        """Make the system forget the files of a build."""
        from agent_eval.spark_backend.meter import forget_files

        return forget_files(self._files(build))

    def resident(self, build: str) -> float | None:
        """Return the share of a build's files that is in memory."""
        from agent_eval.spark_backend.meter import resident_share

        return resident_share(self._files(build))

    def _files(self, build: str) -> list[Path]:
        from agent_eval.spark_backend.families import family_of

        arm = self._arms[build]
        return family_of(arm.build, choose_engine(arm.engine)).files(arm.folder, arm.build)

    def busy(self) -> tuple[float, float] | None:
        """Return processor time so far."""
        from agent_eval.spark_backend.meter import processor_time

        return processor_time()

    def now(self) -> float:
        """Return a wall clock."""
        return perf_counter()

    @property
    def cores(self) -> int:
        """Processors of the machine."""
        return os.cpu_count() or 1


# ----------------------------------------------------------------------------------------------------------------------
# the child


class _Child:
    """The build itself."""

    def __init__(self, measured: ArmBuild, threads: int, context: int) -> None:
        self._folder, self._build, self._threads, self._context = measured.folder, measured.build, threads, context
        self._choice = choose_engine(measured.engine)
        self._engine: Engine | None = None
        self._mapped_before = 0

    def open(self) -> dict[str, Any]:
        """Load the build, and tell what that took and what it is."""
        from agent_eval.spark_backend.families import family_of
        from agent_eval.spark_backend.meter import PeakMemory, memory_of, release_memory

        family = family_of(self._build, self._choice)
        family.load_libraries()
        before = memory_of()
        self._mapped_before = before.mapped if before else 0
        with PeakMemory() as watched:
            began = perf_counter()
            opened = family.open(self._folder, self._build, threads=self._threads, context=self._context)
            loaded = perf_counter()
        self._engine = opened.engine
        release_memory()
        settled = memory_of()
        resumed = perf_counter()
        self._generate([0], 1)
        first_token = perf_counter() - resumed
        told = opened.description
        return {
            "load_s": loaded - began,
            "first_token_s": first_token,
            "memory_before": before and before.anonymous,
            "memory_peak": watched.peak,
            "memory_settled": settled and settled.anonymous,
            "notes": told.notes,
            "kernels": told.kernels,
            "compiled": opened.compiled,
            "size_bytes": told.size_bytes,
            "parts": _parts(opened.ledger),
            "read_per_token": opened.ledger.read_per_token,
            "head": _head(opened),
        }

    def prefill(self, prompt: list[int]) -> dict[str, Any]:
        return self._timed(lambda: self._prefill(prompt))

    def decode(self, prompt: list[int], tokens: int) -> dict[str, Any]:
        return self._timed(lambda: self._decode(prompt, tokens))

    def use(self, prompt: list[int], tokens: int) -> dict[str, Any]:
        from agent_eval.spark_backend.meter import PeakMemory, memory_of

        with PeakMemory() as watched:
            self._prefill(prompt)
            self._decode(prompt[:1], tokens)
        after = memory_of()
        return {"peak": watched.peak, "mapped": after and max(0, after.mapped - self._mapped_before)}

    def stream(self) -> dict[str, Any]:
        from agent_eval.spark_backend.meter import streaming_bandwidth

        return streaming_bandwidth(self._threads)._asdict()

    def processor_time(self) -> dict[str, Any]:
        from agent_eval.spark_backend.meter import own_processor_time

        return {"seconds": own_processor_time()}

    def _prefill(self, prompt: list[int]) -> _Took:
        timing = self._generate(prompt, 1)
        return _Took(timing.prefill_tokens, timing.prefill_s)

    def _decode(self, prompt: list[int], tokens: int) -> _Took:
        # the first token falls out of the prompt
        timing = self._generate(prompt, tokens + 1)
        return _Took(timing.decode_tokens, timing.decode_s)

    def _timed(self, once: Callable[[], _Took]) -> dict[str, Any]:
        tokens, seconds = 0, 0.0
        while seconds < LEAST_S:
            took = once()
            tokens, seconds = tokens + took.tokens, seconds + took.seconds
        return {"tokens": tokens, "seconds": seconds}

    def _generate(self, prompt: list[int], tokens: int) -> Any:
        from agent_eval.types import Sampling

        assert self._engine is not None, "the build is opened first"
        self._engine.begin()
        return self._engine.generate(prompt, frozenset(), Sampling(max_tokens=tokens)).timing


class _Took(NamedTuple):
    tokens: int
    seconds: float


def _parts(ledger: Ledger) -> list[dict[str, Any]]:
    return [
        {
            "part": entry.part,
            "anonymous": entry.anonymous,
            "mapped": entry.mapped,
            "read_per_token": entry.read_per_token,
        }
        for entry in ledger.entries
    ]


def _head(opened: OpenedBuild) -> dict[str, Any] | None:
    from agent_eval.spark_backend.meter import seconds_of

    if opened.head is None:
        return None
    told = opened.description
    return {"bits": told.head.bits, "seconds": seconds_of(opened.head), "trap": told.head_trap}


def main(work: str) -> None:
    """Serve requests until the input ends."""
    asked = json.loads(work)
    measured = ArmBuild(asked["build"], Path(asked["folder"]), asked["engine"])
    child = _Child(measured, asked["threads"], asked["context"])
    serve: dict[str, Callable[..., dict[str, Any]]] = {
        "open": child.open,
        "prefill": child.prefill,
        "decode": child.decode,
        "use": child.use,
        "stream": child.stream,
        "processor_time": child.processor_time,
    }
    with os.fdopen(asked["replies"], "w", encoding="utf-8") as replies:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                reply = serve[request.pop("do")](**request)
            except AgentEvalError as error:
                reply = {"error": error.message, "hint": error.hint}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
