"""The commands as a person meets them: what they print, what they leave behind, and how they fail."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from agent_eval.agent import adb
from agent_eval.cli import _COMMANDS, main
from agent_eval.command_line import FORMATS, command_line
from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.records import EPISODES_NAME, RunFolder
from agent_eval.reports.formats import FORMAT_NAMES
from agent_eval.reports.recommendation_record import RecommendationRecord
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest, weights_digest
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.types import PhoneSetup
from agent_eval.wiring import EMBEDDED
from tests.fakes import tiny_checkpoint
from tests.spark_backend.checkpoints.hub_server import COMMIT, REPOSITORY, serve_hub
from tests.wire.fakes import Host

SMALL = ["--tasks", "smoke", "--instances", "2", "--max-tokens", "6"]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    tiny_checkpoint(folder, seed=0)
    return folder


def run(checkpoint: Path, out: Path, *more: str) -> list[str]:
    return ["run", "--model", str(checkpoint), "--out", str(out), *SMALL, *more]


def untimed(out: Path) -> list[dict[str, object]]:
    return [record.untimed() for record in RunFolder.open(out).episodes()]


@pytest.fixture(scope="session")
def finished(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "finished"
    assert main(run(checkpoint, out)) == 0
    return out


def failed(capsys: pytest.CaptureFixture[str], arguments: list[str], *parts: str) -> None:
    """The command fails with one message that holds the parts and a hint, and prints no traceback."""
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    for part in (*parts, "agent-eval: error: ", "hint: "):
        assert part in shown
    assert "Traceback" not in shown


# ----------------------------------------------------------------------------------------------------------------------
# run, resume, read


def test_a_run_prints_its_progress_its_outcomes_and_its_recommendation(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(run(checkpoint, tmp_path / "run")) == 0
    shown = capsys.readouterr()
    assert "block 4/4" in shown.err
    for part in ("Outcomes", "Against bf16", "Label migration", "Speed", "Recommendation"):
        assert part in shown.out


def test_the_same_command_in_another_folder_gives_the_same_records_but_for_time(
    checkpoint: Path, finished: Path, tmp_path: Path
) -> None:
    assert main(run(checkpoint, tmp_path / "again")) == 0
    assert untimed(tmp_path / "again") == untimed(finished)
    assert len(untimed(finished)) == 12


def test_a_process_that_hashes_otherwise_gives_the_same_records(
    checkpoint: Path, finished: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "agent_eval", *run(checkpoint, tmp_path / "other")]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(command, env=environment, capture_output=True, check=True)
    assert untimed(tmp_path / "other") == untimed(finished)


def test_every_command_of_the_grammar_has_a_function_and_no_other() -> None:
    (commands,) = (each for each in command_line()._actions if isinstance(each, argparse._SubParsersAction))
    assert set(commands.choices) == set(_COMMANDS)


def test_repeating_a_finished_command_records_nothing_more(checkpoint: Path, finished: Path) -> None:
    before = (finished / EPISODES_NAME).read_bytes()
    assert main(run(checkpoint, finished)) == 0
    assert (finished / EPISODES_NAME).read_bytes() == before


def episodes_in(out: Path) -> int:
    file = out / EPISODES_NAME
    return file.read_bytes().count(b"\n") if file.exists() else 0


def start(arguments: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "agent_eval", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_an_episode(out: Path, process: subprocess.Popen[str]) -> None:
    while episodes_in(out) == 0 and process.poll() is None:
        time.sleep(0.002)  # another process writes the file; there is nothing else to wait on


def test_a_killed_run_goes_on_to_the_records_of_an_unbroken_one(
    checkpoint: Path, finished: Path, tmp_path: Path
) -> None:
    process = start(run(checkpoint, tmp_path))
    wait_for_an_episode(tmp_path, process)
    process.kill()
    process.communicate()
    assert 0 < episodes_in(tmp_path) <= 12
    assert main(run(checkpoint, tmp_path)) == 0
    assert untimed(tmp_path) == untimed(finished)


def test_an_interrupted_run_says_how_to_go_on_and_keeps_its_records(checkpoint: Path, tmp_path: Path) -> None:
    process = start([*run(checkpoint, tmp_path), "--instances", "400"])
    wait_for_an_episode(tmp_path, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "hint: repeat the same command" in errors
    assert "Traceback" not in errors
    assert len(RunFolder.open(tmp_path).episodes()) >= 1


# ----------------------------------------------------------------------------------------------------------------------
# where builds come from

ONE = ["--tasks", "WifiSet", "--instances", "1", "--max-tokens", "6"]


def test_a_build_may_be_taken_from_a_checkpoint_of_its_own(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, out = tmp_path / "other", tmp_path / "run"
    lively = replace(SparkConfig.from_folder(checkpoint), initializer_range=0.5)  # attention far from uniform
    synthetic_checkpoint(other, lively, seed=1)
    (other / "tokenizer.json").unlink()  # weights alone are read with the model's text
    (other / "chat_template.jinja").unlink()
    command = ["run", "--model", str(checkpoint), "--out", str(out), *ONE, "--builds", f"bf16,w4a8,w4a8-g32={other}"]
    assert main(command) == 0
    assert f"from{other}" in "".join(capsys.readouterr().out.split())  # a long path is folded within
    run = RunFolder.open(out)
    assert run.manifest.configuration.builds == ("bf16", "w4a8", "w4a8-g32")
    assert run.manifest.configuration.build_digests == {"w4a8-g32": weights_digest(other)}
    assert run.manifest.build_sources == {"w4a8-g32": str(other)}
    texts = {record.build: [step.text for step in record.steps] for record in run.episodes()}
    assert texts["w4a8-g32"] != texts["w4a8"]

    synthetic_checkpoint(other, lively, seed=2)
    failed(capsys, command, "was recorded with build_digests=")


def test_a_build_of_another_model_is_refused_before_anything_is_loaded(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "--model", str(checkpoint), "--out", str(tmp_path / "run"), *ONE, "--builds", "bf16,w4a8=nano"]
    failed(capsys, command, "w4a8=nano is another model than")
    assert not (tmp_path / "run").exists()


def test_a_model_of_a_hub_is_fetched_once_and_pinned_to_its_commit(checkpoint: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent_eval", "run", "--model", f"{REPOSITORY}@v1", *ONE, "--builds", "bf16"]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home")}
    with serve_hub(checkpoint, extra={"modeling_spark.py": b"raise SystemExit"}) as hub:
        there = {**environment, "HF_ENDPOINT": hub.endpoint}
        subprocess.run([*command, "--out", str(tmp_path / "a")], env=there, capture_output=True, check=True)
        assert "modeling_spark.py" not in hub.fetched
    away = {**environment, "HF_HUB_OFFLINE": "1"}
    subprocess.run([*command, "--out", str(tmp_path / "b")], env=away, capture_output=True, check=True)
    manifests = [RunFolder.open(tmp_path / name).manifest for name in "ab"]
    assert [manifest.model_revision for manifest in manifests] == [COMMIT, COMMIT]
    assert manifests[0].configuration == manifests[1].configuration
    assert manifests[0].configuration.model_digest == checkpoint_digest(checkpoint)
    assert manifests[0].model_kind == "synthetic"
    assert untimed(tmp_path / "a") == untimed(tmp_path / "b")

    never = [*command[:5], "XHToken/Spark-other", *command[6:], "--out", str(tmp_path / "c")]
    refused = subprocess.run(never, env=away, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "XHToken/Spark-other was not downloaded before" in refused.stderr
    assert "hint: HF_HUB_OFFLINE forbids the network" in refused.stderr


def test_a_noise_band_plays_the_reference_twice_and_reports_it_as_one_build(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(run(checkpoint, out, "--builds", "bf16,w4a8", "--noise-band")) == 0
    shown = capsys.readouterr().out
    records = RunFolder.open(out).episodes()
    assert {record.build for record in records} == {"bf16", "w4a8", "bf16-again"}
    assert "bf16 ends every instance twice in" in shown
    assert "0 of 4 ended otherwise, 0 went" in shown
    assert "bf16-again" not in shown, "it is no build that could be advised"
    assert all(record.anonymous_bytes for record in records)


def test_a_run_until_decided_plays_all_instances_where_nothing_decides(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(run(checkpoint, out, "--builds", "bf16,w4a8", "--until", "decided", "--margin", "0.2")) == 0
    shown = capsys.readouterr()
    assert "0 of at most 8 episodes recorded before" in shown.err
    assert "open" in shown.out
    assert RunFolder.open(out).manifest.configuration.decided_at_margin == 0.2
    assert len(untimed(out)) == 8


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--builds", "bf16", "--until", "decided"], "--until decided needs two builds of a model"),
        (["--builds", "bf16,oracle", "--until", "decided"], "received bf16,oracle"),
        (["--builds", "oracle,null", "--noise-band"], "--noise-band runs a build of a model twice"),
    ],
)
def test_what_compares_builds_is_refused_where_there_are_none(
    more: list[str], part: str, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed(capsys, run(checkpoint, tmp_path / "run", *more), part)
    assert not (tmp_path / "run").exists()


def test_reports_are_computed_from_the_records_alone(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(finished)]) == 0
    first = capsys.readouterr().out
    assert main(["report", str(finished)]) == 0
    assert capsys.readouterr().out == first
    assert "invalid_call" in first


@pytest.mark.parametrize("priority", ["speed", "fidelity", "agentic"])
def test_a_recommendation_names_its_rule_and_its_evidence(
    finished: Path, priority: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recommend", str(finished), "--priority", priority]) == 0
    shown = capsys.readouterr().out
    for part in (f"priority {priority}", "machine", "rule", "insufficient evidence"):
        assert part in shown


def test_a_recommendation_is_written_and_may_be_for_another_machine(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, profile = tmp_path / "advice.json", tmp_path / "phone.json"
    assert main(["recommend", str(finished), "--json", str(out)]) == 0
    here = RecommendationRecord.read(out)
    profile.write_text(
        json.dumps(asdict(replace(here.machine, arch="aarch64", cpu_flags=("asimd", "fp16", "asimddp")))), "utf-8"
    )
    assert main(["recommend", str(finished), "--json", str(out), "--profile", str(profile)]) == 0
    there = RecommendationRecord.read(out)
    assert (there.device_class, there.machine.cpu_flags) == ("arm64", ("dotprod", "neon"))
    assert there.evidence == here.evidence
    assert "its speeds do not" in capsys.readouterr().out
    assert (here.margin, here.harm_cap) == (0.1, None)
    assert here.recommendation.decision is not None
    assert {each.build for each in here.recommendation.standings} == {"bf16", "w4a16", "w4a8"}


def test_a_margin_and_a_cap_on_harm_are_held_to_and_recorded(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "advice.json"
    asked = ["recommend", str(finished), "--json", str(out), "--margin", "0.2", "--harm-cap", "0.05"]
    assert main(asked) == 0
    record = RecommendationRecord.read(out)
    assert (record.margin, record.harm_cap) == (0.2, 0.05)
    assert record.evidence is not None
    assert {pair.margin for pair in record.evidence.pairs} == {0.2}
    assert {each.harm_cap for each in record.recommendation.standings} == {0.05}
    assert "5 %" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*asked[:-1], "5"])
    assert "'5' is not a share between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize("profile", ["amx-server", "arm64-phone", "phone-npu"])
def test_without_a_run_the_decision_table_says_what_to_expect_and_that_nothing_was_measured(
    profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(__file__).parent.parent / "docs" / "reference" / "profiles" / f"{profile}.json"
    out = tmp_path / "expected.json"
    assert main(["recommend", "--profile", str(file), "--priority", "speed"]) == 0
    assert not list(tmp_path.iterdir())
    assert main(["recommend", "--profile", str(file), "--priority", "speed", "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    record = RecommendationRecord.read(out)
    assert (record.evidence, record.recommendation.conclusive) == (None, False)
    assert record.recommendation.decision is not None
    for part in ("Unverified here", "Decision table", record.recommendation.decision.path):
        assert part in shown


def test_the_profile_of_this_machine_can_be_saved_and_asked_about(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--profile"]) == 0
    profile, (one, two) = tmp_path / "here.json", (tmp_path / "1.json", tmp_path / "2.json")
    profile.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["recommend", str(finished), "--json", str(one)]) == 0
    assert main(["recommend", str(finished), "--json", str(two), "--profile", str(profile)]) == 0
    assert one.read_text("utf-8") == two.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[1]", "describes no machine"),
        ("{", "cannot be read"),
        ('{"arch": "x86_64"}', "cpu_model"),
        (
            '{"arch": "x", "cpu_model": "", "cpu_flags": [], "physical_cores": 1, "memory_bytes": 1, "os": "", "x": 1}',
            "has 'x'",
        ),
    ],
)
def test_a_profile_that_describes_no_machine_is_named(
    finished: Path, tmp_path: Path, text: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(text, encoding="utf-8")
    failed(capsys, ["recommend", str(finished), "--profile", str(profile)], repr(str(profile)), named)


def test_reading_a_run_loads_no_torch(finished: Path) -> None:
    script = (
        "import sys; from agent_eval.cli import main; "
        f"main(['report', {str(finished)!r}]); main(['recommend', {str(finished)!r}]); "
        f"main(['compare', {str(finished)!r}, '--format', 'markdown']); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def test_a_report_is_printed_or_written_in_every_format(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ("text", *FORMAT_NAMES) == FORMATS
    starts = {"text": "Run\n", "markdown": "# Report of ", "json": "{", "csv": "run,build,"}
    for name, start in starts.items():
        assert main(["report", str(finished), "--format", name]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(start)
        out = tmp_path / f"report.{name}"
        assert main(["report", str(finished), "--format", name, "--out", str(out)]) == 0
        told = capsys.readouterr()
        assert (told.out, told.err) == ("", f"written: {out}\n")
        assert out.read_text("utf-8").startswith(start)
    assert main(["report", str(finished), "--format", "parquet", "--out", str(tmp_path / "report.parquet")]) == 0
    assert (tmp_path / "report.parquet").read_bytes()[:4] == b"PAR1"


def test_a_report_that_cannot_be_written_says_what_to_do(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed(capsys, ["report", str(finished), "--format", "parquet"], "not for printing; --out is missing")
    for name in ("text", "csv"):
        nowhere = str(tmp_path / "nowhere" / "report")
        failed(capsys, ["report", str(finished), "--format", name, "--out", nowhere], f"cannot write {nowhere!r}")


def test_the_margin_of_a_report_is_the_one_asked_for(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "compare"):
        assert main([command, str(finished), "--margin", "0.25", "--format", "json"]) == 0
        assert {pair["margin"] for pair in json.loads(capsys.readouterr().out)["evidence"]["pairs"]} == {0.25}


def test_runs_are_compared_on_the_instances_that_they_share(
    checkpoint: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    assert main(run(checkpoint, other, "--builds", "bf16,oracle", "--instances", "1")) == 0
    capsys.readouterr()
    assert main(["compare", str(finished), str(other), "--reference", "bf16@other"]) == 0
    shown = capsys.readouterr().out
    for part in ("What differs between the runs", "The same build in two runs", "Against bf16@other", "w4a8", "oracle"):
        assert part in shown
    assert main(["compare", str(finished), str(other), "--format", "json"]) == 0
    (same,) = json.loads(capsys.readouterr().out)["same_builds"]
    assert (same["build"], same["reference"]) == ("bf16@other", "bf16@finished")
    assert (same["pairs"], same["flipped"], same["otherwise"]) == (len(RunFolder.open(other).episodes()) // 2, 0, 0)


def test_what_does_not_compare_is_refused(
    checkpoint: Path, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    assert main(run(checkpoint, other, "--builds", "bf16", "--instances", "1", "--seed", "7")) == 0
    capsys.readouterr()
    failed(capsys, ["compare", str(finished), str(other)], "no instance in common", repr(str(other)), "--seed")
    failed(capsys, ["compare", str(finished), str(finished)], "named twice")
    failed(capsys, ["compare", str(finished), "--reference", "q9"], "unknown reference 'q9'", "bf16")
    failed(capsys, ["compare", str(tmp_path)], "no run in")


def test_a_run_is_exported_for_inspect_and_for_ci(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, junit = tmp_path / "logs", tmp_path / "ci" / "junit.xml"
    assert main(["export", str(finished), "--to", "inspect", "--out", str(logs)]) == 0
    assert main(["export", str(finished), "--to", "junit", "--out", str(junit)]) == 0
    written = capsys.readouterr().out.splitlines()
    assert {Path(line) for line in written} == {*logs.iterdir(), junit}
    samples = [json.loads(file.read_text("utf-8"))["samples"] for file in logs.iterdir()]
    assert sum(map(len, samples)) == len(RunFolder.open(finished).episodes())
    assert junit.read_bytes().startswith(b"<?xml")


def test_a_gate_says_no_by_its_exit_code_and_why_in_its_table(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", str(finished), "--require", "success(bf16) >= 0", "--require", "success(bf16) <= 1"]) == 0
    assert capsys.readouterr().out.count("met") == 2
    assert main(["gate", str(finished), "--require", "success(bf16) >= 0", "--require", "success(bf16) >= 0.999"]) == 1
    assert re.search(r"success\(bf16\) >= 0.999\s+(broken|open)", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--require", "better(w4a8)"], "unknown requirement 'better'"),
        (["--require", "success(w9a9) >= 0"], "unknown build 'w9a9'"),
    ],
)
def test_a_gate_that_cannot_be_read_is_bad_input(
    finished: Path, arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    failed(capsys, ["gate", str(finished), *arguments], named)


def test_an_export_that_cannot_be_written_is_named(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("here already", encoding="utf-8")
    out = tmp_path / "file" / "junit.xml"
    failed(capsys, ["export", str(finished), "--to", "junit", "--out", str(out)], f"cannot write {str(out)!r}")


def test_tasks_lists_every_task_with_a_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("WifiSet", "AlarmDelete", "V: already true", "60 x 2"))


def test_replay_reaches_the_recorded_snapshots(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for record in RunFolder.open(finished).episodes():
        assert main(["replay", str(finished), record.episode]) == 0
    assert "DIFFERS" not in capsys.readouterr().out


def test_replay_finds_a_record_that_was_tampered_with(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.json").write_bytes((finished / "manifest.json").read_bytes())
    line = json.loads((finished / EPISODES_NAME).read_text().split("\n")[0])
    line["steps"][1]["tool"], line["steps"][1]["arguments"] = "open_app", {"name": "Clock"}
    (tmp_path / EPISODES_NAME).write_text(json.dumps(line) + "\n")
    assert main(["replay", str(tmp_path), line["episode"]]) == 1
    shown = capsys.readouterr().out
    assert "DIFFERS    2" in shown
    assert "replay differs at step 2" in shown


def test_the_readme_names_every_command_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `agent-eval ([\w-]+)", readme, re.MULTILINE))
    with pytest.raises(SystemExit):
        main(["--help"])
    assert named == set(re.findall(r"^    ([\w-]+)\b", capsys.readouterr().out, re.MULTILINE))


def test_the_conditions_of_a_run_are_recorded_and_replayed(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert main(run(checkpoint, out, "--skin", "german", "--faults", "F18,tap_noop", "--builds", "bf16")) == 0
    recorded = RunFolder.open(out)
    assert recorded.manifest.configuration.skin == "german"
    assert recorded.manifest.configuration.faults == ("skin", "tap_noop")
    assert all(record.faults[0].fault == "skin" for record in recorded.episodes())
    for record in recorded.episodes():
        assert main(["replay", str(out), record.episode]) == 0
    assert "reached all" in capsys.readouterr().out


@pytest.mark.peers
def test_a_run_over_adb_gives_the_records_of_one_in_process(checkpoint: Path, finished: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert main(run(checkpoint, out, "--device", "tcp")) == 0
    assert RunFolder.open(out).manifest.configuration.device == "tcp"
    assert untimed(out) == untimed(finished)


@pytest.mark.peers
def test_a_phone_behind_adb_plays_what_its_shell_can_answer_and_nothing_else(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with ServedPhone(Phone(PhoneSetup(seed=3))) as served, adb.private_server() as port:
        serial = adb.attach(port, served.port)
        environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(port)}

        def start(*options: str) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-m", "agent_eval", *run(checkpoint, out, "--builds", "bf16", *options)]
            command += ["--device", serial]
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

        refused = start("--tasks", "WifiSet,AlarmCreate")
        assert refused.returncode == 2
        assert "AlarmCreate" in refused.stderr
        assert "hint: --tasks WifiSet" in refused.stderr
        assert "no faults" in start("--tasks", "WifiSet", "--faults", "tap_noop").stderr
        assert not out.exists()

        done = start("--tasks", "WifiSet,BrightnessSet")
        assert done.returncode == 0, done.stderr
    records = RunFolder.open(out).episodes()
    assert {record.task for record in records} == {"WifiSet", "BrightnessSet"}
    assert all(record.outcome.label != "harness_error" for record in records)
    assert main(["replay", str(out), records[0].episode]) == 2


def test_a_port_of_adb_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "usb")
    failed(capsys, ["run", "--out", str(tmp_path / "r")], "ANDROID_ADB_SERVER_PORT is 'usb'")


def test_sim_says_where_its_phones_are_and_at_the_end_what_they_lacked() -> None:
    command = [sys.executable, "-m", "agent_eval", "sim", "--port", "0", "--phones", "2", "--view", "--no-announce"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(5)]
        ports = [int(port) for port in re.findall(r"adb connect 127\.0\.0\.1:(\d+)", "".join(lines))]
        assert len(set(ports)) == 2
        assert len(re.findall(r"look inside: http://127\.0\.0\.1:\d+/", "".join(lines))) == 2
        with Host(ports[0]) as host:
            assert b"inaccessible or not found" in host.run("shell:no_such_thing")
        process.send_signal(signal.SIGINT)
        assert "not on this phone: no_such_thing (asked for once)" in process.stderr.read()
    assert process.returncode == 0


def test_sim_lists_skins_and_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--list"]) == 0
    listed = capsys.readouterr().out
    assert "german" in listed
    assert all(f"F{number} " in listed for number in range(1, 21))


# ----------------------------------------------------------------------------------------------------------------------
# bad input


def test_an_unknown_device_is_named_with_those_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["run", "--device", "nope", "--out", str(tmp_path / "r")], "unknown device 'nope'", "sim, tcp")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("options", "parts"),
    [(["--skin", "klingon"], ("'klingon'", "german")), (["--faults", "F99"], ("'F99'", "tap_noop")),
     (["--faults", ","], ("--faults is empty",))],
)  # fmt: skip
def test_a_condition_that_does_not_exist_is_refused_before_anything_is_loaded(
    options: list[str], parts: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed(capsys, ["run", *options, "--out", str(tmp_path / "r")], *parts)
    failed(capsys, ["sim", *options], *parts)
    assert not (tmp_path / "r").exists()


def test_phones_beyond_the_last_port_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["sim", "--port", "65535", "--phones", "2"], "65537", "ports end at 65535")


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed(capsys, ["sim", "--port", str(port), "--no-announce"], f"127.0.0.1:{port}")


def test_an_unknown_build_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["run", "--builds", "bf16,w5a5"], "unknown build 'w5a5'", "bf16, fp32, w{2,3,4,8}a{8,16}")


def test_an_unknown_task_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["run", "--tasks", "WifiSet,MakeCoffee"], "unknown task 'MakeCoffee'", "AlarmCreate")


def test_an_unknown_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["run", "--model", "spark-9000b"], "unknown model 'spark-9000b'", "nano")


@pytest.mark.parametrize("option", ["--builds", "--tasks"])
def test_an_empty_list_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["run", option, " , "], f"{option} is empty")


@pytest.mark.parametrize(
    "arguments", [["--instances", "0"], ["--seed", "-1"], ["--max-seconds", "nan"], ["--max-tokens", "x"]]
)
def test_a_number_that_cannot_be_is_refused_by_name(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", *arguments])
    assert caught.value.code == 2
    assert arguments[1] in capsys.readouterr().err


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["run", "--model", str(tmp_path)], "config.json", str(tmp_path))


def copy_of(checkpoint: Path, to: Path) -> Path:
    to.mkdir()
    for file in checkpoint.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def test_a_checkpoint_of_pickles_is_refused_unread(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(checkpoint, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch /tmp/owned'\ntR.")
    failed(capsys, ["run", "--model", str(folder), "--out", str(tmp_path / "r")], "pytorch_model.bin", "pickle")


def test_an_adapter_is_refused_with_what_to_do(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "XHToken/Spark-X2.5-1.7B"}')
    (folder / "adapter_model.safetensors").write_bytes((checkpoint / "model.safetensors").read_bytes())
    command = ["run", "--model", str(folder), "--out", str(tmp_path / "r")]
    failed(capsys, command, "is a LoRA adapter", "merge it into its base model, XHToken/Spark-X2.5-1.7B,")


def test_a_tokenizer_of_another_model_is_refused(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(checkpoint, tmp_path / "model")
    (folder / "tokenizer.json").write_bytes((EMBEDDED["nano"] / "tokenizer.json").read_bytes())
    failed(
        capsys, ["run", "--model", str(folder), "--out", str(tmp_path / "r")], "tokenizer.json has", "vocab_size, 320"
    )


def test_a_truncated_checkpoint_is_refused(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(checkpoint, tmp_path / "model")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    failed(capsys, ["run", "--model", str(folder), "--out", str(tmp_path / "r")], "model.safetensors")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"num_hidden_layers": 5}, "layer"),
        ({"hidden_size": 128}, "shape"),
        ({"vocab_size": 100}, "expected [100, 64]"),
        ({"max_position_embeddings": 10**9}, "max_position_embeddings is 1000000000, expected a whole number"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4}}, "rope_scaling is"),
        ({"eos_token_id": 300}, "holds none of the tokens that end one"),
    ],
)
def test_a_config_that_does_not_fit_the_weights_is_refused(
    checkpoint: Path, tmp_path: Path, change: dict[str, int], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of(checkpoint, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text()) | change
    (folder / "config.json").write_text(json.dumps(config))
    failed(capsys, ["run", "--model", str(folder), "--out", str(tmp_path / "r")], part)


def test_a_run_folder_of_another_configuration_is_refused_and_kept(
    checkpoint: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (finished / EPISODES_NAME).read_bytes()
    failed(capsys, run(checkpoint, finished, "--seed", "9"), "seed=0", "seed=9")
    assert (finished / EPISODES_NAME).read_bytes() == before


def test_a_foreign_folder_is_refused_and_left_alone(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")
    failed(capsys, run(checkpoint, tmp_path), "photo.jpg")
    assert [entry.name for entry in tmp_path.iterdir()] == ["photo.jpg"]


def test_an_unwritable_folder_is_named(checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    failed(capsys, run(checkpoint, tmp_path / "file" / "run"), "cannot write", "file")


def test_an_unknown_episode_is_named(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed(capsys, ["replay", str(finished), "bf16/WifiSet/99"], "unknown episode 'bf16/WifiSet/99'")


def test_a_folder_without_a_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "recommend"):
        failed(capsys, [command, str(tmp_path)], "no run in")
