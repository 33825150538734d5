"""What vLLM makes of a folder with weights of few bits: which method serves it, with which fields, for which layers.

``cpu_int4`` folders have no method in vLLM; they get one here. GPTQ and AWQ folders have vLLM's own, which computes
with 8-bit activations where the processor has the tiles of AMX, and with 16-bit ones or not at all elsewhere. So where
it would not compute what the build says, ``overrides_for`` names the second method of this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

import torch
from torch import nn
from vllm import envs
from vllm.model_executor.layers.linear import LinearBase, UnquantizedLinearMethod
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding
from vllm.transformers_utils.config import get_safetensors_params_metadata

from agent_eval.errors import CheckpointError, OperatorError
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import TILES_FROM
from agent_eval.spark_backend.quant.formats import Format
from agent_eval.spark_backend.quant.formats.folder import READERS
from agent_eval.spark_backend.quant.formats.format import field
from agent_eval.spark_backend.quant.int4 import PACKED_ROWS
from agent_eval.spark_backend.quant.name import ActivationBits
from agent_eval.spark_backend.vllm.grouped_layer import FewBitsMethod, Form, Layout

Owner = Literal["vLLM", "agent-eval"]

CPU_INT4 = "cpu_int4"
OWN = "agent_eval_int4"
"""``quant_method`` of GPTQ and AWQ folders that are served by this file; the folder's own word is its field
``folder_method``."""

WIDENED_FROM = {"blocks": 512, "tinygemm": PACKED_ROWS + 1}
"""From so many rows on weights are widened, by layout, where no section says it.

``benchmarks/vllm_linear.py``, one thread of Zen 5: the blocked product is 2 to 15 times as fast up to 32 rows, there
is no difference at 256, and widening takes a tenth less time at 512 and a fifth less at 2,048. Beyond ``PACKED_ROWS``
the layer of the other layout widens by itself, to float32, which takes 2 to 4 times as long.
"""

WIDENED_FROM_WITH_TILES = {"blocks": TILES_FROM, "tinygemm": 2}
"""The same where the processor has the tiles of AMX. Not measured. There torch's packed kernel has been seen to leave
them configured when it multiplies several rows, upon which vLLM's attention dies of an illegal instruction."""

PARTS = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
"""From a module of the model to the matrices that lie in it one above the other."""

NAMES = {"embed_tokens": "embedding", "qkv_proj": "q_k_v_proj"}
"""From a module of the model to the name of one matrix, as published."""


class FewBitsConfig(QuantizationConfig):  # type: ignore[misc]  # vLLM is untyped here
    """A section of ``config.json``, read.

    Args:
        section: The section.
        folder_method: Whose format the folder has.
        default_activation: Bits of the activations where the section says nothing.

    Raises:
        CheckpointError: the section asks for what there is not.
        OperatorError: it asks for the compiled kernels, and they are not there.
    """

    method = ""

    def __init__(self, section: Mapping[str, Any], folder_method: str, default_activation: ActivationBits) -> None:
        super().__init__()
        self.form = form_of(section, folder_method, default_activation)
        self._quantised: frozenset[str] = frozenset()

    @classmethod
    def get_name(cls) -> str:
        """Return the ``quant_method``."""
        return cls.method

    @staticmethod
    def get_supported_act_dtypes() -> list[torch.dtype]:
        """Return what vLLM's ``dtype`` may be; it refuses others."""
        return [torch.bfloat16]

    @classmethod
    def get_min_capability(cls) -> int:
        """Return what a GPU must have: there is none."""
        return 0

    @staticmethod
    def get_config_filenames() -> list[str]:
        """Return files that hold the section, where ``config.json`` has none: there are none."""
        return []

    def maybe_update_config(self, model_name: str, hf_config: Any = None, revision: str | None = None) -> None:
        """Look which matrices of the folder are quantised, and have every field in vLLM's key of compiled models.

        vLLM derives the key from the configuration. A field that is in no section is given its value there.
        """
        metadata = get_safetensors_params_metadata(model_name, revision=revision)
        suffix = f".{self.form.format.main}"
        self._quantised = frozenset(name.removesuffix(suffix) for name in metadata if name.endswith(suffix))
        if not self._quantised:
            raise CheckpointError(
                f"{model_name}: no tensor ends with {suffix!r}, expected one for every quantised matrix",
                hint="remove quantization_config from config.json if the weights are not quantised",
            )
        if hf_config is not None:
            hf_config.quantization_config = {**hf_config.quantization_config, **self.resolved()}

    def resolved(self) -> dict[str, Any]:
        """Return the fields that say how layers compute."""
        form = self.form
        return {
            "activation_bits": form.activation,
            "layout": form.layout,
            "dequant_threshold": form.dequant_threshold,
        }

    def get_quant_method(self, layer: nn.Module, prefix: str) -> Any:
        """Return what serves a layer; None, and vLLM's own for what is not quantised."""
        if not isinstance(layer, LinearBase | VocabParallelEmbedding):
            return None
        if is_quantised(prefix, self._quantised):
            return FewBitsMethod(self.form)
        return UnquantizedLinearMethod() if isinstance(layer, LinearBase) else None


class CpuInt4Config(FewBitsConfig):
    """The section of a ``cpu_int4`` folder."""

    method = CPU_INT4

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> CpuInt4Config:
        """Read a section."""
        return cls(config, CPU_INT4, 16)


class OwnConfig(FewBitsConfig):
    """The section of a GPTQ or AWQ folder that the kernels of this project serve."""

    method = OWN

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> OwnConfig:
        """Read a section."""
        return cls(config, str(config.get("folder_method")), 8)


def form_of(section: Mapping[str, Any], folder_method: str, default_activation: ActivationBits = 16) -> Form:
    """Read a section of ``config.json``.

    Args:
        section: Its ``quantization_config``.
        folder_method: Whose format the folder has.
        default_activation: Bits of the activations where the section says nothing.

    Raises:
        CheckpointError: the section asks for what there is not.
        OperatorError: it asks for the compiled kernels, and they are not there.
    """
    if folder_method not in READERS:
        raise CheckpointError(
            f"config.json: quantization_config.folder_method is {folder_method!r}, expected one of: "
            f"{', '.join(READERS)}",
            hint="it is the quant_method that the folder itself has",
        )
    layout_of_folder: Format = READERS[folder_method](section)
    activation = field(section, "activation_bits", default_activation, (8, 16), "kernels take one or two bytes")
    there = library.available()
    layout = field(section, "layout", "blocks" if there else "tinygemm", ("blocks", "tinygemm"), "no other kernels")
    if layout == "blocks" and not there:
        raise OperatorError(
            "quantization_config.layout is 'blocks', expected 'tinygemm' where the compiled kernels are absent or off",
            hint="run `make kernels` in a checkout, unset AGENT_EVAL_KERNELS, or leave the field out",
        )
    threshold = section.get("dequant_threshold", default_threshold(layout))
    if not isinstance(threshold, int) or isinstance(threshold, bool) or threshold < 1:
        raise CheckpointError(
            f"config.json: quantization_config.dequant_threshold is {threshold!r}, expected a number of rows from 1",
            hint="leave it out for what was measured; a large number has weights never widened",
        )
    return Form(layout_of_folder, cast("ActivationBits", activation), cast("Layout", layout), threshold)


def default_threshold(layout: Layout) -> int:
    """Return from how many rows on weights are widened where no section says it."""
    tiles = library.load().isa == "amx" if layout == "blocks" else bool(torch.cpu._is_amx_tile_supported())
    return (WIDENED_FROM_WITH_TILES if tiles else WIDENED_FROM)[layout]


def is_quantised(prefix: str, quantised: frozenset[str]) -> bool:
    """Tell whether a module of the model has a quantised weight.

    Args:
        prefix: Where the module is, such as ``model.layers.0.mlp.gate_up_proj``.
        quantised: The matrices of the folder that are quantised, under its names.

    Raises:
        CheckpointError: some of its parts are, and some are not.
    """
    at, _, module = prefix.rpartition(".")
    at = f"{at}." if at else ""
    if prefix in quantised or at + NAMES.get(module, module) in quantised:
        return True
    parts = [at + part for part in PARTS.get(module, ())]
    found = [part for part in parts if part in quantised]
    if found and len(found) < len(parts):
        raise CheckpointError(
            f"{', '.join(found)} is quantised and {', '.join(sorted(set(parts) - set(found)))} is not; they are one "
            "product, expected all or none",
            hint="quantise the published checkpoint again",
        )
    return bool(found)


def kernel_owner(section: Mapping[str, Any], *, activation_bits: int, vllm_has_int4: bool) -> Owner:
    """Tell whose kernels serve a quantised folder.

    vLLM's int4 product takes activations of 8 bits, and of folders those that its readers take: symmetric GPTQ, AWQ.

    Args:
        section: The folder's ``quantization_config``.
        activation_bits: What the build says.
        vllm_has_int4: Whether vLLM has that product here.
    """
    reads = section.get("quant_method") == "awq" or (
        section.get("quant_method") == "gptq" and section.get("sym", True) is True
    )
    return "vLLM" if vllm_has_int4 and activation_bits == 8 and reads else "agent-eval"


def vllm_has_int4() -> bool:
    """Tell whether vLLM multiplies 8-bit activations by 4-bit weights on this processor: it wants tiles of AMX."""
    return bool(
        torch.cpu._is_amx_tile_supported()  # what vLLM asks too
        and hasattr(torch.ops._C, "int4_scaled_mm_cpu")
        and envs.VLLM_CPU_INT4_W4A8
    )


def overrides_for(section: Mapping[str, Any], *, activation_bits: int) -> dict[str, Any]:
    """Return what vLLM is to read otherwise in a folder's configuration (``hf_overrides``) for a build.

    Args:
        section: The folder's ``quantization_config``; it must not be changed.
        activation_bits: 8 or 16, as the build says.

    Returns:
        Nothing where vLLM's own path serves; otherwise the whole section with what differs, for vLLM replaces it.

    Raises:
        CheckpointError: the section asks for what there is not.
        OperatorError: it asks for the compiled kernels, and they are not there.
    """
    if kernel_owner(section, activation_bits=activation_bits, vllm_has_int4=vllm_has_int4()) == "vLLM":
        return {}
    method = str(section.get("quant_method"))
    told = {**section, "activation_bits": activation_bits}
    if method != CPU_INT4:
        told |= {"quant_method": OWN, "folder_method": method}
    form_of(told, method)  # refused here, where the message still reaches whoever asked
    return {"quantization_config": told}
