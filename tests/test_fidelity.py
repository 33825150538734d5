"""A measurement from the folder of a run to its record, and the command as a person meets it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agent_eval.cli import main
from agent_eval.errors import OperatorError, RunFolderError
from agent_eval.fidelity import GOALS, FidelityOptions, measure_fidelity
from agent_eval.records import EPISODES_NAME, MANIFEST_NAME, RunFolder
from agent_eval.reports.fidelity import fidelity_report
from agent_eval.reports.fidelity_record import PART_LETTERS, FidelityRecord
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.wiring import EMBEDDED

NANO = EMBEDDED["nano"]
TASKS = "WifiSet,WifiSetAlready,AlarmCreate,NoteCreate"
TEXT = "Task: Turn on Wi-Fi.\nApp: Settings\n[0] Wi-Fi (switch, off)\n" * 70


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of nano in two builds. Tests must not write to it."""
    out = tmp_path_factory.mktemp("runs") / "nano"
    assert main(["run", "--builds", "bf16,w4a8", "--tasks", TASKS, "--instances", "1", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "screens.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "prompts.txt"
    path.write_text("Turn on\nOpen the\n", encoding="utf-8")
    return path


def options(run: Path, text: Path, prompts: Path, **more: object) -> FidelityOptions:
    return FidelityOptions(run, text=text, prompts=prompts, tokens=12, **more)  # type: ignore[arg-type]


def quiet(line: str) -> None:
    del line


@pytest.fixture(scope="session")
def measured(played: Path, text: Path, prompts: Path) -> FidelityRecord:
    return measure_fidelity(options(played, text, prompts, act=True), quiet)


def test_every_token_of_the_reference_is_in_the_record(measured: FidelityRecord, played: Path) -> None:
    records = [record for record in RunFolder.open(played).episodes() if record.build == "bf16"]
    assert [episode.episode for episode in measured.episodes] == [record.episode for record in records]
    assert measured.recorded_episodes == len(records) == 4
    for episode, record in zip(measured.episodes, records, strict=True):
        assert list(episode.replies) == [step.tokens for step in record.steps]
        assert all(episode.written_again)
        assert len(episode.parts) == len(episode.log_probabilities) == sum(episode.replies)
        assert set(episode.parts) <= PART_LETTERS.keys()
    (build,) = measured.builds
    assert build.build == "w4a8"
    for its, mine in zip(build.episodes, measured.episodes, strict=True):
        assert its.episode == mine.episode
        assert len(its.kl) == len(its.same_top) == len(its.log_probabilities) == len(mine.parts)


def test_a_call_of_each_reply_is_seen_in_its_parts(measured: FidelityRecord, played: Path) -> None:
    records = {record.episode: record for record in RunFolder.open(played).episodes()}
    for episode in measured.episodes:
        steps = records[episode.episode].steps
        declared = sum(step.tool in ("task_complete", "give_up") for step in steps)
        assert episode.parts.count("d") == declared  # nano writes a name in one token
        assert episode.parts.count("n") == sum(step.tool is not None for step in steps) - declared


def test_the_record_says_what_was_measured(measured: FidelityRecord, played: Path, text: Path) -> None:
    manifest = RunFolder.open(played).manifest
    assert measured.model == "nano"
    assert measured.model_digest == measured.run_digest == checkpoint_digest(NANO)
    assert measured.reference_notes == manifest.build_notes["bf16"]
    assert measured.builds[0].notes == manifest.build_notes["w4a8"]
    assert measured.machine == manifest.machine
    assert measured.text is not None
    tokens = len(SparkTokenizer.from_folder(NANO).encode(TEXT))
    assert (measured.text.source, measured.text.tokens) == (str(text), tokens)
    assert [len(window.kl) for window in measured.builds[0].windows] == [
        min(512, tokens - start) - 1 for start in range(0, tokens, 512)
    ]
    assert tokens > 512


def test_the_decision_is_asked_for_where_the_goal_first_held(measured: FidelityRecord, played: Path) -> None:
    records = {record.episode: record for record in RunFolder.open(played).episodes()}
    asked = {episode.episode: episode.decision for episode in measured.builds[0].episodes if episode.decision}
    assert asked
    for name, decision in asked.items():
        facts, steps = records[name].outcome.facts, records[name].steps
        assert facts is not None
        assert decision.step == facts.first_reach
        assert decision.called == (steps[decision.step].tool or "")
        assert decision.step == 0 or steps[decision.step - 1].goal


def test_own_actions_are_those_of_the_run_up_to_the_first_other_one(measured: FidelityRecord, played: Path) -> None:
    # up to there the build saw the same screens and wrote the same replies, or said the same in other thoughts
    records = {record.episode: record for record in RunFolder.open(played).episodes()}
    assert len(measured.builds[0].divergences) == len(measured.episodes)
    for followed in measured.builds[0].episodes:
        assert followed.actions is not None
        name = followed.episode.partition("/")[2]
        mine, its = records[f"bf16/{name}"], records[f"w4a8/{name}"]
        same = [a.thought == b.thought and a.tool == b.tool and a.arguments == b.arguments
                for a, b in zip(mine.steps, its.steps, strict=False)]  # fmt: skip
        until = same.index(False) if False in same else len(same)
        assert all(action.kind == "same" for action in followed.actions[:until])


def test_the_same_measurement_gives_the_same_record(
    measured: FidelityRecord, played: Path, text: Path, prompts: Path
) -> None:
    again = measure_fidelity(options(played, text, prompts, act=True), quiet)
    same = {"created": ""}
    assert again.model_copy(update=same) == measured.model_copy(update=same)


def test_the_reference_beside_itself_differs_in_nothing(played: Path, text: Path, prompts: Path) -> None:
    record = measure_fidelity(options(played, text, prompts, builds=("bf16",), act=True), quiet)
    (found,) = fidelity_report(record).builds
    close, read = found.parts["all"], found.text
    assert read is not None
    for each in (close, read):
        assert (each.kl.estimate, each.largest_kl, each.same) == (0.0, 0.0, each.kl.n)
        assert each.perplexity_ratio.estimate == 1.0
    assert found.stopping is not None
    assert found.stopping.difference.estimate == 0.0
    assert found.acting is not None
    assert found.acting.same.estimate == 1.0
    assert found.greedy is not None
    assert found.greedy.matches == 2


def test_some_episodes_are_spread_over_the_run(played: Path, text: Path, prompts: Path) -> None:
    two = measure_fidelity(options(played, text, prompts, episodes=2), quiet)
    every = [record.episode for record in RunFolder.open(played).episodes() if record.build == "bf16"]
    assert [episode.episode for episode in two.episodes] == [every[0], every[2]]
    assert two.recorded_episodes == 4
    none = measure_fidelity(options(played, text, prompts, episodes=0), quiet)
    assert (none.episodes, none.builds[0].episodes) == ((), ())
    assert none.builds[0].windows == two.builds[0].windows


@pytest.mark.peers
def test_a_build_that_llama_cpp_computes_is_measured_the_same_way(played: Path, text: Path, prompts: Path) -> None:
    pytest.importorskip("xllamacpp")
    record = measure_fidelity(options(played, text, prompts, builds=("q4_k_m", "w2a16")), quiet)
    close, control = (figures.parts["all"] for figures in fidelity_report(record).builds)
    assert 0 < close.kl.estimate < control.kl.estimate
    assert all(all(episode.written_again) for episode in record.episodes)


# ----------------------------------------------------------------------------------------------------------------------
# what is refused


def copied(played: Path, folder: Path, name: str, change: tuple[str, str]) -> Path:
    """Copy a run and replace a text in one of its files."""
    shutil.copytree(played, folder)
    content = (folder / name).read_text(encoding="utf-8")
    assert change[0] in content
    (folder / name).write_text(content.replace(*change), encoding="utf-8")
    return folder


def test_prompts_that_are_not_those_of_the_run_are_refused(
    played: Path, text: Path, prompts: Path, tmp_path: Path
) -> None:
    other = copied(played, tmp_path / "other", EPISODES_NAME, ("App: Launcher\\n", "App: Launcher\\nApp: Launcher\\n"))
    with pytest.raises(RunFolderError, match="when it is built again; the engine was given"):
        measure_fidelity(options(other, text, prompts), quiet)


def test_another_model_than_the_runs_has_to_be_asked_for(
    played: Path, text: Path, prompts: Path, tmp_path: Path
) -> None:
    digest = checkpoint_digest(NANO)
    other = copied(played, tmp_path / "other", MANIFEST_NAME, (digest, "0" * 64))
    with pytest.raises(OperatorError, match="is not the one that the run was played with"):
        measure_fidelity(options(other, text, prompts), quiet)
    said: list[str] = []
    found = measure_fidelity(options(other, text, prompts, model="nano", episodes=1), said.append)
    assert "warning: the run was played with another model than 'nano'" in said[0]
    assert (found.run_digest, found.model_digest) == ("0" * 64, digest)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--builds", "oracle"], "oracle gives no probabilities"),
        (["--builds", "w5a8"], "unknown build 'w5a8'"),
        (["--builds", ""], "--builds is empty"),
        (["--model", "nowhere"], "unknown model 'nowhere'"),
        (["--text", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["--prompts", "nowhere.txt"], "nowhere.txt cannot be read"),
    ],
)
def test_bad_options_are_named(
    played: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["fidelity", str(played), *arguments]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "hint: " in shown


def test_runs_that_have_nothing_to_compare_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "--tasks", "WifiSetAlready", "--instances", "1"]
    for builds, said in (("oracle", "has no build of a model; it has oracle"), ("bf16", "no build besides bf16")):
        out = str(tmp_path / builds)
        assert main([*run, "--builds", builds, "--out", out]) == 0
        assert main(["fidelity", out]) == 2
        assert said in capsys.readouterr().err
    assert main(["fidelity", str(tmp_path / "none")]) == 2
    assert "no run in" in capsys.readouterr().err


def test_a_text_without_two_tokens_is_refused(played: Path, prompts: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("", encoding="utf-8")
    with pytest.raises(OperatorError, match="expected at least two"):
        measure_fidelity(options(played, short, prompts), quiet)


# ----------------------------------------------------------------------------------------------------------------------
# the command


def test_the_command_prints_the_tables_and_writes_every_number(
    played: Path, text: Path, prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "fidelity.json"
    arguments = ["--text", str(text), "--prompts", str(prompts), "--episodes", "2", "--tokens", "8"]
    assert main(["fidelity", str(played), *arguments, "--json", str(file)]) == 0
    shown = capsys.readouterr()
    for part in ("followed   2 of 4 episodes of bf16", "On the replies of bf16", "The decision to stop", "w4a8"):
        assert part in shown.out
    assert "What it would do" not in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    assert "w4a8: episode 1 of 2" in shown.err
    record = FidelityRecord.read(file)
    assert (len(record.episodes), record.new_tokens) == (2, 8)
    assert json.loads(file.read_text(encoding="utf-8"))["schema_version"] == 1


def test_the_goals_of_the_tasks_are_the_text_unless_one_is_named(played: Path, prompts: Path) -> None:
    found = measure_fidelity(FidelityOptions(played, prompts=prompts, episodes=0, tokens=4), quiet)
    assert found.text is not None
    assert found.text.source == GOALS
    assert len(found.text.log_probabilities) > 20
