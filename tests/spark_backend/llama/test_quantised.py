from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch import Tensor

from agent_eval.spark_backend.llama.gguf import BlockType
from tests.spark_backend.llama.blocks import READERS, dequantised

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.peers

TYPES = tuple(READERS)


def quantised(rows: Tensor, type_: BlockType) -> bytes:
    from agent_eval.spark_backend.llama.convert import quantised as under_test

    return bytes(under_test(rows, type_))


def rows(seed: int, spread: float = 0.03) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(6, 512, generator=generator) * spread


# Steps of a grid from least to most: 15 for 4 bits. A normal row of 32 or 16 spans about four of its spreads.
@pytest.mark.parametrize(("type_", "snr_db"), [("Q8_0", 43), ("Q6_K", 33), ("Q5_0", 24), ("Q4_K", 21)])
def test_a_row_comes_back_as_close_as_its_bits_allow(type_: str, snr_db: float) -> None:
    x = rows(1)
    back = torch.from_numpy(dequantised(quantised(x, BlockType[type_]), BlockType[type_], (6, 512)))
    noise = (back - x).square().mean()
    assert 10 * torch.log10(x.square().mean() / noise) > snr_db


@pytest.mark.parametrize("type_", TYPES)
def test_blocks_stand_for_what_the_gguf_package_reads(type_: BlockType) -> None:
    gguf = pytest.importorskip("gguf")
    data = quantised(rows(2), type_)
    packed: NDArray[np.uint8] = np.frombuffer(data, dtype=np.uint8).reshape(6, -1)
    theirs = gguf.quants.dequantize(packed, gguf.GGMLQuantizationType[type_.name])
    np.testing.assert_allclose(dequantised(data, type_, (6, 512)), theirs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("type_", TYPES)
def test_rows_are_quantised_alone(type_: BlockType) -> None:
    x = rows(3)
    assert quantised(x, type_) == b"".join(quantised(x[i : i + 1], type_) for i in range(len(x)))


@pytest.mark.parametrize("type_", TYPES)
def test_rows_of_zeros_and_of_one_value_come_back(type_: BlockType) -> None:
    x = torch.stack([torch.zeros(512), torch.full((512,), 0.5)])
    back = dequantised(quantised(x, type_), type_, (2, 512))
    np.testing.assert_allclose(back, x.numpy(), atol=0.5 / 16)
    assert not back[0].any()
