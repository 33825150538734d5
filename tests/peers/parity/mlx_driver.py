"""Runs a Spark checkpoint in mlx-lm's own implementation, in mlx-lm's environment. Knows nothing of this project.

``python mlx_driver.py REQUEST.json OUT.npz``; what a request asks for is said in ``peer.py`` beside this file.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from mlx_lm.utils import load_model
from numpy.typing import NDArray

CHUNK = 512  # tokens of one prefill pass: mlx-lm's caches are filled in pieces, as its generation does


def logprobs(logits: mx.array) -> NDArray[np.float32]:
    """Return the log-probabilities of logits (..., V)."""
    wide = logits.astype(mx.float32)
    return np.array(wide - mx.logsumexp(wide, axis=-1, keepdims=True))


def whole(model: Any, prompts: list[list[int]]) -> NDArray[np.float32]:
    """Compute prompts of one length in one pass, without caches: (B, T, V)."""
    return logprobs(model(mx.array(prompts)))


def continued(model: Any, prompt: list[int], tokens: int) -> tuple[list[int], NDArray[np.float32]]:
    """Continue a prompt greedily, with caches; return the tokens and what each was chosen from, (tokens, V)."""
    cache = model.make_cache()
    for start in range(0, len(prompt), CHUNK):
        logits = model(mx.array([prompt[start : start + CHUNK]]), cache)[:, -1]
        mx.eval(logits)
    chosen, seen = [], []
    for _ in range(tokens):
        seen.append(logprobs(logits)[0])
        chosen.append(int(mx.argmax(logits[0]).item()))
        logits = model(mx.array([[chosen[-1]]]), cache)[:, -1]
    return chosen, np.stack(seen)


def frequencies(theta: float, rotated: int) -> NDArray[np.float32]:
    """Return what positions are multiplied by, (rotated / 2,), as mlx's rotary operation has it without a table."""
    half = rotated // 2
    return np.array(mx.exp(mx.arange(0, -half, -1, dtype=mx.float32) * mx.array(math.log(theta) / half)))


def main(request_path: str, out: str) -> None:
    """Answer one request."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    model, _ = load_model(Path(request["folder"]))
    model.set_dtype(getattr(mx, request["dtype"]))
    answer: dict[str, Any] = {}
    for i, prompt in enumerate(request["prompts"]):
        if request["read"]:
            answer[f"whole_{i}"] = whole(model, [prompt])[0]
        answer[f"greedy_{i}"], answer[f"steps_{i}"] = continued(model, prompt, request["new_tokens"])
    if request["together"]:
        for i, rows in enumerate(whole(model, request["together"])):
            answer[f"together_{i}"] = rows[-1]
    for i, (theta, rotated) in enumerate(request["rotary"]):
        answer[f"frequencies_{i}"] = frequencies(theta, rotated)
    np.savez(out, **answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
