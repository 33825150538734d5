"""Decode speed of one build beside busy neighbours, and of several workers at once.

    python benchmarks/contention.py [--model FOLDER] [--build w4a8] [--tokens 16] [--passes 5]

Each way of waiting is a process of its own; they take turns within a pass, alone and beside one and two processes that
keep a core busy each. The first pass is thrown away. Prints medians [least, most] in tokens per second.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from agent_eval import wiring
from agent_eval.bench import ArmBuild
from agent_eval.bench_arm import ProcessArm
from agent_eval.spark_backend.probe import probe_machine, usable_cores

OFF = {"AGENT_EVAL_KERNELS": "off"}


@contextlib.contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Keep some cores busy."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def shown(rates: list[float]) -> str:
    return f"{median(rates):8.1f} [{min(rates):.1f}, {max(rates):.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="nano")
    parser.add_argument("--build", default="w4a8")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    folder, cores = wiring.find_checkpoint(options.model), usable_cores()
    ways: dict[str, tuple[int, dict[str, str]]] = {
        f"kernels, {cores} threads": (cores, {}),
        "kernels, 1 thread": (1, {}),
        f"torch, {cores} threads that sleep": (cores, {**OFF, "OMP_WAIT_POLICY": "PASSIVE"}),
        f"torch, {cores} threads that spin": (cores, {**OFF, "OMP_WAIT_POLICY": "ACTIVE"}),
        "torch, 1 thread": (1, OFF),
    }
    measured = ArmBuild(options.build, folder, "torch")
    arms = {
        name: ProcessArm(measured, threads=threads, context=options.tokens + 64, variables=variables)
        for name, (threads, variables) in ways.items()
    }
    probe = probe_machine()
    print(f"{folder.name} {options.build}; {probe.device_class}, {probe.cpu_model}, {cores} cores; ", end="")
    print(f"{options.tokens} tokens, {options.passes} passes, load {os.getloadavg()[0]:.1f}")
    try:
        for arm in arms.values():
            arm.open()
        for count in (0, 1, 2):
            with neighbours(count):
                alone(arms, f"{count} busy neighbours", options.tokens, options.passes)
        for arm in arms.values():
            arm.close()
        together(folder, options.build, cores, options.tokens, options.passes)
    finally:
        for arm in arms.values():
            arm.close()


def alone(arms: dict[str, ProcessArm], heading: str, tokens: int, passes: int) -> None:
    rates: dict[str, list[float]] = {name: [] for name in arms}
    names = list(arms)
    for turn in range(passes + 1):
        for name in (*names[turn % len(names) :], *names[: turn % len(names)]):
            timed = arms[name].decode([1], tokens)
            if turn:
                rates[name].append(timed.tokens / timed.seconds)
    for name, found in rates.items():
        print(f"{heading:20} {name:32} {shown(found)}", flush=True)


def together(folder: Path, build: str, cores: int, tokens: int, passes: int) -> None:
    """Let two workers decode at the same time: with all threads each, with one each."""
    for threads in dict.fromkeys((cores, max(1, cores // 2))):
        workers = [ProcessArm(ArmBuild(build, folder, "torch"), threads=threads, context=tokens + 64) for _ in range(2)]
        try:
            for worker in workers:
                worker.open()
            rates: list[list[float]] = [[], []]
            with ThreadPoolExecutor(2) as pool:
                for turn in range(passes + 1):
                    both = list(pool.map(lambda worker: worker.decode([1], tokens), workers))
                    if turn:
                        for mine, timed in zip(rates, both, strict=True):
                            mine.append(timed.tokens / timed.seconds)
            for number, found in enumerate(rates, start=1):
                print(
                    f"{'two workers':20} {f'worker {number}, kernels, {threads} threads':32} {shown(found)}", flush=True
                )
        finally:
            for worker in workers:
                worker.close()


if __name__ == "__main__":
    main()
