"""The conditions of a run reach every phone that a task prepares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.conditions import RANDOM_SKIN, SKINS, ConditionedPhone, Conditions
from agent_eval.device_sim import Phone
from agent_eval.errors import OperatorError
from agent_eval.types import PhoneSetup, Skin


def test_a_named_skin_and_the_faults_are_added_to_every_setup() -> None:
    conditions = Conditions("german", ("tap_noop",))
    setup = conditions.added_to(PhoneSetup(seed=3, state={"settings/wifi_on": True}))
    assert setup == PhoneSetup(3, {"settings/wifi_on": True}, skin=SKINS["german"], faults=("tap_noop",))


def test_what_a_setup_asks_for_itself_stays() -> None:
    own = PhoneSetup(seed=3, skin=Skin(locale="zh"), faults=("stale_tree",))
    assert Conditions("german", ("tap_noop", "stale_tree")).added_to(own).skin == Skin(locale="zh")
    assert Conditions("german", ("tap_noop", "stale_tree")).added_to(own).faults == ("stale_tree", "tap_noop")


def test_no_conditions_change_nothing() -> None:
    setup = PhoneSetup(seed=3)
    assert Conditions().added_to(setup) == setup


def test_a_random_skin_is_drawn_from_the_phones_own_seed() -> None:
    drawn = [Conditions(RANDOM_SKIN).added_to(PhoneSetup(seed=seed)).skin for seed in range(20)]
    assert drawn == [Skin.drawn(seed) for seed in range(20)]
    assert len({skin.locale for skin in drawn}) == 3


@given(st.integers(0, 1 << 31))
def test_every_drawn_skin_is_one_that_the_phone_takes(seed: int) -> None:
    Phone(PhoneSetup(seed=seed, skin=Skin.drawn(seed)))


def test_an_unknown_skin_is_refused_by_name_with_those_that_exist() -> None:
    with pytest.raises(OperatorError, match=r"'klingon'[^\n]*\n.*german"):
        Conditions("klingon")


def test_a_conditioned_phone_is_the_phone_under_its_conditions() -> None:
    inner = Phone()
    phone = ConditionedPhone(inner, Conditions("vendor"))
    phone.reset(PhoneSetup(seed=1, state={"settings/bluetooth_on": False}))
    assert phone.snapshot() == inner.snapshot()
    assert phone.snapshot()["skin/wording"] == "wlan"
    phone.schedule(1, {"settings/bluetooth_on": True})
    inner.advance(1)
    assert phone.snapshot()["settings/bluetooth_on"] is True
    assert phone.fired() == ()
