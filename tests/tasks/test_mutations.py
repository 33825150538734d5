"""The corpus is worth something: each judge that is wrong in one way stumbles over one of its trajectories."""

from __future__ import annotations

import pytest

from agent_eval.tasks.judge import judge
from tests.tasks import mutation_page
from tests.tasks.judged import FIXTURES
from tests.tasks.mutants import ALL_MUTANTS, Mutant, catches, caught_by

EQUIVALENT = [mutant for mutant in ALL_MUTANTS if mutant.equivalent]
WRONG = [mutant for mutant in ALL_MUTANTS if not mutant.equivalent]


@pytest.mark.parametrize("mutant", WRONG, ids=lambda mutant: mutant.name)
def test_a_wrong_judge_is_caught(mutant: Mutant) -> None:
    assert caught_by(mutant), f"no trajectory in tests/tasks/judged.py shows that {mutant.name!r} {mutant.wrong}"


@pytest.mark.parametrize("mutant", EQUIVALENT, ids=lambda mutant: mutant.name)
def test_an_equivalent_judge_is_told_apart_by_nothing(mutant: Mutant) -> None:
    assert caught_by(mutant) == (), mutant.equivalent


def test_the_real_judge_is_caught_by_nothing() -> None:
    real = Mutant("the real judge", "", judge)
    assert [fixture.name for fixture in FIXTURES if catches(real, fixture)] == []


def test_there_are_many_wrong_judges_and_no_name_twice() -> None:
    assert len(WRONG) >= 20
    assert len({mutant.name for mutant in ALL_MUTANTS}) == len(ALL_MUTANTS)


def test_the_page_says_what_the_tables_say() -> None:
    written = mutation_page.PAGE.read_text("utf-8")
    assert written == mutation_page.page(), "run python -m tests.tasks.mutation_page"
