"""Our float32 and bf16 builds against mlx-lm's own model and the authors' plugin for vLLM, whole rows of logits each.

What every prompt of more than two windows shows: both kinds of layer with their rotary parameters, the ring of a
sliding layer, prompts that are computed in parts, and tokens that are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from agent_eval.spark_backend.builds import LoadedBuild, compiled_kernels, load_build
from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.config import Rope, SparkConfig
from agent_eval.spark_backend.kernels.decode import Decoder, can_decode
from agent_eval.spark_backend.loader import Weights
from agent_eval.types import Sampling
from tests.peers.parity.cases import Case, make_case
from tests.peers.parity.peer import PEERS, Answer, Request
from tests.peers.parity.twin import Twin

pytestmark = [pytest.mark.peers, pytest.mark.slow]

NEW = 64
"""Tokens that each prompt is continued by."""
EQUAL = 1e-4
"""Most that two float32 implementations may differ in a log-probability, over every token of the vocabulary."""
SHARP = 1e-3
"""The same for the embedded model where both turn by their own angles. It attends sharply, and 1,300 tokens into a text
the rounding of an angle to float32 is 1e-4: what is then left is held to ``EQUAL`` by a twin with the peer's angles."""
NEAR_TIE = {"nano": 0.2, "mid": 0.1, "untied": 0.1}
"""Where two bf16 implementations part, the tokens that they chose lie within this (nats) in float32. Both round every
activation to 8 bits and at different places; what that does to a log-probability is measured in the same test."""


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    PEERS[request.param].require()
    return str(request.param)


@pytest.fixture(scope="module", params=["nano", "mid", "untied"])
def case(request: pytest.FixtureRequest, folders: Path) -> Case:
    return cached_case(request.param, folders)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parity")


@cache
def cached_case(name: str, folders: Path) -> Case:
    return make_case(name, folders / name)


def together(case: Case) -> list[list[int]]:
    return [case.wild[:90], case.wild[90:180], case.wild[180:270]]


def rotary(case: Case) -> list[tuple[float, int]]:
    config = SparkConfig.from_folder(case.folder)
    return [(rope.theta, rope.rotary_dim(config.head_dim)) for rope in (config.full_rope, config.sliding_rope)]


def bound(case: Case) -> float:
    return SHARP if case.name == "nano" else EQUAL


@cache
def answer(peer: str, dtype: str, case_name: str, folders: Path) -> Answer:
    case = cached_case(case_name, folders)
    exact = dtype == "float32"
    prompts = [*case.prompts, *([case.wild] if case.wild is not case.prompts[-1] else [])]
    asked = Request(
        folder=str(case.folder),
        dtype=dtype,
        prompts=prompts,
        new_tokens=NEW,
        read=exact,
        together=together(case) if exact else [],
        rotary=rotary(case),
    )
    return PEERS[peer].ask(asked, folders / f"{case_name}-{dtype}-{peer}")


@pytest.fixture
def float32(peer: str, case: Case, folders: Path) -> Answer:
    return answer(peer, "float32", case.name, folders)


@cache
def ours(folder: Path, build: str) -> LoadedBuild:
    return load_build(folder, build, threads=1, context=2048)


def logprobs(logits: Tensor) -> NDArray[np.float64]:
    return logits.double().log_softmax(-1).numpy()


def whole(build: LoadedBuild, prompts: list[list[int]]) -> NDArray[np.float64]:
    """Compute prompts of one length in one pass, without a cache: (B, T, V)."""
    model = build.engine.model
    with torch.inference_mode():
        return logprobs(model.logits(model(torch.tensor(prompts))))


def stepped(build: LoadedBuild, prompt: list[int], told: list[int], *, compiled: bool) -> NDArray[np.float64]:
    """Return what each of the told tokens is chosen by, after the prompt and those before it: (len(told), V)."""
    model, kernels = build.engine.model, compiled_kernels()
    cache = Cache(build.config, limit=2048)
    decoder = Decoder(model, kernels) if compiled and kernels is not None else None
    with torch.inference_mode():
        rows = [model.logits(model(torch.tensor([prompt]), cache)[0, -1])]
        for token in told[:-1]:
            if decoder is None:
                rows.append(model.logits(model(torch.tensor([[token]]), cache)[0, -1]))
            else:
                rows.append(decoder.step(token, cache).clone())
    return logprobs(torch.stack(rows))


def greedy(build: LoadedBuild, prompt: list[int], tokens: int = NEW) -> list[int]:
    return list(build.engine.generate(prompt, frozenset(), Sampling(max_tokens=tokens)).ids)


Record = Callable[[str, object], None]
"""pytest's ``record_property``: what was measured stands in the report that ``--junitxml`` writes."""


def apart(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    assert one.shape == other.shape
    return float(np.abs(one - other).max())


def test_float32_agrees_after_every_token_of_a_prompt(case: Case, float32: Answer, record_property: Record) -> None:
    for i, prompt in enumerate(case.prompts):
        rows = whole(ours(case.folder, "fp32"), [prompt])[0]
        assert rows.min() < -9, "flat rows would agree with anything"
        difference = apart(rows, float32[f"whole_{i}"])
        record_property(f"{len(prompt)} tokens", difference)
        assert difference < bound(case)


def test_float32_agrees_on_what_every_new_token_is_chosen_by(
    case: Case, float32: Answer, record_property: Record
) -> None:
    build = ours(case.folder, "fp32")
    compiled = [False, True] if compiled_kernels() is not None and can_decode(build.engine.model) else [False]
    for i, prompt in enumerate(case.prompts):
        told = [int(token) for token in float32[f"greedy_{i}"]]
        for way in compiled:
            difference = apart(stepped(build, prompt, told, compiled=way), float32[f"steps_{i}"])
            record_property(f"{NEW} after {len(prompt)}, {'compiled' if way else 'modules'}", difference)
            assert difference < bound(case)


def test_float32_continues_with_the_same_tokens(case: Case, float32: Answer) -> None:
    for i, prompt in enumerate(case.prompts):
        engine = ours(case.folder, "fp32").engine
        engine.begin()
        expected = float32[f"greedy_{i}"].tolist()
        assert greedy(ours(case.folder, "fp32"), prompt) == expected
        # again after a shorter prompt, as an episode grows, and from a prefix that an episode before has left
        engine.begin(prompt[: len(prompt) // 2])
        assert greedy(ours(case.folder, "fp32"), [*prompt, *expected[:10]], 20) == expected[10:30]
        assert greedy(ours(case.folder, "fp32"), [*prompt, *expected[:30]], NEW - 30) == expected[30:]
        engine.begin(prompt[: len(prompt) // 2])
        assert greedy(ours(case.folder, "fp32"), prompt) == expected
        if f"again_{i}" in float32:
            assert float32[f"again_{i}"].tolist() == expected


def test_float32_agrees_on_prompts_computed_together(case: Case, float32: Answer) -> None:
    rows = whole(ours(case.folder, "fp32"), together(case))[:, -1]
    for i, prompt in enumerate(together(case)):
        theirs = float32[f"together_{i}"]
        if theirs.shape == rows[i].shape:
            assert apart(rows[i], theirs) < EQUAL
        else:
            assert greedy(ours(case.folder, "fp32"), prompt) == theirs.tolist()


@dataclass(frozen=True)
class Frequencies:
    """Angles in float32 throughout, as peers compute them: positions times these numbers."""

    of: dict[tuple[float, int], Tensor]

    def __call__(self, rope: Rope, rotated: int, positions: int) -> Tensor:
        return torch.outer(torch.arange(positions).float(), self.of[rope.theta, rotated]).double()


def angles_of(theirs: Answer, case: Case) -> Frequencies:
    found = {}
    for i, (theta, rotated) in enumerate(rotary(case)):
        as_torch = 1 / theta ** (torch.arange(0, rotated, 2).float() / rotated)
        found[theta, rotated] = (
            torch.from_numpy(theirs[f"frequencies_{i}"]) if f"frequencies_{i}" in theirs else as_torch
        )
    return Frequencies(found)


def test_what_is_left_on_long_texts_is_the_rounding_of_the_peers_angles(
    folders: Path, peer: str, record_property: Record
) -> None:
    case = cached_case("nano", folders)
    theirs = answer(peer, "float32", "nano", folders)
    build = ours(case.folder, "fp32")
    weights = Weights(case.folder, build.config)
    rounded = Twin(build.config, weights, angles=angles_of(theirs, case))
    for i, prompt in enumerate([*case.prompts, case.wild]):
        exact = Twin(build.config, weights).logprobs(prompt).numpy()
        mine = apart(whole(build, [prompt])[0], exact)
        other = apart(theirs[f"whole_{i}"], rounded.logprobs(prompt).numpy())
        record_property(f"prompt {i}, ours and exact angles", mine)
        record_property(f"prompt {i}, theirs and their angles", other)
        assert mine < EQUAL
        assert other < 2 * EQUAL  # the rest of their arithmetic rounds too


class Parting(NamedTuple):
    """Where two continuations part."""

    at: int
    ours: int
    theirs: int


def parting(one: list[int], other: list[int]) -> Parting | None:
    return next((Parting(i, a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


def test_bf16_parts_only_at_near_ties(peer: str, case: Case, folders: Path, record_property: Record) -> None:
    theirs = answer(peer, "bfloat16", case.name, folders)
    bf16, exact = ours(case.folder, "bf16"), ours(case.folder, "fp32")
    for i, prompt in enumerate(case.prompts):
        bf16.engine.begin()
        told = [int(token) for token in theirs[f"greedy_{i}"]]
        reference = stepped(exact, prompt, told, compiled=False)
        noise = max(
            apart(stepped(bf16, prompt, told, compiled=True), reference), apart(theirs[f"steps_{i}"], reference)
        )
        assert 1e-3 < noise < 1, "rounding shows, and is no more than that"
        record_property(f"prompt {i}, noise", noise)
        parted = parting(greedy(bf16, prompt), told)
        if parted is not None:
            row = reference[parted.at]
            gap = abs(row[parted.ours] - row[parted.theirs])
            record_property(f"prompt {i}, parted at {parted.at} by", gap)
            assert gap < NEAR_TIE[case.name]
