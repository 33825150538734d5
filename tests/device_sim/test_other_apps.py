from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.calculator import DIVIDED_BY_ZERO, evaluate
from tests.device_sim.conftest import Finger


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("", ""),
        ("7", "7"),
        ("1+2\u00d73", "7"),
        ("10\u00f74", "2.5"),
        ("2\u22125", "\u22123"),
        ("\u22122\u00d73", "\u22126"),
        ("2\u00d7\u22123", "\u22126"),
        ("50%", "0.5"),
        ("200\u00d710%", "20"),
        ("0.1+0.2", "0.3"),
        ("1\u00f73", "0.3333333333"),
        ("5+", "5"),
        ("5\u00f70", "Can\u2019t divide by 0"),
        (".5+.5", "1"),
        ("9\u22124\u22123", "2"),
        ("8\u00f72\u00f72", "2"),
        ("%", ""),
        ("+5", "5"),
    ],
)
def test_formulas_have_exact_values(formula: str, value: str) -> None:
    assert evaluate(formula) == value


def test_the_calculator_calculates_what_is_keyed_in(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.calculator2")
    for key in ("1", "2", "\u00d7", "7"):
        finger.tap(text=key)
    assert finger.one(resourceId="com.android.calculator2:id/result").view.text == "84"
    finger.tap(text="=")
    assert finger.one(resourceId="com.android.calculator2:id/formula").view.text == "84"
    finger.tap(text="5")
    assert finger.one(resourceId="com.android.calculator2:id/formula").view.text == "5"
    finger.tap(text="C")
    assert finger.one(resourceId="com.android.calculator2:id/formula").view.text == ""


def test_the_shutter_takes_a_photo(make: Callable[..., Finger]) -> None:
    finger = make(camera__photos=0)
    finger.phone.open_app("com.android.camera2")
    finger.tap(description="Show last photo")  # disabled while there is none
    assert finger.phone.front.screen == "camera/viewfinder"
    finger.tap(description="Shutter")
    finger.tap(description="Shutter")
    assert finger.phone.state["camera/photos"] == 2
    finger.tap(description="Show last photo")
    assert finger.sees(text="2 photos")


def test_a_contact_is_created_edited_and_deleted(make: Callable[..., Finger]) -> None:
    finger = make()
    before = finger.phone.snapshot().under("contacts")
    number = max(int(path.split("/")[0]) for path in before) + 1
    finger.phone.open_app("com.android.contacts")
    finger.tap(description="Create new contact")
    for name, value in (("first", "Zoe"), ("last", "Quist"), ("phone", "555123")):
        finger.tap(resourceId=f"com.android.contacts:id/{name}")
        finger.phone.type_text(value)
    finger.tap(text="Save")
    assert finger.phone.state[f"contacts/{number}/name"] == "Zoe Quist"
    assert finger.phone.state[f"contacts/{number}/phone"] == "555123"
    finger.tap(description="Edit contact")
    finger.tap(resourceId="com.android.contacts:id/phone")
    finger.phone.clear_text()
    finger.phone.type_text("999")
    finger.tap(text="Save")
    assert finger.phone.state[f"contacts/{number}/phone"] == "999"
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert finger.phone.front.screen == "contacts/person"
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert finger.phone.snapshot().under("contacts") == before
    assert finger.phone.front.screen == "contacts/people"


def test_a_draft_that_is_left_is_not_saved(make: Callable[..., Finger]) -> None:
    finger = make()
    before = finger.phone.snapshot().under("contacts")
    finger.phone.open_app("com.android.contacts")
    finger.tap(description="Create new contact")
    finger.tap(resourceId="com.android.contacts:id/first")
    finger.phone.type_text("Zoe")
    finger.phone.key("back")
    finger.phone.key("back")
    assert finger.phone.snapshot().under("contacts") == before


def test_a_message_is_sent_to_a_name_or_a_number(make: Callable[..., Finger]) -> None:
    finger = make(contacts__77__name="Zoe Quist", contacts__77__phone="+1555000")
    finger.phone.open_app("com.android.messaging")
    for to, address in (("Zoe Quist", "+1555000"), ("555987", "555987")):
        finger.tap(description="Start new conversation")
        finger.tap(resourceId="com.android.messaging:id/recipient_text_view")
        finger.phone.type_text(to)
        finger.tap(resourceId="com.android.messaging:id/compose_message_text")
        finger.phone.type_text("Hello there")
        finger.tap(description="Send SMS")
        latest = max(int(path.split("/")[0]) for path in finger.phone.snapshot().under("messages"))
        assert finger.phone.snapshot().under(f"messages/{latest}") == {
            "address": address, "body": "Hello there", "sent": True,
        }  # fmt: skip
        assert finger.phone.front.screen == "messages/thread"
        finger.phone.key("back")
    assert finger.texts.index("555987") < finger.texts.index("Zoe Quist")  # the latest conversation comes first


def test_an_empty_message_is_not_sent(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.messaging")
    finger.tap(resourceId="com.android.messaging:id/conversation_name")
    before = finger.phone.snapshot().under("messages")
    finger.tap(description="Send SMS")
    assert finger.phone.snapshot().under("messages") == before


def test_a_contact_can_be_texted(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.contacts")
    finger.tap(resourceId="com.android.contacts:id/cliv_name_textview")
    name = finger.one(resourceId="com.android.contacts:id/large_title").view.text
    finger.tap(description=f"Text {name}")
    assert finger.phone.front.package == "com.android.messaging"
    assert finger.one(resourceId="com.android.messaging:id/conversation_title").view.text == name


@given(st.text(alphabet="0123456789.%\u00f7\u00d7\u2212+", max_size=40))
def test_the_calculator_makes_something_of_any_formula(formula: str) -> None:
    result = evaluate(formula)
    assert result in ("", DIVIDED_BY_ZERO) or set(result) <= set("0123456789.\u2212")


@pytest.mark.parametrize(("formula", "result"), [("%\u00f77", "7"), ("\u00d73+1", "4"), ("%", ""), ("50%\u00d74", "2")])
def test_an_operator_without_a_number_before_it_is_passed_over(formula: str, result: str) -> None:
    assert evaluate(formula) == result
