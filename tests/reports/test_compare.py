from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from agent_eval.errors import OperatorError, RunFolderError, UnknownName
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports import report_of
from agent_eval.reports.compare import Comparison, comparison_of, short_names
from agent_eval.reports.sections import sections_of_comparison
from agent_eval.reports.sections.compared import differences
from agent_eval.reports.shown import showing_of_comparison
from agent_eval.reports.tables import text_of
from tests.reports.builders import manifest, run

Source = tuple[Path, RunManifest, Sequence[EpisodeRecord]]


def source(name: str, letters: dict[str, str], agents: tuple[str, ...] = (), **configuration: Any) -> Source:
    tasks = max((len(text) for text in letters.values()), default=0)
    made = manifest(tuple(letters), tasks=tasks, **configuration).model_copy(update={"agents": agents})
    return Path("runs") / name, made, run(letters)


def changed(source: Source, **changes: Any) -> Source:
    """The run with something else in each of its records."""
    path, made, records = source
    return path, made, [record.model_copy(update=changes) for record in records]


BEFORE = source("before", {"bf16": "SSSSSSNNSS", "w4a8": "SSSSNNNNSS"})
AFTER = source("after", {"bf16": "SSSSSSNNSS", "w4a8": "SSRRNNNNSS", "w4a16": "SSSSSSNNSN"})


def shown(comparison: Comparison, width: int = 200) -> str:
    return text_of(showing_of_comparison(comparison).sections, width)


# --- which builds are compared with which


def test_builds_that_several_runs_have_are_told_apart_and_others_keep_their_names() -> None:
    found = comparison_of([BEFORE, AFTER])
    names = [build.build for build in found.report.summary.builds]
    assert names == ["bf16@before", "w4a8@before", "bf16@after", "w4a8@after", "w4a16"]
    assert found.run_of["w4a16"] == found.run_of["bf16@after"] == "after"
    assert found.report.summary.reference == "bf16@before"


def test_each_build_is_compared_with_the_reference_and_with_itself_in_the_first_run() -> None:
    pairs = [(pair.build, pair.reference) for pair in comparison_of([BEFORE, AFTER]).report.evidence.pairs]
    assert pairs == [
        ("w4a8@before", "bf16@before"),
        ("bf16@after", "bf16@before"),
        ("w4a8@after", "bf16@before"),
        ("w4a16", "bf16@before"),
        ("w4a8@after", "w4a8@before"),
    ]


def test_holm_is_over_every_comparison_that_is_made() -> None:
    pairs = comparison_of([BEFORE, AFTER]).report.evidence.pairs
    p_values = [
        mcnemar([[0, pair.lost], [pair.gained, 0]], exact=True).pvalue if pair.lost + pair.gained else 1.0
        for pair in pairs
    ]
    assert [pair.p_value for pair in pairs] == pytest.approx(p_values)
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_pairs_across_runs_are_counted_by_hand() -> None:
    pairs = {(pair.build, pair.reference): pair for pair in comparison_of([BEFORE, AFTER]).report.summary.pairs}
    across = pairs["w4a8@after", "bf16@before"]
    assert (across.pairs, across.lost, across.gained) == (10, 4, 0)
    assert across.migration == {
        ("success", "success"): 4,
        ("success", "reversal"): 2,
        ("success", "no_completion"): 2,
        ("no_completion", "no_completion"): 2,
    }
    again = pairs["w4a8@after", "w4a8@before"]
    assert [each.build.episode for each in again.discordant] == ["w4a8@after/Task02/0", "w4a8@after/Task03/0"]


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("", "bf16@before"),
        ("bf16@after", "bf16@after"),
        ("w4a16", "w4a16"),
        ("w4a16@after", "w4a16"),
        ("w4a8@before", "w4a8@before"),
    ],
)
def test_the_reference_can_be_any_build_of_a_model(asked: str, got: str) -> None:
    found = comparison_of([BEFORE, AFTER], reference=asked)
    assert found.report.summary.reference == got
    against = [pair.build for pair in found.report.evidence.pairs if pair.reference == got]
    assert sorted({*against, got}) == sorted(found.run_of)
    assert len({(pair.build, pair.reference) for pair in found.report.evidence.pairs}) == len(
        found.report.evidence.pairs
    )


def test_without_bf16_the_first_build_of_a_model_is_the_reference() -> None:
    found = comparison_of([source("a", {"oracle": "SS", "w4a8": "SN"}, ("oracle",)), source("b", {"w4a16": "SS"})])
    assert found.report.summary.reference == "w4a8"
    assert [(pair.build, pair.gained) for pair in found.report.evidence.pairs] == [("w4a16", 1)]


def test_runs_of_reference_agents_alone_are_laid_beside_each_other() -> None:
    found = comparison_of([source("a", {"null": "NN"}, ("null",)), source("b", {"oracle": "SS"}, ("oracle",))])
    assert (found.report.summary.reference, found.report.evidence.pairs) == ("", ())
    assert "oracle" in shown(found)


# --- the same build in two runs


def test_equal_runs_show_no_difference_in_the_builds_that_they_share() -> None:
    again = (Path("runs/again"), BEFORE[1], BEFORE[2])
    found = comparison_of([BEFORE, again])
    assert [(same.pairs, same.flipped, same.relabelled, same.otherwise) for same in found.same_builds] == [
        (10, 0, 0, 0),
        (10, 0, 0, 0),
    ]
    assert differences(found) == ()
    assert "Nothing but when they were run." in shown(found)


def test_what_a_build_did_otherwise_in_another_run_is_counted() -> None:
    path, made, records = source("after", {"bf16": "SSNR"})
    step = records[0].steps[0].model_copy(update={"text": "tap(2)"})
    records = [records[0].model_copy(update={"steps": (step, *records[0].steps[1:])}), *records[1:]]
    (same,) = comparison_of([source("before", {"bf16": "SSSN"}), (path, made, records)]).same_builds
    assert (same.build, same.reference, same.pairs) == ("bf16@after", "bf16@before", 4)
    assert (same.flipped, same.relabelled, same.otherwise) == (1, 2, 1)


# --- one run


def test_one_run_is_compared_as_in_its_report() -> None:
    path, made, records = BEFORE
    found = comparison_of([BEFORE])
    assert found.report == report_of(made, records, run=str(path))
    assert found.report.interleaved
    titles = [section.title for section in sections_of_comparison(found)]
    assert "Against bf16, the same instances" in titles
    assert "Runs" not in titles


def test_with_another_reference_than_its_own_a_run_shows_no_speed() -> None:
    letters = {"bf16": "SSSSSSSS", "w4a8": "SSSSSSSN"}
    timed = (Path("r"), manifest(tuple(letters), tasks=8), run(letters, {"bf16": 40.0, "w4a8": 80.0}))
    assert "Speed" in shown(comparison_of([timed]))
    other = comparison_of([timed], reference="w4a8")
    assert "Speed" not in shown(other)
    assert [(pair.build, pair.gained, pair.speed_ratio) for pair in other.report.evidence.pairs] == [("bf16", 1, None)]


# --- what is refused


def test_runs_without_an_instance_in_common_are_refused_with_an_example_of_each() -> None:
    german = changed(AFTER, goal="Schalte WLAN ein.")
    with pytest.raises(RunFolderError, match="no instance in common") as raised:
        comparison_of([BEFORE, german])
    assert "Task00/0 'Turn on Wi-Fi.'" in raised.value.message
    assert "'Schalte WLAN ein.'" in raised.value.message
    assert "--language" in raised.value.hint


def test_a_run_without_an_episode_is_refused() -> None:
    with pytest.raises(RunFolderError, match="no episode"):
        comparison_of([BEFORE, (Path("runs/none"), AFTER[1], [])])


def test_two_versions_of_a_task_are_refused_by_name() -> None:
    with pytest.raises(RunFolderError, match=r"bf16@before/Task00/0 .* version 1 of task 'Task00'.* version 2"):
        comparison_of([BEFORE, changed(AFTER, task_version=2)])


def test_a_run_named_twice_is_refused() -> None:
    with pytest.raises(OperatorError, match="named twice"):
        comparison_of([BEFORE, (Path("runs/../runs/before"), AFTER[1], AFTER[2])])


def test_a_reference_that_is_not_there_or_not_one_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="unknown reference 'q4'; expected one of: bf16@before"):
        comparison_of([BEFORE, AFTER], reference="q4")
    with pytest.raises(OperatorError, match="a build of 2 runs: bf16@before, bf16@after") as raised:
        comparison_of([BEFORE, AFTER], reference="bf16")
    assert "--reference bf16@before" in raised.value.hint
    with pytest.raises(OperatorError, match="reference agent"):
        comparison_of([source("a", {"bf16": "SS", "null": "NN"}, ("null",))], reference="null")


# --- what is said of the runs


def test_what_differs_between_the_runs_is_apart_from_what_is_the_same() -> None:
    other = source("after", {"bf16": "SSSS"}, skin="german", engine="vllm", seed=8)
    found = comparison_of([source("before", {"bf16": "SSSS"}), other])
    names = {difference.name: difference.values for difference in differences(found)}
    assert names["engine"] == ("torch, one episode at a time", "vllm, one episode at a time")
    assert names["skin"] == ("-", "german")
    assert {"model", "prompts", "machine", "versions"}.isdisjoint(names)
    assert "seed 7" in names["suite"][0]
    assert "seed 8" in names["suite"][1]


def test_speeds_and_seconds_of_different_runs_are_not_laid_side_by_side() -> None:
    words = " ".join(shown(comparison_of([BEFORE, AFTER])).split())
    assert "tokens/s" not in words
    assert "seconds per success" not in words
    assert "Speeds and seconds of different runs are not compared" in words


def test_each_build_is_held_against_what_its_own_run_planned() -> None:
    words = shown(comparison_of([BEFORE, source("short", {"w4a16": "SS"})]))
    assert "w4a8: 10 judged of 10 recorded of 10 planned" in words
    assert "w4a16: 2 judged of 2 recorded of 2 planned" in words
    assert "All runs have 2 of 10 instances" in words


def test_phones_that_began_otherwise_are_counted() -> None:
    assert "not in the same state" not in shown(comparison_of([BEFORE, AFTER]))
    found = comparison_of(
        [source("a", {"bf16": "SSS"}), changed(source("b", {"w4a8": "SSN"}), start_snapshot="1" * 16)]
    )
    assert found.began_otherwise == 3
    assert "In 3 of 3 pairs the phones were not in the same state" in shown(found)


def test_a_run_that_ended_when_it_was_decided_is_named() -> None:
    words = shown(comparison_of([BEFORE, source("adaptive", {"w4a16": "SSSS"}, decided_at_margin=0.1)]))
    assert "adaptive ended when its comparisons were decided" in " ".join(words.split())


def test_the_second_pass_of_a_noise_band_is_no_build_to_compare() -> None:
    path, made, records = source("noisy", {"w4a16": "SSSS"}, noise_band="w4a16")
    again = run({made.configuration.again: "NNNN"})
    found = comparison_of([BEFORE, (path, made, [*records, *again])])
    assert set(found.run_of) == {"bf16", "w4a8", "w4a16"}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_many_runs_keep_to_their_width(width: int) -> None:
    runs = [source(f"run-number-{place}", {"bf16": "SSSN", "w4a8": "SNSN"}) for place in range(5)]
    assert max(len(line) for line in shown(comparison_of(runs), width).splitlines()) <= width


# --- names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a"], ["a"]),
        (["x/a", "x/b"], ["a", "b"]),
        (["x/a", "y/a"], ["x/a", "y/a"]),
        (["x/a", "y/a", "b"], ["x/a", "y/a", "b"]),
        (["a", "x/a"], None),
        (["p/q/r", "s/q/r", "q/r/t"], ["p/q/r", "s/q/r", "t"]),
    ],
)
def test_a_run_has_the_shortest_end_of_its_path_that_no_other_has(paths: list[str], names: list[str] | None) -> None:
    found = short_names([Path(path) for path in paths])
    assert len(set(found)) == len(paths)
    if names is not None:
        assert list(found) == names
    else:
        assert found[0].endswith("/a")


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map("/".join), min_size=1, unique=True))
def test_any_paths_get_names_of_their_own(paths: list[str]) -> None:
    names = short_names([Path("/root") / path for path in paths])
    assert len(set(names)) == len(paths)
    assert all(f"/root/{path}".endswith(name) for name, path in zip(names, paths, strict=True))
