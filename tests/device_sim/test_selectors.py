from __future__ import annotations

from typing import Any

import pytest
from uiautomator2 import Selector

from agent_eval.device_sim.u2.selectors import FIELDS, INSTANCE, find, nodes_of
from tests.device_sim.conftest import Finger


def found(finger: Finger, selector: Any) -> list[str]:
    return [node.view.text or node.view.cls for node in find(nodes_of(finger.phone.windows), selector)]


def test_every_field_of_the_client_is_known_with_its_mask() -> None:
    client = {name: mask for name, (mask, _) in Selector._Selector__fields.items()}
    assert client.pop("instance") == INSTANCE
    assert {name: mask for name, (mask, _) in FIELDS.items()} == client


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"text": "Battery"}, ["Battery"]),
        ({"textContains": "devices"}, ["Connected devices"]),
        ({"textStartsWith": "Bluetooth,"}, ["Bluetooth, pairing"]),
        ({"textMatches": "Apps|Batt.*"}, ["Apps", "Battery"]),
        ({"text": "Battery", "className": "android.widget.Button"}, []),
        ({"resourceIdMatches": ".*homepage_title"}, ["Settings"]),
        ({"description": "Overview"}, ["android.widget.ImageView"]),
        ({"scrollable": True}, ["androidx.recyclerview.widget.RecyclerView"]),
        ({"resourceId": "android:id/title", "instance": 2}, ["Apps"]),
        ({"resourceId": "android:id/title", "instance": 99}, []),
        ({"packageNameMatches": ".*systemui", "clickable": True, "index": 0}, ["android.widget.ImageView"] * 3),
    ],
)
def test_fields_select_what_they_say(settings: Finger, fields: dict[str, Any], texts: list[str]) -> None:
    assert found(settings, Selector(**fields)) == texts


def test_a_child_is_looked_for_below_the_first_match(settings: Finger) -> None:
    rows = Selector(resourceId="com.android.settings:id/recycler_view").child(resourceId="android:id/title", instance=1)
    assert found(settings, rows) == ["Connected devices"]


def test_a_sibling_is_looked_for_below_the_parent(settings: Finger) -> None:
    summary = Selector(text="Storage").sibling(resourceId="android:id/summary")
    assert found(settings, summary) == [f"{settings.phone.world['storage/used']}% used"]
    assert found(settings, Selector(text="absent").child(text="x")) == []
