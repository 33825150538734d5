"""What the shared engine (``test_sequence_engine.py``) does not ask: that torch's core computes the right numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from agent_eval.errors import EngineFault
from agent_eval.spark_backend.builds import BUILDS, load_build
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.model import Layer, Spark
from agent_eval.spark_backend.quant.dense import Unquantised
from agent_eval.spark_backend.sampling import greedy
from agent_eval.spark_backend.torch_engine import PREFILL_ROWS, TorchEngine
from agent_eval.types import Sampling
from tests.spark_backend.configs import SMALL

NEVER: frozenset[int] = frozenset()
TEN = Sampling(max_tokens=10)


def prompt_of(length: int, seed: int = 0) -> list[int]:
    return torch.randint(0, SMALL.vocab_size, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> Spark:
    return Spark(SMALL, Weights(checkpoint, SMALL))


Make = Callable[[], TorchEngine]

PATHS = [
    "modules",
    pytest.param("kernels", marks=pytest.mark.skipif(not library.available(), reason="the kernels are not built")),
]


@pytest.fixture(scope="module", params=PATHS)
def make(request: pytest.FixtureRequest, model: Spark, checkpoint: Path) -> Make:
    """Makes engines of the fp32 build over one model: on torch's modules, and on the compiled decode step."""
    if request.param == "modules":
        return lambda: TorchEngine(model, threads=1, context=512)
    kernels = library.load()
    with torch.no_grad():
        packed = Spark(SMALL, Weights(checkpoint, SMALL), Unquantised(torch.float32, compiled=True))
    return lambda: TorchEngine(packed, threads=1, context=512, kernels=kernels)


@pytest.fixture
def engine(make: Make) -> TorchEngine:
    return make()


def test_greedy_text_is_that_of_the_whole_sequence_token_by_token(model: Spark, engine: TorchEngine) -> None:
    ids = prompt_of(30)
    for _ in range(10):
        with torch.inference_mode():
            ids.append(greedy(model.logits(model(torch.tensor([ids])))[0, -1]))
    assert list(engine.generate(ids[:30], NEVER, TEN).ids) == ids[30:]


@pytest.mark.parametrize("build", BUILDS)
def test_greedy_text_is_the_same_every_time(checkpoint: Path, build: str) -> None:
    one, other = (load_build(checkpoint, build, threads=1).engine for _ in range(2))
    first = one.generate(prompt_of(40), NEVER, TEN).ids
    one.begin()
    assert one.generate(prompt_of(40), NEVER, TEN).ids == first
    assert other.generate(prompt_of(40), NEVER, TEN).ids == first


def test_the_steps_of_an_episode_reuse_what_they_share_and_change_nothing(make: Make, engine: TorchEngine) -> None:
    prompt = prompt_of(25)
    for step in range(8):
        scratch = make()
        reused, alone = (e.generate(prompt, NEVER, TEN) for e in (engine, scratch))
        assert reused.ids == alone.ids
        assert alone.timing.prefill_tokens == len(prompt)
        if step:
            assert reused.timing.prefill_tokens == 8  # the last token generated was never run, and seven are new
        assert reused.timing.prompt_tokens == len(prompt)
        prompt = [*prompt, *reused.ids, *prompt_of(7, step)]


@pytest.mark.parametrize("back", [1, 5, 16, 40, 150])
def test_a_prompt_that_goes_back_gives_what_a_fresh_engine_gives(make: Make, engine: TorchEngine, back: int) -> None:
    prompt = prompt_of(200)
    engine.generate(prompt, NEVER, TEN)
    changed = [*prompt[: 200 - back], *prompt_of(12, seed=4)]
    fresh = make()
    ours, theirs = (e.generate(changed, NEVER, TEN) for e in (engine, fresh))
    assert ours.ids == theirs.ids
    computed = ours.timing.prefill_tokens
    went_back = back + len(theirs.ids) - 1
    if went_back <= SMALL.sliding_window:  # the slack that sliding layers promise
        assert computed == 12
    elif back == 150:  # more than they hold
        assert computed == len(changed)
    else:
        assert computed in (12, len(changed))


def test_a_prompt_may_come_back_after_another_took_its_place(make: Make, engine: TorchEngine) -> None:
    one, other = prompt_of(30), [*prompt_of(22), *prompt_of(9, seed=4)]
    for prompt in (one, other, one, other, one):
        fresh = make()
        assert engine.generate(prompt, NEVER, TEN).ids == fresh.generate(prompt, NEVER, TEN).ids


class BreaksOnce(nn.Module):
    """A layer that fails the first time, as a kernel that runs out of memory does."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.broken = True

    def forward(self, x: Tensor) -> Tensor:
        if self.broken:
            self.broken = False
            raise RuntimeError("out of memory")
        out: Tensor = self.layer(x)
        return out


def test_a_pass_that_broke_off_is_a_fault_and_leaves_no_trace(checkpoint: Path, engine: TorchEngine) -> None:
    model = Spark(SMALL, Weights(checkpoint, SMALL))
    layer = model.layers[2]
    assert isinstance(layer, Layer)
    layer.mlp = BreaksOnce(layer.mlp)  # type: ignore[assignment]
    breaking = TorchEngine(model, threads=1, context=512)
    with pytest.raises(EngineFault, match="the computation failed: out of memory"):
        breaking.generate(prompt_of(30), NEVER, TEN)
    after = breaking.generate(prompt_of(30), NEVER, TEN)
    assert after.ids == engine.generate(prompt_of(30), NEVER, TEN).ids
    assert after.timing.prefill_tokens == 30


def remembered(engine: TorchEngine) -> Tensor:
    """The keys and values of the full layer, the last one: every number of the layers below went into them."""
    return engine._core.cache.memories["full_attention"].store[:, :, :, : engine._core.cache.length]


class Step(NamedTuple):
    """One prompt of an episode, and how many tokens are generated from it."""

    prompt: list[int]
    tokens: int


PREFIX = prompt_of(70, seed=11)  # more than four windows

OPENED = [*PREFIX, *prompt_of(30, seed=12)]
EPISODES: dict[str, tuple[list[int], list[Step]]] = {
    "goes on": (PREFIX, [Step(OPENED, 8), Step([*OPENED, *prompt_of(25, seed=13)], 8)]),
    "goes back": (PREFIX, [Step(OPENED, 8), Step([*PREFIX, *prompt_of(90, seed=14)], 8), Step(OPENED, 3)]),
    "goes back far": (PREFIX, [Step([*OPENED, *prompt_of(150, seed=15)], 40), Step([*OPENED, 5], 8)]),
    "goes below its prefix": (PREFIX, [Step(OPENED, 8), Step(prompt_of(60, seed=16), 8), Step(OPENED, 8)]),
    "is the prefix": (PREFIX, [Step(PREFIX, 8), Step(PREFIX[:40], 2), Step(OPENED, 8)]),
    "begins otherwise": (PREFIX, [Step(prompt_of(30, seed=17), 8), Step([*PREFIX[:20], 3, 4], 8), Step(OPENED, 8)]),
    "has no prefix": ([], [Step(OPENED, 8), Step([*OPENED, *prompt_of(25, seed=13)], 8)]),
    "has a short prefix": (PREFIX[:3], [Step(OPENED, 8), Step([*OPENED, 1], 8)]),
}


def run(engine: TorchEngine, episode: str) -> list[tuple[tuple[int, ...], Tensor]]:
    prefix, steps = EPISODES[episode]
    engine.begin(prefix)
    return [
        (engine.generate(step.prompt, NEVER, Sampling(max_tokens=step.tokens)).ids, remembered(engine).clone())
        for step in steps
    ]


@pytest.mark.parametrize("before", EPISODES)
@pytest.mark.parametrize("episode", EPISODES)
def test_an_episode_after_another_gives_the_same_numbers_bit_for_bit_as_alone(
    make: Make, before: str, episode: str
) -> None:
    used, fresh = make(), make()
    run(used, before)
    for ours, theirs in zip(run(used, episode), run(fresh, episode), strict=True):
        assert ours[0] == theirs[0]
        assert torch.equal(ours[1], theirs[1])


def test_the_compiled_step_and_the_modules_write_the_same_text(make: Make, model: Spark) -> None:
    ours, theirs = make(), TorchEngine(model, threads=1, context=512)
    for seed in range(5):
        prompt = prompt_of(40, seed)
        ids = [engine.generate(prompt, NEVER, Sampling(max_tokens=60)).ids for engine in (ours, theirs)]
        assert ids[0] == ids[1]


def test_an_engine_says_what_computes_its_tokens(make: Make, model: Spark) -> None:
    assert TorchEngine(model, threads=1, context=512).kernel == "torch modules"
    assert make().kernel in ("torch modules", f"{library.load().isa} fused decode step")


@pytest.mark.parametrize("prefix", [PREFILL_ROWS - 1, PREFILL_ROWS, PREFILL_ROWS + 200])
def test_a_prefix_longer_than_one_pass_changes_nothing(prefix: int) -> None:
    config = replace(SMALL, num_hidden_layers=2, layer_types=("sliding_attention", "full_attention"))
    config = replace(config, max_position_embeddings=2048)
    model = Spark.initialised(config, torch.Generator().manual_seed(0))
    used, fresh = (TorchEngine(model, threads=1, context=2048) for _ in range(2))
    used.begin(prompt_of(prefix))
    used.generate([*prompt_of(prefix), *prompt_of(900, seed=2)], NEVER, TEN)
    ids = []
    for engine in (used, fresh):
        engine.begin(prompt_of(prefix))
        ids.append(engine.generate([*prompt_of(prefix), *prompt_of(40, seed=3)], NEVER, TEN).ids)
    assert ids[0] == ids[1]
    assert torch.equal(remembered(used), remembered(fresh))


@pytest.mark.parametrize("length", [PREFILL_ROWS - 1, PREFILL_ROWS, PREFILL_ROWS + 1, 2 * PREFILL_ROWS, 1300])
def test_a_long_prompt_is_computed_in_parts_without_a_seam(length: int) -> None:
    config = replace(SMALL, num_hidden_layers=2, layer_types=("sliding_attention", "full_attention"))
    config = replace(config, max_position_embeddings=2048)
    model = Spark.initialised(config, torch.Generator().manual_seed(0))
    engine = TorchEngine(model, threads=1, context=2048)
    prompt = prompt_of(length)
    with torch.inference_mode():
        expected = greedy(model.logits(model(torch.tensor([prompt])))[0, -1])
    assert engine.generate(prompt, NEVER, Sampling(max_tokens=1)).ids == (expected,)


def test_the_logits_of_a_text_are_the_models(make: Make, model: Spark) -> None:
    engine, text = make(), prompt_of(120)
    with torch.inference_mode():
        expected = model.logits(model(torch.tensor([text])))[0]
    assert torch.allclose(engine.logits(text[:70]), expected[:70], atol=1e-4)
    assert torch.allclose(engine.logits(text[70:]), expected[70:], atol=1e-4)


def test_the_context_is_never_longer_than_the_model_was_made_for(model: Spark) -> None:
    assert TorchEngine(model, threads=1, context=10**6).context == SMALL.max_position_embeddings


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_damaged_weights_are_a_fault_and_leave_a_usable_engine(checkpoint: Path, temperature: float) -> None:
    weights = dict(Weights(checkpoint, SMALL))
    weights["model.norm.weight"] = torch.full_like(weights["model.norm.weight"], torch.nan)
    engine = TorchEngine(Spark(SMALL, weights), threads=1, context=512)
    for _ in range(2):
        with pytest.raises(EngineFault):
            engine.generate(prompt_of(20), NEVER, Sampling(temperature=temperature, max_tokens=4))


def test_threads_are_those_of_the_engine_that_runs(model: Spark) -> None:
    engines = [TorchEngine(model, threads=threads, context=64) for threads in (1, 2)]
    for engine, threads in zip(engines, (1, 2), strict=True):
        engine.generate([1, 2, 3], NEVER, Sampling(max_tokens=1))
        assert torch.get_num_threads() == threads
    torch.set_num_threads(1)


@pytest.mark.parametrize("build", ["w4a16", "w4a8", "bf16"])
def test_quantised_builds_reuse_prefixes_too(checkpoint: Path, build: str) -> None:
    engine = load_build(checkpoint, build, threads=1).engine
    prompts = [prompt_of(40)]
    prompts += [[*prompts[0], *prompt_of(extra, 3)] for extra in (90, 120)]
    seen = [engine.generate(prompt, NEVER, Sampling(max_tokens=1)).timing.prefill_tokens for prompt in prompts]
    assert seen == [40, 90, 30]
