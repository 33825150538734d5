"""What the sections say, apart from how they are drawn."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.records import RunManifest
from agent_eval.reports import numbers, report_of
from agent_eval.reports.sections import sections_of
from agent_eval.reports.sections.identity import facts_of
from agent_eval.reports.sections.section import NOTHING, Row, Section, Table, beside, spans, words
from agent_eval.reports.tables import render_sections, text_of
from agent_eval.types import Interval
from tests.reports.builders import manifest, run
from tests.reports.golden import rendered

LETTERS = {
    "bf16": "S" * 102 + "N" * 18,
    "w4a16": "S" * 117 + "R" * 3,
    "w4a8": "S" * 60 + "P" * 30 + "L" * 30,
}


def section(title: str, letters: dict[str, str] | None = None) -> Section:
    letters = letters or LETTERS
    made = manifest(tuple(letters), tasks=max(map(len, letters.values())))
    (found,) = [each for each in sections_of(report_of(made, run(letters))) if each.title == title]
    return found


def facts(made: RunManifest) -> dict[str, str]:
    return {fact.name: fact.value for fact in facts_of(made)}


# --- rates and their counts


@pytest.mark.parametrize(
    ("share", "text", "tight"),
    [
        (Interval(82 / 120, 0.6, 0.76, 120), "82/120 68 % [60, 76]", "82/120 68% [60,76]"),
        (Interval(1.0, 0.97, 1.0, 120), "120/120 100 % [97, 100]", "120/120 100% [97,100]"),
        (Interval(0.0, 0.0, 0.3, 9), "0/9 0 % [0, 30]", "0/9 0% [0,30]"),
        (Interval(3 / 869, 0.0, 0.01, 869), "3/869 0 % [0, 1]", "3/869 0% [0,1]"),
        (None, "-", "-"),
    ],
)
def test_a_rate_stands_with_both_counts_and_its_interval(share: Interval | None, text: str, tight: str) -> None:
    assert numbers.percent(share) == text
    assert numbers.tight(text) == tight


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_numerator_of_a_share_is_what_was_counted(counts: tuple[int, int]) -> None:
    events, chances = counts
    assert numbers.events(Interval(events / chances, 0.0, 1.0, chances)) == events


@pytest.mark.parametrize(
    "title", ["Outcomes", "The same episodes under published conventions", "Behaviour, exploratory"]
)
@pytest.mark.parametrize("width", [80, 120])
def test_numbers_of_three_builds_are_never_broken(title: str, width: int) -> None:
    found = section(title)
    drawn = rendered(render_sections([found]), width)
    (table,) = [block for block in found.blocks if isinstance(block, Table)]
    lines = [drawn.splitlines(), numbers.tight(drawn).splitlines()]
    for row in table.rows:
        for cell in map(words, row.cells[1:]):
            if cell != NOTHING:
                assert any(cell in line for line in lines[0]) or any(numbers.tight(cell) in line for line in lines[1])


def test_every_rate_in_a_table_has_a_numerator_and_a_denominator() -> None:
    for title in ("The same episodes under published conventions", "Behaviour, exploratory"):
        (table,) = [block for block in section(title).blocks if isinstance(block, Table)]
        shares = [words(cell) for row in table.rows for cell in row.cells[1:] if "%" in words(cell)]
        assert shares
        assert [share for share in shares if "/" not in share] == []


def test_a_cost_that_few_successes_tell_little_of_has_an_open_end() -> None:
    assert numbers.cost(Interval(93.14, 75.3, float("inf"), 2)) == "93.1 [75.3, ∞] /2"
    assert numbers.cost(Interval(1234.5, 1000.2, 2000.7, 9)) == "1234 [1000, 2001] /9"
    assert numbers.cost(None) == "-"


# --- tables at any width


def test_a_table_of_builds_is_laid_out_by_the_room_there_is() -> None:
    names = ["first-build", "second-build", "third-build"]
    table = beside(names, [Row(("a rate", *["10/20 50 % [30, 70]"] * 3)), Row(("a count", NOTHING, "3", "-"))])
    drawn = {width: rendered(render_sections([Section("", (table,))]), width) for width in (100, 64, 44)}
    assert "10/20 50 % [30, 70]" in drawn[100].splitlines()[1]
    assert drawn[64].splitlines()[1].count("10/20 50% [30,70]") == 3
    upright = [line.split() for line in drawn[44].splitlines() if line.strip()]
    assert upright[1] == ["a", "rate", "first-build", "10/20", "50", "%", "[30,", "70]"]
    assert upright[2][0] == "second-build"
    assert ["a", "count", "second-build", "3"] in upright
    assert all(max(map(len, text.splitlines())) <= width for width, text in drawn.items())


def test_what_no_build_has_takes_one_line_however_many_builds_there_are() -> None:
    table = beside([f"some-long-name-{place}" for place in range(6)], [Row(("nothing", *["-"] * 6))])
    assert rendered(render_sections([Section("", (table,))]), 60).split() == ["build", "nothing", "-"]


def test_a_cell_is_the_text_of_its_pieces() -> None:
    verdicts = section("Against bf16, the same instances").blocks[0]
    assert isinstance(verdicts, Table)
    assert [words(row.cells[-1]) for row in verdicts.rows] == ["no worse", "worse"]
    assert [spans(row.cells[-1])[0].tone for row in verdicts.rows] == ["good", "bad"]


def test_text_in_a_file_has_neither_colours_nor_blanks_at_the_ends_of_lines() -> None:
    text = text_of(sections_of(report_of(manifest(tasks=3), run({"bf16": "SSN", "w4a8": "SNN"}))))
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_sections_are_known_to_no_terminal() -> None:
    program = (
        "import ast, pathlib, agent_eval.reports.sections as package\n"
        "for file in pathlib.Path(package.__file__).parent.glob('*.py'):\n"
        "    assert 'rich' not in file.read_text('utf-8'), file"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# --- the identity of a run


def test_the_identity_has_what_decides_an_outcome() -> None:
    found = facts(manifest())
    assert found["model"] == "nano (embedded), 0123456789ab, template included"
    assert found["w4a8"] == "linears and head in symmetric groups of 32, activations int8; exact kernel"
    assert "2 threads used" in found["machine"]
    assert found["engine"] == "torch, one episode at a time"
    assert "fedcba987654" in found["suite"]
    assert "001122334455" in found["prompts"]
    assert found["replies"] == "greedy, thinking on, at most 64 tokens"
    assert "agent-eval 0.1.0" in found["versions"]
    assert {"language", "split", "skin", "faults", "limits"}.isdisjoint(found)


def test_the_identity_names_what_is_not_as_usual() -> None:
    unusual = manifest(
        language="de",
        max_episode_tokens=12_000,
        build_digests={"w4a8": "ab" * 32},
        scripts={"bf16": "cd" * 32},
        engine="vllm",
        engine_settings=("compile=off",),
    )
    configuration = unusual.configuration.model_copy(update={"stop_on_loop": True, "max_episode_s": 30.0})
    found = facts(
        unusual.model_copy(update={"configuration": configuration, "build_sources": {"w4a8": "/checkpoints/mine"}})
    )
    assert found["language"] == "de"
    assert found["engine"] == "vllm (compile=off), one episode at a time"
    assert found["w4a8"].endswith("exact kernel; from /checkpoints/mine, abababababab")
    assert found["bf16"].endswith("script cdcdcdcdcdcd")
    assert found["limits"] == "stopped on loops, 30 s an episode, 12,000 tokens an episode"


def test_a_run_of_reference_agents_has_no_model_and_no_engine() -> None:
    found = facts(manifest(("null",)).model_copy(update={"agents": ("null",)}))
    assert found["model"] == "none: reference agents only"
    assert {"engine", "replies"}.isdisjoint(found)
