from __future__ import annotations

import subprocess
import sys

import pytest

from agent_eval import spark_backend


@pytest.mark.parametrize("module", ["", ".checkpoints.config", ".chat", ".probe", ".weight_path"])
def test_importing_what_needs_no_torch_loads_no_torch(module: str) -> None:
    script = f"import sys, agent_eval.spark_backend{module}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", spark_backend.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(spark_backend, name) is not None


def test_the_lists_of_public_names_agree() -> None:
    assert list(spark_backend._HOME) == list(spark_backend.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = spark_backend.nothing
