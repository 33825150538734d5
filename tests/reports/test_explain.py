"""An explanation says in sentences what a record holds, and is honest about what it does not."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval.contracts import Trace
from agent_eval.outcome import Outcome
from agent_eval.records import EpisodeRecord
from agent_eval.reports.explain import LONGEST_QUOTE, Explanation, explain, quoted
from agent_eval.reports.explained import render_explanation
from agent_eval.taxonomy import RULES, Verdict, label_of
from agent_eval.types import FiredFault
from tests.reports.golden import EXPLAINED, WIDTHS, file_of, rendered
from tests.tasks.judged import (
    AIRPLANE,
    ANSWER,
    BY_NAME,
    FIXTURES,
    IMPOSSIBLE,
    RADIOS,
    WIFI,
    WIFI_ON,
    Judged,
    at_the_switch,
    both_radios,
    flipping,
)
from tests.tasks.recorded import recorded

by_fixture = pytest.mark.parametrize("fixture", FIXTURES, ids=[fixture.name for fixture in FIXTURES])


def notes(explanation: Explanation, number: int) -> tuple[str, ...]:
    return explanation.steps[number - 1].notes


def told(explanation: Explanation) -> str:
    return rendered(render_explanation(explanation), 200)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", EXPLAINED)
def test_the_rendered_text_is_the_golden_one(name: str, width: int) -> None:
    # after a wanted change: python -m tests.reports.golden, and read the difference
    assert rendered(EXPLAINED[name](), width) == file_of(name, width).read_text(encoding="utf-8")


@by_fixture
@pytest.mark.parametrize("width", [80, 120])
def test_every_trajectory_of_the_corpus_can_be_told_within_the_width(fixture: Judged, width: int) -> None:
    record = recorded(fixture.criteria, fixture.play())
    lines = rendered(render_explanation(explain(record)), width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0] == f"{record.episode}: {Verdict(fixture.label, fixture.sub_kind).told}"


@by_fixture
def test_the_rules_are_told_in_order_up_to_the_one_that_matches(fixture: Judged) -> None:
    record = recorded(fixture.criteria, fixture.play())
    explanation = explain(record)
    facts = record.outcome.facts
    if facts is None:
        assert explanation.rules == ()
        return
    assert [rule.verdict for rule in explanation.rules] == [rule.verdict for rule in RULES[: len(explanation.rules)]]
    assert [rule.matched for rule in explanation.rules] == [False] * (len(explanation.rules) - 1) + [True]
    assert explanation.rules[-1].verdict == label_of(facts, record.outcome.stop)
    assert explanation.rules[-1].why == RULES[len(explanation.rules) - 1].asks
    assert all(rule.why for rule in explanation.rules)
    assert (explanation.contradiction, explanation.missing) == ("", ())


def test_the_example_of_the_docs_is_what_is_drawn() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "judge.md").read_text("utf-8")
    example = rendered(render_explanation(explain(recorded(WIFI_ON, flipping(3).ends()))), 80)
    assert f"```text\n{example.rstrip()}\n```" in page


def test_a_reversal_is_told_at_the_step_that_made_it() -> None:
    explanation = explain(recorded(WIFI_ON, flipping(3).ends()))
    assert "The goal held now, for the first time." in notes(explanation, 4)
    assert "This undid the goal: reversal 1." in notes(explanation, 5)
    assert "The goal held now, again." in notes(explanation, 6)
    assert f"{WIFI}: true -> false" in notes(explanation, 5)
    assert "The goal was reached at step 4 and undone once, by step 5." in explanation.facts


def test_what_the_world_undid_is_told_as_no_reversal() -> None:
    explanation = explain(recorded(WIFI_ON, BY_NAME["undone by the world while waiting"].play()))
    assert "The goal no longer held, by no action of the agent: no reversal." in notes(explanation, 5)


def test_what_came_true_late_is_told_as_the_agents_reversal() -> None:
    explanation = explain(recorded(WIFI_ON, BY_NAME["undone late, while waiting"].play()))
    assert "This undid the goal: reversal 1." in notes(explanation, 6)


def test_parts_are_told_like_the_whole() -> None:
    explanation = explain(recorded(RADIOS, both_radios(WIFI, WIFI).ends()))
    assert 'The sub-goal "wifi" held now, for the first time.' in notes(explanation, 2)
    assert 'This undid the sub-goal "wifi": reversal 1 of it.' in notes(explanation, 3)
    assert 'The sub-goal "wifi" was reached at step 2 and undone once, by step 3.' in explanation.facts
    assert 'At the end the sub-goal "bluetooth" did not hold.' in explanation.ending


def test_a_side_effect_is_told_with_the_steps_that_made_it() -> None:
    diary = at_the_switch()
    for _ in range(3):
        diary.flips(AIRPLANE, "switch Airplane")
    explanation = explain(recorded(WIFI_ON, diary.flips(WIFI).completes()))
    assert f"{AIRPLANE}: false -> true (outside what the task allows)" in notes(explanation, 4)
    assert (
        f"Outside what the task allows, {AIRPLANE} was changed, and stayed so: by steps 4, 5 and 6."
        in explanation.ending
    )


def test_a_loop_is_told_where_it_began() -> None:
    record = recorded(BY_NAME["W4A8 alarm"].criteria, BY_NAME["W4A8 alarm"].play())
    sentence = "Here began a repetition of one action that led to nothing new; it held to the end."
    assert sentence in notes(explain(record), 2)


@pytest.mark.parametrize(
    ("play", "sentence"),
    [
        (lambda: at_the_switch().completes("15"),
         'The agent declared the task done with the answer "15", which is right.'),
        (lambda: at_the_switch().completes("14"),
         'The agent declared the task done with the answer "14", which is wrong.'),
        (lambda: at_the_switch().completes(),
         "The agent declared the task done without the answer that was asked for."),
        (lambda: at_the_switch().gives_up(), "The agent declared that the task cannot be done."),
    ],
)  # fmt: skip
def test_an_answer_is_told_with_what_it_was_worth(play: Callable[[], Trace], sentence: str) -> None:
    assert sentence in notes(explain(recorded(ANSWER, play())), 4)


def test_giving_up_rightly_is_told_as_right() -> None:
    explanation = explain(recorded(IMPOSSIBLE, at_the_switch().gives_up()))
    assert "The agent declared that the task cannot be done, which is so." in notes(explanation, 4)


def test_a_reply_that_is_no_call_is_quoted() -> None:
    explanation = explain(recorded(WIFI_ON, at_the_switch().babbles().ends(), babble='He said "tap".\n<b>'))
    assert explanation.steps[3].call == "no call (no_call)"
    assert 'The agent wrote "He said \\"tap\\".\\n<b>", which is no call; it ends nothing by itself.' in notes(
        explanation, 4
    )


def test_where_the_agent_was_is_told_when_it_changes() -> None:
    explanation = explain(recorded(WIFI_ON, BY_NAME["in another app, with the goal"].play()))
    assert "In front was now com.android.settings, one of the task's apps." in notes(explanation, 1)
    assert "In front was now com.android.contacts, none of the task's apps." in notes(explanation, 5)
    assert not any("In front" in note for note in notes(explanation, 6))
    unknown = explain(recorded(WIFI_ON, BY_NAME["in front is what nobody knows"].play()))
    assert "Which app was in front is not known." in notes(unknown, 1)


HOSTILE = '[bold]x[/bold] [/] [link=file:///etc]y \x1b[2J\x07 \u202e \ud800 " ); drop'


def hostile() -> EpisodeRecord:
    record = recorded(
        WIFI_ON,
        at_the_switch().babbles().does(HOSTILE).flips(WIFI).completes(HOSTILE),
        goal=HOSTILE,
        parameters={"name": HOSTILE},
        thought=HOSTILE,
        babble=HOSTILE,
    )
    return record.model_copy(update={"faults": (FiredFault(1500, HOSTILE, HOSTILE),), "episode": HOSTILE})


def test_what_models_and_phones_wrote_is_harmless_text() -> None:
    shown = told(explain(hostile()))
    assert shown.count("[bold]x[/bold]") >= 8
    allowed = {"\n"}
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in allowed]


def test_a_quoted_text_cannot_end_its_quotation() -> None:
    assert quoted('a" done. "b\\') == '"a\\" done. \\"b\\\\"'
    assert quoted("x" * (LONGEST_QUOTE + 7)) == f'"{"x" * LONGEST_QUOTE}" and 7 more characters'


def test_a_label_that_the_rules_do_not_give_is_told_plainly() -> None:
    record = recorded(WIFI_ON, flipping(2).ends())
    wrong = record.model_copy(update={"outcome": replace(record.outcome, label="success")})
    explanation = explain(wrong)
    assert explanation.contradiction.startswith(
        "The record has the label success; from the recorded facts the rules give reversal."
    )
    assert "Contradiction" in told(explanation)
    lost = record.model_copy(update={"outcome": Outcome("reversal", "", "step_budget", None)})
    assert explain(lost).contradiction == (
        "The record has the label reversal and no facts: no rule can be held against it."
    )


def old(record: EpisodeRecord) -> EpisodeRecord:
    """Return a record as it was before steps held changes and facts held the steps of reversals."""
    facts = record.outcome.facts
    assert facts is not None
    parts = tuple(replace(part, reversed_at=()) for part in facts.sub_goals)
    return record.model_copy(
        update={
            "steps": tuple(s.model_copy(update={"changes": None, "in_task_app": None}) for s in record.steps),
            "outcome": replace(record.outcome, facts=replace(facts, reversed_at=(), sub_goals=parts)),
        }
    )


def test_an_old_record_is_explained_and_says_what_it_lacks() -> None:
    explanation = explain(old(recorded(WIFI_ON, flipping(3).flips(AIRPLANE, "A").completes())))
    assert "This undid the goal: reversal 1." in notes(explanation, 5)
    assert "In front was now com.android.settings." in notes(explanation, 1)
    assert "the record does not say by which step" in explanation.ending[-1]
    assert explanation.missing == (
        "The record does not hold what each step changed: changes, and who made side effects, are not shown.",
        "The record does not hold which apps are the task's.",
        "The record does not hold which steps undid the goal: they are taken from the goal after each step.",
    )


def test_reversals_of_an_old_record_are_not_guessed() -> None:
    play = BY_NAME["undone late, while waiting"].play
    explanation = explain(old(recorded(WIFI_ON, play())))
    assert "This undid the goal: reversal 1." in notes(explanation, 6)  # the only step after which it was gone
    mixed = flipping(2).flips(WIFI).waits(writes={WIFI: False}).flips(WIFI)
    acted = explain(old(recorded(WIFI_ON, mixed.ends())))
    assert "This undid the goal: reversal 1." in notes(acted, 5)
    assert not any("reversal 2" in note for step in acted.steps for note in step.notes)
    parts = explain(old(recorded(RADIOS, both_radios(WIFI, WIFI).ends())))
    assert parts.missing[-1] == 'The record does not hold which steps undid the sub-goal "wifi".'


def test_a_broken_episode_is_explained_as_far_as_it_came() -> None:
    record = recorded(WIFI_ON, flipping(1).ends("harness_error"))
    explanation = explain(record)
    assert explanation.verdict == "harness_error"
    assert (len(explanation.steps), explanation.rules, explanation.facts) == (4, (), ())
    assert "The goal held now." in notes(explanation, 4)
    assert explanation.ending[0] == "The harness failed, which ended the episode."
    assert explanation.ending[-1] == "What the agent had done until then is above; it is not judged."
