"""How vLLM is used: what a person may turn on or off, each default with the measurement that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from agent_eval import environment


@dataclass(frozen=True)
class Switches:
    """The switches of ``AGENT_EVAL_VLLM``. The figures are in ``docs/measurements.md``."""

    compile: bool = False
    """Have torch.compile make the model's forward pass; vLLM's word is ``enforce_eager`` for the opposite."""
    aot_shim: bool = True
    """Let vLLM load what it compiled before; see ``aot.py``. Acts with ``compile`` only."""
    release_memory: bool = True
    """Give what loading took back to the system; see ``memory.py``."""
    fused_norms: bool = False
    """Rank vLLM's own norm kernels first; see ``norms.py``. They are registered in any case."""
    gate_sum: bool = True
    """Compute the output gate of few tokens as sums of products; see ``gate.py``."""

    @classmethod
    def from_environment(cls) -> Self:
        """Return the defaults with what the person turned.

        Raises:
            OperatorError: ``AGENT_EVAL_VLLM`` cannot be read.
        """
        return cls(**{switch.replace("-", "_"): on for switch, on in environment.vllm_switches().items()})

    @property
    def turned(self) -> tuple[str, ...]:
        """What differs from the defaults, as ``AGENT_EVAL_VLLM`` would say it."""
        words = {field.name.replace("_", "-"): getattr(self, field.name) for field in fields(self)}
        usual = {field.name.replace("_", "-"): field.default for field in fields(self)}
        return tuple(word if on else f"no-{word}" for word, on in words.items() if on != usual[word])
