"""Records are append-only, survive a killed process, and belong to one configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_eval.errors import RunFolderError
from agent_eval.outcome import Outcome
from agent_eval.records import EPISODES_NAME, EpisodeRecord, RunConfiguration, RunFolder, RunManifest, StepRecord
from agent_eval.types import Change, MachineProbe
from agent_eval.wiring import default_run_folder
from tests.fakes import TIMING

ENGINE_FIELDS = ("engine", "engine_settings", "concurrency", "constrained")
"""Fields of a configuration that runs of schema version 3 lack."""
NEW_CONFIGURATION = (
    *("task_versions", "language", "max_episode_tokens", "scripts", "build_digests"),
    *ENGINE_FIELDS,
)
"""Fields of a configuration that runs of schema version 1 lack."""


def configuration(**changes: object) -> RunConfiguration:
    values: dict[str, object] = {
        **dict.fromkeys(("model", "model_digest", "suite_digest", "prompt_digest"), "x"),
        "builds": ("bf16",),
        "tasks": ("WifiSet",),
        "instances": 1,
        "seed": 0,
        "device": "sim",
        "max_tokens": 9,
        "thinking": True,
        "stop_on_loop": False,
        "max_episode_s": None,
    }
    return RunConfiguration.model_validate(values | changes)


def manifest(**changes: object) -> RunManifest:
    return RunManifest(
        configuration=configuration(**changes),
        model_kind="embedded",
        build_notes={},
        versions={},
        machine=MachineProbe("x86_64", "cpu", ("avx2",), 2, 1, "linux"),
        threads=1,
        created="2026-01-01T00:00:00+00:00",
    )


def record(seed: int = 0, wall_s: float = 1.0, **changes: object) -> EpisodeRecord:
    written = "é\n\u2028"
    step = StepRecord(
        prompt=written,
        text=written,
        source=written,
        thought=written,
        result=written,
        target=written,
        package=written,
        snapshot=written,
        changes=(Change("settings/wifi_on", False, True), Change("clock/alarm/1/label", None, written)),
        tool="tap",
        arguments={"index": 0},
        goal=True,
        tokens=3,
        timing=TIMING,
    )
    values: dict[str, object] = {
        "episode": f"bf16/WifiSet/{seed}",
        "block": 0,
        "build": "bf16",
        "task": "WifiSet",
        "seed": seed,
        "attempt": 0,
        "goal": "g",
        "parameters": {"on": True},
        "budget": 8,
        "start_snapshot": "s",
        "steps": (step,),
        "outcome": Outcome("harness_error", "", "harness_error", None, "f"),
        "wall_s": wall_s,
    }
    return EpisodeRecord.model_validate(values | changes)


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    folder = RunFolder.create_or_resume(tmp_path / "run", manifest())
    with folder.sink() as sink:
        sink.append(record(0))
        sink.append(record(1))
    assert RunFolder.open(tmp_path / "run").episodes() == (record(0), record(1))
    assert RunFolder.open(tmp_path / "run").manifest == manifest()


def test_a_record_is_on_the_disk_before_the_next_one_begins(tmp_path: Path) -> None:
    folder = RunFolder.create_or_resume(tmp_path, manifest())
    with folder.sink() as sink:
        sink.append(record(0))
        assert folder.episodes() == (record(0),)


def test_a_line_torn_at_any_byte_is_set_aside_and_loses_no_other(tmp_path: Path) -> None:
    whole = (record(0).model_dump_json() + "\n").encode()
    torn = (record(1).model_dump_json() + "\n").encode()
    for cut in range(0, len(torn) - 1, 37):
        folder = RunFolder.create_or_resume(tmp_path / str(cut), manifest())
        (folder.path / EPISODES_NAME).write_bytes(whole + torn[:cut])
        assert folder.episodes() == (record(0),)
        again = RunFolder.create_or_resume(folder.path, manifest())
        with again.sink() as sink:
            sink.append(record(2))
        assert again.episodes() == (record(0), record(2))
        kept = folder.path / "episodes.torn"
        assert (kept.read_bytes() if kept.exists() else b"") == (torn[:cut] + b"\n" if cut else b"")


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    folder = RunFolder.create_or_resume(tmp_path, manifest())
    (tmp_path / EPISODES_NAME).write_text("{}\n" + record(0).model_dump_json() + "\n")
    with pytest.raises(RunFolderError, match=r"line 1 .* is not an episode record"):
        folder.episodes()


@pytest.mark.parametrize(
    ("change", "said"),
    [({"seed": 7}, "seed=0.*seed=7"), ({"builds": ("w4a8",)}, "builds="), ({"model_digest": "y"}, "model_digest='x'")],
)
def test_a_run_of_another_configuration_is_refused_by_its_first_difference(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    RunFolder.create_or_resume(tmp_path, manifest())
    with pytest.raises(RunFolderError, match=said) as caught:
        RunFolder.create_or_resume(tmp_path, manifest(**change))
    assert "--out" in caught.value.hint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"machine": MachineProbe("aarch64", "phone", ("neon",), 8, 1, "linux")}, "machine=.*arm64"),
        ({"versions": {"torch": "9"}}, "torch='9'"),
        ({"threads": 64}, "threads=64"),
    ],
)
def test_a_run_is_not_gone_on_with_where_it_would_give_other_numbers(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    RunFolder.create_or_resume(tmp_path, manifest())
    with pytest.raises(RunFolderError, match=said):
        RunFolder.create_or_resume(tmp_path, manifest().model_copy(update=change))


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(RunFolderError, match=r"thesis\.txt"):
        RunFolder.create_or_resume(tmp_path, manifest())
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot write"):
        RunFolder.create_or_resume(tmp_path / "file" / "run", manifest())


@pytest.mark.parametrize("place", ["new", "new/deeper", "."])
def test_looking_whether_a_folder_will_do_writes_nothing(tmp_path: Path, place: str) -> None:
    RunFolder.check(tmp_path / place, manifest())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no run in"):
        RunFolder.open(tmp_path)


def test_a_run_of_before_tasks_had_versions_is_still_read(tmp_path: Path) -> None:
    run = RunFolder.create_or_resume(tmp_path / "run", manifest())
    with run.sink() as sink:
        sink.append(record())
    for file in (run.path / "manifest.json", run.path / "episodes.jsonl"):
        old = json.loads(file.read_text("utf-8"))
        old["schema_version"] = 1
        for part, added in (
            (old, ("agents", "task_version", "model_revision", "build_sources")),
            (old.get("configuration", {}), NEW_CONFIGURATION),
        ):
            for name in added:
                part.pop(name, None)
        for step in old.get("steps", ()):
            del step["changes"], step["in_task_app"]
        file.write_text(json.dumps(old) + "\n", encoding="utf-8")
    again = RunFolder.open(run.path)
    (read,) = again.episodes()
    assert (read.task_version, read.steps[0].changes, again.manifest.agents) == (1, None, ())


def test_a_run_of_before_builds_had_checkpoints_of_their_own_is_still_read(tmp_path: Path) -> None:
    run = RunFolder.create_or_resume(tmp_path / "run", manifest())
    with run.sink() as sink:
        sink.append(record())
    for file in (run.path / "manifest.json", run.path / "episodes.jsonl"):
        old = json.loads(file.read_text("utf-8"))
        assert old["schema_version"] == 6
        old["schema_version"] = 2
        for name in ("model_revision", "build_sources"):
            old.pop(name, None)
        for name in ("build_digests", *ENGINE_FIELDS):
            old.get("configuration", {}).pop(name, None)
        file.write_text(json.dumps(old) + "\n", encoding="utf-8")
    again = RunFolder.create_or_resume(run.path, manifest())
    assert (again.manifest.model_revision, again.manifest.build_sources) == ("", {})
    assert again.manifest.configuration.build_digests == {}
    assert len(again.episodes()) == 1


def test_a_run_of_before_memory_was_noted_is_read(tmp_path: Path) -> None:
    run = RunFolder.create_or_resume(tmp_path / "run", manifest())
    with run.sink() as sink:
        sink.append(record())
    for file in (run.path / "manifest.json", run.path / "episodes.jsonl"):
        old = json.loads(file.read_text("utf-8"))
        old["schema_version"] = 5
        for name in ("loaded_bytes", "anonymous_bytes"):
            old.pop(name, None)
        assert "noise_band" not in old.get("configuration", {}), "default names of folders are made of these fields"
        assert "decided_at_margin" not in old.get("configuration", {})
        file.write_text(json.dumps(old) + "\n", encoding="utf-8")
    again = RunFolder.create_or_resume(run.path, manifest())
    configuration = again.manifest.configuration
    assert (configuration.noise_band, configuration.again, configuration.decided_at_margin) == ("", "", None)
    assert (again.manifest.loaded_bytes, again.episodes()[0].anonymous_bytes) == ({}, None)


def test_a_run_of_before_there_was_another_engine_is_read_as_one_of_torch(tmp_path: Path) -> None:
    run = RunFolder.create_or_resume(tmp_path / "run", manifest())
    with run.sink() as sink:
        sink.append(record())
    for file in (run.path / "manifest.json", run.path / "episodes.jsonl"):
        old = json.loads(file.read_text("utf-8"))
        old["schema_version"] = 3
        for name in ENGINE_FIELDS:
            old.get("configuration", {}).pop(name, None)
        file.write_text(json.dumps(old) + "\n", encoding="utf-8")
    again = RunFolder.create_or_resume(run.path, manifest()).manifest.configuration
    assert [getattr(again, name) for name in ENGINE_FIELDS] == ["torch", (), 1, False]
    assert len(RunFolder.open(run.path).episodes()) == 1


def test_a_run_of_before_there_was_a_choice_of_splits_is_gone_on_with_under_the_same_name(tmp_path: Path) -> None:
    run = RunFolder.create_or_resume(tmp_path / "run", manifest())
    file = run.path / "manifest.json"
    old = json.loads(file.read_text("utf-8"))
    assert "split" not in old["configuration"], "default names of folders are made of these fields"
    file.write_text(json.dumps(old | {"schema_version": 4}) + "\n", encoding="utf-8")
    again = RunFolder.create_or_resume(run.path, manifest(split="evaluation")).manifest.configuration
    assert again.split == "evaluation"
    assert default_run_folder(again) == default_run_folder(configuration())
    assert default_run_folder(configuration(split="training")) != default_run_folder(configuration())


@pytest.mark.parametrize(("recorded", "asked"), [("evaluation", "training"), ("training", "evaluation")])
def test_a_run_is_not_gone_on_with_on_another_split(tmp_path: Path, recorded: str, asked: str) -> None:
    RunFolder.create_or_resume(tmp_path / "run", manifest(split=recorded))
    assert RunFolder.open(tmp_path / "run").manifest.configuration.split == recorded
    with pytest.raises(RunFolderError, match=f"recorded with split='{recorded}'; this command has split='{asked}'"):
        RunFolder.create_or_resume(tmp_path / "run", manifest(split=asked))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"engine": "vllm"}, "engine='vllm'"),
        ({"engine_settings": ("compile=off",)}, "engine_settings="),
        ({"concurrency": 4}, "concurrency=4"),
        ({"constrained": True}, "constrained=True"),
    ],
)
def test_a_run_on_another_engine_or_with_another_number_in_flight_is_not_resumed(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    RunFolder.create_or_resume(tmp_path / "run", manifest())
    with pytest.raises(RunFolderError, match=said):
        RunFolder.create_or_resume(tmp_path / "run", manifest(**change))


def test_a_run_with_another_checkpoint_for_a_build_is_not_resumed(tmp_path: Path) -> None:
    RunFolder.create_or_resume(tmp_path / "run", manifest(build_digests={"bf16": "a"}))
    with pytest.raises(RunFolderError, match=r"recorded with build_digests={'bf16': 'a'}"):
        RunFolder.create_or_resume(tmp_path / "run", manifest(build_digests={"bf16": "b"}))


@pytest.mark.parametrize(
    "text", ['{"schema_version": 99}', "[]", '{"name": "another tool"}', "{", '{"schema_version": 1}']
)
def test_a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(RunFolderError):
        RunFolder.open(tmp_path)


def test_records_that_differ_only_in_time_are_equal_untimed() -> None:
    assert record(wall_s=1.0).untimed() == record(wall_s=2.0).untimed()
    assert record(0).untimed() != record(1).untimed()
    assert "timing" not in json.dumps(record().untimed())
