"""The episodes as data: all of them, every text once, and nothing that ends the element in which it stands."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.reports.divergence import Act, first_divergent_step
from agent_eval.reports.explain import explain
from agent_eval.reports.html.payload import Texts, action_key, payload_of, script_json
from agent_eval.reports.selection import latest
from tests.reports.builders import LETTERS, episode, manifest, run, step
from tests.reports.html.runs import HOSTILE, PARTING, hostile, ordinary, parting

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


class Scripts(HTMLParser):
    """Collects the text of script elements, and what else there is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.others: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self._inside = tag == "script"
        if self._inside:
            self.texts.append("")
        else:
            self.others.append(tag)

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data
        elif data.strip():
            self.others.append(data)


def read_back(text: str) -> Any:
    """Put JSON into a script element, parse that as HTML, and return the value."""
    parser = Scripts()
    parser.feed(f'<script type="application/json">{text}</script>')
    parser.close()
    assert (len(parser.texts), parser.others) == (1, [])
    return json.loads(parser.texts[0])


@given(json_values)
def test_any_value_survives_its_script_element(value: Any) -> None:
    text = script_json(value)
    assert read_back(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_survive_their_script_element(text: str) -> None:
    assert read_back(script_json({text: [text]})) == {text: [text]}


def test_half_a_character_can_be_written_as_utf_8() -> None:
    text = script_json("\ud800")
    assert text.encode() == b'"\\ud800"'
    assert json.loads(text) == "\ud800"


@given(st.lists(st.text()))
def test_every_text_is_found_under_its_number_and_stands_once(texts: list[str]) -> None:
    table = Texts()
    numbers = table.numbers(texts)
    assert [table.all()[number] for number in numbers] == texts
    assert len(set(table.all())) == len(table.all())


def test_every_episode_is_there_with_its_last_attempt() -> None:
    records = [
        *run({"bf16": "SSE", "w4a8": "SNS"}),
        episode("success", build="bf16", task="Task02", block=2, attempt=1),
    ]
    made = payload_of(manifest(("bf16", "w4a8"), tasks=3), records)
    assert [each["id"] for each in made["episodes"]] == [
        f"{build}/Task0{block}/0" for block in range(3) for build in ("bf16", "w4a8")
    ]
    assert {each["id"]: (each["label"], each["attempt"]) for each in made["episodes"]}["bf16/Task02/0"] == (
        "success",
        1,
    )


def test_what_the_data_says_of_an_episode_is_what_its_record_says() -> None:
    made_manifest, records = hostile()
    made = payload_of(made_manifest, records)
    texts = made["texts"]
    by_id = {each["id"]: each for each in made["episodes"]}
    assert by_id.keys() == {record.episode for record in records}
    for record in records:
        data, story = by_id[record.episode], explain(record)
        assert texts[data["goal"]] == record.goal
        assert [texts[n] for n in data["story"]["setting"]] == list(story.setting)
        assert [texts[n] for n in data["story"]["facts"]] == list(story.facts)
        for shown, step_record, told in zip(data["steps"], record.steps, story.steps, strict=True):
            assert "\n".join(texts[n] for n in shown["prompt"]) == step_record.prompt
            assert texts[shown["text"]] == step_record.text
            assert texts[shown["result"]] == step_record.result
            assert texts[shown["call"]] == told.call
            assert [texts[n] for n in shown["notes"]] == list(told.notes)
            assert {texts[name]: texts[value] for name, value in shown["arguments"]} == {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in step_record.arguments.items()
            }
            assert [texts[path] for path, _, _ in shown["changes"]] == [c.path for c in step_record.changes or ()]


def test_pairs_have_what_became_of_them_and_where_their_actions_part() -> None:
    made = payload_of(*parting())
    found = {each["task"]: each for each in made["episodes"] if each["build"] == "w4a8"}
    assert {task: each["difference"] for task, each in found.items()} == {
        task: first for task, (_, _, first) in PARTING.items()
    }
    assert {each["against"] for each in found.values()} == {"both passed"}
    assert {each["against"] for each in made["episodes"] if each["build"] == "bf16"} == {""}


def test_lost_and_gained_pairs_are_told_apart_and_faulted_ones_are_none() -> None:
    made = payload_of(*ordinary())
    against = {each["id"]: each["against"] for each in made["episodes"]}
    assert [against[f"w4a16/Task{n:02d}/0"] for n in (0, 4, 6, 8)] == ["both passed", "lost", "both failed", "gained"]
    assert against["w4a8/Task10/0"] == ""


def test_the_second_pass_of_the_noise_band_is_there_and_compared() -> None:
    records = [episode(*LETTERS["S"], build=build) for build in ("bf16", "bf16-again", "w4a8")]
    made = payload_of(manifest(("bf16", "w4a8"), tasks=1, noise_band="bf16"), records)
    assert made["builds"] == ["bf16", "w4a8", "bf16-again"]
    assert {each["build"]: each["against"] for each in made["episodes"]}["bf16-again"] == "both passed"


acts = st.builds(
    lambda tool, arguments, text: step().model_copy(update={"tool": tool, "arguments": arguments, "text": text}),
    st.sampled_from([None, "tap", "swipe"]),
    st.dictionaries(st.sampled_from(["index", "text"]), st.integers(0, 2) | st.sampled_from(["0", "1", "a"])),
    st.sampled_from(["a", "b"]),
)


@given(acts, acts)
def test_steps_share_a_key_exactly_where_their_actions_are_the_same(one: Any, other: Any) -> None:
    assert (action_key(one) == action_key(other)) == Act.of(one).same_as(Act.of(other))


def test_the_numbers_of_actions_part_where_the_records_part() -> None:
    _, records = parting()
    made = payload_of(*parting())
    actions = {each["id"]: [step["action"] for step in each["steps"]] for each in made["episodes"]}
    by_id = {record.episode: record for record in latest(records)}
    for task in PARTING:
        one, other = actions[f"bf16/{task}/0"], actions[f"w4a8/{task}/0"]
        same = [a == b for a, b in zip(one, other, strict=False)]
        parted = same.index(False) if False in same else None if len(one) == len(other) else len(same)
        assert parted == first_divergent_step(by_id[f"bf16/{task}/0"], by_id[f"w4a8/{task}/0"])
