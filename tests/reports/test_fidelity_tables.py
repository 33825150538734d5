from __future__ import annotations

import pytest

from agent_eval.reports.fidelity_record import FidelityRecord
from agent_eval.reports.fidelity_tables import render_fidelity
from tests.reports.fidelity_builders import completion, record, small, text
from tests.reports.golden import rendered


def shown(of: FidelityRecord, width: int = 80) -> str:
    return rendered(render_fidelity(of), width)


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal_and_every_section_is_there(width: int) -> None:
    lines = shown(small(), width)
    assert max(map(len, lines.splitlines())) <= width
    for part in ("Fidelity", "On the replies of bf16", "By part of a reply", "The decision to stop", "What it would do",
                 "In the run, each for itself", "On a text", "Greedy continuations: 2 prompts"):  # fmt: skip
        assert part in lines


def test_the_figures_of_the_small_measurement_are_told() -> None:
    lines = [line.split() for line in shown(small(), 120).splitlines()]
    for row in (
        "KL, mean 0.25 [0.25, 0.25] 0.25 [0.25, 0.25]",
        "of tokens 6 / 8 6 / 8",
        "their ratio 1.414 [1.189, 1.682] 1.414 [1.189, 1.682]",
        "decisions that flip 1/2 [9, 91] % 1/2 [9, 91] %",
        "to going on, to stopping 1, 0 1, 0",
        "build itself completes 1/2 [9, 91] % 1/2 [9, 91] %",
        "declared 1 / 4 1 / 4",
        "same actions throughout 2/4 [15, 85] % 2/4 [15, 85] %",
        "the same to the last 1/2 [9, 91] % 1/2 [9, 91] %",
        "text 1 w4a8 3/8 ' on' 0.60 0.20 ' off' 0.30 0.70",
        "text 2 w4a16 8/8",
        "checked bf16 wrote 2 of 2 replies again, token by token",
    ):
        assert row.split() in lines, row


def test_the_ratio_of_each_part_is_told_where_there_is_room() -> None:
    assert "perplexity ratio" in shown(small(), 120)
    assert "perplexity ratio" not in shown(small(), 80)


def test_more_builds_than_fit_stand_below() -> None:
    three = small()
    three = three.model_copy(update={"builds": (*three.builds, three.builds[0].model_copy(update={"build": "w2a16"}))})
    lines = shown(three)
    assert max(map(len, lines.splitlines())) <= 80
    assert lines.count("KL, 99th percentile") == 2


def test_what_was_not_measured_is_left_out() -> None:
    build = small().builds[0].model_copy(update={"episodes": (), "windows": (), "divergences": ()})
    lines = shown(record([], [build]))
    assert "Greedy continuations" in lines
    for part in ("followed", "On the replies", "By part", "decision", "would do", "In the run", "On a text"):
        assert part not in lines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model_kind": "synthetic"}, "SYNTHETIC"),
        ({"model_kind": "constructed"}, "CONSTRUCTED"),
        ({"model_kind": "embedded"}, "small embedded model"),
        ({"run_digest": "f" * 64}, "ANOTHER MODEL, ffffffffffff"),
        ({"vocabulary": 2}, "none that nano can read"),
    ],
)
def test_what_figures_may_not_be_taken_for_is_said(change: dict[str, object], said: str) -> None:
    assert said in " ".join(shown(small(**change), 200).split())
    assert said not in " ".join(shown(small(), 200).split())


def test_replies_that_the_reference_would_not_write_again_are_told() -> None:
    changed = small()
    other = changed.episodes[0].model_copy(update={"written_again": (False,)})
    lines = " ".join(shown(changed.model_copy(update={"episodes": (other, changed.episodes[1])}), 200).split())
    assert "bf16 wrote 1 of 2 replies again" in lines
    assert "bf16 chose other tokens than the run has in 1 replies" in lines


def test_what_a_model_wrote_is_text() -> None:
    hostile = "[red]\x1b[31m\u202e"
    build = (
        small()
        .builds[0]
        .model_copy(
            update={
                "completions": (completion(hostile, 1, 8, written=hostile),),
                "notes": hostile,
                "build": hostile,
                "episodes": (),
            }
        )
    )
    lines = shown(record([], [build], text(4, 2, source=hostile), run=hostile, model=hostile), 200)
    assert "\x1b" not in lines
    assert "\u202e" not in lines
    assert "[red]" in lines
