"""Constrained replies: what the grammar accepts is what the parser reads, and vLLM writes nothing else."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.actions import TOOLS, Malformed, ToolCall, arguments_of
from agent_eval.agent import parse_reply, tool_schemas
from agent_eval.agent.parse import calls_behind_the_first
from agent_eval.errors import CheckpointError, EngineFault
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, TOKENIZER_NAME
from agent_eval.spark_backend.constrain import CALL, CALL_END, KEY, KEY_END, TAGS, THINK_END, VALUE, VALUE_END, grammar
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.spark_backend.trial import NANO
from agent_eval.spark_backend.vllm.engine import VllmEngine
from agent_eval.spark_backend.vllm.tokenizer import for_grammars, tags_as_text
from agent_eval.types import Message, Sampling, TokenGeneration

pytestmark = pytest.mark.vllm

llguidance = pytest.importorskip("llguidance")  # it comes with vLLM
masks = pytest.importorskip("llguidance.numpy")

VOCABULARY: int = json.loads((NANO / CONFIG_NAME).read_text(encoding="utf-8"))["vocab_size"]
END = 0  # of a turn of nano
STOP = frozenset([END])
TOKENIZER = SparkTokenizer.from_folder(NANO)
TEMPLATE = ChatTemplate.from_folder(NANO)
CONTENT = (NANO / TOKENIZER_NAME).read_text(encoding="utf-8")
LETTERED = llguidance.LLTokenizer(tags_as_text(CONTENT), n_vocab=VOCABULARY, eos_token=END)
GRAMMARS = {thinking: grammar(tool_schemas(), thinking=thinking) for thinking in (True, False)}

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40).filter(
    lambda text: not any(tag in text for tag in TAGS) and "<|" not in text  # such a text cannot be told from a token
)
NUMBERS = st.integers(0, 999_999_999)
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "index": NUMBERS,
    "text": TEXTS,
    "name": TEXTS,
    "answer": TEXTS,
    "reason": TEXTS,
    "direction": st.sampled_from(["up", "down", "left", "right"]),
    "key": st.sampled_from(["back", "home", "enter", "delete", "recent"]),
}


def matcher(*, thinking: bool) -> Any:
    made = llguidance.LLMatcher(LETTERED, GRAMMARS[thinking], log_level=0)
    assert not made.get_error()
    return made


def accepts(ids: Sequence[int], *, thinking: bool) -> bool:
    made = matcher(thinking=thinking)
    return bool(made.consume_tokens(list(ids)) and made.is_accepting())


def allowed(made: Any) -> list[int]:
    mask = masks.allocate_token_bitmask(1, LETTERED.vocab_size)
    masks.fill_next_token_bitmask(made, mask, 0)
    return [token for token in range(VOCABULARY) if mask[0, token // 32] >> (token % 32) & 1]


def argument(key: str, value: str) -> str:
    return f"{KEY}{key}{KEY_END}{VALUE}{value}{VALUE_END}"


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, str | int]]:
    name = draw(st.sampled_from([*TOOLS]))
    schema = TOOLS[name].model_json_schema(by_alias=True)
    required = schema.get("required", [])
    keys = [key for key in schema["properties"] if key in required or draw(st.booleans())]
    return name, {key: draw(ARGUMENTS[key]) for key in draw(st.permutations(keys))}


# ----------------------------------------------------------------------------------------------------------------------
# the grammar


@settings(max_examples=300)
@given(calls(), TEXTS, st.booleans())
def test_every_call_that_the_template_writes_is_accepted_and_read_back(
    call: tuple[str, dict[str, str | int]], thought: str, thinking: bool
) -> None:
    name, arguments = call
    turns = [Message("user", "x"), Message("assistant", "", thought, name, arguments)]
    text = TEMPLATE.render(turns, thinking=True, open_turn=False).partition("<|Bot|><think>")[2].removesuffix("<|end|>")
    reply = text if thinking else text.partition(THINK_END)[2]
    assert accepts(TOKENIZER.encode(reply), thinking=thinking)
    read = parse_reply(reply)
    assert isinstance(read, ToolCall)
    assert read.source == "native"
    usual = {"reason": "", "answer": ""}
    assert arguments_of(read.action) == {key: value for key, value in arguments.items() if usual.get(key) != value}


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.booleans())
def test_whatever_tokens_are_accepted_they_are_one_valid_call(seed: int, thinking: bool) -> None:
    rng, made, ids = random.Random(seed), matcher(thinking=thinking), list[int]()
    endings = {TOKENIZER.token_id(tag) for tag in (THINK_END, VALUE_END, CALL_END)}
    while not made.is_stopped():
        tokens = allowed(made)
        assert tokens, "a reply that cannot go on"
        closing = [token for token in tokens if token in endings]
        # texts are endless to one who draws: after a while they are closed where they can be
        ids.append(rng.choice(closing if closing and rng.random() < len(ids) / 60 else tokens))
        assert made.consume_token(ids[-1])
        assert len(ids) < 500
    text = TOKENIZER.decode(ids)
    read = parse_reply(text)
    assert isinstance(read, ToolCall), text
    assert read.source == "native"
    assert calls_behind_the_first(text) == ()
    assert allowed(made) == [END]


SWIPE = argument("direction", "up")


@pytest.mark.parametrize(
    "reply",
    [
        f"{CALL}tap{argument('index', '0')}{CALL_END}",
        f"{CALL}swipe{SWIPE}{argument('index', 'null')}{CALL_END}",
        f"{CALL}swipe{argument('index', '7')}{SWIPE}{CALL_END}",
        f"{CALL}type_text{argument('text', '</arg_value <b> <arg')}{CALL_END}",
        f"{CALL}give_up{CALL_END}",
    ],
)
def test_replies_at_the_edge_of_a_call_are_accepted(reply: str) -> None:
    assert accepts(TOKENIZER.encode(reply), thinking=False)
    assert isinstance(parse_reply(reply), ToolCall)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no call",
        f"{CALL}fly{CALL_END}",
        f"{CALL}tap{CALL_END}",
        f"{CALL}tap{argument('index', '-1')}{CALL_END}",
        f"{CALL}tap{argument('index', '007')}{CALL_END}",
        f"{CALL}tap{argument('index', '1.5')}{CALL_END}",
        f"{CALL}tap{argument('index', '1000000000')}{CALL_END}",
        f"{CALL}tap{argument('index', '1')}{argument('index', '2')}{CALL_END}",
        f"{CALL}tap{argument('place', '1')}{CALL_END}",
        f"{CALL}swipe{argument('direction', 'sideways')}{CALL_END}",
        f"{CALL}swipe{argument('index', '1')}{CALL_END}",
        f"{CALL}give_up{argument('reason', f'a{CALL}b')}{CALL_END}",
        f"{CALL}give_up{argument('reason', f'a{THINK_END}b')}{CALL_END}",
        f"{CALL}wait{CALL_END}{CALL}wait{CALL_END}",
        f" {CALL}wait{CALL_END}",
        f"{CALL}wait",
    ],
)
def test_what_is_no_call_or_more_than_one_is_not_accepted(reply: str) -> None:
    assert not accepts(TOKENIZER.encode(reply), thinking=False)


def test_a_thought_holds_no_call_and_ends_once() -> None:
    wait = f"{CALL}wait{CALL_END}"
    assert accepts(TOKENIZER.encode(f" I <b> wait.{THINK_END}{wait}"), thinking=True)
    for reply in (wait, f"{wait}{THINK_END}{wait}", f"a{THINK_END}b{THINK_END}{wait}", f"a{THINK_END}b{wait}"):
        assert not accepts(TOKENIZER.encode(reply), thinking=True)


def test_numbers_and_choices_of_other_schemas_are_json_and_strings_are_not() -> None:
    properties = {
        "level": {"type": "number", "minimum": 0},
        "loud": {"type": "boolean"},
        "way": {"enum": ["up", 3, None]},
        "to": {"anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "integer"}}]},
    }
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    written = grammar([{"function": {"name": "set", "parameters": parameters}}], thinking=False)

    def takes(**values: str) -> bool:
        given = {"level": "0.5", "loud": "true", "way": "up", "to": "all"} | values
        reply = f"{CALL}set{''.join(argument(key, value) for key, value in given.items())}{CALL_END}"
        made = llguidance.LLMatcher(LETTERED, written, log_level=0)
        return bool(made.consume_tokens(TOKENIZER.encode(reply)) and made.is_accepting())

    assert takes()
    assert takes(way="3", to="[1,2]", loud="false", level="12")
    assert takes(way="null")
    assert not takes(level="-1")
    assert not takes(loud="yes")
    assert not takes(way='"up"')
    assert not takes(to="[1,a]")


# ----------------------------------------------------------------------------------------------------------------------
# the tokenizer


def test_only_the_form_of_the_tokenizer_changes() -> None:
    before, after = TOKENIZER, SparkTokenizer.from_json(tags_as_text(CONTENT))
    read = json.loads(CONTENT)
    added = {token["content"].replace(" ", "Ġ"): token["id"] for token in read["added_tokens"]}
    words = read["model"]["vocab"].items()
    shadowed = {token for text, token in words if added.get(text, token) != token}  # no text is read as these
    assert after.size == before.size - len(shadowed)
    for token in set(range(before.size)) - shadowed:
        assert after.decode([token]) == before.decode([token])
        if any(tag in before.decode([token]) for tag in TAGS):
            assert not LETTERED.is_special_token(token)
            assert LETTERED.decode_str([token]) == before.decode([token])
    assert LETTERED.is_special_token(END)


def test_a_folder_for_vllm_is_gone_afterwards() -> None:
    with for_grammars(NANO, END) as arguments:
        folder = Path(arguments["tokenizer"])
        assert (folder / TOKENIZER_NAME).is_file()
    assert not folder.exists()


def test_a_token_that_ends_no_reply_is_refused() -> None:
    with pytest.raises(CheckpointError, match="with token 99999"), for_grammars(NANO, 99999):
        pass


# ----------------------------------------------------------------------------------------------------------------------
# in vLLM


@pytest.fixture(scope="module")
def engine() -> VllmEngine:
    return VllmEngine(NANO, dtype="float32", threads=1, context=1024, in_flight=4, constrained=True)


def prompts(count: int, length: int = 100) -> list[list[int]]:
    rng = random.Random(6)
    return [[rng.randrange(14, 1270) for _ in range(length)] for _ in range(count)]


def together(engine: VllmEngine, asked: Sequence[tuple[list[int], Sampling]]) -> list[TokenGeneration]:
    """Generate several at a time."""
    engine.begin()
    done: dict[int, TokenGeneration] = {}
    tickets: list[int] = []
    for prompt, sampling in asked:
        if len(tickets) - len(done) == engine.in_flight:
            done |= engine.step()
        tickets.append(engine.submit(prompt, STOP, sampling))
    while len(done) < len(tickets):
        done |= engine.step()
    return [done[ticket] for ticket in tickets]


def read(result: TokenGeneration) -> ToolCall | Malformed:
    return parse_reply(TOKENIZER.decode(result.ids), result.finish)


def test_every_constrained_reply_is_a_valid_call_and_of_free_ones_not_all(engine: VllmEngine) -> None:
    free = [
        (prompt, Sampling(temperature=1.0, seed=n, max_tokens=400)) for n, prompt in enumerate(prompts(20, length=20))
    ]
    held = [(prompt, replace(sampling, grammar=GRAMMARS[True])) for prompt, sampling in free]
    results = together(engine, held)
    finished = [result for result in results if result.finish == "stop"]
    assert finished  # a text between quotes may go on for longer than it is let, and at random often does
    assert all(isinstance(read(result), ToolCall) for result in finished)
    assert not all(isinstance(read(result), ToolCall) for result in together(engine, free))


def test_greedy_replies_that_are_calls_by_themselves_stay_as_they_are(engine: VllmEngine) -> None:
    same = 0
    for prompt in prompts(12):
        greedy = Sampling(max_tokens=60)
        engine.begin()
        free = engine.generate(prompt, STOP, greedy)
        engine.begin()
        held = engine.generate(prompt, STOP, replace(greedy, grammar=GRAMMARS[True]))
        if free.finish == "stop" and accepts(free.ids, thinking=True):
            assert held.ids == free.ids
            same += 1
    assert same > 0


def test_a_reply_may_end_at_its_length_inside_a_call(engine: VllmEngine) -> None:
    engine.begin()
    sampling = Sampling(max_tokens=2, grammar=GRAMMARS[False])
    result = engine.generate(prompts(1)[0], STOP, sampling)
    assert result.finish == "length"
    assert len(result.ids) == 2
    cut = read(result)
    assert isinstance(cut, Malformed)
    assert cut.reason == "truncated"


def test_free_and_constrained_generations_share_a_batch_and_a_prefix(engine: VllmEngine) -> None:
    prefix, *rest = prompts(5, length=96)
    free = Sampling(temperature=1.0, seed=1, max_tokens=60)
    held = replace(free, grammar=GRAMMARS[False])
    asked = [(prefix + own, sampling) for own, sampling in zip(rest, (free, held, free, held), strict=True)]
    alone = []
    for prompt, sampling in asked:
        engine.begin(prefix)
        alone.append(engine.generate(prompt, STOP, sampling))
    assert alone[-1].timing.prefill_tokens == len(rest[-1])  # the prefix was there
    tickets = [engine.submit(prompt, STOP, sampling) for prompt, sampling in asked]
    done: dict[int, TokenGeneration] = {}
    while len(done) < len(tickets):
        done |= engine.step()
    engine.begin()
    assert [done[ticket].ids for ticket in tickets] == [result.ids for result in alone]
    assert all(isinstance(read(done[ticket]), ToolCall) for ticket in tickets[1::2])


def test_a_text_that_is_no_grammar_is_refused_and_the_engine_goes_on(engine: VllmEngine) -> None:
    engine.begin()
    with pytest.raises(EngineFault, match="vLLM refuses the generation"):
        engine.generate([20, 21], STOP, Sampling(max_tokens=1, grammar="start: (("))
    assert len(engine.generate([20, 21], frozenset(), Sampling(max_tokens=2)).ids) == 2


def test_only_a_constrained_engine_reads_a_tokenizer(tmp_path: Path) -> None:
    for name in (CONFIG_NAME, "model.safetensors"):
        (tmp_path / name).symlink_to(NANO / name)
    plain = VllmEngine(tmp_path, dtype="float32", threads=1, context=256)
    with pytest.raises(EngineFault, match="the sampling holds a grammar, expected none"):
        plain.generate([20], STOP, Sampling(max_tokens=1, grammar=GRAMMARS[False]))
    assert len(plain.generate([20], frozenset(), Sampling(max_tokens=2)).ids) == 2
    with pytest.raises(CheckpointError, match=TOKENIZER_NAME):
        VllmEngine(tmp_path, dtype="float32", threads=1, context=256, constrained=True)
    elsewhere = VllmEngine(tmp_path, dtype="float32", threads=1, context=256, constrained=True, text=NANO)
    assert elsewhere.generate([20], frozenset(), Sampling(max_tokens=2, grammar="start: /[0-9]+/")).ids
