"""The model card: its text for made-up figures, and what it says where figures are missing."""

from __future__ import annotations

import re

import pytest

from agent_eval.curriculum import CONDITIONS
from agent_eval.reports.model_card import (
    MOST_CURVE_ROWS,
    NEW_TO_THE_MODEL,
    WIDTH,
    model_card,
    success_table,
)
from agent_eval.reports.scores import scores_of
from tests.reports.card_builders import ANATOMY, CURVE, GOLDEN, KINDS, TRAINING, card, played, scores


def test_the_card_is_the_golden_one() -> None:
    # after a wanted change: python -m tests.reports.card_builders, and read the difference
    assert card() == GOLDEN.read_text(encoding="utf-8")


def test_prose_keeps_to_its_width() -> None:
    prose = [line for line in card().splitlines() if not line.startswith("|")]
    assert max(map(len, prose)) <= WIDTH


def test_every_row_of_a_table_has_its_columns() -> None:
    for block in re.findall(r"(?:^\|.*\n)+", card(), re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1, block


def test_a_card_says_first_what_the_model_is_not() -> None:
    text = card()
    said = " ".join(text.split())
    assert "It says nothing about Spark-X2.5-1.7B" in said
    assert "a measurement of nano is a measurement of nano" in said
    assert text.index("## What it is not") < text.index("## Scores")


def test_every_share_of_success_has_an_interval_and_its_counts() -> None:
    rows = success_table(scores()).splitlines()[2:]
    assert len(rows) == 16  # four conditions, each whole and in three tiers
    cells = [cell.strip() for row in rows for cell in row.split("|")[3:-1]]
    assert all(re.fullmatch(r"\d+ % \[\d+, \d+\] \d+/\d+", cell) for cell in cells)


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_condition_of_the_curriculum_is_explained(name: str) -> None:
    assert NEW_TO_THE_MODEL[name]
    assert NEW_TO_THE_MODEL.keys() == CONDITIONS.keys()


def test_what_was_not_noted_is_left_out_and_not_guessed() -> None:
    bare = model_card(ANATOMY, {}, (), None)
    assert "None" not in bare
    assert "It has not been scored." in bare
    for absent in ("DAgger", "| seed |", "| step |", "minutes"):
        assert absent in card()
        assert absent not in bare


@pytest.mark.parametrize("reports", [1, 2, MOST_CURVE_ROWS, 100])
def test_a_curve_is_shown_from_its_first_report_to_its_last(reports: int) -> None:
    shown = model_card(ANATOMY, TRAINING, CURVE[-reports:], None)
    table = shown[shown.index("| step |") :].split("\n\n")[0].splitlines()[2:]
    steps = [int(row.split("|")[1].replace(",", "")) for row in table]
    assert len(steps) == min(reports, MOST_CURVE_ROWS)
    assert (steps[0], steps[-1]) == (CURVE[-reports]["step"], 5000)
    assert steps == sorted(set(steps))


def test_a_build_that_was_not_judged_has_no_share() -> None:
    lost = scores_of({"unseen parameters": [played({"bf16": "S", "w4a8": "E"})]}, KINDS, 0)
    shown = " ".join(model_card(ANATOMY, TRAINING, (), lost).split())
    assert "| unseen parameters | all | 100 % [21, 100] 1/1 | - |" in shown
    assert "w4a8 0 judged of 1 recorded of 1 planned, harness errors left out: 1" in shown
