"""Our float32 and bf16 builds against mlx-lm's own model and two in vLLM, the authors' and ours; whole rows of logits.

What every prompt of more than two windows shows: both kinds of layer with their rotary parameters, the ring of a
sliding layer, prompts that are computed in parts, and tokens that are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
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
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.kernels.decode import Decoder, can_decode
from agent_eval.types import Sampling
from tests.peers.parity.cases import Case, Tokens, make_case
from tests.peers.parity.peer import PEERS, Answer, Request
from tests.peers.parity.twin import Twin

pytestmark = [pytest.mark.peers, pytest.mark.slow]

CASES = ("nano", "mid", "untied")
NEW = 64
"""Tokens that each prompt is continued by."""
EQUAL = 3e-4
"""Most that two float32 implementations may differ in a log-probability, over every token of the vocabulary: half of
it is what rounding does to the embedded model at 1,300 tokens, a tenth of that to random weights."""
SHARP = 1e-3
"""The same for mlx on the embedded model, which attends sharply: mlx's exponential makes frequencies of its own, up to
6e-7 of their value from the published. A twin that turns by these is held to twice ``EQUAL``."""
ROUNDING = 1.0
"""Most (nats) that rounding every activation to 8 bits may move a log-probability; a wrong formula moves more."""
WORSE = 2.0
"""Most that our bf16 may lie further from float32 than the peer's does, as a ratio of root mean squares: both round, at
different places, and which places are the better ones differs with the machine's instructions."""

Record = Callable[[str, object], None]
"""pytest's ``record_property``: what was measured stands in what ``-o junit_family=xunit1 --junitxml=FILE`` writes."""


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    PEERS[request.param].require()
    return str(request.param)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return {name: make_case(name, folder / name) for name in CASES}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, cases: dict[str, Case]) -> Case:
    return cases[request.param]


Answers = dict[str, Answer]
"""What one peer answers, by ``{case}-{dtype}``."""


@pytest.fixture(scope="module")
def computing(cases: dict[str, Case], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Answers]]]:
    """Have every peer compute all that is compared: beside each other, since mlx takes one core and more time."""
    requests = {f"{name}-{dtype}": asked(case, dtype) for name, case in cases.items() for dtype in (FP32, BF16)}
    folder = tmp_path_factory.mktemp("answers")
    with ThreadPoolExecutor() as threads:
        yield {
            name: threads.submit(peer.ask, requests, folder / name) for name, peer in PEERS.items() if peer.installed
        }


FP32, BF16 = "float32", "bfloat16"
MULTIPLIED = replace(PEERS["own-in-vllm"], name="own-multiplied", options=("own-multiplied",))
"""Our model in vLLM without the sums that its gate computes for a token or two; asked in bf16 only."""


def asked(case: Case, dtype: str) -> Request:
    exact = dtype == FP32
    return Request(
        folder=str(case.folder),
        dtype=dtype,
        prompts=case.prompts,
        new_tokens=NEW,
        read=case.read if exact else (),
        together=case.together if exact else (),
        rotary=rotary(case),
    )


def rotary(case: Case) -> list[tuple[float, int]]:
    config = SparkConfig.from_folder(case.folder)
    return [(rope.theta, rope.rotary_dim(config.head_dim)) for rope in (config.full_rope, config.sliding_rope)]


@pytest.fixture
def float32(peer: str, case: Case, computing: dict[str, Future[Answers]]) -> Answer:
    return computing[peer].result()[f"{case.name}-{FP32}"]


@pytest.fixture
def bfloat16(peer: str, case: Case, computing: dict[str, Future[Answers]]) -> Answer:
    return computing[peer].result()[f"{case.name}-{BF16}"]


def bound(case: Case, peer: str) -> float:
    return SHARP if (case.name, peer) == ("nano", "mlx") else EQUAL


# what is computed here is computed once for all peers


@cache
def ours(folder: Path, build: str) -> LoadedBuild:
    return load_build(folder, build, threads=1, context=2048)


def logprobs(logits: Tensor) -> NDArray[np.float64]:
    return logits.double().log_softmax(-1).numpy()


@cache
def whole(folder: Path, prompts: tuple[Tokens, ...]) -> NDArray[np.float64]:
    """Compute prompts of one length in float32 in one pass, without a cache: (B, T, V)."""
    model = ours(folder, "fp32").engine.model
    with torch.inference_mode():
        return logprobs(model.logits(model(torch.tensor(prompts))))


@cache
def stepped(folder: Path, build: str, prompt: Tokens, told: Tokens, *, compiled: bool) -> NDArray[np.float64]:
    """Return what each of the told tokens is chosen by, after the prompt and those before it: (len(told), V)."""
    loaded, kernels = ours(folder, build), compiled_kernels()
    model, cache = loaded.engine.model, Cache(loaded.config, limit=2048)
    decoder = Decoder(model, kernels) if compiled and kernels is not None else None
    with torch.inference_mode():
        rows = [model.logits(model(torch.tensor([prompt]), cache)[0, -1])]
        for token in told[:-1]:
            if decoder is None:
                rows.append(model.logits(model(torch.tensor([[token]]), cache)[0, -1]))
            else:
                rows.append(decoder.step(token, cache).clone())
    return logprobs(torch.stack(rows))


def ways(folder: Path) -> list[bool]:
    """Return whether tokens are computed by the compiled step: once not, and once where that is possible."""
    compiled = compiled_kernels() is not None and can_decode(ours(folder, "fp32").engine.model)
    return [False, True] if compiled else [False]


def greedy(build: LoadedBuild, prompt: Sequence[int], tokens: int = NEW) -> list[int]:
    return list(build.engine.generate(prompt, frozenset(), Sampling(max_tokens=tokens)).ids)


@cache
def continued(folder: Path, prompt: Tokens) -> dict[str, list[int]]:
    """Continue a prompt in float32 in every way that its beginning may have been computed."""
    build, half = ours(folder, "fp32"), prompt[: len(prompt) // 2]
    build.engine.begin()
    alone = greedy(build, prompt)
    build.engine.begin(half)
    grown = alone[:10] + greedy(build, [*prompt, *alone[:10]], 20)
    grown += greedy(build, [*prompt, *grown], NEW - len(grown))
    build.engine.begin(half)
    return {"alone": alone, "as an episode grows": grown, "after another episode": greedy(build, prompt)}


def apart(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    assert one.shape == other.shape
    return float(np.abs(one - other).max())


def tokens(row: NDArray[np.floating]) -> Tokens:
    return tuple(int(token) for token in row)


def test_float32_agrees_after_every_token_of_a_prompt(
    peer: str, case: Case, float32: Answer, record_property: Record
) -> None:
    for i, prompt in enumerate(case.read):
        rows = whole(case.folder, (prompt,))[0]
        assert rows.min() < -9, "flat rows would agree with anything"
        difference = apart(rows, float32[f"whole_{i}"])
        record_property(f"{len(prompt)} tokens{', drawn at random' if prompt == case.wild else ''}", difference)
        assert difference < bound(case, peer)


def test_float32_agrees_on_what_every_new_token_is_chosen_by(
    peer: str, case: Case, float32: Answer, record_property: Record
) -> None:
    for i, prompt in enumerate(case.prompts):
        told = tokens(float32[f"greedy_{i}"])
        for way in ways(case.folder):
            rows = stepped(case.folder, "fp32", prompt, told, compiled=way)
            difference = apart(rows, float32[f"steps_{i}"])
            record_property(f"{NEW} after {len(prompt)}, {'compiled' if way else 'modules'}", difference)
            assert difference < bound(case, peer)


def test_float32_continues_with_the_same_tokens(case: Case, float32: Answer) -> None:
    for i, prompt in enumerate(case.prompts):
        expected = float32[f"greedy_{i}"].tolist()
        assert continued(case.folder, prompt) == dict.fromkeys(continued(case.folder, prompt), expected)
        if f"again_{i}" in float32:
            assert float32[f"again_{i}"].tolist() == expected


def test_float32_agrees_on_prompts_computed_together(case: Case, float32: Answer) -> None:
    rows = whole(case.folder, case.together)[:, -1]
    for i, prompt in enumerate(case.together):
        theirs = float32[f"together_{i}"]
        if theirs.shape == rows[i].shape:
            assert apart(rows[i], theirs) < EQUAL
        else:
            assert greedy(ours(case.folder, "fp32"), prompt) == theirs.tolist()


@dataclass(frozen=True)
class Frequencies:
    """Positions times the numbers of mlx, in float32."""

    of: dict[tuple[float, int], Tensor]

    def __call__(self, rope: Rope, rotated: int, positions: int) -> Tensor:
        return torch.outer(torch.arange(positions).float(), self.of[rope.theta, rotated]).double()


def test_what_mlx_differs_by_on_long_texts_are_its_frequencies(
    cases: dict[str, Case], computing: dict[str, Future[Answers]], record_property: Record
) -> None:
    PEERS["mlx"].require()
    case, theirs = cases["nano"], computing["mlx"].result()[f"nano-{FP32}"]
    frequencies = {of: torch.from_numpy(theirs[f"frequencies_{i}"]) for i, of in enumerate(rotary(case))}
    config = SparkConfig.from_folder(case.folder)
    twin = Twin(config, Weights(case.folder, config), angles=Frequencies(frequencies))
    for i, prompt in enumerate(case.read):
        difference = apart(theirs[f"whole_{i}"], twin.logprobs(prompt).numpy())
        record_property(f"prompt {i}, mlx and a twin with its frequencies", difference)
        assert difference < 2 * EQUAL  # the rest of their arithmetic rounds too


@pytest.fixture
def both_in_vllm(computing: dict[str, Future[Answers]]) -> tuple[Answers, Answers]:
    """What the authors' model and ours answer."""
    for name in ("vllm", "own-in-vllm"):
        PEERS[name].require()
    return computing["vllm"].result(), computing["own-in-vllm"].result()


def test_the_authors_model_and_ours_agree_in_float32_in_vllm(
    case: Case, both_in_vllm: tuple[Answers, Answers], record_property: Record
) -> None:
    authors, own = (answers[f"{case.name}-{FP32}"] for answers in both_in_vllm)
    assert authors.keys() == own.keys()
    for name, theirs in authors.items():
        if name.startswith(("whole_", "steps_")):
            record_property(name, apart(theirs, own[name]))
            assert apart(theirs, own[name]) < EQUAL
        else:
            assert own[name].tolist() == theirs.tolist(), name


def test_the_authors_model_and_ours_part_in_bf16_in_vllm_only_at_near_ties(
    case: Case, both_in_vllm: tuple[Answers, Answers], record_property: Record
) -> None:
    authors, own = (answers[f"{case.name}-{BF16}"] for answers in both_in_vllm)
    for i, prompt in enumerate(case.prompts):
        told = tokens(authors[f"greedy_{i}"])
        parted = parting(tokens(own[f"greedy_{i}"]), told)
        record_property(f"prompt {i}, rows until then", apart_until(parted, authors[f"steps_{i}"], own[f"steps_{i}"]))
        if parted is not None:
            exact = stepped(case.folder, "fp32", prompt, told, compiled=False)
            noise = max(apart_until(parted, rows[f"steps_{i}"], exact) for rows in (authors, own))
            gap = float(abs(exact[parted.at, parted.ours] - exact[parted.at, parted.theirs]))
            record_property(f"prompt {i}, parted at {parted.at} by", gap)
            assert gap <= 2 * noise < 2 * ROUNDING


@pytest.fixture(scope="module")
def multiplied(cases: dict[str, Case], tmp_path_factory: pytest.TempPathFactory) -> Answers:
    MULTIPLIED.require()
    requests = {f"{name}-{BF16}": asked(case, BF16) for name, case in cases.items()}
    return MULTIPLIED.ask(requests, tmp_path_factory.mktemp("multiplied") / MULTIPLIED.name)


def test_what_the_two_models_in_vllm_differ_by_in_bf16_is_the_gate_of_a_token_or_two(
    case: Case, both_in_vllm: tuple[Answers, Answers], multiplied: Answers
) -> None:
    authors, own, same = (answers[f"{case.name}-{BF16}"] for answers in (*both_in_vllm, multiplied))
    for i in range(len(case.prompts)):
        assert apart(authors[f"steps_{i}"], same[f"steps_{i}"]) == 0
        assert authors[f"greedy_{i}"].tolist() == same[f"greedy_{i}"].tolist()
        assert apart(authors[f"steps_{i}"][:1], own[f"steps_{i}"][:1]) == 0, "the prompts have more tokens"


def test_our_model_in_vllm_is_the_twin_in_float32(
    cases: dict[str, Case], computing: dict[str, Future[Answers]], record_property: Record
) -> None:
    PEERS["own-in-vllm"].require()
    for case in cases.values():
        config = SparkConfig.from_folder(case.folder)
        twin, own = Twin(config, Weights(case.folder, config)), computing["own-in-vllm"].result()[f"{case.name}-{FP32}"]
        for i, prompt in enumerate(case.read):
            difference = apart(own[f"whole_{i}"], twin.logprobs(prompt).numpy())
            record_property(f"{case.name}, {len(prompt)} tokens", difference)
            assert difference < EQUAL


class Parting(NamedTuple):
    """Where two continuations part."""

    at: int
    ours: int
    theirs: int


def parting(one: Sequence[int], other: Sequence[int]) -> Parting | None:
    return next((Parting(i, a, b) for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


def apart_until(parted: Parting | None, one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """Return the largest difference of rows that follow the same tokens."""
    end = len(one) if parted is None else parted.at + 1
    return apart(one[:end], other[:end])


def test_bf16_rounds_no_worse_than_theirs_and_parts_only_where_that_can_decide(
    case: Case, bfloat16: Answer, record_property: Record
) -> None:
    bf16 = ours(case.folder, "bf16")
    for i, prompt in enumerate(case.prompts):
        told = tokens(bfloat16[f"greedy_{i}"])
        exact = stepped(case.folder, "fp32", prompt, told, compiled=False)
        rounded, theirs = stepped(case.folder, "bf16", prompt, told, compiled=True), bfloat16[f"steps_{i}"]
        noise = max(apart(rounded, exact), apart(theirs, exact))
        assert 1e-3 < noise < ROUNDING, "rounding shows, and is no more than that"
        record_property(f"prompt {i}, noise", noise)
        ratio = spread(rounded - exact) / spread(theirs - exact)
        record_property(f"prompt {i}, our rounding and theirs", ratio)
        assert ratio < WORSE
        bf16.engine.begin()
        parted = parting(greedy(bf16, prompt), told)
        if parted is not None:
            gap = float(abs(exact[parted.at, parted.ours] - exact[parted.at, parted.theirs]))
            record_property(f"prompt {i}, parted at {parted.at} by", gap)
            assert gap <= 2 * noise


def spread(errors: NDArray[np.floating]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))
