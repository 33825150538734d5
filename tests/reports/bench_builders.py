"""Builds records of benches from a few speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_eval.reports.bench_record import (
    ArmRecord,
    BenchRecord,
    Disturbance,
    HeadRecord,
    LoadRecord,
    MemoryRecord,
    PartRecord,
    Timed,
)
from tests.reports.builders import MACHINE

MIB = 2**20
QUIET = Disturbance(foreign_cores=0.02, stolen=0.001)
DISCARDED = 1.0
"""Tokens per second of the pass that must not count."""


def timed(rates: Sequence[float], tokens: int) -> tuple[Timed, ...]:
    """Samples at these speeds, after one that must be discarded."""
    return tuple(Timed(tokens=tokens, seconds=tokens / rate) for rate in (DISCARDED, *rates))


def arm(build: str, decode: Sequence[float], prefill: Sequence[float] | None = None, **changes: Any) -> ArmRecord:
    """One arm with these speeds in its counted passes."""
    values: dict[str, Any] = {
        "build": build,
        "kernels": "kernels: avx512",
        "read_per_token": 500 * MIB,
        "prefill": timed(prefill or [10 * rate for rate in decode], 512),
        "decode": timed(decode, 128),
    }
    return ArmRecord(**{**values, **changes})


def twin_of(first: ArmRecord, factor: float = 1.0) -> ArmRecord:
    """The first arm measured again, by so much faster."""

    def again(samples: Sequence[Timed]) -> tuple[Timed, ...]:
        return tuple(Timed(tokens=sample.tokens, seconds=sample.seconds / factor) for sample in samples)

    return ArmRecord(build=first.build, twin=True, prefill=again(first.prefill), decode=again(first.decode))


def bench(*arms: ArmRecord, twin: float | None = 1.0, **changes: Any) -> BenchRecord:
    """A bench of these arms; ``twin`` is how much faster the first was the second time."""
    passes = len(arms[0].decode) - 1
    values: dict[str, Any] = {
        "created": "2026-01-02T03:04:05+00:00",
        "model": "nano",
        "model_kind": "embedded",
        "parameters": 1_824_960,
        "machine": MACHINE,
        "versions": {"agent-eval": "1.2.3", "torch": "2.13.0"},
        "threads": 2,
        "wait_policy": "PASSIVE",
        "prompt": 512,
        "tokens": 128,
        "passes": passes,
        "bandwidth_by": "kernels",
        "streams": (1e9, *[20e9] * passes),
        "disturbances": (None, *[QUIET] * passes),
        "load_before": 0.1,
        "load_after": 1.9,
        "arms": (*arms, *([] if twin is None else [twin_of(arms[0], twin)])),
    }
    return BenchRecord(**{**values, **changes})


def parts(sizes: Mapping[str, tuple[int, int, int]]) -> tuple[PartRecord, ...]:
    """Parts by name: anonymous, mapped and read for a token, in MiB."""
    return tuple(
        PartRecord(part=name, anonymous=own * MIB, mapped=mapped * MIB, read_per_token=read * MIB)
        for name, (own, mapped, read) in sizes.items()
    )


def whole() -> BenchRecord:
    """A bench of four builds with everything that can be told, a trap, and a busy machine."""
    start = {
        "cold": LoadRecord(resident=0.0, load_s=3.456, first_token_s=1.2),
        "warm": LoadRecord(resident=1.0, load_s=2.25, first_token_s=0.31),
    }
    memory = MemoryRecord(before=152 * MIB, peak=1400 * MIB, settled=1100 * MIB, in_use=1250 * MIB, mapped=512 * MIB)
    bf16 = arm(
        "bf16",
        [5.0, 5.1, 4.9, 5.05, 5.0],
        [60, 61, 59, 60, 62],
        notes="nothing quantised, weights and activations bfloat16",
        parts=parts({"embedding": (0, 512, 0), "projections": (0, 2744, 2744), "head": (0, 0, 512)}),
        read_per_token=3256 * MIB,
        size_bytes=3256 * MIB,
        head=HeadRecord(bits=16, seconds=0.03, trap=False),
        memory=memory,
        **start,
    )
    trapped = arm(
        "w4a16",
        [9.0, 9.2, 8.9, 9.1, 9.05],
        [58, 61, 57, 60, 59],
        notes="projections 4-bit, asymmetric, groups of 128; HEAD TRAP: the head is bfloat16",
        parts=parts({"embedding": (0, 512, 0), "projections": (729, 0, 729), "head": (0, 0, 512)}),
        read_per_token=1241 * MIB,
        size_bytes=1241 * MIB,
        head=HeadRecord(bits=16, seconds=0.0301, trap=True),
        memory=memory,
        **{**start, "cold": LoadRecord(resident=0.93, load_s=2.2, first_token_s=0.5)},
    )
    w4a8 = arm(
        "w4a8",
        [19.0, 19.4, 18.8, 19.1, 19.2],
        [121, 125, 119, 122, 120],
        notes="projections and head 4-bit, symmetric, groups of 128; [bold]no markup[/bold]",
        parts=parts({"embedding": (0, 512, 0), "projections": (707, 0, 707), "head": (132, 0, 132)}),
        read_per_token=839 * MIB,
        size_bytes=839 * MIB,
        head=HeadRecord(bits=4, seconds=0.0072, trap=False),
        memory=memory,
        compiled=False,
        **start,
    )
    peer = arm(
        "q4_k_m",
        [10.8, 10.7, 10.9, 10.8, 10.85],
        [36, 36.5, 35.8, 36.2, 36],
        notes="llama.cpp",
        read_per_token=None,
        memory=memory,
        warm=start["warm"],
    )
    busy = Disturbance(foreign_cores=1.3, stolen=0.08)
    return bench(
        bf16,
        trapped,
        w4a8,
        peer,
        twin=1.02,
        model="/models/spark-1.7b",
        model_kind="synthetic",
        parameters=1_708_197_888,
        disturbances=(None, QUIET, busy, QUIET, QUIET, QUIET),
    )
