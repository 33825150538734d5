"""What one ``agent-eval bench`` measured: every sample, nothing computed from it. Written as one JSON file."""

from __future__ import annotations

from typing import ClassVar, Literal

from agent_eval.reports.record_file import FileRecord, RecordPart
from agent_eval.types import MachineProbe


class Timed(RecordPart):
    """Tokens computed in some time, once or a few times in a row."""

    tokens: int
    seconds: float


class PartRecord(RecordPart):
    """One part of a build in memory, by arithmetic. Sizes are bytes."""

    part: str
    anonymous: int
    mapped: int
    read_per_token: int


class HeadRecord(RecordPart):
    """The last product of a token, over the whole vocabulary."""

    bits: float
    """Bits of one of its weights, without scales."""
    seconds: float
    """Of one product for one token, measured alone; median of several."""
    trap: bool
    """It was left as it is while the projections were quantised."""


class LoadRecord(RecordPart):
    """One start of a build in a process of its own. Wall-clock seconds."""

    resident: float | None
    """Share of the checkpoint's files that was in memory before; None where the system does not tell."""
    load_s: float
    """Until the build was ready, the libraries loaded before."""
    first_token_s: float
    """From there until a first token, which also reads what is only mapped."""


class MemoryRecord(RecordPart):
    """Memory of a build's process, bytes. Anonymous unless said otherwise."""

    before: int
    """With Python and the libraries, before the build was loaded."""
    peak: int
    """Most while it was loaded, sampled every 2 ms."""
    settled: int
    """When it was loaded and what was freed was given back."""
    in_use: int
    """Most while a prompt was computed and tokens were decoded."""
    mapped: int
    """Of mapped files, after a prompt and some tokens, on top of the libraries; shared, and the system may take it
    back."""


class ArmRecord(RecordPart):
    """One build of a bench, or the first build once more."""

    build: str
    twin: bool = False
    """The first build measured a second time in each pass: what differs between the two is noise."""
    notes: str = ""
    """What is quantised and how, and which kernels compute."""
    kernels: str = ""
    """What computes, in a word or two."""
    compiled: bool = True
    """False where torch alone computes because the compiled kernels are absent or off."""
    size_bytes: int | None = None
    """Of all weights in memory, mapped ones included; None where that is not known."""
    parts: tuple[PartRecord, ...] = ()
    """Empty for a peer, whose layout is its own."""
    read_per_token: int | None = None
    """Bytes of weights that decoding one token reads; None where that is not known."""
    head: HeadRecord | None = None
    cold: LoadRecord | None = None
    """The first start, after the system was made to forget the files."""
    warm: LoadRecord | None = None
    """The second."""
    memory: MemoryRecord | None = None
    prefill: tuple[Timed, ...] = ()
    """One for each pass, the discarded first one included."""
    decode: tuple[Timed, ...] = ()
    """The same."""


class Disturbance(RecordPart):
    """What others did to this machine during one pass."""

    foreign_cores: float
    """Cores kept busy by other processes, on average."""
    stolen: float
    """Share of the machine's processor time that a hypervisor gave away."""


class BenchRecord(FileRecord):
    """One bench."""

    called: ClassVar[str] = "record of a bench"
    written_by: ClassVar[str] = "`agent-eval bench --json FILE`"

    schema_version: Literal[1] = 1
    created: str
    """ISO time."""
    model: str
    model_kind: str
    """``embedded``, ``published``, ``synthetic`` or ``constructed``."""
    parameters: int
    """Number of weights."""
    machine: MachineProbe
    versions: dict[str, str]
    threads: int
    wait_policy: str
    """How libgomp's threads wait."""
    prompt: int
    """Tokens of the prompt whose computation is timed."""
    tokens: int
    """Tokens whose decoding is timed, after a prompt of one token."""
    passes: int
    """Counted passes; the one before them is discarded."""
    bandwidth_by: str
    """What read memory to measure its speed: ``kernels`` or ``torch``."""
    streams: tuple[float, ...]
    """Bytes per second that the threads read, one for each pass, the discarded first one included."""
    disturbances: tuple[Disturbance | None, ...]
    """One for each pass, the discarded first one included; None where the system does not tell."""
    load_before: float | None
    """Load average of the last minute before anything was started."""
    load_after: float | None
    arms: tuple[ArmRecord, ...]
