"""What is measured is what engines compute, on the tokens that they were given when episodes were played."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from agent_eval.actions import TaskComplete
from agent_eval.agent import ModelPolicy, conversations, tool_schemas
from agent_eval.episode import EpisodeKey, run_episode
from agent_eval.errors import OperatorError
from agent_eval.records import EpisodeRecord
from agent_eval.spark_backend.checkpoints.outliers import outlier_checkpoint
from agent_eval.spark_backend.fidelity.choices import tool_paths
from agent_eval.spark_backend.fidelity.distances import Distances, distances
from agent_eval.spark_backend.fidelity.follower import Follower
from agent_eval.spark_backend.fidelity.pair import FidelityPair, FollowedReply, RecordedReply
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.spark import SparkModel
from agent_eval.spark_backend.torch_engine import TorchEngine
from agent_eval.tasks import find_task
from agent_eval.types import Message, Sampling, TokenGeneration
from agent_eval.wiring import EMBEDDED, open_sim

NANO = EMBEDDED["nano"]
TOOLS = tool_schemas()
INSTANCES = [("WifiSet", 0), ("AlarmCreate", 1), ("WifiSetAlready", 2), ("NoteCreate", 0)]
"""Of several lengths; one needs nothing but to be declared, and texts are typed in one."""


class Given(NamedTuple):
    """What the engine was given at one step, and what it made of it."""

    prompt: tuple[int, ...]
    ids: tuple[int, ...]


class Noting:
    """An engine that notes what it is given, and lets another one compute."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.given: list[Given] = []

    def begin(self, prefix: Sequence[int] = ()) -> None:
        self._engine.begin(prefix)

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        made: TokenGeneration = self._engine.generate(prompt, stop, sampling)
        self.given.append(Given(tuple(prompt), made.ids))
        return made


class Played(NamedTuple):
    """An episode, and what the engine was given in it."""

    record: EpisodeRecord
    given: list[Given]
    replies: list[RecordedReply]


@cache
def played(thinking: bool = True) -> tuple[Played, ...]:
    """Episodes of nano in bfloat16, played one after another as in a run."""
    loaded = SparkModel.load(NANO, "bf16", threads=1, thinking=thinking)
    engine = Noting(loaded.engine)
    device, phone = open_sim()
    policy = ModelPolicy(loaded.on(engine), TOOLS, Sampling(max_tokens=64))
    found = []
    for task, seed in INSTANCES:
        engine.given = []
        record = run_episode(find_task(task).draw(seed), policy, device, phone, EpisodeKey("bf16"))
        replies = [
            RecordedReply(messages, step.text, step.tokens)
            for messages, step in zip(conversations(record), record.steps, strict=True)
        ]
        found.append(Played(record, engine.given, replies))
    return tuple(found)


def pair_of(build: str, folder: Path = NANO, reference: str = "bf16", *, thinking: bool = True) -> FidelityPair:
    mine, its = (SparkModel.load(folder, name, threads=1, thinking=thinking) for name in (reference, build))
    return FidelityPair(mine, its, TOOLS, stopping=TaskComplete.name)


@cache
def followed(build: str, folder: Path = NANO) -> tuple[tuple[FollowedReply, ...], ...]:
    pair = pair_of(build, folder)
    return tuple(pair.episode(episode.replies) for episode in played())


def joined(episodes: Sequence[Sequence[FollowedReply]]) -> Distances:
    return Distances.joined(reply.distances for episode in episodes for reply in episode)


# ----------------------------------------------------------------------------------------------------------------------
# the tokens


def test_the_episodes_are_worth_following() -> None:
    assert sum(len(episode.record.steps) for episode in played()) > 12
    assert {step.tool for episode in played() for step in episode.record.steps} >= {"tap", "open_app", "task_complete"}
    assert len({reply.messages[-1].role for episode in played() for reply in episode.replies}) == 2


@pytest.mark.parametrize("thinking", [True, False])
def test_prompts_built_again_are_the_tokens_that_the_engine_was_given(thinking: bool) -> None:
    again = SparkModel.load(NANO, "bf16", threads=1, thinking=thinking)
    for episode in played(thinking):
        again.begin()
        built = [tuple(again.open_turn(messages, TOOLS)) for messages in conversations(episode.record)]
        assert built == [given.prompt for given in episode.given]


def test_the_reference_writes_every_reply_again_token_by_token() -> None:
    stop = SparkModel.load(NANO, "bf16", threads=1).stop
    for episode, replies in zip(played(), followed("w4a8"), strict=True):
        assert all(reply.written_again for reply in replies)
        for given, reply in zip(episode.given, replies, strict=True):
            assert reply.ids[: len(given.ids)] == given.ids
            assert set(reply.ids[len(given.ids) :]) <= stop
            assert reply.prompt_tokens == len(given.prompt)


def test_a_reply_that_the_reference_would_not_write_is_followed_as_its_text_is_cut() -> None:
    episode = played()[0]
    text = " so</think><tool_call>wait</tool_call>"
    pair = pair_of("w4a16")
    (reply,) = pair.episode([RecordedReply(episode.replies[0].messages, text, 5)])
    tokenizer = SparkModel.load(NANO, "bf16", threads=1).tokenizer
    assert not reply.written_again
    assert list(reply.ids[:-1]) == tokenizer.encode(text)
    assert tokenizer.token(reply.ids[-1]) == "<|end|>"
    assert reply.distances.reference.sum() < -5


def test_a_reply_that_was_cut_off_has_no_token_that_ends_it() -> None:
    episode = played()[0]
    model = SparkModel.load(NANO, "bf16", threads=1)
    made = model.generate(episode.replies[0].messages, TOOLS, Sampling(max_tokens=2))
    assert (made.finish, made.tokens) == ("length", 2)
    (reply,) = pair_of("bf16").episode([RecordedReply(episode.replies[0].messages, made.text, 2)])
    assert reply.written_again
    assert model.tokenizer.decode(reply.ids) == made.text


# ----------------------------------------------------------------------------------------------------------------------
# the numbers


def test_a_build_beside_itself_is_nothing_apart() -> None:
    found = joined(followed("bf16"))
    assert (found.kl == 0.0).all()
    assert found.same_top.all()
    assert (found.reference == found.build).all()
    assert (found.reference <= 0.0).all()


def test_greedy_replies_are_the_most_probable_tokens_of_the_reference() -> None:
    # by the logits of one pass over everything, which other kernels compute: only near ties may be told otherwise
    engine = SparkModel.load(NANO, "fp32", threads=1).engine
    assert isinstance(engine, TorchEngine)
    agreed = total = 0
    for episode, replies in zip(played(), followed("bf16"), strict=True):
        for given, reply in zip(episode.given, replies, strict=True):
            engine.begin()
            rows = engine.logits([*given.prompt, *reply.ids[:-1]])[len(given.prompt) - 1 :]
            agreed += int((rows.argmax(dim=-1) == torch.tensor(reply.ids)).sum())
            total += len(reply.ids)
            exact = rows.double().log_softmax(dim=-1)[torch.arange(len(reply.ids)), torch.tensor(reply.ids)]
            assert np.abs(reply.distances.reference - exact.numpy()).max() < 0.5
    assert agreed / total > 0.98


def test_fewer_bits_are_farther_from_the_reference() -> None:
    means = [joined(followed(build)).kl.mean() for build in ("bf16", "fp32", "w4a16", "w2a16")]
    assert means == sorted(means)
    assert means[-1] > 10 * means[-2] > 0


@pytest.fixture(scope="module")
def outliers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outliers") / "nano"
    outlier_checkpoint(NANO, folder, seed=0)
    return folder


def test_w4a8_is_farther_from_the_reference_where_outliers_are(outliers: Path) -> None:
    with_outliers, without = joined(followed("w4a8", outliers)).kl, joined(followed("w4a8")).kl
    assert with_outliers.mean() > without.mean() > 0
    assert np.median(with_outliers) > 3 * np.median(without) > 0  # one token in a hundred makes the mean
    # the model itself is the same: its replies are the same tokens
    assert all(reply.written_again for episode in followed("w4a8", outliers) for reply in episode)


def test_the_same_measurement_gives_the_same_bits() -> None:
    again = pair_of("w4a8")
    for episode, before in zip(played(), followed("w4a8"), strict=True):
        after = again.episode(episode.replies)
        for one, other in zip(before, after, strict=True):
            assert one.ids == other.ids
            assert all((a == b).all() for a, b in zip(one.distances, other.distances, strict=True))


PATHS = {"bf16": 1e-5, "w4a16": 1e-5, "w4a8": 1e-3}
"""Most that the mean KL between the two ways may be. Activations that are rounded to 8 bits now and then fall on the
other side of a rounding, which the kernels' orders of sums decide."""


@pytest.mark.parametrize("build", PATHS)
def test_the_kernels_that_decode_and_those_that_read_prompts_agree_closely(build: str) -> None:
    follower = Follower(SparkModel.load(NANO, build, threads=1))
    apart = []
    for episode, replies in zip(played(), followed("bf16"), strict=True):
        for given, reply in zip(episode.given, replies, strict=True):
            follower.engine.begin()
            decoded = follower.follow(given.prompt, reply.ids)
            follower.engine.begin()
            whole = follower.engine.logits([*given.prompt, *reply.ids[:-1]])[len(given.prompt) - 1 :]
            apart.append(distances(decoded, whole, torch.tensor(reply.ids)).kl)
    assert np.concatenate(apart).mean() < PATHS[build]


# ----------------------------------------------------------------------------------------------------------------------
# the decision to stop


def at_goal(episode: Played) -> int | None:
    facts = episode.record.outcome.facts
    reach = None if facts is None else facts.first_reach
    return reach if reach is not None and reach < len(episode.record.steps) else None


def test_asking_for_the_decision_changes_no_other_number() -> None:
    pair, asked = pair_of("w4a8"), 0
    for episode, before in zip(played(), followed("w4a8"), strict=True):
        for place, reply in enumerate(pair.episode(episode.replies, at_goal(episode))):
            assert (reply.decision is not None) == (place == at_goal(episode))
            asked += reply.decision is not None
            assert reply.ids == before[place].ids
            assert all((a == b).all() for a, b in zip(reply.distances, before[place].distances, strict=True))
    assert asked >= 2


def test_the_decision_is_that_of_the_next_token_where_one_token_tells() -> None:
    # nano's tokens hold a name with its tags; what is left for the others, spelt out, is next to nothing
    episode = next(episode for episode in played() if at_goal(episode) == 0)
    reply = pair_of("bf16").episode(episode.replies, 0)[0]
    assert reply.decision is not None
    assert reply.decision.reference == reply.decision.build
    model = SparkModel.load(NANO, "bf16", threads=1)
    single = {
        name: [path[0] for path in several if len(path) == 1]
        for name, several in tool_paths(model.tokenizer, TOOLS).items()
    }
    place = next(place for place, token in enumerate(reply.ids) if any(token in each for each in single.values()))
    row = Follower(model).follow(episode.given[0].prompt, reply.ids)[place].double().softmax(dim=-1)
    done = float(row[single.pop("task_complete")].sum())
    others = float(row[[token for each in single.values() for token in each]].sum())
    assert reply.decision.reference.log_odds == pytest.approx(np.log(done / others), abs=0.05)
    assert reply.decision.reference.covered == pytest.approx(done + others, abs=0.01)


def test_a_reply_without_a_call_decides_nothing() -> None:
    episode = played()[0]
    (reply,) = pair_of("bf16").episode([RecordedReply(episode.replies[0].messages, " hm</think> so", 6)], 0)
    assert reply.decision is None


# ----------------------------------------------------------------------------------------------------------------------
# own replies, texts, prompts


def test_own_replies_are_what_the_build_writes_to_the_same_conversations() -> None:
    build = SparkModel.load(NANO, "w4a8", threads=1)
    pair = pair_of("w4a8")
    for episode in played():
        build.begin()
        expected = [build.generate(reply.messages, TOOLS, Sampling(max_tokens=64)) for reply in episode.replies]
        own = pair.own_replies(episode.replies, 64)
        assert [(reply.text, reply.finish) for reply in own] == [(made.text, made.finish) for made in expected]


def test_where_every_most_probable_token_is_the_same_the_own_reply_is_too() -> None:
    pair = pair_of("w4a8")
    same = 0
    for episode, replies in zip(played(), followed("w4a8"), strict=True):
        own = pair.own_replies(episode.replies, 64)
        for reply, recorded, mine in zip(replies, episode.replies, own, strict=True):
            if reply.distances.same_top.all():
                assert mine.text == recorded.text
                same += 1
    assert same > 5


def test_a_text_is_read_as_the_model_reads_it_at_once() -> None:
    pair = pair_of("w4a16")
    ids = [token for given in played()[0].given for token in given.prompt][:300]
    found = pair.text(ids)
    engines = [SparkModel.load(NANO, build, threads=1).engine for build in ("bf16", "w4a16")]
    rows = []
    for engine in engines:
        assert isinstance(engine, TorchEngine)
        rows.append(engine.logits(ids[:-1]).clone())
    whole = distances(rows[0], rows[1], torch.tensor(ids[1:]))
    assert len(found.kl) == len(ids) - 1
    assert found.kl == pytest.approx(whole.kl, rel=1e-6, abs=1e-9)
    assert found.build == pytest.approx(whole.build, rel=1e-6)
    again = pair.text(ids)
    assert all((a == b).all() for a, b in zip(found, again, strict=True))


def test_a_text_in_parts_says_what_it_says_whole() -> None:
    mine, its = (SparkModel.load(NANO, "fp32", threads=1) for _ in range(2))
    whole, parts = (
        FidelityPair(mine, its, TOOLS, stopping=TaskComplete.name, pass_cells=tokens * 3008) for tokens in (512, 50)
    )
    ids = list(played()[0].given[-1].prompt)[:130]
    assert (whole.pass_tokens, parts.pass_tokens) == (512, 50)
    assert parts.text(ids).reference == pytest.approx(whole.text(ids).reference, abs=1e-3)


PROMPTS: list[str | tuple[Message, ...]] = ["Turn the", "Wi-Fi", (Message("user", "Task: Open Clock.\nApp: Launcher"),)]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_build_continues_as_itself(prompt: str | tuple[Message, ...]) -> None:
    found = pair_of("bf16").complete(prompt, 12)
    assert found.parting is None
    assert found.reference == found.build
    assert 1 <= found.reference_tokens <= 12


def test_where_two_continuations_part_each_prefers_its_own_token() -> None:
    pair, parted = pair_of("w2a16"), 0
    for prompt in PROMPTS:
        found = pair.complete(prompt, 20)
        mine, its = (SparkModel.load(NANO, build, threads=1) for build in ("bf16", "w2a16"))
        if isinstance(prompt, str):
            ids = mine.tokenizer.encode(prompt)
            made = [model.engine.generate(ids, model.stop, Sampling(max_tokens=20)).ids for model in (mine, its)]
            assert [mine.tokenizer.decode(each) for each in made] == [found.reference, found.build]
        if found.parting is not None:
            parted += 1
            assert found.parting.shared < found.reference_tokens
            assert found.parting.reference.reference_token >= found.parting.reference.build_token
            assert found.parting.build.build_token >= found.parting.build.reference_token
            assert found.parting.reference_token != found.parting.build_token
    assert parted >= 1


def test_an_engine_that_shows_no_logits_is_refused() -> None:
    model = SparkModel.load(NANO, "bf16", threads=1)
    with pytest.raises(OperatorError, match="Noting shows no logits"):
        FidelityPair(model, model.on(Noting(model.engine)), TOOLS, stopping="task_complete")


@pytest.mark.skipif(not library.available(), reason="the kernels are not built")
def test_the_kernels_of_a_run_are_those_that_are_measured() -> None:
    follower = Follower(SparkModel.load(NANO, "w4a8", threads=1))
    assert isinstance(follower.engine, TorchEngine)
    assert follower.engine.kernel != "torch modules"
