"""What every engine over a core shares, held on a core whose numbers betray how a text was cut.

That real cores keep their side, and that their numbers are right: ``test_torch_engine.py``, ``llama/test_engine.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.contracts import Engine
from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.sequence_engine import SequenceCore, SequenceEngine
from agent_eval.types import Sampling

NEVER: frozenset[int] = frozenset()
TEN = Sampling(max_tokens=10)
CONTEXT = 128
VOCABULARY = 50
PASS = 8
SLACK = 6

Entries = tuple[int, ...]


class ChainedCore:
    """A core that computes hashes: each token's entry is made of all entries before its pass, and of its whole pass.

    So a text that is cut otherwise has other entries and other logits, as sums in floating point have. It goes back as
    sliding layers do, a few tokens below the longest that the sequence was, and it holds the engine to what it was
    promised.
    """

    context = CONTEXT
    vocabulary = VOCABULARY
    pass_tokens = PASS

    def __init__(self) -> None:
        self.tokens: tuple[int, ...] = ()
        self.entries: Entries = ()
        self.passes: list[tuple[int, int]] = []
        """Tokens and rows of each pass."""
        self.breaks: Callable[[], None] = lambda: None
        """Called in the midst of each pass, and of each return to a mark."""
        self._floor = 0
        self._saved: Entries | None = None
        self._lent = torch.empty(PASS, VOCABULARY)
        self._prepared = self._broken = False

    def prepare(self) -> None:
        self._prepared = True

    def compute(self, tokens: Sequence[int], rows: int) -> Tensor:
        assert self._prepared
        assert not self._broken
        assert torch.is_inference_mode_enabled()
        assert 1 <= len(tokens) <= PASS
        assert 0 <= rows <= len(tokens)
        assert len(self.entries) + len(tokens) <= CONTEXT
        self.passes.append((len(tokens), rows))
        before, whole = self.entries, tuple(tokens)
        self.tokens += whole
        self.entries += (hash((before, whole, 0)),)
        self._break_perhaps()
        self.entries = before + tuple(hash((before, whole, i)) for i in range(len(whole)))
        self._floor = max(self._floor, len(self.entries) - SLACK)
        for i in range(-rows, 0):
            self._lent[rows + i] = self.logits(i)
        return self._lent[:rows]

    def logits(self, i: int) -> Tensor:
        return torch.randn(VOCABULARY, generator=torch.Generator().manual_seed(self.entries[i]))

    def rewind(self, length: int) -> bool:
        assert not self._broken
        assert 0 <= length <= len(self.entries)
        if length < self._floor:
            return False
        self.tokens, self.entries = self.tokens[:length], self.entries[:length]
        return True

    def save(self) -> Entries:
        assert not self._broken
        self._saved = self.entries
        self._floor = len(self.entries)
        return self.entries

    def restore(self, mark: Entries) -> None:
        assert self._prepared
        assert not self._broken
        assert mark == self._saved
        assert self.entries[: len(mark)] == mark, "the sequence went below its mark"
        self._break_perhaps()
        self.tokens, self.entries = self.tokens[: len(mark)], mark
        self._floor = len(mark)

    def clear(self) -> None:
        self.tokens = self.entries = ()
        self._floor = 0
        self._saved = None
        self._broken = False

    def _break_perhaps(self) -> None:
        self._broken = True
        self.breaks()
        self._broken = False


@pytest.fixture
def core() -> ChainedCore:
    return ChainedCore()


@pytest.fixture
def engine(core: ChainedCore) -> SequenceEngine[Entries]:
    return SequenceEngine(core)


def prompt_of(length: int, seed: int = 0) -> list[int]:
    ids: list[int] = torch.randint(0, VOCABULARY, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
    return ids


PREFIX = prompt_of(20, seed=11)
OPENED = [*PREFIX, *prompt_of(30, seed=12)]


def test_it_is_an_engine_over_a_core(core: ChainedCore) -> None:
    needed: SequenceCore[Entries] = core
    implemented: Engine = SequenceEngine(needed)
    assert implemented.generate([1], NEVER, Sampling(max_tokens=1)).ids


# What of a sequence is used again


class Step(NamedTuple):
    """How a prompt follows from the text before it, prompt and generation: cut somewhere, and gone on otherwise."""

    anew: bool
    """Whether it follows from what most texts begin with instead."""
    keep: int
    more: list[int]
    tokens: int


class Episode(NamedTuple):
    """What its prompts may begin with, and the steps."""

    prefix: list[int]
    steps: list[Step]


TAILS = st.lists(st.integers(0, 1), min_size=1, max_size=2 * PASS + 1)  # of two tokens: texts part late, and often not
STEPS = st.builds(Step, st.booleans(), st.integers(0, 60), TAILS, st.integers(1, 9))
PREFIXES = st.builds(lambda length, last: [*PREFIX[:length], *last], st.integers(0, 20), st.sampled_from([[], [0]]))
EPISODES = st.builds(Episode, PREFIXES, st.lists(STEPS, min_size=1, max_size=4))


def run(engine: SequenceEngine[Entries], core: ChainedCore, episode: Episode) -> list[tuple[tuple[int, ...], Entries]]:
    engine.begin(episode.prefix)
    text, told = PREFIX, []
    for step in episode.steps:
        prompt = [*(PREFIX if step.anew else text)[: step.keep], *step.more]
        ids = engine.generate(prompt, NEVER, Sampling(max_tokens=step.tokens)).ids
        assert core.tokens == (*prompt, *ids[:-1])
        told.append((ids, core.entries))
        text = [*prompt, *ids]
    return told


@given(st.lists(EPISODES, max_size=3), EPISODES)
def test_an_episode_after_others_gives_the_same_numbers_as_alone(before: list[Episode], episode: Episode) -> None:
    used, fresh = ChainedCore(), ChainedCore()
    engine = SequenceEngine(used)
    for earlier in before:
        run(engine, used, earlier)
    assert run(engine, used, episode) == run(SequenceEngine(fresh), fresh, episode)


@given(st.lists(EPISODES, min_size=1, max_size=3))
def test_a_walk_computes_what_a_generation_of_the_same_tokens_does(episodes: list[Episode]) -> None:
    generating, walking = ChainedCore(), ChainedCore()
    generator, walker = SequenceEngine(generating), SequenceEngine(walking)
    for episode in episodes:
        generator.begin(episode.prefix)
        walker.begin(episode.prefix)
        text = PREFIX
        for step in episode.steps:
            prompt = [*(PREFIX if step.anew else text)[: step.keep], *step.more]
            ids = generator.generate(prompt, NEVER, Sampling(max_tokens=step.tokens)).ids
            chosen: list[int] = []

            def choose(logits: Tensor, chosen: list[int] = chosen, most: int = len(ids)) -> int | None:
                chosen.append(int(logits.argmax()))
                return chosen[-1] if len(chosen) < most else None

            walker.walk(prompt, choose)
            assert tuple(chosen) == ids
            assert walking.entries == generating.entries
            assert walking.passes == generating.passes
            text = [*prompt, *ids]


def test_a_walk_ends_where_the_context_does(engine: SequenceEngine[Entries], core: ChainedCore) -> None:
    with pytest.raises(ContextOverflow):
        engine.walk([1] * CONTEXT, lambda _: None)
    with pytest.raises(ContextOverflow):
        engine.walk([1] * (CONTEXT - 3), lambda _: 1)
    engine.walk([1], lambda _: None)  # and what broke off is forgotten
    assert core.tokens == (1,)
    with pytest.raises(EngineFault, match="token 50"):
        engine.walk([VOCABULARY], lambda _: None)


def test_a_prompt_computes_what_it_does_not_share_with_the_text_before(engine: SequenceEngine[Entries]) -> None:
    prompt = prompt_of(25)
    for step in range(4):
        made = engine.generate(prompt, NEVER, TEN)
        assert made.timing.prompt_tokens == len(prompt)
        assert made.timing.prefill_tokens == (8 if step else 25)  # the last token made was never run; seven are new
        prompt = [*prompt, *made.ids, *prompt_of(7, step)]


def test_the_same_prompt_again_computes_its_last_token_only(engine: SequenceEngine[Entries]) -> None:
    one = Sampling(max_tokens=1)
    assert [engine.generate(prompt_of(50), NEVER, one).timing.prefill_tokens for _ in range(2)] == [50, 1]


@pytest.mark.parametrize(
    ("prefix", "back", "computed"),
    [(0, SLACK, 12), (0, SLACK + 1, 50 - SLACK - 1 + 12), (20, SLACK, 12), (20, SLACK + 1, 30 - SLACK - 1 + 12)],
)
def test_a_prompt_goes_back_as_far_as_the_core_can_and_else_to_the_prefix_or_the_start(
    engine: SequenceEngine[Entries], prefix: int, back: int, computed: int
) -> None:
    engine.begin(OPENED[:prefix])
    engine.generate(OPENED, NEVER, Sampling(max_tokens=1))
    other = [*OPENED[: len(OPENED) - back], *((token + 1) % VOCABULARY for token in OPENED[len(OPENED) - back :])]
    prompt = [*other[: len(OPENED) - back + 1], *prompt_of(11, seed=4)]
    assert engine.generate(prompt, NEVER, TEN).timing.prefill_tokens == computed


def test_a_prefix_is_computed_once_for_all_episodes_that_begin_with_it(engine: SequenceEngine[Entries]) -> None:
    computed = []
    for seed in range(3):
        engine.begin(PREFIX)
        prompt = [*PREFIX, *prompt_of(20, seed)]
        computed.append(engine.generate(prompt, NEVER, TEN).timing.prefill_tokens)
    assert computed == [40, 20, 20]


def test_another_prefix_takes_the_place_of_the_one_before(engine: SequenceEngine[Entries]) -> None:
    computed = []
    for prefix in (PREFIX, PREFIX[:10], PREFIX):
        engine.begin(prefix)
        computed.append(engine.generate(OPENED, NEVER, TEN).timing.prefill_tokens)
    assert computed == [50, 50, 50]


@pytest.mark.parametrize("left_with", [[*PREFIX[:15], 9, 9], PREFIX[:15], PREFIX], ids=["parts", "ends", "is it"])
def test_a_prompt_that_leaves_the_prefix_has_it_computed_anew(
    engine: SequenceEngine[Entries], left_with: list[int]
) -> None:
    engine.begin(PREFIX)
    engine.generate(OPENED, NEVER, TEN)
    assert engine.generate(left_with, NEVER, TEN).timing.prefill_tokens == len(left_with)
    assert engine.generate(OPENED, NEVER, TEN).timing.prefill_tokens == len(OPENED)


@pytest.mark.parametrize(
    ("prefix", "prompt", "passes"),
    [
        (0, 1, [(1, 1)]),
        (0, PASS, [(PASS, 1)]),
        (0, PASS + 1, [(PASS, 0), (1, 1)]),
        (0, 2 * PASS, [(PASS, 0), (PASS, 1)]),
        (3, 3, [(3, 1)]),  # no token is left behind the prefix
        (3, 4, [(3, 0), (1, 1)]),
        (PASS, PASS + 5, [(PASS, 0), (5, 1)]),
        (PASS + 2, 2 * PASS + 3, [(PASS, 0), (2, 0), (PASS, 0), (1, 1)]),
    ],
)
def test_a_prompt_is_cut_where_its_prefix_ends_and_into_passes(
    engine: SequenceEngine[Entries], core: ChainedCore, prefix: int, prompt: int, passes: list[tuple[int, int]]
) -> None:
    engine.begin(OPENED[:prefix])
    engine.generate(OPENED[:prompt], NEVER, Sampling(max_tokens=1))
    assert core.passes == passes


# How a text ends, and what is said of it


def test_a_stop_token_ends_the_text_and_is_not_returned(engine: SequenceEngine[Entries]) -> None:
    ids = engine.generate(prompt_of(30), NEVER, TEN).ids
    place = next(i for i, token in enumerate(ids) if i and token not in ids[:i])
    engine.begin()
    stopped = engine.generate(prompt_of(30), frozenset([ids[place]]), TEN)
    assert stopped.ids == ids[:place]
    assert stopped.finish == "stop"
    assert stopped.timing.decode_tokens == place  # the stop token was decoded like the others


def test_a_text_may_end_at_its_first_token(engine: SequenceEngine[Entries]) -> None:
    first = engine.generate(prompt_of(30), NEVER, Sampling(max_tokens=1))
    assert (first.finish, first.timing.decode_tokens) == ("length", 0)
    engine.begin()
    stopped = engine.generate(prompt_of(30), frozenset(first.ids), TEN)
    assert (stopped.ids, stopped.finish, stopped.timing.decode_tokens) == ((), "stop", 0)


def test_the_timing_counts_what_was_computed(engine: SequenceEngine[Entries], core: ChainedCore) -> None:
    timing = engine.generate(prompt_of(30), NEVER, TEN).timing
    assert (timing.prompt_tokens, timing.prefill_tokens, timing.decode_tokens) == (30, 30, 9)
    assert sum(tokens for tokens, _ in core.passes) == 30 + 9
    assert timing.prefill_s > 0
    assert timing.decode_s > 0
    assert timing.first_token_s == timing.prefill_s


def test_a_prompt_that_fills_the_context_is_refused(engine: SequenceEngine[Entries]) -> None:
    with pytest.raises(ContextOverflow, match="the prompt has 128 tokens, expected fewer than the context of 128"):
        engine.generate(prompt_of(CONTEXT), NEVER, TEN)
    assert len(engine.generate(prompt_of(CONTEXT - 1), NEVER, TEN).ids) == 1


def test_the_context_ends_a_text(engine: SequenceEngine[Entries]) -> None:
    generated = engine.generate(prompt_of(CONTEXT - 7), NEVER, TEN)
    assert (len(generated.ids), generated.finish) == (7, "length")


def test_equal_seeds_give_equal_samples(engine: SequenceEngine[Entries]) -> None:
    def text(seed: int) -> tuple[int, ...]:
        engine.begin()
        sampling = Sampling(temperature=3.0, top_p=0.99, seed=seed, max_tokens=12)
        return engine.generate(prompt_of(20), NEVER, sampling).ids

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(4)}) > 1


@pytest.mark.skipif(not library.available(), reason="the kernels are not built")
def test_the_library_chooses_the_same_tokens() -> None:
    for sampling in (TEN, Sampling(temperature=2.0, top_p=0.9, seed=3, max_tokens=40)):
        ours, theirs = (SequenceEngine(ChainedCore(), kernels) for kernels in (library.load(), None))
        assert ours.generate(OPENED, NEVER, sampling).ids == theirs.generate(OPENED, NEVER, sampling).ids


def test_the_logits_of_a_text_are_those_that_its_tokens_are_chosen_by(
    engine: SequenceEngine[Entries], core: ChainedCore
) -> None:
    chosen = engine.generate(OPENED, NEVER, Sampling(max_tokens=1)).ids[0]
    engine.begin()
    logits = engine.logits(OPENED)
    assert int(logits[-1].argmax()) == chosen
    assert torch.equal(logits, torch.stack([core.logits(i) for i in range(len(OPENED))]))


def test_logits_go_on_from_what_is_held_and_are_used_again(engine: SequenceEngine[Entries]) -> None:
    engine.generate(OPENED[:20], NEVER, Sampling(max_tokens=1))
    engine.logits(OPENED[20:40])
    assert engine.generate(OPENED, NEVER, Sampling(max_tokens=1)).timing.prefill_tokens == 10
    with pytest.raises(ContextOverflow, match="the prompt has 150 tokens"):
        engine.logits(prompt_of(100))


# What cannot be served, and what breaks off


@pytest.mark.parametrize(
    ("prompt", "sampling", "message"),
    [
        ([], TEN, "the prompt is empty"),
        ([1, 50], TEN, "the prompt holds token 50, expected ids below 50"),
        ([-1, 5], TEN, "the prompt holds token -1"),
        ([1], Sampling(max_tokens=0), "max_tokens=0"),
        ([1], Sampling(temperature=-1.0), "temperature=-1.0"),
        ([1], Sampling(temperature=1.0, top_p=0.0), "top_p=0.0"),
    ],
)
def test_a_request_that_cannot_be_served_is_named(
    engine: SequenceEngine[Entries], core: ChainedCore, prompt: list[int], sampling: Sampling, message: str
) -> None:
    with pytest.raises(EngineFault) as caught:
        engine.generate(prompt, NEVER, sampling)
    assert message in caught.value.message
    assert core.passes == []


class Breaks:
    """Raises once, at a pass or at a return to a mark, counted from 0."""

    def __init__(self, at: int, error: Exception) -> None:
        self._left, self._error = at, error

    def __call__(self) -> None:
        self._left -= 1
        if self._left == -1:
            raise self._error


@pytest.mark.parametrize("at", [0, 2, 5, 9], ids=["in the prefix", "at its end", "behind it", "at a decoded token"])
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (EngineFault("the library failed", hint="look at it"), "the library failed"),
        (RuntimeError("out of memory"), "the computation failed: out of memory"),
        (IndexError("out of range"), "the computation failed: out of range"),
    ],
    ids=["its own", "of torch", "of an index"],
)
def test_what_breaks_off_is_a_fault_and_leaves_no_trace(
    engine: SequenceEngine[Entries], core: ChainedCore, at: int, error: Exception, message: str
) -> None:
    fresh = ChainedCore()
    episode = Episode(PREFIX, [Step(True, 20, prompt_of(30), 10)])
    core.breaks = Breaks(at, error)
    with pytest.raises(EngineFault, match=message):
        run(engine, core, episode)
    assert run(engine, core, episode) == run(SequenceEngine(fresh), fresh, episode)


def test_a_prefix_that_cannot_be_brought_back_is_forgotten(engine: SequenceEngine[Entries], core: ChainedCore) -> None:
    engine.begin(PREFIX)
    engine.generate(OPENED, NEVER, TEN)
    core.breaks = Breaks(0, EngineFault("the library failed", hint="look at it"))
    with pytest.raises(EngineFault, match="the library failed"):
        engine.begin(PREFIX)
    engine.begin(PREFIX)
    assert engine.generate(OPENED, NEVER, TEN).timing.prefill_tokens == len(OPENED)


class DamagedCore(ChainedCore):
    """Computes what is no number."""

    def logits(self, i: int) -> Tensor:
        return super().logits(i) * torch.nan


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_not_finite_are_a_fault(temperature: float) -> None:
    engine = SequenceEngine(DamagedCore())
    for _ in range(2):
        with pytest.raises(EngineFault, match="not finite"):
            engine.generate(prompt_of(20), NEVER, Sampling(temperature=temperature, max_tokens=4))
