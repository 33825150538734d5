"""The decision table: what to expect of a class of devices before anything was measured on it. Data, and its look-up.

The rows are those of the reference study, with what was found wrong in them put right: the bits a weight follow from
the packing, GPTQ's 4.156 and not 4.25; fused norms are off; and where this project's own measurements disagree with a
row, the row says so. None of this is evidence, and no advice that rests on it is conclusive.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, get_args

from agent_eval.types import Claim, Decision, MachineProbe, Priority

REFERENCE = "bf16"
"""The build that is kept where nothing is known."""
STUDY = "the reference study, dual Xeon 8480C"
"""The public edge study of Spark-X2.5: vLLM 0.28 on two Xeon Platinum 8480C, which have AMX."""
STUDY_TABLE = "the reference study's table"
"""What that study's own selector says, without a figure beside it."""
PHONE_STUDY = "the reference study, Galaxy S25"
"""The same study, by AI Hub on a Snapdragon 8 Elite."""
PAGE = "docs/reference/decisions.md"
FULL_SIZE = "docs/measurements.md#spark-at-full-size"
SIXTY_TASKS = "docs/measurements.md#the-suite-of-sixty-tasks"
IN_VLLM = "docs/measurements.md#speed-memory-and-start-of-both-engines"
SWITCHES = "docs/measurements.md#how-vllm-is-used"


class Packing(NamedTuple):
    """How a matrix is stored, in bits: a code for each weight, a scale and a zero for each group."""

    codes: int
    scale: int = 0
    zero: int = 0
    group: int | None = None

    @property
    def bits_per_weight(self) -> float:
        """Bits that one weight takes."""
        return self.codes + (self.scale + self.zero) / (self.group or 1)

    @property
    def arithmetic(self) -> str:
        """The same as a sum."""
        shares = [f"{bits}/{self.group}" for bits in (self.scale, self.zero) if bits and self.group]
        return " + ".join((str(self.codes), *shares))


GPTQ_G128 = Packing(codes=4, scale=16, zero=4, group=128)
"""GPTQ and AWQ: a scale of 16 bits and a packed zero of 4, which is stored though a symmetric matrix needs none."""
CPU_INT4_G128 = Packing(codes=4, scale=16, zero=16, group=128)
"""``cpu_int4``: scale and zero in bfloat16, so that the zero may be any number."""
W8 = Packing(codes=8)
"""A scale for each channel, which is less than a hundredth of a bit."""
PLAIN = Packing(codes=16)

_PERPLEXITY = Claim(
    "Against its own bf16 the perplexity of w4a8 is 27.2 % higher and that of w4a16 in cpu_int4 18.2 %, and of 12 "
    "greedy replies w4a8 repeats 1 and w4a16 2.",
    STUDY,
)
_HEAD = Claim(
    "The head must be quantised too: with a head left in bfloat16 w4a8 decodes 76.0 tokens/s, and 88.7 without that.",
    STUDY,
)
_FUSED = Claim("Fused norms stay off: with them it decodes 72.7 tokens/s, and 74.0 without them.", STUDY)
_FUSED_HERE = Claim(
    "This project found no measured difference from fused norms either, a ratio of 1.04 [0.93, 1.06].", SWITCHES
)
_NO_AGENTIC = Claim("The study knows no priority agentic; this row is its row for fidelity.", STUDY_TABLE)

_W4A8_AMX = Decision(
    device_class="x86-amx",
    priority="speed",
    path="w4a8-amx",
    build="w4a8",
    quantization="gptq",
    group=GPTQ_G128.group,
    bits_per_weight=GPTQ_G128.bits_per_weight,
    arithmetic=GPTQ_G128.arithmetic,
    runs_in_vllm=True,
    vllm_kwargs={"quantization": "gptq"},
    fused_cpu_norms=False,
    verified=True,
    why=Claim(
        "The int8 tiles of AMX multiply 4-bit weights by 8-bit activations directly: on 24 threads w4a8 decodes 86.6 "
        "tokens/s, w4a16 80.0 and bf16 41.0.",
        STUDY,
    ),
    build_with="agent-eval build MODEL --to w4a8 --group 128 --out FOLDER",
    notes=(
        Claim(
            "A later run of the study decoded 74.4 and 71.6 tokens/s in w4a8 and w4a16, which are no measured "
            "difference by the 8 % that this project asks for.",
            STUDY,
        ),
        _PERPLEXITY,
        _HEAD,
        Claim("vLLM's GPTQ takes symmetric groups only; an asymmetric grid goes in as AWQ.", STUDY_TABLE),
        _FUSED,
        _FUSED_HERE,
    ),
    measured=(
        Claim(
            "In this project's own kernels nano decodes 1.87 [1.82, 1.99] times as fast in w4a8 as in bf16 on a "
            "processor with AMX, and 1.42 [1.38, 1.47] times in w4a16.",
            SIXTY_TASKS,
        ),
    ),
)

_W4A16 = Decision(
    device_class="x86-avx512",
    priority="speed",
    path="w4a16-tinygemm",
    build="w4a16",
    quantization="cpu_int4",
    group=CPU_INT4_G128.group,
    bits_per_weight=CPU_INT4_G128.bits_per_weight,
    arithmetic=CPU_INT4_G128.arithmetic,
    runs_in_vllm=True,
    vllm_kwargs={"quantization": "cpu_int4"},
    fused_cpu_norms=False,
    verified=True,
    why=Claim(
        "The int4 kernel of PyTorch serves w4a16 on any x86 processor, and decoding is bound by reading the weights.",
        STUDY_TABLE,
    ),
    build_with="agent-eval build MODEL --to w4a16 --group 128 --out FOLDER",
    notes=(_PERPLEXITY, _HEAD, _FUSED, _FUSED_HERE),
)

_BY_ITS_TABLE = Claim(
    "The study's table calls this way verified on every x86 processor; the processor that it ran on has AMX.",
    STUDY_TABLE,
)

_NOT_BY_ITS_TABLE = Claim(
    "The study's table calls this way verified on every x86 processor; without AVX2 it is not taken for that here.",
    PAGE,
)

_ARM64 = replace(
    _W4A16,
    device_class="arm64",
    verified=False,
    why=Claim(
        "Decoding is bound by reading the weights; the study names this way for arm64 and has not run it.", STUDY_TABLE
    ),
)

_GPU = replace(
    _W4A16,
    device_class="cuda-discrete",
    path="bf16",
    build=REFERENCE,
    quantization=None,
    group=None,
    bits_per_weight=PLAIN.bits_per_weight,
    arithmetic=PLAIN.arithmetic,
    vllm_kwargs={},
    why=Claim("A GPU runs the checkpoint as it is, in bfloat16.", STUDY_TABLE),
    build_with="nothing: the checkpoint as published",
    notes=(
        Claim("The study calls this verified on a discrete GPU; no figure of it is on record here.", STUDY_TABLE),
        Claim("This program computes on processors, so it cannot measure a GPU.", PAGE),
    ),
)

_GPU_FP16 = replace(
    _GPU,
    path="fp16",
    build=None,
    why=Claim("A GPU without bfloat16 runs the checkpoint in float16.", STUDY_TABLE),
    notes=(
        Claim(
            "float16 has fewer bits of exponent than the checkpoint's bfloat16: look for values that are not finite.",
            "IEEE 754-2019, binary16",
        ),
        *_GPU.notes,
    ),
)

_NPU = replace(
    _W4A16,
    device_class="phone-npu",
    path="export-qnn-w8a16",
    build=None,
    quantization=None,
    group=None,
    bits_per_weight=W8.bits_per_weight,
    arithmetic=W8.arithmetic,
    runs_in_vllm=False,
    vllm_kwargs={},
    why=Claim(
        "On the NPU a token takes 27.36 ms in calibrated w8a16 at a context of 1k, which is 36.5 tokens/s.",
        PHONE_STUDY,
    ),
    build_with="the study's spark_export, to ONNX and from there to QNN; this program exports nothing",
    notes=(
        Claim(
            "Calibrate with real activations: calibrated w8a16 keeps a signal-to-noise ratio of 36.9 dB or more, "
            "uncalibrated w4a16 has -1.6 dB.",
            PHONE_STUDY,
        ),
        Claim(
            "Weights of 4 bits save memory there and no time, 0.917 against 0.912 ms a layer, and the converter "
            "refuses calibrated ones.",
            PHONE_STUDY,
        ),
        Claim("The head must be quantised too; it takes 3.907 of the 27.36 ms.", PHONE_STUDY),
        Claim(
            "What was measured there is speed and signal; no outcome of a task is known.",
            PHONE_STUDY,
        ),
    ),
)

_UNKNOWN = replace(
    _GPU,
    device_class="other",
    runs_in_vllm=False,
    verified=False,
    why=Claim("Nothing is known of this class of devices.", PAGE),
    notes=(),
)


def _each(row: Decision, *priorities: Priority) -> tuple[Decision, ...]:
    """Return the row for some priorities, all of them by default."""
    return tuple(replace(row, priority=priority) for priority in priorities or get_args(Priority))


def _like_fidelity(row: Decision) -> tuple[Decision, ...]:
    """Return a row for fidelity, and the same for agentic with a note that the study has no such priority."""
    fidelity, agentic = _each(row, "fidelity", "agentic")
    return fidelity, replace(agentic, notes=(*agentic.notes, _NO_AGENTIC))


def _x86(device_class: str, *measured: Claim, verified: bool = True) -> tuple[Decision, ...]:
    row = replace(
        _W4A16,
        device_class=device_class,
        verified=verified,
        notes=(_BY_ITS_TABLE if verified else _NOT_BY_ITS_TABLE, *_W4A16.notes),
        measured=measured,
    )
    return (*_each(row, "speed"), *_like_fidelity(row))


DECISIONS: tuple[Decision, ...] = (
    _W4A8_AMX,
    *_like_fidelity(replace(_W4A16, device_class="x86-amx", measured=_W4A8_AMX.measured)),
    *_x86(
        "x86-avx512",
        Claim(
            "Against this row, this project's own kernels decode w4a8 at 35.6 tokens/s, w4a16 at 34.8 and bf16 at 8.45 "
            "on AVX-512 with VNNI, with SYNTHETIC weights of the 1.7B shape, and prompts at 189, 122 and 114.",
            FULL_SIZE,
        ),
        Claim(
            "In vLLM the same kernels decode w4a8 at 22.9 tokens/s, w4a16 at 21.8 and bf16 at 9.90 on AVX-512 with "
            "VNNI.",
            IN_VLLM,
        ),
    ),
    *_x86(
        "x86-avx2",
        Claim(
            "Against this row, this project's own kernels decode w4a8 at 34.9 tokens/s, w4a16 at 24.7 and bf16 at 8.22 "
            "on a processor held to AVX2, with SYNTHETIC weights of the 1.7B shape.",
            FULL_SIZE,
        ),
    ),
    *_x86("x86-other", verified=False),
    *_each(_ARM64, "speed"),
    *_like_fidelity(_ARM64),
    *_each(_GPU),
    *_each(_GPU_FP16),
    *_each(replace(_GPU, device_class="jetson", verified=False)),
    *_each(replace(_GPU_FP16, device_class="jetson", verified=False)),
    *_each(_NPU),
    *_each(replace(_UNKNOWN, device_class="accelerator-other", path="none known", build=None)),
    *_each(_UNKNOWN),
)
"""One row for each class and priority; two for GPUs, with bfloat16 and without."""


def decide(probe: MachineProbe, priority: Priority) -> Decision:
    """Return the row for a machine and a priority."""
    rows = [row for row in DECISIONS if (row.device_class, row.priority) == (probe.device_class, priority)]
    without = [row for row in rows if row.path == "fp16"]
    return without[0] if without and probe.bf16 is False else rows[0]
