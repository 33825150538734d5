"""A phone is the same in every process: nothing of it follows from how Python hashes, from the zone or the language."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EVERYTHING = """
import hashlib, json
from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import system_of
from agent_eval.device_sim.shell.table import COMMANDS
from agent_eval.device_sim.u2 import jsonrpc
from agent_eval.device_sim.u2.rpc import METHODS, Rpc
from agent_eval.types import PhoneSetup

phone = Phone(PhoneSetup(seed=3))
system, rpc = system_of(phone), Rpc(phone)
names = sorted(set(COMMANDS) - {"yes"})
lines = [f"{name}{words}" for name in names for words in ("", " --help", " list", " -a /sdcard")]
lines += ["dumpsys", "ls -lR /", "cmd wifi list-scan-results", "settings list global", "logcat -d", "env", "set",
          "date", "content query --uri content://sms", "pm list packages -f -U", "find / | sort | md5sum",
          "touch /sdcard/new; ls -l /sdcard"]
for line in lines:
    print(line, system.run(line, limit_s=5))
VALUES = {"int": 5, "long": 5, "float": 0.3, "bool": True, "text": "left", "points": [1, 2, 3, 4],
          "point": {"x": 1, "y": 2}, "object": {"mask": 1, "text": "Battery"}}
for package in sorted(phone.apps):
    phone.open_app(package)
    print(package, phone.hierarchy_xml())
    for method, overloads in sorted(METHODS.items()):
        call = {"id": 1, "method": method, "params": [VALUES[kind] for kind in overloads[0].kinds]}
        answer = jsonrpc.begin(rpc, json.dumps(call).encode())
        print(method, answer if isinstance(answer, bytes) else "waits")
    print(phone.snapshot().digest)
print(hashlib.sha256(phone.screenshot().tobytes()).hexdigest(), phone.events.since(0))
"""


def printed(folder: Path, **environment: str) -> bytes:
    command = [sys.executable, "-c", EVERYTHING]
    return subprocess.run(
        command, env={**os.environ, **environment}, cwd=folder, capture_output=True, check=True
    ).stdout


def test_one_session_gives_the_same_bytes_in_processes_that_differ_in_all_but_the_program(tmp_path: Path) -> None:
    one = printed(tmp_path, PYTHONHASHSEED="1", TZ="UTC", LANG="C", HOME="/nowhere")
    two = printed(Path("/"), PYTHONHASHSEED="2", TZ="Asia/Tokyo", LANG="de_DE.UTF-8", HOME=str(tmp_path))
    assert len(one) > 100_000
    assert one == two
