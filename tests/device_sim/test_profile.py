from __future__ import annotations

import pytest

from agent_eval.device_sim import Phone
from agent_eval.errors import TaskFault
from agent_eval.types import PhoneSetup, Scalar


def test_one_seed_always_gives_the_same_phone() -> None:
    assert Phone(PhoneSetup(seed=5)).snapshot() == Phone(PhoneSetup(seed=5)).snapshot()


def test_two_seeds_give_different_phones() -> None:
    assert len({Phone(PhoneSetup(seed=seed)).snapshot().digest for seed in range(20)}) == 20


def test_seeds_vary_what_a_screen_says() -> None:
    phones = [Phone(PhoneSetup(seed=seed)) for seed in range(30)]
    for path in ("launcher/order", "wifi/nearby", "battery/level", "skin/ascii_hyphen"):
        assert len({phone.world[path] for phone in phones}) > 1, path
    for path in ("settings/brightness", "settings/wifi_on", "settings/dark_theme", "settings/device_name"):
        assert len({phone.state[path] for phone in phones}) > 1, path


def test_seeded_alarms_exist_only_when_asked_for() -> None:
    assert not Phone(PhoneSetup(seed=3)).snapshot().under("clock/alarm")
    kept = Phone(PhoneSetup(seed=3, keep_alarms=True)).snapshot().under("clock/alarm")
    assert 1 <= len({path.split("/")[0] for path in kept}) <= 4


def test_one_path_of_an_alarm_creates_all_of_it() -> None:
    snapshot = Phone(PhoneSetup(seed=3, state={"clock/alarm/9/minute": 15})).snapshot()
    assert snapshot.under("clock/alarm/9") == {
        "days": "", "enabled": True, "hour": 8, "label": "", "minute": 15, "vibrate": False,
    }  # fmt: skip
    assert snapshot["last_id/clock/alarm"] == 9


def test_airplane_mode_in_the_setup_switches_off_the_radios_that_it_does_not_name() -> None:
    phone = Phone(PhoneSetup(seed=3, state={"settings/airplane_mode_on": True, "settings/wifi_on": True}))
    assert phone.state["settings/wifi_on"] is True
    assert phone.state["settings/bluetooth_on"] is False


def test_the_battery_level_is_settable_but_not_persisted() -> None:
    snapshot = Phone(PhoneSetup(seed=3, state={"battery/level": 17})).snapshot()
    assert dict(snapshot.transient)["battery/level"] == 17
    assert "battery/level" not in dict(snapshot.persisted)


def test_a_folder_is_kept_as_an_empty_one_only_while_nothing_is_in_it() -> None:
    files = Phone(PhoneSetup(seed=3, state={"files/Podcasts/news.mp3": "MP3"})).snapshot().under("files")
    assert "Alarms/" in files
    assert "Podcasts/" not in files
    assert all(not other.startswith(path) or other == path for path in files if path.endswith("/") for other in files)


BAD: list[tuple[str, object, str]] = [
    ("settings/wifi", True, "no persisted path"),
    ("settings/wifi_on", 1, "expected bool, got int"),
    ("settings/brightness", True, "expected int, got bool"),
    ("settings/brightness", 256, "expected 0 to 255"),
    ("settings/screen_timeout_s", 45, "expected one of 15, 30"),
    ("settings/device_name", 3, "expected str"),
    ("clock/alarm/0/hour", 1, "no persisted path"),
    ("clock/alarm/1/day", 1, "no persisted path"),
    ("clock/alarm/1/hour", 24, "expected 0 to 23"),
    ("clock/alarm/1/days", "Mon,Noday", "expected names among"),
    ("battery/level", 0, "expected 1 to 100"),
]


@pytest.mark.parametrize(("path", "value", "problem"), BAD)
def test_a_setup_that_does_not_fit_is_refused_and_names_path_and_value(path: str, value: Scalar, problem: str) -> None:
    phone = Phone(PhoneSetup(seed=1))
    before = phone.snapshot()
    with pytest.raises(TaskFault, match=problem) as fault:
        phone.reset(PhoneSetup(seed=2, state={path: value}))
    assert repr(path) in str(fault.value)
    assert repr(value) in str(fault.value)
    assert fault.value.hint
    assert phone.snapshot() == before  # a refused setup changes nothing


def test_a_schedule_that_does_not_fit_is_refused_at_once() -> None:
    with pytest.raises(TaskFault, match="no persisted path"):
        Phone(PhoneSetup(seed=1)).schedule(1, {"settings/nfc_on": True})
