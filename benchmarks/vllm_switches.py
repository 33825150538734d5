"""What each switch of ``AGENT_EVAL_VLLM`` changes: start, memory and decode speed of vLLM in a process.

    python benchmarks/vllm_switches.py operators
    python benchmarks/vllm_switches.py {start,memory,decode} [--model FOLDER] [--passes 3] [--tokens 64] [--pairs a,b]

Needs the vLLM environment. An arm is a process of its own with its own ``AGENT_EVAL_VLLM`` and its own folder for what
vLLM compiles; arms take turns within a pass, and the turn moves on by one with each pass. Prints medians [least, most].

operators  one norm and one output gate by each way of computing it, in microseconds
start      from nothing to an engine that answers: eager; compiled with nothing kept, and from what was kept, with
           and without the shim; the folder is emptied before each pass
memory     anonymous memory after loading, without and with the release
decode     pairs of arms that differ in one switch, side by side; with ``--pairs`` some of them
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

from agent_eval import environment, wiring
from agent_eval.spark_backend import launcher
from agent_eval.spark_backend.probe import probe_machine

CONTEXT, PROMPT = 2048, 8

Thing = TypeVar("Thing")

PAIRS = {
    "gate": ("no-gate-sum", "gate-sum"),
    "gate-compiled": ("compile,no-gate-sum", "compile,gate-sum"),
    "norms": ("no-fused-norms", "fused-norms"),
    "norms-compiled": ("compile,no-fused-norms", "compile,fused-norms"),
    "compile": ("no-compile", "compile"),
}


def main() -> None:
    if sys.argv[1:2] == ["arm"]:
        serve(json.loads(sys.argv[2]))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("section", choices=("operators", "start", "memory", "decode"))
    parser.add_argument("--model", default="nano")
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float32"))
    parser.add_argument("--threads", type=int, default=0, help="0: what this process may keep busy")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64, help="that one turn decodes")
    parser.add_argument("--pairs", default=",".join(PAIRS), help=f"of {', '.join(PAIRS)}")
    options = parser.parse_args()
    threads = options.threads or launcher.default_threads()
    folder = wiring.find_checkpoint(options.model)
    probe = probe_machine()
    print(f"$ python {' '.join(sys.argv)}")
    print(f"{probe.cpu_model}, {probe.device_class}, {threads} threads, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as kept:
        bench = Bench(folder, options.dtype, threads, options.passes, options.tokens, Path(kept))
        match options.section:
            case "operators":
                with Arm(folder, "", bench.cache("operators"), options.dtype, threads) as arm:
                    for name, microseconds in arm.ask("operators", passes=options.passes).items():
                        print(f"{name:60} {shown(microseconds)} us", flush=True)
            case "start":
                bench.start()
            case "memory":
                bench.memory()
            case "decode":
                for name in options.pairs.split(","):
                    bench.decode(name)


class Bench:
    """The sections that compare engines."""

    def __init__(self, folder: Path, dtype: str, threads: int, passes: int, tokens: int, kept: Path) -> None:
        self._folder, self._dtype, self._threads = folder, dtype, threads
        self._passes, self._tokens, self._kept = passes, tokens, kept

    def cache(self, name: str) -> Path:
        """Return the folder of an arm."""
        return self._kept / name.replace(",", "-").replace(" ", "-")  # inductor does not quote it for the compiler

    def start(self) -> None:
        """Print how long each way of starting takes."""
        # without the shim vLLM writes anew what it could not load, so it comes last
        ways = {
            "eager": "no-compile",
            "compiled, nothing kept": "compile,no-aot-shim",
            "compiled, from what was kept, with the shim": "compile,aot-shim",
            "compiled, from what was kept, without it": "compile,no-aot-shim",
        }
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
        for _ in range(self._passes):
            shutil.rmtree(self.cache("start"), ignore_errors=True)
            for name, switches in ways.items():
                took = self._started(switches, self.cache("start"))
                print(name, {part: round(seconds, 1) for part, seconds in took.items()}, file=sys.stderr, flush=True)
                found[name].append(took)
        for name, starts in found.items():
            for part in starts[0]:
                print(f"{name + ': ' + part:60} {shown([each[part] for each in starts])} s", flush=True)

    def _started(self, switches: str, cache: Path) -> dict[str, float]:
        began = perf_counter()
        with Arm(self._folder, switches, cache, self._dtype, self._threads) as arm:
            opened = arm.ask("open")
            first = arm.ask("decode", tokens=1)["seconds"]
            whole, processor = perf_counter() - began, arm.ask("processor_time")["seconds"]
        parts = {"import": opened["import"], "engine": opened["engine"], "first token": first}
        return {**parts, "whole": whole, "whole, processor": processor}

    def memory(self) -> None:
        """Print the anonymous memory of an engine after loading and after a few tokens."""
        found: dict[str, list[float]] = {}
        for turn in range(self._passes):
            ways = [(f"{mode}, {release}", f"{mode},{release}") for mode in ("no-compile", "compile")
                    for release in ("no-release-memory", "release-memory")]  # fmt: skip
            for name, switches in turned(ways, turn):
                with Arm(self._folder, switches, self.cache(switches), self._dtype, self._threads) as arm:
                    opened = arm.ask("open")
                    arm.ask("decode", tokens=16)
                    later = arm.ask("memory")
                found.setdefault(f"{name}: after loading", []).append(opened["memory"] / 1e6)
                found.setdefault(f"{name}: after 16 tokens", []).append(later["memory"] / 1e6)
        for name, megabytes in found.items():
            print(f"{name:60} {shown(megabytes)} MB", flush=True)

    def decode(self, pair: str) -> None:
        """Print the decode speed of two arms and their ratio within each pass."""
        arms = [
            Arm(self._folder, switches, self.cache(switches), self._dtype, self._threads) for switches in PAIRS[pair]
        ]
        rates: dict[str, list[float]] = {switches: [] for switches in PAIRS[pair]}
        costs: dict[str, list[float]] = {switches: [] for switches in PAIRS[pair]}
        try:
            for arm in arms:
                arm.ask("open")
            for turn in range(self._passes + 1):
                for arm in turned(arms, turn):
                    took = arm.ask("decode", tokens=self._tokens)
                    if turn:  # the first finds pages and clocks cold
                        rates[arm.switches].append(self._tokens / took["seconds"])
                        costs[arm.switches].append(took["processor"] / self._tokens * 1000)
        finally:
            for arm in arms:
                arm.close()
        for switches, found in rates.items():
            print(f"{switches:60} {shown(found)} tokens/s", flush=True)
            print(f"{switches:60} {shown(costs[switches])} ms of one core per token", flush=True)
        for word, per_arm in (("tokens/s", rates), ("core time", costs)):
            first, second = per_arm.values()
            ratios = [theirs / mine for mine, theirs in zip(first, second, strict=True)]
            print(f"{f'{pair}, {word}: second to first, pass by pass':60} {shown(ratios)}", flush=True)


def turned(things: Iterable[Thing], turn: int) -> list[Thing]:
    """Return things in another order with each turn."""
    listed = list(things)
    return [*listed[turn % len(listed) :], *listed[: turn % len(listed)]]


def shown(values: Sequence[float]) -> str:
    return f"{median(values):9.2f} [{min(values):.2f}, {max(values):.2f}] n={len(values)}"


class Arm:
    """An engine in a process of its own; it ends with the block.

    Args:
        folder: The checkpoint.
        switches: Its ``AGENT_EVAL_VLLM``.
        cache: Where its vLLM keeps what it compiles.
        dtype: Of its numbers.
        threads: That compute.
    """

    def __init__(self, folder: Path, switches: str, cache: Path, dtype: str, threads: int) -> None:
        self.switches = switches
        replies, theirs = os.pipe()
        work = {"folder": str(folder), "dtype": dtype, "replies": theirs}
        # what torch keeps beside vLLM, the headers that every compilation includes, goes to the folder too
        scratch = cache / "tmp"
        scratch.mkdir(parents=True, exist_ok=True)
        variables = {"AGENT_EVAL_VLLM": switches, "VLLM_CACHE_ROOT": str(cache), "TMPDIR": str(scratch)}
        threading = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": launcher.WAIT_POLICY}
        self._child = subprocess.Popen(  # noqa: S603  this file itself, no shell
            [sys.executable, __file__, "arm", json.dumps(work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment.for_child({**variables, **threading}),
            pass_fds=(theirs,),
            text=True,
        )
        os.close(theirs)
        self._replies = os.fdopen(replies, encoding="utf-8")

    def __enter__(self) -> Arm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, what: str, **arguments: int) -> dict[str, Any]:
        """Have it do something."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
        self._child.stdin.flush()
        line = self._replies.readline()
        if not line:
            raise SystemExit(f"the arm {self.switches!r} ended with {self._child.wait()}; what it printed is above")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End it."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()
        self._replies.close()


# ----------------------------------------------------------------------------------------------------------------------
# in the arm


def serve(work: Mapping[str, Any]) -> None:
    """Answer the parent until it closes the pipe."""
    arm = Served(Path(work["folder"]), work["dtype"])
    with os.fdopen(work["replies"], "w", encoding="utf-8") as replies:
        for line in sys.stdin:
            request = json.loads(line)
            reply = getattr(arm, request.pop("do"))(**request)
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


class Served:
    """What an arm can do."""

    def __init__(self, folder: Path, dtype: str) -> None:
        self._folder, self._dtype = folder, dtype
        self._engine: Any = None
        self._requests = 0

    def open(self) -> dict[str, float]:
        """Load the model as the switches say."""
        from agent_eval.spark_backend.vllm.switches import Switches

        switches = Switches.from_environment()
        with environment.lent_to_vllm():
            began = perf_counter()
            from vllm import EngineArgs, LLMEngine

            from agent_eval.spark_backend.vllm import gate, memory, norms

            imported = perf_counter()
            self._engine = LLMEngine.from_engine_args(
                EngineArgs(
                    model=str(self._folder),
                    dtype=self._dtype,
                    skip_tokenizer_init=True,
                    generation_config="vllm",
                    enforce_eager=not switches.compile,
                    max_model_len=CONTEXT,
                    max_num_seqs=1,
                    max_num_batched_tokens=CONTEXT,
                    enable_prefix_caching=False,
                    kv_cache_memory_bytes=512 << 20,
                    disable_log_stats=True,
                    **gate.engine_arguments(switches),
                    **norms.engine_arguments(switches),
                )
            )
            memory.after_loading(switches)
        return {"import": imported - began, "engine": perf_counter() - imported, **self.memory()}

    def memory(self) -> dict[str, int]:
        """Return this process's anonymous memory."""
        from agent_eval.spark_backend.meter import memory_of

        found = memory_of()
        return {"memory": found.anonymous if found else 0}

    def decode(self, tokens: int) -> dict[str, float]:
        """Decode after a short prompt: the seconds of so many tokens, those of the prompt only where one is asked."""
        from vllm import SamplingParams

        from agent_eval.spark_backend.meter import own_processor_time

        self._requests += 1
        sampling = SamplingParams(temperature=0, max_tokens=tokens + (tokens > 1), ignore_eos=True, detokenize=False)
        began = perf_counter()
        self._engine.add_request(str(self._requests), {"prompt_token_ids": list(range(3, 3 + PROMPT))}, sampling)
        first, processor = None, 0.0
        while self._engine.has_unfinished_requests():
            self._engine.step()
            first = first or perf_counter()
            processor = processor or own_processor_time()
        ended = perf_counter()
        return {
            "seconds": ended - (began if tokens == 1 or first is None else first),
            "processor": own_processor_time() - processor,
        }

    def processor_time(self) -> dict[str, float]:
        """Return how long this process and the compilers that it started have computed."""
        times = os.times()
        return {"seconds": times.user + times.system + times.children_user + times.children_system}

    def operators(self, passes: int) -> dict[str, list[float]]:
        """Time norms and gates by themselves, each over the weights of 28 layers."""
        import torch

        with environment.lent_to_vllm():
            import vllm.platforms
            from vllm import ir

            from agent_eval.spark_backend.vllm import gate, norms

            vllm.platforms.current_platform.import_kernels()
            norms.register()
        found: dict[str, list[float]] = {}
        with torch.inference_mode():
            for hidden, heads in ((2048, 8), (128, 4)):
                for tokens in (1, 2, 4):
                    found |= timed(norm_ways(ir, hidden, tokens), passes)
                    found |= timed(gate_ways(gate, hidden, heads, tokens), passes)
        return found


LAYERS = 28


def norm_ways(ir: Any, hidden: int, tokens: int) -> dict[str, list[Callable[[], object]]]:
    """Return what computes a norm of each layer, by name."""
    import torch

    from agent_eval.spark_backend.vllm.norms import PROVIDER

    x, residual = (torch.randn(tokens, hidden).bfloat16() for _ in range(2))
    weights = [torch.rand(hidden).bfloat16() for _ in range(LAYERS)]
    ways: dict[str, list[Callable[[], object]]] = {}
    for provider, word in (("native", "torch"), (PROVIDER, "compiled by vLLM")):
        norm = ir.ops.rms_norm.impls[provider].impl_fn
        add = ir.ops.fused_add_rms_norm.impls[provider].impl_fn
        ways[f"norm, {tokens} x {hidden}, {word}"] = [partial(norm, x, weight, 1e-6) for weight in weights]
        ways[f"sum and norm, {tokens} x {hidden}, {word}"] = [
            partial(add, x, residual, weight, 1e-6) for weight in weights
        ]
    return ways


def gate_ways(gate: Any, hidden: int, heads: int, tokens: int) -> dict[str, list[Callable[[], object]]]:
    """Return what computes the gate of each layer, by name."""
    import torch

    x = torch.randn(tokens, hidden).bfloat16()
    weights = [torch.randn(heads, hidden).bfloat16() for _ in range(LAYERS)]

    def traced(few: int) -> Any:
        def scores(hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(gate.head_gate(hidden, weight, few))

        return torch.compile(scores, dynamic=True)

    def written_out(hidden: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(gate.reduced(hidden, weight))

    shape = f"gate, {tokens} x {hidden} to {heads}"
    functions: dict[str, Any] = {
        "sum": lambda x, w: gate.head_gate(x, w, tokens),
        "product": lambda x, w: gate.head_gate(x, w, 0),
        "sum, in a compiled graph": traced(tokens),
        "product, in a compiled graph": traced(0),
        "sum, written out in a compiled graph": torch.compile(written_out, dynamic=True),
    }
    return {
        f"{shape}, {name}": [partial(function, x, weight) for weight in weights] for name, function in functions.items()
    }


def timed(ways: Mapping[str, Sequence[Callable[[], object]]], passes: int) -> dict[str, list[float]]:
    """Return the microseconds of one call by each way, for each pass over its calls; ways take turns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(passes * 10 + 2):
        for name, calls in turned(ways.items(), turn):
            began = perf_counter()
            for call in calls:
                call()
            if turn > 1:  # the first compile, or find their memory
                found[name].append((perf_counter() - began) / len(calls) * 1e6)
    return found


if __name__ == "__main__":
    main()
