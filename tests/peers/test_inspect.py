"""Inspect itself reads what was exported, and its viewer lists and serves it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ChatMessageAssistant

from agent_eval.agent.adb import free_port
from agent_eval.reports.exports import FORMATS
from tests.reports.builders import manifest, run

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]  # what Inspect's libraries say of themselves

LETTERS = {"bf16": "SSRN", "w4a16": "SSLN", "w4a8": "SEWP"}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("logs")
    for file, content in FORMATS["inspect"](manifest(tasks=4), run(LETTERS), folder).items():
        file.write_bytes(content)
    return folder


def test_inspect_finds_a_log_for_each_build(logs: Path) -> None:
    found = [read_eval_log(info.name) for info in list_eval_logs(str(logs))]
    assert sorted(log.eval.model_args["build"] for log in found) == sorted(LETTERS)
    assert {log.status for log in found} == {"success"}


def test_inspect_reads_every_sample_its_messages_and_its_score(logs: Path) -> None:
    for info in list_eval_logs(str(logs)):
        log = read_eval_log(info.name)
        letters = LETTERS[log.eval.model_args["build"]]
        assert log.samples is not None
        assert log.results is not None
        values = [sample.scores["success"].value if sample.scores else None for sample in log.samples]
        assert values == [None if letter == "E" else "C" if letter == "S" else "I" for letter in letters]
        judged = [value for value in values if value is not None]
        assert log.results.scores[0].metrics["accuracy"].value == judged.count("C") / len(judged)
        for sample in log.samples:
            assert (sample.error is None) == (sample.scores is not None)
            assert [message.role for message in sample.messages] == ["user", *["assistant", "tool"] * 4]
            reply = sample.messages[1]
            assert isinstance(reply, ChatMessageAssistant)
            assert [call.function for call in reply.tool_calls or []] == ["tap"]


@pytest.fixture
def viewer(logs: Path) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--log-dir", str(logs), "--host", "127.0.0.1"]
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def fetched(port: int, path: str) -> bytes:
    """Return what a server answers as soon as it does."""
    until = time.monotonic() + 60
    while True:
        try:
            with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
                connection.request("GET", path)
                return connection.getresponse().read()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_inspect_view_opens_a_run(viewer: int) -> None:
    listed = json.loads(fetched(viewer, "/api/logs"))["files"]
    assert sorted(file["task"] for file in listed) == [f"agent-eval-{build}" for build in sorted(LETTERS)]
    for file in listed:
        log = json.loads(fetched(viewer, f"/api/logs/{quote(file['name'], safe='')}"))
        assert len(log["samples"]) == 4
    assert b"<html" in fetched(viewer, "/").lower()
