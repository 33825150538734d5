"""What every ``ParallelEngine`` promises. Implementations: vLLM, and the fake of the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agent_eval.contracts import ParallelEngine
from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.types import Sampling, TokenGeneration
from tests.fakes import FakeParallelEngine, tiny_checkpoint

NEVER: frozenset[int] = frozenset()
TOKENS = 320
CONTEXT = 1024
IN_FLIGHT = 3


def on_fake(_: Path) -> ParallelEngine:
    return FakeParallelEngine(IN_FLIGHT)


def on_vllm(folder: Path) -> ParallelEngine:
    pytest.importorskip("vllm")
    from agent_eval.spark_backend.vllm.engine import VllmEngine

    tiny_checkpoint(folder, seed=1)
    return VllmEngine(folder, dtype="bfloat16", threads=1, context=CONTEXT, in_flight=IN_FLIGHT)


ENGINES: dict[str, Callable[[Path], ParallelEngine]] = {"fake": on_fake, "vllm": on_vllm}


@pytest.fixture(scope="module", params=["fake", pytest.param("vllm", marks=pytest.mark.vllm)])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ParallelEngine:
    return ENGINES[request.param](tmp_path_factory.mktemp("engines") / "tiny")


@pytest.fixture
def engine(loaded: ParallelEngine) -> ParallelEngine:
    loaded.begin()
    return loaded


def prompt_of(length: int, seed: int = 0) -> list[int]:
    return [(7 * place * place + 31 * place + 101 * seed) % TOKENS for place in range(length)]


def finished(engine: ParallelEngine, *tickets: int) -> Mapping[int, TokenGeneration]:
    """Step until all of these have ended."""
    found: dict[int, TokenGeneration] = {}
    for _ in range(1000):
        if set(tickets) <= found.keys():
            return found
        new = engine.step()
        assert found.keys().isdisjoint(new)
        found |= new
    raise AssertionError(f"{tickets} never ended; {list(found)} did")


def joined(engine: ParallelEngine) -> list[tuple[int, ...]]:
    """Play a schedule in which generations come and go at different times; return their texts."""
    sampling = Sampling(max_tokens=6)
    first = engine.submit(prompt_of(40, 1), NEVER, Sampling(max_tokens=9))
    second = engine.submit(prompt_of(30, 2), NEVER, sampling)
    found = {**engine.step(), **engine.step()}
    third = engine.submit(prompt_of(20, 3), NEVER, sampling)
    found |= finished(engine, *({first, second, third} - found.keys()))
    again = engine.submit([*prompt_of(40, 1), *found[first].ids, *prompt_of(8, 4)], NEVER, sampling)
    found |= finished(engine, again)
    return [found[ticket].ids for ticket in (first, second, third, again)]


def test_it_takes_as_many_generations_at_a_time_as_it_says(engine: ParallelEngine) -> None:
    assert engine.in_flight == IN_FLIGHT
    tickets = [engine.submit(prompt_of(20 + seed, seed), NEVER, Sampling(max_tokens=7)) for seed in range(IN_FLIGHT)]
    assert len(set(tickets)) == IN_FLIGHT
    found = finished(engine, *tickets)
    assert set(found) == set(tickets)
    assert [(len(found[ticket].ids), found[ticket].finish) for ticket in tickets] == [(7, "length")] * IN_FLIGHT


def test_a_stop_token_ends_its_own_generation_and_is_left_out(engine: ParallelEngine) -> None:
    ticket = engine.submit(prompt_of(20), NEVER, Sampling(max_tokens=7))
    ids = finished(engine, ticket)[ticket].ids
    engine.begin()
    ticket = engine.submit(prompt_of(20), frozenset([ids[3]]), Sampling(max_tokens=7))
    made = finished(engine, ticket)[ticket]
    assert (made.ids, made.finish) == (ids[: ids.index(ids[3])], "stop")


@pytest.mark.parametrize("prefix", [0, 64])
def test_the_same_schedule_since_the_beginning_gives_the_same_texts(engine: ParallelEngine, prefix: int) -> None:
    engine.begin(prompt_of(prefix, 1))
    first = joined(engine)
    finished(engine, engine.submit(prompt_of(50, 9), NEVER, Sampling(max_tokens=3)))  # something else comes between
    engine.begin(prompt_of(prefix, 1))
    assert joined(engine) == first


def test_it_does_not_begin_while_something_is_in_flight(engine: ParallelEngine) -> None:
    ticket = engine.submit(prompt_of(20), NEVER, Sampling(max_tokens=4))
    with pytest.raises(EngineFault, match="in flight"):
        engine.begin()
    assert len(finished(engine, ticket)[ticket].ids) == 4
    engine.begin()


def test_what_cannot_be_put_into_flight_leaves_the_others_alone(engine: ParallelEngine) -> None:
    ticket = engine.submit(prompt_of(20), NEVER, Sampling(max_tokens=4))
    with pytest.raises(ContextOverflow):
        engine.submit(prompt_of(CONTEXT), NEVER, Sampling(max_tokens=1))
    for prompt in ([], [TOKENS], [-1]):
        with pytest.raises(EngineFault):
            engine.submit(prompt, NEVER, Sampling(max_tokens=1))
    assert len(finished(engine, ticket)[ticket].ids) == 4


def test_a_text_ends_with_the_context(engine: ParallelEngine) -> None:
    ticket = engine.submit(prompt_of(CONTEXT - 3), NEVER, Sampling(max_tokens=50))
    made = finished(engine, ticket)[ticket]
    assert (len(made.ids), made.finish) == (3, "length")
