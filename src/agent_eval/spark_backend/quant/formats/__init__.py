"""Checkpoint folders with four-bit weights as other tools read and write them."""

from agent_eval.spark_backend.quant.formats.awq import Awq
from agent_eval.spark_backend.quant.formats.cpu_int4 import CpuInt4
from agent_eval.spark_backend.quant.formats.folder import Found, QuantisedWeights, open_quantised
from agent_eval.spark_backend.quant.formats.format import Format
from agent_eval.spark_backend.quant.formats.gptq import Gptq

__all__ = ["Awq", "CpuInt4", "Format", "Found", "Gptq", "QuantisedWeights", "open_quantised"]
