"""What every ``PhoneControl`` promises. Implementations: the simulated phone, in process and while it is served.

What a phone behind adb can promise is less: see ``tests/tasks/test_adb_phone.py``.
"""

from __future__ import annotations

import pytest

from agent_eval.actions import Wait
from agent_eval.contracts import Device, PhoneControl
from agent_eval.errors import TaskFault
from agent_eval.types import PhoneSetup


def test_a_reset_gives_the_states_that_were_asked_for(hands: tuple[Device, PhoneControl]) -> None:
    _, phone = hands
    for on in (True, False):
        phone.reset(
            PhoneSetup(seed=4, state={"settings/wifi_on": on, "clock/alarm/1/hour": 7, "clock/alarm/1/minute": 5})
        )
        snapshot = phone.snapshot()
        assert (snapshot["settings/wifi_on"], snapshot["clock/alarm/1/hour"]) == (on, 7)
        assert {path.split("/")[0] for path in snapshot.under("clock/alarm")} == {"1"}


def test_equal_setups_give_equal_phones_and_other_seeds_give_others(hands: tuple[Device, PhoneControl]) -> None:
    device, phone = hands
    phone.reset(PhoneSetup(seed=1))
    first = phone.snapshot()
    device.observe()
    device.perform(Wait())
    phone.reset(PhoneSetup(seed=1))
    assert phone.snapshot() == first
    assert hash(phone.snapshot()) == hash(first)
    phone.reset(PhoneSetup(seed=2))
    assert phone.snapshot() != first


def test_a_scheduled_change_comes_when_its_time_has_passed_and_only_once(hands: tuple[Device, PhoneControl]) -> None:
    device, phone = hands
    phone.reset(PhoneSetup(seed=1, state={"settings/bluetooth_on": False, "settings/airplane_mode_on": False}))
    phone.schedule(1.5, {"settings/bluetooth_on": True})
    assert phone.snapshot()["settings/bluetooth_on"] is False
    for _ in range(2):
        device.perform(Wait())
    assert phone.snapshot()["settings/bluetooth_on"] is True


@pytest.mark.parametrize(
    "state", [{"settings/warp_drive": True}, {"settings/wifi_on": "yes"}, {"clock/alarm/1/hour": 24}]
)
def test_what_cannot_be_is_refused_by_its_path(hands: tuple[Device, PhoneControl], state: dict[str, str]) -> None:
    with pytest.raises(TaskFault, match=next(iter(state))):
        hands[1].reset(PhoneSetup(seed=1, state=state))


def test_faults_that_showed_are_told_until_the_next_reset(hands: tuple[Device, PhoneControl]) -> None:
    device, phone = hands
    phone.reset(PhoneSetup(seed=1, faults=("skin",)))
    device.observe()
    assert [fired.fault for fired in phone.fired()] == ["skin"]
    phone.reset(PhoneSetup(seed=1))
    assert phone.fired() == ()
