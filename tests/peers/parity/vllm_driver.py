"""Runs a Spark checkpoint in vLLM, in vLLM's environment: by the model of the authors' plugin, or by this project's.

``python vllm_driver.py MODEL FOLDER REQUEST...``, with a model of ``MODELS``; ``peer.py`` beside it says what a request
asks for. Logits are taken where the model computes them, so that whole rows are compared and not the few that vLLM
reports. For the authors' model nothing of this project is imported.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

# All in one process, so that logits can be taken, and on one core, since others compute beside it. Read when vLLM is
# imported.
os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_PLUGINS": "",  # neither plugin: both would register the architecture, and below logits are taken too
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}

import numpy as np
import torch
from numpy.typing import NDArray
from vllm import LLM, SamplingParams
from vllm.distributed import cleanup_dist_env_and_memory
from vllm.model_executor.models.registry import ModelRegistry

TAKEN: list[torch.Tensor] = []
"""Logits of the model's calls since they were last asked for, each (rows, V)."""


ARCHITECTURE = "Spark2_5ForCausalLM"


def register_authors() -> None:
    """Make the authors' model known to vLLM, with its logits taken."""
    import vllm_spark2_5_plugin
    from vllm.model_executor.models.utils import AutoWeightsLoader
    from vllm_spark2_5_plugin.spark2_5 import Spark2_5ForCausalLM

    vllm_spark2_5_plugin.register()

    class Recorded(Spark2_5ForCausalLM):  # type: ignore[misc]
        """The authors' model, unchanged but for this."""

        def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> Any:
            """As published but for ``skip_prefixes``, which the loader no longer takes since vLLM 0.29."""
            tied = self.config.tie_word_embeddings
            kept = ((name, tensor) for name, tensor in weights if not (tied and name.startswith("lm_head.")))
            return AutoWeightsLoader(self).load_weights(kept, mapper=self.hf_to_vllm_mapper)

        def compute_logits(self, hidden_states: torch.Tensor) -> Any:
            return take(super().compute_logits(hidden_states))

    ModelRegistry.register_model(ARCHITECTURE, Recorded)


def register_own() -> None:
    """Make this project's model known to vLLM, with its logits taken."""
    from agent_eval.spark_backend.vllm.model import SparkForVllm
    from agent_eval.spark_backend.vllm.registration import register

    register()

    class Recorded(SparkForVllm):
        """The model, unchanged but for this."""

        def compute_logits(self, hidden_states: torch.Tensor) -> Any:
            return take(super().compute_logits(hidden_states))

    ModelRegistry.register_model(ARCHITECTURE, Recorded)


def register_own_multiplied() -> None:
    """The same, with the scores of its gate as a matrix product for every number of tokens."""
    os.environ["AGENT_EVAL_VLLM"] = "no-gate-sum"
    register_own()


MODELS: dict[str, Callable[[], None]] = {
    "authors": register_authors,
    "own": register_own,
    "own-multiplied": register_own_multiplied,
}


def take(logits: Any) -> Any:
    """Keep the logits that a model computed, and return them."""
    TAKEN.append(logits.float().clone())
    return logits


def logprobs(logits: torch.Tensor) -> NDArray[np.float32]:
    """Return the log-probabilities of logits (..., V)."""
    return torch.log_softmax(logits.double(), dim=-1).float().numpy()


def taken() -> torch.Tensor:
    """Return the rows taken since the last call, in order."""
    rows = torch.cat(TAKEN)
    TAKEN.clear()
    return rows


def generate(llm: LLM, prompts: list[list[int]], tokens: int, *, read: bool = False) -> list[list[int]]:
    """Continue prompts greedily; ``read`` has the rows of the prompt computed too."""
    sampling = SamplingParams(
        temperature=0.0, max_tokens=tokens, ignore_eos=True, detokenize=False, prompt_logprobs=1 if read else None
    )
    out = llm.generate([{"prompt_token_ids": prompt} for prompt in prompts], sampling, use_tqdm=False)
    return [list(answer.outputs[0].token_ids) for answer in out]


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request."""
    llm = LLM(
        request["folder"],
        dtype=request["dtype"],
        skip_tokenizer_init=True,
        enforce_eager=True,
        max_model_len=2048,
        max_num_batched_tokens=2048,
        enable_prefix_caching=True,
    )
    TAKEN.clear()
    answer: dict[str, Any] = {}
    for i, prompt in enumerate(request["read"]):
        generate(llm, [prompt], 1, read=True)
        after_last, before = taken().tensor_split([1])  # what is sampled from is computed first
        answer[f"whole_{i}"] = logprobs(torch.cat((before, after_last)))
    for i, prompt in enumerate(request["prompts"]):
        llm.reset_prefix_cache()
        answer[f"greedy_{i}"] = generate(llm, [prompt], request["new_tokens"])[0]
        answer[f"steps_{i}"] = logprobs(taken())
        answer[f"again_{i}"] = generate(llm, [prompt], request["new_tokens"])[0]  # from its prefix cache
        TAKEN.clear()
    for i, ids in enumerate(generate(llm, request["together"], request["new_tokens"])):
        answer[f"together_{i}"] = ids
    llm.llm_engine.engine_core.shutdown()
    return answer


def main(model: str, folder: str, *requests: str) -> None:
    """Answer requests."""
    MODELS[model]()
    for name in requests:
        at = Path(folder) / name
        answer = answered(json.loads(at.with_suffix(".json").read_text(encoding="utf-8")))
        np.savez(at.with_suffix(".npz"), **answer)
        cleanup_dist_env_and_memory()  # one process holds one engine at a time, and saves importing vLLM again


if __name__ == "__main__":
    main(*sys.argv[1:])
