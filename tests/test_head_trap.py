"""A head left unquantised is named with its measured cost, from the written folder to the report of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.cli import main
from agent_eval.records import RunFolder
from agent_eval.reports.tables import render_report
from agent_eval.wiring import EMBEDDED
from tests.reports.builders import manifest, run
from tests.reports.golden import rendered


def test_the_report_of_a_run_says_what_the_trap_costs_of_each_token() -> None:
    trapped = manifest().model_copy(update={"head_traps": {"w4a16": 0.005}})
    speeds = {"bf16": [50.0] * 8, "w4a16": [100.0] * 8, "w4a8": [50.0] * 8}
    drawn = rendered(render_report(trapped, run(dict.fromkeys(speeds, "SSSSSSSS"), speeds)), 120)
    assert "lm_head trap: w4a16 leaves its head unquantised; it takes 5 ms of 10 ms a token (50 %)." in drawn
    assert "lm_head trap" not in rendered(render_report(manifest(), run({"bf16": "S"})), 120)


def test_a_run_without_a_timed_episode_says_what_the_head_takes() -> None:
    trapped = manifest(("w4a16",)).model_copy(update={"head_traps": {"w4a16": 0.005}})
    assert "it takes 5 ms.\n" in rendered(render_report(trapped, []), 120)


@pytest.mark.slow
def test_a_run_of_a_folder_with_such_a_head_measures_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "kept", tmp_path / "run"
    written = ["build", str(EMBEDDED["nano"]), "--to", "w4a8", "--method", "rtn", "--keep-head", "--out", str(folder)]
    assert main(written) == 0
    played = ["run", "--builds", f"bf16,w4a8={folder}", "--tasks", "WifiSet", "--instances", "2", "--out", str(out)]
    assert main(played) == 0
    traps = RunFolder.open(out).manifest.head_traps
    assert list(traps) == ["w4a8"]
    assert traps["w4a8"] > 0
    assert "lm_head trap: w4a8" in capsys.readouterr().out
