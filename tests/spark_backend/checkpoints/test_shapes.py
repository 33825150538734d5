from __future__ import annotations

import pytest

from agent_eval.errors import UnknownName
from agent_eval.spark_backend.builds import BUILDS
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.shapes import SHAPES, find_shape
from agent_eval.wiring import EMBEDDED


def test_the_published_shapes_have_the_published_sizes() -> None:
    assert (SHAPES["1.7b"].parameters, len(SHAPES["1.7b"].tensor_shapes())) == (1_707_657_216, 226)
    assert (SHAPES["4b"].parameters, len(SHAPES["4b"].tensor_shapes())) == (4_112_079_360, 290)


def test_the_shape_called_nano_is_the_embedded_models() -> None:
    embedded = SparkConfig.from_folder(EMBEDDED["nano"])
    assert SHAPES["nano"].tensor_shapes() == embedded.tensor_shapes()
    for name in ("sliding_window", "max_position_embeddings", "full_rope", "sliding_rope", "layer_types"):
        assert getattr(SHAPES["nano"], name) == getattr(embedded, name)


@pytest.mark.parametrize("name", SHAPES)
def test_every_width_divides_into_groups(name: str) -> None:
    assert BUILDS
    assert all(shape[1] % 64 == 0 for shape in SHAPES[name].tensor_shapes().values() if len(shape) == 2)


def test_a_shape_is_found_by_its_name() -> None:
    assert find_shape("4b") is SHAPES["4b"]
    with pytest.raises(UnknownName, match=r"unknown shape '1\.7B'; expected one of: 1\.7b, 4b, mid, nano"):
        find_shape("1.7B")
