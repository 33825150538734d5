"""What an engine says when it is really loaded: run in a process of its own, which a broken library may take down.

``python -m agent_eval.spark_backend.trial torch`` prints one line of JSON last: facts, or an error of this
program's own. Any other failure is the process's: a traceback, or the signal that ended it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent_eval.errors import AgentEvalError
from agent_eval.spark_backend import launcher

if TYPE_CHECKING:
    from torch import nn

    from agent_eval.spark_backend.model import Layer

TOKENS = 4
"""Computed with each build after a prompt of as many: enough for both ways through the layers."""


NANO = Path(__file__).parent / "nano" / "checkpoint"


def try_torch() -> dict[str, Any]:
    """Load the builds of the main job from the embedded model and compute some tokens with each.

    Returns:
        Torch's version, and what computed the layers of each build.
    """
    import torch

    from agent_eval.spark_backend.builds import BUILDS, load_build
    from agent_eval.types import Sampling

    served = {}
    for build in BUILDS:
        engine = load_build(NANO, build, threads=1, context=64, rounding="rtn").engine
        engine.generate(range(TOKENS), frozenset(), Sampling(max_tokens=TOKENS))
        served[build] = layer_kernels(cast("Layer", engine.model.layers[0]).mlp.down_proj)
    return {"version": torch.__version__, "builds": served}


def layer_kernels(layer: nn.Module) -> str:
    """Say what computes a layer, as the layer itself has it."""
    from agent_eval.spark_backend.kernels.linear import PackedLinear
    from agent_eval.spark_backend.quant.dense import UPCAST_ROWS, WidenedBf16
    from agent_eval.spark_backend.quant.grouped import FewBitsLinear
    from agent_eval.spark_backend.quant.int4 import PACKED_ROWS

    if isinstance(layer, PackedLinear):
        return layer.kernel
    if isinstance(layer, FewBitsLinear):
        return f"torch's packed 4-bit product up to {PACKED_ROWS} rows, float32 linear over widened weights beyond"
    if isinstance(layer, WidenedBf16):
        return f"torch bfloat16 linear below {UPCAST_ROWS} rows, float32 linear over widened weights from there on"
    return "torch bfloat16 linear"


def try_llama() -> dict[str, Any]:
    """Load llama.cpp; return what it is and the vector instructions that it uses."""
    from agent_eval.spark_backend.llama import library

    loaded = library.load()
    return {"name": loaded.name, "instructions": loaded.instructions}


def try_vllm() -> dict[str, Any]:
    """Load vLLM and make Spark known to it."""
    from agent_eval.spark_backend.vllm.trial import facts

    return facts()


TRIALS: Mapping[str, Callable[[], dict[str, Any]]] = {"torch": try_torch, "llama.cpp": try_llama, "vLLM": try_vllm}
"""By the name of the engine."""


def main(engine: str) -> None:
    """Try an engine and write what it says."""
    said: dict[str, Any]
    try:
        launcher.prepare()
        said = {"facts": TRIALS[engine]()}
    except AgentEvalError as error:
        said = {"failure": error.message, "hint": error.hint}
    # a line of its own, whatever libraries have written before
    sys.stdout.write(f"\n{json.dumps(said)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
