from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import messages
from agent_eval.types import PhoneSetup, Scalar
from tests.device_sim.conftest import Finger

MESSAGING = "com.android.messaging:id/"


def latest(finger: Finger) -> dict[str, Scalar]:
    number = max(int(path.split("/")[0]) for path in finger.phone.snapshot().under("messages"))
    return dict(finger.phone.snapshot().under(f"messages/{number}"))


def talk(make: Callable[..., Finger], **more: Scalar) -> Finger:
    """Return a phone in the conversation with Zoe: one message received, then one sent."""
    state: dict[str, Scalar] = {
        "contacts__77__name": "Zoe Quist", "contacts__77__phone": "+1555000",
        "messages__501__address": "+1555000", "messages__501__body": "Dinner is at 12 Elm Street",
        "messages__502__address": "+1555000", "messages__502__body": "Thanks!", "messages__502__sent": True,
    }  # fmt: skip
    finger = make(**state, **more)
    finger.phone.open_app("com.android.messaging")
    finger.tap(text="Zoe Quist")
    return finger


def write(finger: Finger, text: str) -> None:
    finger.tap(resourceId=MESSAGING + "compose_message_text")
    finger.phone.type_text(text)
    finger.tap(description="Send SMS")


def hold(finger: Finger, text: str) -> None:
    finger.phone.long_press(*finger.center(text=text))


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

        sent = latest(finger)
        assert (sent["address"], sent["body"], sent["sent"], sent["status"]) == (address, "Hello there", True, "sent")
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


def test_a_reply_is_stamped_with_the_time_of_the_phone(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    write(finger, "On my way")
    now = int(finger.phone.local_time.timestamp())
    assert latest(finger) == {
        "address": "+1555000", "body": "On my way", "sent": True, "status": "sent", "time": now,
    }  # fmt: skip
    hour = finger.phone.locale.time_of_day(finger.phone.local_time.hour, finger.phone.local_time.minute)
    assert finger.sees(text=f"Sent {hour}", resourceId=MESSAGING + "message_status")


def test_a_conversation_says_which_messages_are_ones_own(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    texts = finger.texts
    assert "Sent" in texts[texts.index("Thanks!") :]
    assert "Sent" not in texts[: texts.index("Thanks!")]


def test_a_message_is_resent_by_holding_it(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    before = finger.phone.snapshot().under("messages")
    hold(finger, "Thanks!")
    finger.tap(text="Resend")
    after = finger.phone.snapshot().under("messages")
    assert {path: after[path] for path in before} == before
    assert latest(finger)["body"] == "Thanks!"
    hold(finger, "Dinner is at 12 Elm Street")
    assert not finger.sees(text="Resend")  # what came from others is forwarded, not sent again


def test_a_message_is_forwarded_to_somebody_else(make: Callable[..., Finger]) -> None:
    finger = talk(make, contacts__78__name="Yan Ito", contacts__78__phone="+1555001")
    hold(finger, "Dinner is at 12 Elm Street")
    finger.tap(text="Forward")
    finger.tap(resourceId=MESSAGING + "recipient_text_view")
    finger.phone.type_text("yan")
    finger.tap(text="Yan Ito")
    finger.tap(description="Send SMS")
    assert latest(finger)["address"] == "+1555001"
    assert latest(finger)["body"] == "Dinner is at 12 Elm Street"


def test_a_message_is_copied_and_pasted_into_another(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    hold(finger, "Dinner is at 12 Elm Street")
    finger.tap(text="Copy")
    assert finger.phone.clipboard == "Dinner is at 12 Elm Street"
    finger.phone.long_press(*finger.center(resourceId=MESSAGING + "compose_message_text"))
    finger.tap(text="Paste")
    finger.tap(description="Send SMS")
    assert latest(finger)["body"] == "Dinner is at 12 Elm Street"


def test_the_clipboard_is_sent_to_a_number(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.clipboard = "Gate code 4711"
    finger.phone.open_app("com.android.messaging")
    finger.tap(description="Start new conversation")
    finger.tap(resourceId=MESSAGING + "recipient_text_view")
    finger.phone.type_text("555987")
    finger.phone.long_press(*finger.center(resourceId=MESSAGING + "compose_message_text"))
    finger.tap(text="Paste")
    finger.tap(description="Send SMS")
    assert (latest(finger)["address"], latest(finger)["body"]) == ("555987", "Gate code 4711")


def test_deleting_a_message_asks_and_leaves_the_others(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    hold(finger, "Thanks!")
    finger.tap(text="Delete")
    finger.tap(text="Cancel")
    assert "messages/502/body" in finger.phone.state
    hold(finger, "Thanks!")
    finger.tap(text="Delete")
    finger.tap(text="Delete")
    assert "messages/502/body" not in finger.phone.state
    assert "messages/501/body" in finger.phone.state


@pytest.mark.parametrize("inside", [True, False])
def test_deleting_a_conversation_asks_and_leaves_the_others(make: Callable[..., Finger], inside: bool) -> None:
    finger = talk(make)
    others = {path for path in finger.phone.state if path.startswith("messages/") and "/50" not in path}
    if inside:
        finger.tap(description="Delete conversation")
    else:
        finger.phone.key("back")
        hold(finger, "Zoe Quist")
        finger.tap(text="Delete")
    finger.tap(text="Delete")
    assert finger.phone.front.screen == "messages/conversations"
    assert {path for path in finger.phone.state if path.startswith("messages/")} == others


def test_a_half_written_message_is_kept_as_a_draft_that_is_no_state(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    before = finger.phone.snapshot().persisted
    finger.tap(resourceId=MESSAGING + "compose_message_text")
    finger.phone.type_text("Maybe la")
    finger.phone.key("back")
    finger.phone.key("back")
    assert finger.sees(text="Draft: Maybe la")
    assert finger.phone.snapshot().persisted == before
    finger.tap(text="Zoe Quist")
    finger.tap(resourceId=MESSAGING + "compose_message_text")
    finger.phone.type_text("ter")
    finger.tap(description="Send SMS")
    assert latest(finger)["body"] == "Maybe later"
    finger.phone.key("back")
    finger.phone.key("back")
    assert not finger.sees(textStartsWith="Draft")


def test_a_message_fails_in_airplane_mode_and_is_sent_by_touching_it_later(make: Callable[..., Finger]) -> None:
    finger = talk(make, settings__airplane_mode_on=True)
    write(finger, "Landed?")
    assert latest(finger)["status"] == "failed"
    finger.tap(text="Landed?")
    assert latest(finger)["status"] == "failed"
    finger.phone.put("settings/airplane_mode_on", False)
    finger.tap(text="Landed?")
    assert latest(finger)["status"] == "sent"


def test_a_message_that_arrives_is_unread_and_shows_on_top(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    finger.phone.key("back")
    finger.phone.go_home()
    messages.receive(finger.phone, "+1555000", "Running late")
    assert finger.sees(text="Running late", packageName="com.android.systemui")
    assert finger.sees(text="Zoe Quist")
    finger.tap(text="Running late")
    name = finger.one(text="Zoe Quist").view
    assert name.bold
    before = finger.phone.snapshot().persisted
    finger.tap(text="Zoe Quist")
    finger.phone.key("back")
    assert not finger.one(text="Zoe Quist").view.bold
    assert finger.phone.snapshot().persisted == before


def test_searching_finds_words_inside_messages(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    finger.phone.key("back")
    finger.tap(description="Search messages")
    finger.tap(resourceId=MESSAGING + "search_src_text")
    finger.phone.type_text("elm str")
    assert [node.view.text for node in finger.all(resourceId=MESSAGING + "conversation_name")] == ["Zoe Quist"]


def test_the_particulars_of_a_message_are_shown(make: Callable[..., Finger]) -> None:
    finger = talk(make)
    hold(finger, "Thanks!")
    finger.tap(text="Details")
    assert finger.sees(text="To: +1555000")


def test_times_grow_with_the_numbers_of_messages_on_every_seed() -> None:
    for seed in range(10):
        phone = Phone(PhoneSetup(seed=seed))
        found = phone.snapshot().under("messages")
        numbers = sorted({int(path.split("/")[0]) for path in found})
        times = [found[f"{number}/time"] for number in numbers]
        assert times == sorted(times)
        assert all(0 < int(time) < phone.now_ms // 1000 for time in times)
