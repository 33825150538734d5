from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.system import System
from agent_eval.types import PhoneSetup

Said = Callable[[str], str]


@pytest.fixture
def system() -> System:
    state = {"settings/wifi_on": True, "settings/brightness": 77, "battery/level": 55, "settings/screen_timeout_s": 60}
    return System(Phone(PhoneSetup(seed=1, state=state)))


@pytest.fixture
def said(system: System) -> Said:
    """Run a line and return what a terminal would show."""
    return lambda line: system.run(line).output.decode()
