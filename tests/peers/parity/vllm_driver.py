"""Runs a Spark checkpoint in vLLM with the authors' plugin, in vLLM's environment. Knows nothing of this project.

``python vllm_driver.py FOLDER REQUEST...``; what a request asks for is said in ``peer.py`` beside this file. Logits
are taken where the model computes them, so that whole rows are compared and not the few that vLLM reports.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

# All in one process, so that logits can be taken, and on one core, since others compute beside it. Read when vLLM is
# imported.
os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_PLUGINS": "",  # the plugin's model is registered below, with logits taken
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}

import numpy as np
import torch
import vllm_spark2_5_plugin
from numpy.typing import NDArray
from vllm import LLM, SamplingParams
from vllm.distributed import cleanup_dist_env_and_memory
from vllm.model_executor.models.registry import ModelRegistry

TAKEN: list[torch.Tensor] = []
"""Logits of the model's calls since they were last asked for, each (rows, V)."""


def register() -> None:
    """Make the authors' model known to vLLM, with its logits taken."""
    vllm_spark2_5_plugin.register()
    from vllm_spark2_5_plugin.spark2_5 import Spark2_5ForCausalLM

    class Recorded(Spark2_5ForCausalLM):  # type: ignore[misc]
        """The authors' model, unchanged but for this."""

        def compute_logits(self, hidden_states: torch.Tensor) -> Any:
            logits = super().compute_logits(hidden_states)
            TAKEN.append(logits.float().clone())
            return logits

    ModelRegistry.register_model(vllm_spark2_5_plugin.ARCHITECTURE, Recorded)


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


def main(folder: str, *requests: str) -> None:
    """Answer requests."""
    register()
    for name in requests:
        at = Path(folder) / name
        answer = answered(json.loads(at.with_suffix(".json").read_text(encoding="utf-8")))
        np.savez(at.with_suffix(".npz"), **answer)
        cleanup_dist_env_and_memory()  # one process holds one engine at a time, and saves importing vLLM again


if __name__ == "__main__":
    main(*sys.argv[1:])
