from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from agent_eval.outcome import LABELS
from agent_eval.reports.advice_tables import render_recommendation
from agent_eval.reports.layout import visible
from agent_eval.reports.tables import render_report
from agent_eval.types import BuildStanding, Reason, Recommendation, Source
from tests.reports.builders import LETTERS, MACHINE, manifest, run
from tests.reports.golden import TEXTS, WIDTHS, file_of, rendered


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TEXTS)
def test_the_rendered_text_is_the_golden_one(name: str, width: int) -> None:
    # after a wanted change: python -m tests.reports.golden, and read the difference
    assert rendered(TEXTS[name](), width) == file_of(name, width).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(len(line) for line in rendered(TEXTS[name](), width).splitlines()) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_every_label_is_spelled_out_at_every_width(width: int) -> None:
    words = rendered(TEXTS["report"](), width)
    assert all(part in words for label in LABELS for part in label.split("_"))


@pytest.mark.parametrize(
    ("kind", "word"),
    [("embedded", "small embedded model"), ("synthetic", "are synthetic"), ("constructed", "CONSTRUCTED"),
     ("published", None)],
)  # fmt: skip
def test_what_a_model_may_not_be_taken_for_is_said_below_its_report(kind: str, word: str | None) -> None:
    words = " ".join(rendered(render_report(manifest(model_kind=kind), run({"bf16": "S"})), 120).split())
    assert f"({kind})" in words
    said = [other for other in ("small embedded model", "are synthetic", "CONSTRUCTED") if other in words]
    assert said == ([] if word is None else [word])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Wi-Fi", "Wi-Fi"),
        ("été 7:30 — ok", "été 7:30 — ok"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("right\u202eto left", "right\\u202eto left"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_visible_text_holds_no_control_and_is_stable(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)
    assert visible(shown) == shown


def test_markup_in_goals_builds_and_faults_is_text() -> None:
    hostile = "[red]x[/red] [/] [link=file:///etc]y"
    letters = {"bf16": "SS", hostile: "NE"}
    records = run(letters, goal=hostile, fault=hostile)
    shown = rendered(render_report(manifest(tuple(letters), tasks=2), records, run=hostile), 200)
    assert shown.count(hostile) >= 4
    standing = BuildStanding(hostile, "eligible", "unverified", 0.1, 0)
    reason = Reason(hostile, (Source("run", hostile, (), hostile), Source("document", f"docs/{hostile}")))
    advice = Recommendation(hostile, True, hostile, (reason,), standings=(standing,))
    assert rendered(render_recommendation(MACHINE, "speed", advice), 200).count(hostile) == 6


def test_colours_repeat_what_the_words_say() -> None:
    console = Console(width=120, color_system="standard", highlight=False, force_terminal=True, legacy_windows=False)
    with console.capture() as capture:
        console.print(TEXTS["report"]())
    coloured = capture.get()
    assert "\x1b[" in coloured
    assert "\x1b[2J" not in coloured


def test_a_recommendation_of_nothing_says_so() -> None:
    advice = Recommendation(None, False, "reference-failed", (Reason("No episode was judged.", ()),))
    shown = rendered(render_recommendation(MACHINE, "speed", advice), 80)
    assert "none" in shown
    assert "nothing may be advised" in shown


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text([*LETTERS, "."], min_size=1, max_size=8), min_size=1, max_size=4),
    st.sampled_from([60, 80, 120]),
)
def test_any_run_can_be_drawn(outcomes: list[str], width: int) -> None:
    letters = {f"build{place}": text for place, text in enumerate(outcomes)}
    shown = rendered(render_report(manifest(tuple(letters), tasks=8), run(letters)), width)
    assert "nan" not in shown.split()
    assert max(len(line) for line in shown.splitlines()) <= width


def test_a_report_names_the_engine_and_how_it_is_used() -> None:
    text = rendered(render_report(manifest(engine="vllm", engine_settings=("a=1", "b=2"), concurrency=3), []), 80)
    assert "engine    vllm (a=1, b=2), 3 in flight" in text
    assert "constrained" not in text
    assert "replies constrained to calls" in rendered(render_report(manifest(constrained=True), []), 80)
    agents = manifest(("null",)).model_copy(update={"agents": ("null",)})
    assert "engine" not in rendered(render_report(agents, []), 80)


@pytest.mark.parametrize("width", WIDTHS)
def test_speeds_of_episodes_in_flight_together_say_so_wherever_they_stand(width: int) -> None:
    records = run({"bf16": "S" * 8, "w4a8": "S" * 8}, {"bf16": 40.0, "w4a8": 80.0})
    alone = rendered(render_report(manifest(("bf16", "w4a8"), 8), records), width)
    assert "in flight" not in alone
    together = rendered(render_report(manifest(("bf16", "w4a8"), 8, concurrency=4), records), width)
    said = " ".join(together.split())
    assert "Speed, 4 in flight" in said
    assert "tokens/s, 4 in flight" in said
    assert "Seconds, 4 in flight" in said
    assert "compare it with no run that has another number of them" in said


def test_a_head_is_held_against_the_speed_of_one_episode_at_a_time_only() -> None:
    records = run({"w4a8": "S" * 8}, {"w4a8": 80.0})
    trapped = {
        together: rendered(
            render_report(
                manifest(("w4a8",), 8, concurrency=together).model_copy(update={"head_traps": {"w4a8": 0.002}}), records
            ),
            120,
        )
        for together in (1, 4)
    }
    assert "it takes 2 ms of 12.5 ms a token (16 %)." in trapped[1]
    assert "it takes 2 ms." in trapped[4]


def test_a_report_names_the_skin_and_the_faults_of_its_phones() -> None:
    plain = manifest()
    dressed = plain.model_copy(
        update={"configuration": plain.configuration.model_copy(update={"skin": "german", "faults": ("tap_noop",)})}
    )
    text = rendered(render_report(dressed, [], run="r"), 80)
    assert "skin      german" in text
    assert "faults    tap_noop" in text
    assert "skin " not in rendered(render_report(plain, [], run="r"), 80)


def test_a_report_names_the_split_of_its_instances_where_it_is_not_the_usual_one() -> None:
    assert "split     training" in rendered(render_report(manifest(split="training"), [], run="r"), 80)
    assert "split " not in rendered(render_report(manifest(), [], run="r"), 80)
