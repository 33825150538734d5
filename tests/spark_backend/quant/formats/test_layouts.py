"""The bits of each format, written out by hand and read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.quant.formats import Awq, CpuInt4, Format, Gptq
from agent_eval.spark_backend.quant.formats.nibbles import (
    AWQ_ORDER,
    GPTQ_ORDER,
    pack_bytes,
    pack_words,
    unpack_bytes,
    unpack_words,
)
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.rounding import Form, Grid, round_groups

FORM_OF: dict[str, Form] = {"gptq": "symmetric", "awq": "point", "cpu_int4": "zero"}
FORMATS: dict[str, Format] = {"gptq": Gptq(32), "awq": Awq(32), "cpu_int4": CpuInt4(32)}


def quantised(layout: Format, rows: int = 24, width: int = 96, seed: int = 0) -> GroupedWeight:
    weight = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed)) + 0.3
    return round_groups(weight, Grid(4, FORM_OF[layout.method], layout.group), "search")


@pytest.mark.parametrize(
    ("order", "codes", "word"),
    [
        (GPTQ_ORDER, [1, 2, 3, 4, 5, 6, 7, 8], 0x87654321),
        (GPTQ_ORDER, [15, 0, 0, 0, 0, 0, 0, 0], 0x0000000F),
        (AWQ_ORDER, [0, 1, 2, 3, 4, 5, 6, 7], 0x75316420),
        (AWQ_ORDER, [8] * 8, 0x88888888),
        (AWQ_ORDER, [0, 0, 0, 0, 0, 0, 0, 15], 0xF0000000),
    ],
)
def test_eight_codes_make_a_word(order: tuple[int, ...], codes: list[int], word: int) -> None:
    packed = pack_words(torch.tensor(codes, dtype=torch.uint8), order)
    assert packed.dtype == torch.int32
    assert int(packed[0]) & 0xFFFFFFFF == word
    assert unpack_words(packed, order).tolist() == codes


def test_two_codes_make_a_byte_the_first_in_the_low_half() -> None:
    assert pack_bytes(torch.tensor([1, 2, 15, 0], dtype=torch.uint8)).tolist() == [0x21, 0x0F]


@given(st.lists(st.integers(0, 15), min_size=8, max_size=64).filter(lambda codes: len(codes) % 8 == 0))
def test_packing_is_undone_by_unpacking(codes: list[int]) -> None:
    tensor = torch.tensor(codes, dtype=torch.uint8)
    assert unpack_bytes(pack_bytes(tensor)).tolist() == codes
    for order in (GPTQ_ORDER, AWQ_ORDER):
        assert unpack_words(pack_words(tensor, order), order).tolist() == codes


def slow_gptq(tensors: dict[str, Tensor], offset: int) -> np.ndarray[Any, Any]:
    """Decode by the text of the format: one weight at a time."""
    words, zeros = (tensors[name].numpy().astype(np.int64) & 0xFFFFFFFF for name in ("qweight", "qzeros"))
    scales, groups = tensors["scales"].double().numpy(), tensors["g_idx"].numpy()
    width, rows = 8 * words.shape[0], words.shape[1]
    out = np.zeros((rows, width))
    for n in range(rows):
        for k in range(width):
            code = words[k // 8, n] >> (4 * (k % 8)) & 15
            zero = (zeros[groups[k], n // 8] >> (4 * (n % 8)) & 15) + offset
            out[n, k] = (code - zero) * scales[groups[k], n]
    return out


def slow_awq(tensors: dict[str, Tensor]) -> np.ndarray[Any, Any]:
    words, zeros = (tensors[name].numpy().astype(np.int64) & 0xFFFFFFFF for name in ("qweight", "qzeros"))
    scales = tensors["scales"].double().numpy()
    width, rows = words.shape[0], 8 * words.shape[1]
    group = width // scales.shape[0]
    out = np.zeros((rows, width))
    for place, channel in enumerate((0, 2, 4, 6, 1, 3, 5, 7)):
        for n in range(channel, rows, 8):
            for k in range(width):
                code = words[k, n // 8] >> (4 * place) & 15
                zero = zeros[k // group, n // 8] >> (4 * place) & 15
                out[n, k] = (code - zero) * scales[k // group, n]
    return out


def slow_cpu_int4(tensors: dict[str, Tensor]) -> np.ndarray[Any, Any]:
    packed = tensors["weight_packed"].numpy()
    scale, zero = (tensors[name].double().numpy() for name in ("weight_scale", "weight_zero"))
    rows, width = packed.shape[0], 2 * packed.shape[1]
    group = width // scale.shape[1]
    out = np.zeros((rows, width))
    for n in range(rows):
        for k in range(width):
            code = packed[n, k // 2] >> (4 * (k % 2)) & 15
            out[n, k] = (int(code) - 8) * scale[n, k // group] + zero[n, k // group]
    return out


DECODERS: dict[str, Callable[[dict[str, Tensor]], np.ndarray[Any, Any]]] = {
    "gptq": lambda tensors: slow_gptq(tensors, offset=1),  # version 1 stores zeros minus one
    "awq": slow_awq,
    "cpu_int4": slow_cpu_int4,
}


@pytest.mark.parametrize("method", FORMATS)
def test_what_is_written_decodes_by_the_text_of_the_format(method: str) -> None:
    layout = FORMATS[method]
    weight = quantised(layout)
    tensors = layout.tensors(weight)
    expected = {suffix: (planned.dtype, planned.shape) for suffix, planned in layout.layout(24, 96).items()}
    assert {suffix: (tensor.dtype, tuple(tensor.shape)) for suffix, tensor in tensors.items()} == expected
    step = weight.scale.double().repeat_interleave(32, dim=1).numpy()
    # AWQ's zero is a whole number of steps; the one that the kernels take is rounded to bfloat16
    slack = step / 32 if method == "awq" else 1e-12
    assert np.all(np.abs(DECODERS[method](tensors) - weight.dequantised().double().numpy()) <= slack)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), start=st.integers(0, 39), length=st.integers(1, 40))
@pytest.mark.parametrize("method", FORMATS)
def test_any_rows_are_read_back_bit_by_bit(method: str, seed: int, start: int, length: int) -> None:
    layout = FORMATS[method]
    weight, end = quantised(layout, rows=40, seed=seed), min(start + length, 40)
    source = layout.source(layout.tensors(weight))
    assert (source.shape, source.bits, source.group, source.symmetric) == ((40, 96), 4, 32, method == "gptq")
    found, expected = source.grouped(start, end), weight.rows(start, end)
    assert torch.equal(found.codes, expected.codes)
    assert torch.equal(found.scale, expected.scale)
    assert (found.zero is None) == (expected.zero is None)
    if found.zero is not None and expected.zero is not None:
        assert torch.equal(found.zero, expected.zero)
    assert torch.equal(source.rows(start, end), expected.dequantised())


def test_symmetric_zeros_are_stored_as_each_version_of_gptq_wants_them() -> None:
    weight = quantised(FORMATS["gptq"])
    for layout, word in ((Gptq(32), 0x77777777), (Gptq(32, version=2), 0x88888888)):
        assert {int(w) & 0xFFFFFFFF for w in layout.tensors(weight)["qzeros"].flatten()} == {word}


@pytest.mark.parametrize("version", [1, 2])
def test_asymmetric_gptq_is_read_in_both_versions(version: int) -> None:
    generator = torch.Generator().manual_seed(3)
    rows, width, group = 16, 64, 32
    stored = torch.randint(0, 16, (width // group, rows), generator=generator).to(torch.uint8)
    codes = torch.randint(0, 16, (rows, width), generator=generator).to(torch.uint8)
    tensors = {
        "qweight": pack_words(codes).t().contiguous(),
        "qzeros": pack_words(stored),
        "scales": (torch.rand(width // group, rows, generator=generator) + 0.5).bfloat16(),
        "g_idx": torch.arange(width, dtype=torch.int32) // group,
    }
    section = {"bits": 4, "group_size": group, "sym": False, "checkpoint_format": "gptq" if version == 1 else "gptq_v2"}
    source = Gptq.read(section).source(tensors)
    exact = slow_gptq(tensors, offset=1 if version == 1 else 0)
    step = tensors["scales"].double().numpy()[np.arange(width) // group].T
    assert not source.symmetric
    assert np.all(np.abs(source.rows(0, rows).double().numpy() - exact) <= step / 32)


@pytest.mark.parametrize("stored", [7, 8])
def test_symmetric_gptq_takes_both_zeros_that_writers_use(stored: int) -> None:
    tensors = FORMATS["gptq"].tensors(quantised(FORMATS["gptq"]))
    tensors["qzeros"] = pack_words(torch.full((3, 24), stored, dtype=torch.uint8))
    FORMATS["gptq"].check("w", tensors)


def test_symmetric_gptq_with_other_zeros_is_refused() -> None:
    tensors = FORMATS["gptq"].tensors(quantised(FORMATS["gptq"]))
    tensors["qzeros"][1, 2] = 0x78877877
    FORMATS["gptq"].check("w", tensors)
    tensors["qzeros"][1, 2] = 0x78877817
    with pytest.raises(CheckpointError, match=r"w\.qzeros holds \[1, 7, 8\], expected 7 or 8"):
        FORMATS["gptq"].check("w", tensors)


SECTIONS: list[tuple[Callable[[dict[str, Any]], Format], dict[str, Any], str]] = [
    (Gptq.read, {"bits": 8}, "bits is 8, expected 4: 8-bit"),
    (Gptq.read, {"bits": 4.0}, r"bits is 4\.0, expected 4"),
    (Gptq.read, {"desc_act": True}, "desc_act is True, expected False: columns in order of activation"),
    (Gptq.read, {"group_size": -1}, "group_size is -1, expected 32 or 64 or 128"),
    (Gptq.read, {"group_size": 256}, "group_size is 256"),
    (Gptq.read, {"group_size": "128"}, "group_size is '128'"),
    (Gptq.read, {"sym": 1}, "sym is 1, expected True or False"),
    (Gptq.read, {"checkpoint_format": "marlin"}, "checkpoint_format is 'marlin', expected 'gptq' or 'gptq_v2'"),
    (Gptq.read, {"dynamic": {"+:.*down.*": {"bits": 8}}}, "dynamic gives some layers other bits"),
    (Awq.read, {"bits": 8}, "bits is 8, expected 4"),
    (Awq.read, {"w_bit": 3, "bits": 3}, "bits is 3, expected 4"),
    (Awq.read, {"zero_point": False}, "zero_point is False, expected True"),
    (Awq.read, {"version": "gemv"}, "version is 'gemv', expected 'gemm' or 'GEMM'"),
    (CpuInt4.read, {"group_size": 48}, "group_size is 48"),
]


@pytest.mark.parametrize(("read", "change", "message"), SECTIONS)
def test_a_section_that_asks_for_something_else_is_refused(
    read: Callable[[dict[str, Any]], Format], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        read({"bits": 4, "group_size": 128, **change})
    assert "agent-eval build" in caught.value.hint or "layer alike" in caught.value.hint


@pytest.mark.parametrize("method", FORMATS)
def test_a_written_section_is_read_back(method: str) -> None:
    layout = FORMATS[method]
    found = type(layout).read(layout.section())  # type: ignore[attr-defined]
    assert (found.group, found.symmetric, found.method) == (32, layout.symmetric, method)


def test_autoawqs_own_spelling_is_read() -> None:
    assert Awq.read({"w_bit": 4, "q_group_size": 64, "zero_point": True, "version": "GEMM"}).group == 64
