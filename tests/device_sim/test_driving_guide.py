"""The guide to a first session shows what a phone of that number answers."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import Any

from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import system_of
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import PhoneSetup

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "driving-a-phone.md").read_text("utf-8")


def phone() -> Phone:
    """Return the phone that ``agent-eval sim`` starts first."""
    return Phone(PhoneSetup(seed=0, keep_alarms=True))


def test_every_command_of_the_session_answers_what_the_guide_shows() -> None:
    system = system_of(phone())
    shown = re.findall(r"^\$ adb shell ([^\n]*)\n((?:(?!\$|```)[^\n]*\n)*)", GUIDE, re.MULTILINE)
    assert len(shown) == 8
    for line, answer in shown:
        assert system.run(" ".join(shlex.split(line))).output.decode() == answer, line


def test_every_call_of_the_session_returns_what_the_guide_shows() -> None:
    examples = doctest.DocTestParser().get_examples(re.findall(r"```pycon\n(.*?)```", GUIDE, re.DOTALL)[0])
    calls = [example for example in examples if "u2" not in example.source]
    assert (len(examples), len(calls)) == (9, 7)
    names: dict[str, Any] = {"d": SimDevice(phone())}
    for call in calls:
        if call.want:
            assert f"{eval(call.source, names)!r}\n" == call.want, call.source  # noqa: S307 - our own text
        else:
            exec(call.source, names)  # noqa: S102 - our own text
