"""Decode and prefill speed of the builds of one checkpoint, in interleaved passes.

    python benchmarks/decode.py [--model FOLDER] [--builds bf16,w4a16,w4a8] [--prompt 300] [--tokens 64] [--passes 9]

Prints, per build, the median over passes with minimum and maximum, and the median of the per-pass ratios to the first
build. The first pass is thrown away. Ratios within 8 % on a shared machine are no measured difference.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from random import Random
from statistics import median

from agent_eval import wiring
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.config import SparkConfig
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.types import Sampling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="nano")
    parser.add_argument("--builds", default="bf16,w4a16,w4a8")
    parser.add_argument("--prompt", type=int, default=300, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=64, help="tokens to generate")
    parser.add_argument("--passes", type=int, default=9)
    options = parser.parse_args()

    folder: Path = wiring.find_checkpoint(options.model)
    config, threads = SparkConfig.from_folder(folder), wiring.threads_for(folder)
    builds = wiring.check_builds(options.builds.split(","))
    engines = {build: load_build(folder, build, threads=threads).engine for build in builds}
    rng = Random(0)
    decode: dict[str, list[float]] = {build: [] for build in builds}
    prefill: dict[str, list[float]] = {build: [] for build in builds}
    for turn in range(options.passes + 1):
        prompt = [rng.randrange(config.vocab_size) for _ in range(options.prompt)]
        for build in (*builds[turn % len(builds) :], *builds[: turn % len(builds)]):
            engines[build].reset()
            timing = engines[build].generate(prompt, frozenset(), Sampling(max_tokens=options.tokens)).timing
            if turn:
                decode[build].append(timing.decode_tokens / timing.decode_s)
                prefill[build].append(timing.prefill_tokens / timing.prefill_s)

    probe = probe_machine()
    print(f"{folder.name}: {config.parameters:,} weights; {probe.device_class}, {probe.cpu_model}, {threads} threads;")
    print(
        f"prompt {options.prompt}, generated {options.tokens}, {options.passes} passes, load {os.getloadavg()[0]:.1f}"
    )
    for name, figures in (("decode", decode), ("prefill", prefill)):
        for build in builds:
            mine, first = figures[build], figures[builds[0]]
            ratio = median(a / b for a, b in zip(mine, first, strict=True))
            print(
                f"{name:8} {build:6} {median(mine):9.0f} tokens/s  [{min(mine):.0f}, {max(mine):.0f}]"
                f"  ratio to {builds[0]} {ratio:.2f}"
            )


if __name__ == "__main__":
    main()
