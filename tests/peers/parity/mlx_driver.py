"""Runs a Spark checkpoint in mlx-lm's own implementation, in mlx-lm's environment. Knows nothing of this project.

``python mlx_driver.py FOLDER REQUEST...``; what a request asks for is said in ``peer.py`` beside this file.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from mlx.utils import tree_map
from mlx_lm.utils import load_model
from numpy.typing import NDArray

CHUNK = 512  # tokens of one prefill pass: mlx-lm's caches are filled in pieces, as its generation does


def logprobs(logits: mx.array) -> NDArray[np.float32]:
    """Return the log-probabilities of logits (..., V)."""
    wide = logits.astype(mx.float32)
    return np.array(wide - mx.logsumexp(wide, axis=-1, keepdims=True))


def by_columns(weight: mx.array) -> mx.array:
    """Lay a matrix out by columns, which changes no value: the reference BLAS of Linux is twice as fast then."""
    return mx.contiguous(weight.T).T if weight.ndim == 2 else weight


def whole(model: Any, prompts: list[list[int]]) -> NDArray[np.float32]:
    """Compute prompts of one length in one pass, without caches: (B, T, V)."""
    return logprobs(model(mx.array(prompts)))


def read(model: Any, prompt: list[int], cache: Any) -> NDArray[np.float32]:
    """Fill caches with a prompt and return what each of its tokens is followed by, (T, V)."""
    chunks = [mx.array([prompt[start : start + CHUNK]]) for start in range(0, len(prompt), CHUNK)]
    return np.concatenate([logprobs(model(chunk, cache)[0]) for chunk in chunks])


def continued(model: Any, row: NDArray[np.float32], cache: Any, tokens: int) -> NDArray[np.float32]:
    """Continue greedily what the caches hold and was last followed by ``row``: what each is chosen by, (tokens, V)."""
    seen = [row]
    while len(seen) < tokens:
        seen.append(logprobs(model(mx.array([[int(seen[-1].argmax())]]), cache)[0, -1]))
    return np.stack(seen)


def frequencies(theta: float, rotated: int) -> NDArray[np.float32]:
    """Return what positions are multiplied by, (rotated / 2,), as mlx's rotary operation has it without a table."""
    half = rotated // 2
    return np.array(mx.exp(mx.arange(0, -half, -1, dtype=mx.float32) * mx.array(math.log(theta) / half)))


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request."""
    model, _ = load_model(Path(request["folder"]))
    model.set_dtype(getattr(mx, request["dtype"]))
    model.update(tree_map(by_columns, model.parameters()))
    answer: dict[str, Any] = {}
    for i, prompt in enumerate(request["prompts"]):
        cache = model.make_cache()
        rows = read(model, prompt, cache)
        if prompt in request["read"]:
            answer[f"whole_{request['read'].index(prompt)}"] = rows
        answer[f"steps_{i}"] = continued(model, rows[-1], cache, request["new_tokens"])
        answer[f"greedy_{i}"] = answer[f"steps_{i}"].argmax(-1)
    for i, prompt in enumerate(request["read"]):
        if prompt not in request["prompts"]:
            answer[f"whole_{i}"] = read(model, prompt, model.make_cache())
    if request["together"]:
        for i, rows in enumerate(whole(model, request["together"])):
            answer[f"together_{i}"] = rows[-1]
    for i, (theta, rotated) in enumerate(request["rotary"]):
        answer[f"frequencies_{i}"] = frequencies(theta, rotated)
    return answer


def main(folder: str, *requests: str) -> None:
    """Answer requests."""
    for name in requests:
        at = Path(folder) / name
        answer = answered(json.loads(at.with_suffix(".json").read_text(encoding="utf-8")))
        np.savez(at.with_suffix(".npz"), **answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
