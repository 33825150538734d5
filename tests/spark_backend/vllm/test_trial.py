"""What vLLM says when ``agent-eval doctor`` loads it in a process of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("vllm")

from agent_eval.doctor import PINS, tried_vllm, try_engine
from agent_eval.spark_backend.builds import BUILDS
from agent_eval.spark_backend.vllm.trial import FOUR_BITS

pytestmark = pytest.mark.vllm


def test_vllm_starts_takes_the_model_and_says_what_would_compute_each_build() -> None:
    trial = try_engine("vLLM")
    assert trial.failure == ""
    assert (trial.facts["version"], trial.facts["device"]) == (tried_vllm(PINS), "cpu")
    assert tuple(trial.facts["builds"]) == BUILDS
    assert all(trial.facts["builds"].values())
    assert set(trial.facts["operators"]) <= set(FOUR_BITS)
