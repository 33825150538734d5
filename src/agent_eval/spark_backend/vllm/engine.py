"""Runs one build in vLLM, in this process: token ids in, token ids out. Knows nothing of text.

vLLM computes what it is given in batches, step by step, and keeps the keys and values of what it has seen in blocks. So
that a result depends on the episode alone, every episode finds the same blocks: those of its prefix, which was
computed by itself and is pinned, and no others (docs/design/0009-vllm-in-process.md).
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import logging
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from agent_eval import environment
from agent_eval.errors import CheckpointError, EngineFault, OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.kernels.library import Library
from agent_eval.spark_backend.refusals import check_room, check_sampling, check_tokens
from agent_eval.spark_backend.vllm import gate, memory, norms
from agent_eval.spark_backend.vllm.room import BATCH_TOKENS, BLOCK_TOKENS, vllm_room
from agent_eval.spark_backend.vllm.switches import Switches
from agent_eval.spark_backend.vllm.tokenizer import for_grammars
from agent_eval.types import FinishReason, Sampling, Timing, TokenGeneration

Dtype = Literal["bfloat16", "float32"]

USUAL = Switches()


class VllmEngine:
    """An ``Engine``, and a ``ParallelEngine``, over one checkpoint folder.

    Args:
        folder: The checkpoint, as vLLM loads it.
        dtype: Of activations, of keys and values, and of weights that are not quantised.
        threads: Threads that compute; the count is the process's, so it is set again before each step.
        context: Most tokens of prompt and generation together; at most what the model was made for.
        in_flight: Most generations at a time.
        overrides: What vLLM is to read otherwise in the folder's configuration.
        switches: How vLLM is used.
        kernels: The compiled library, where layers use it.
        constrained: Whether samplings may come with a grammar; vLLM is given a tokenizer then.
        text: Folder with the tokenizer, if not the checkpoint's own.

    Raises:
        CheckpointError: the folder cannot be loaded.
        OperatorError: vLLM does not start.
    """

    def __init__(
        self,
        folder: Path,
        *,
        dtype: Dtype,
        threads: int,
        context: int,
        in_flight: int = 1,
        overrides: Mapping[str, Any] | None = None,
        switches: Switches = USUAL,
        kernels: Library | None = None,
        constrained: bool = False,
        text: Path | None = None,
    ) -> None:
        config = SparkConfig.from_folder(folder)
        self.context = min(context, config.max_position_embeddings)
        """Most tokens of prompt and generation together."""
        self.vocabulary = config.vocab_size
        self.in_flight = in_flight
        self.dtype = getattr(torch, dtype)
        """Of activations."""
        self._threads, self._kernels = threads, kernels
        self._constrained = constrained
        self._prepare()
        room = vllm_room(config, self.context, sequences=in_flight, value_bytes=2 if dtype == "bfloat16" else 4)
        without: Mapping[str, Any] = {"skip_tokenizer_init": True}
        grammars = for_grammars(text or folder, config.eos_token_ids[0]) if constrained else nullcontext(without)
        with grammars as reading, environment.lent_to_vllm(), _process_kept():
            self._engine = _load(
                folder,
                switches,
                {
                    "dtype": dtype,
                    "max_model_len": self.context,
                    "max_num_seqs": in_flight,
                    "kv_cache_memory_bytes": room.bytes,
                    "hf_overrides": dict(overrides or {}),
                    **gate.engine_arguments(switches),
                    **norms.engine_arguments(switches),
                    **reading,
                },
            )
            memory.after_loading(switches)
        # When one engine goes, vLLM would take down the process groups that all engines of the process share.
        self._engine.engine_core._finalizer.detach()
        self._core = self._engine.engine_core.engine_core
        self._pool = self._core.scheduler.kv_cache_manager.block_pool
        self._tickets = itertools.count()
        self._running: dict[int, _Running] = {}
        self._prefix: tuple[int, ...] = ()
        self._pinned: list[Any] = []  # blocks of the prefix, once it was computed
        self._prefix_due = False
        self._most_pinned = room.prefix_tokens
        if constrained:
            with environment.lent_to_vllm(), _process_kept():
                self._load_grammars()

    @property
    def model(self) -> torch.nn.Module:
        """The module of the model in vLLM, for what looks at its layers."""
        runner = self._core.model_executor.driver_worker.worker.model_runner
        found: torch.nn.Module = runner.get_model()
        return found

    def _load_grammars(self) -> None:
        """Write one token under a grammar: vLLM reads its tokenizer at the first, which belongs to no generation."""
        try:
            self.generate([0], frozenset(), Sampling(max_tokens=1, grammar="start: /(?s:.*)/"))
        except EngineFault as fault:
            raise OperatorError(
                f"vLLM cannot hold replies to a grammar: {fault.message}", hint="run without the constraint"
            ) from fault
        self.begin()

    # ------------------------------------------------------------------------------------------------------------------
    # one generation at a time

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget everything computed before, but for a prefix that follows too.

        Raises:
            EngineFault: something is in flight.
        """
        if self._running:
            raise EngineFault(
                f"{len(self._running)} generations are in flight, expected none at the beginning of an episode",
                hint="this is a mistake of whoever drives the engine",
            )
        if tuple(prefix) != self._prefix or self._prefix_due:
            self._pool.free_blocks(self._pinned)
            self._pinned = []
            self._prefix = tuple(prefix)
            self._prefix_due = BLOCK_TOKENS <= len(self._prefix) <= self._most_pinned
        kept = {block.block_id for block in self._pinned}
        self._pool.evict_blocks({block.block_id for block in self._cached()} - kept)

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt until a stop token, ``sampling.max_tokens`` or the end of the context.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid, or the computation failed.
        """
        ticket = self.submit(prompt, stop, sampling)
        while True:
            done = self.step()
            if ticket in done:
                return done[ticket]

    # ------------------------------------------------------------------------------------------------------------------
    # several at a time

    def submit(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> int:
        """Put a generation into flight; return the ticket under which ``step`` will hand it out.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid.
        """
        began = perf_counter()
        check_tokens(prompt, self.vocabulary)
        check_room(len(prompt), self.context)
        check_sampling(sampling, constrained=self._constrained)
        computed = 0
        if self._prefix_due and not self._running and tuple(prompt[: len(self._prefix)]) == self._prefix:
            computed = self._compute_prefix()
        room = min(sampling.max_tokens, self.context - len(prompt))
        return self._add(prompt, stop, sampling, room, began, computed)

    def step(self) -> dict[int, TokenGeneration]:
        """Compute the next tokens of everything in flight; return what has ended, by ticket.

        Raises:
            EngineFault: the computation failed; nothing is in flight any more.
        """
        self._prepare()
        try:
            with torch.inference_mode():
                outputs = self._engine.step()
        except EngineFault:
            self._withdraw_all()
            raise
        except Exception as error:
            self._withdraw_all()
            raise EngineFault(
                f"vLLM failed: {type(error).__name__}: {error}",
                hint="run the same build with --engine torch to tell engine from model",
            ) from error
        now, done = perf_counter(), {}
        if any(output.finished and output.outputs[0].finish_reason == "error" for output in outputs):
            self._withdraw_all()
            raise EngineFault(
                "vLLM ended a generation by an error of its own, expected a stop token or its length",
                hint="VLLM_LOGGING_LEVEL=INFO has vLLM say what went wrong",
            )
        for output in outputs:
            ticket = int(output.request_id)
            running = self._running[ticket]
            running.take(output, now)
            if output.finished:
                done[ticket] = running.generation(now)
                del self._running[ticket]
        return done

    # ------------------------------------------------------------------------------------------------------------------

    def _add(
        self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling, room: int, began: float, computed: int
    ) -> int:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        ticket = next(self._tickets)
        asked = SamplingParams(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=sampling.seed,
            max_tokens=room,
            stop_token_ids=sorted(stop),
            ignore_eos=True,  # what ends a turn is said by ``stop`` alone
            detokenize=False,
            output_kind=RequestOutputKind.DELTA,
            structured_outputs=StructuredOutputsParams(grammar=sampling.grammar) if sampling.grammar else None,
        )
        try:
            self._engine.add_request(str(ticket), {"prompt_token_ids": list(prompt)}, asked)
        except Exception as error:
            raise EngineFault(f"vLLM refuses the generation: {error}", hint="a grammar must be llguidance's") from error
        self._running[ticket] = _Running(len(prompt), stop, began, computed)
        return ticket

    def _compute_prefix(self) -> int:
        """Compute the prefix by itself and pin its blocks; return how many tokens that were."""
        self._prefix_due = False
        whole = len(self._prefix) // BLOCK_TOKENS * BLOCK_TOKENS
        ticket = self._add(self._prefix[:whole], frozenset(), Sampling(), 1, perf_counter(), 0)
        while ticket in self._running:
            self.step()
        self._pinned = list(self._cached())
        self._pool.touch(self._pinned)
        return whole

    def _cached(self) -> Iterator[Any]:
        return (block for block in self._pool.blocks if block.block_hash is not None)

    def _withdraw_all(self) -> None:
        with contextlib.suppress(Exception):  # what failed may fail again; the engine is not used any more then
            self._engine.abort_request([str(ticket) for ticket in self._running])
        self._running.clear()

    def _prepare(self) -> None:
        """Set the threads of torch, which vLLM's operators share, and of the library."""
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        if self._kernels is not None and self._kernels.threads != self._threads:
            self._kernels.set_threads(self._threads)


@dataclass
class _Running:
    """A generation in flight."""

    prompt_tokens: int
    stop: frozenset[int]
    began: float
    computed_before: int
    """Tokens that were computed for this generation before it was put into flight: the episode's prefix."""
    ids: list[int] = field(default_factory=list)
    reused: int = 0
    first: float | None = None
    finish: FinishReason = "length"

    def take(self, output: Any, now: float) -> None:
        """Note what a step brought."""
        new = output.outputs[0]
        if new.token_ids and self.first is None:
            self.first = now
            self.reused = output.num_cached_tokens or 0
        self.ids += new.token_ids
        if output.finished:
            self.finish = "stop" if new.finish_reason == "stop" else "length"

    def generation(self, now: float) -> TokenGeneration:
        """Return what came out."""
        first = self.first if self.first is not None else now
        ids = self.ids[:-1] if self.finish == "stop" and self.ids and self.ids[-1] in self.stop else self.ids
        timing = Timing(
            prompt_tokens=self.prompt_tokens,
            prefill_tokens=min(self.prompt_tokens, self.prompt_tokens - self.reused + self.computed_before),
            prefill_s=first - self.began,
            decode_tokens=len(self.ids) - 1,
            decode_s=now - first,
            first_token_s=first - self.began,
        )
        return TokenGeneration(tuple(ids), self.finish, timing)


def import_vllm() -> Any:
    """Import vLLM, whose variables must be lent meanwhile, and return the module.

    Raises:
        OperatorError: it cannot be imported.
    """
    try:
        import vllm
    except Exception as error:  # whatever is wrong with it, the person must mend it
        raise OperatorError(
            f"vLLM cannot be imported: {type(error).__name__}: {error}",
            hint="`make vllm` makes an environment in which it starts; `agent-eval doctor` says what is missing",
        ) from error
    return vllm


def _load(folder: Path, switches: Switches, arguments: Mapping[str, Any]) -> Any:
    vllm = import_vllm()
    try:
        return vllm.LLMEngine.from_engine_args(
            vllm.EngineArgs(
                model=str(folder),
                generation_config="vllm",
                load_format="safetensors",
                use_tqdm_on_load=False,
                trust_remote_code=False,
                enforce_eager=not switches.compile,
                enable_prefix_caching=True,
                prefix_cache_retention_interval=None,  # what was generated is found again too, not only prompts
                block_size=BLOCK_TOKENS,
                max_num_batched_tokens=BATCH_TOKENS,
                disable_log_stats=True,
                logits_processors=["agent_eval.spark_backend.vllm.finite:FiniteLogits"],
                seed=0,
                **arguments,
            )
        )
    except Exception as error:
        raise CheckpointError(
            f"vLLM cannot load {folder}: {type(error).__name__}: {error}",
            hint="try the same build with --engine torch; VLLM_LOGGING_LEVEL=INFO has vLLM say what it does",
        ) from error


class _RandomStates(NamedTuple):
    python: object
    numpy: Any
    torch: torch.Tensor


@contextlib.contextmanager
def _process_kept() -> Iterator[None]:
    """Keep what belongs to the whole process.

    vLLM seeds every generator, takes ``set_num_threads`` away, and has the garbage collector leave alone all that there
    is. What Python and torch warn of meanwhile concerns the authors of vLLM and is not shown.
    """
    set_threads = torch.set_num_threads
    log = logging.getLogger("torch")
    level = log.level
    states = _RandomStates(random.getstate(), np.random.get_state(), torch.get_rng_state())
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        gc.unfreeze()
        log.setLevel(level)
        torch.set_num_threads = set_threads
        random.setstate(states.python)  # type: ignore[arg-type]  # as getstate gave it
        np.random.set_state(states.numpy)  # the generator that vLLM seeds
        torch.set_rng_state(states.torch)
