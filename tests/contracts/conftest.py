"""The phones and hands that the contracts are about: in this process, and over the genuine adb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_eval.contracts import Device, PhoneControl
from agent_eval.types import PhoneSetup
from agent_eval.wiring import open_sim, open_tcp

Hands = tuple[Device, PhoneControl]


@pytest.fixture(scope="session")
def over_adb() -> Iterator[Hands]:
    with open_tcp() as opened:
        yield opened


@pytest.fixture(params=["in process", pytest.param("over adb", marks=pytest.mark.peers)])
def hands(request: pytest.FixtureRequest) -> Hands:
    if request.param == "in process":
        return open_sim()
    opened: Hands = request.getfixturevalue("over_adb")
    opened[1].reset(PhoneSetup(seed=0))
    return opened
