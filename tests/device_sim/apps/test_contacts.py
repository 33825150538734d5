from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps.contacts import PHONE_LABELS
from agent_eval.types import PhoneSetup
from tests.device_sim.conftest import Finger

CONTACTS = "com.android.contacts:id/"


def fill(finger: Finger, **texts: str) -> None:
    for name, text in texts.items():
        finger.tap(resourceId=CONTACTS + name)
        finger.phone.clear_text()
        finger.phone.type_text(text)


def person(make: Callable[..., Finger], **more: str) -> Finger:
    """Return a phone on the page of one Zoe Quist, number 77."""
    fields = {"name": "Zoe Quist", "phone": "+1555000", **more}
    finger = make(**{f"contacts__77__{name}": value for name, value in fields.items()})
    finger.phone.open_app("com.android.contacts")
    finger.path("Zoe Quist")
    return finger


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


def test_a_contact_can_be_texted(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.contacts")
    finger.tap(resourceId="com.android.contacts:id/cliv_name_textview")
    name = finger.one(resourceId="com.android.contacts:id/large_title").view.text
    finger.tap(description=f"Text {name}")
    assert finger.phone.front.package == "com.android.messaging"
    assert finger.one(resourceId="com.android.messaging:id/conversation_title").view.text == name


@pytest.mark.parametrize(("label", "kind"), [(name, kind) for kind, name in PHONE_LABELS.items()])
def test_a_new_contact_has_the_label_and_the_mail_address_that_were_chosen(
    make: Callable[..., Finger], label: str, kind: str
) -> None:
    finger = make()
    finger.phone.open_app("com.android.contacts")
    finger.tap(description="Create new contact")
    fill(finger, first="Zoe", last="Quist", phone="555123", email="zoe@example.org")
    finger.phone.key("back")
    finger.tap(resourceId=CONTACTS + "spinner")
    finger.tap(text=label)
    finger.tap(text="Save")
    number = max(int(path.split("/")[0]) for path in finger.phone.snapshot().under("contacts"))
    assert finger.phone.snapshot().under(f"contacts/{number}") == {
        "name": "Zoe Quist", "phone": "555123", "phone_label": kind, "email": "zoe@example.org", "starred": False,
    }  # fmt: skip
    assert finger.sees(text="zoe@example.org")
    assert finger.sees(text=label)


def test_a_draft_is_readable_in_the_snapshot_while_its_form_is_open_and_nothing_is_saved(
    make: Callable[..., Finger],
) -> None:
    finger = make()
    before = finger.phone.snapshot()
    finger.phone.open_app("com.android.contacts")
    finger.tap(description="Create new contact")
    fill(finger, first="Zoe", last="Quist", phone="555123")
    finger.phone.key("back")
    finger.tap(resourceId=CONTACTS + "spinner")
    finger.tap(text="Work")
    form = "ui/task/com.android.contacts/1/contacts/edit"
    snapshot = finger.phone.snapshot()
    assert [snapshot[f"{form}/{name}"] for name in ("text/first", "text/last", "text/phone", "phone_label")] == [
        "Zoe", "Quist", "555123", "work",
    ]  # fmt: skip
    assert snapshot.persisted == before.persisted


def test_leaving_a_changed_form_asks_and_an_unchanged_one_does_not(make: Callable[..., Finger]) -> None:
    finger = person(make)
    finger.tap(description="Edit contact")
    finger.phone.key("back")
    assert finger.phone.front.screen == "contacts/person"
    finger.tap(description="Edit contact")
    fill(finger, phone="999")
    finger.tap(description="Cancel")
    assert finger.phone.front.screen == "contacts/discard"
    finger.tap(text="Keep editing")
    assert finger.one(resourceId=CONTACTS + "phone").view.text == "999"
    finger.phone.key("back")
    finger.tap(text="Discard")
    assert finger.phone.front.screen == "contacts/person"
    assert finger.phone.state["contacts/77/phone"] == "+1555000"


def test_editing_a_number_keeps_everything_else(make: Callable[..., Finger]) -> None:
    finger = person(make, email="zoe@example.org", phone_label="home")
    before = finger.phone.snapshot()
    finger.tap(description="Edit contact")
    fill(finger, phone="999")
    finger.tap(text="Save")
    assert [tuple(change) for change in before.diff(finger.phone.snapshot())] == [
        ("contacts/77/phone", "+1555000", "999")
    ]


def test_deleting_one_of_two_alike_keeps_the_other(make: Callable[..., Finger]) -> None:
    finger = make(contacts__77__name="Zoe Quist", contacts__78__name="Zoe Quistt")
    finger.phone.open_app("com.android.contacts")
    finger.path("Zoe Quistt")
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert "contacts/78/name" not in finger.phone.state
    assert finger.phone.state["contacts/77/name"] == "Zoe Quist"


def test_searching_finds_by_name_number_and_mail_and_back_ends_it(make: Callable[..., Finger]) -> None:
    finger = person(make, email="zq@example.org")
    finger.phone.key("back")
    finger.tap(description="Search contacts")
    for words in ("zoe qui", "+1555000", "zq@ex"):
        fill(finger, search_view=words)
        assert [node.view.text for node in finger.all(resourceId=CONTACTS + "cliv_name_textview")] == ["Zoe Quist"]
    fill(finger, search_view="nobody")
    assert finger.sees(text="No contacts found")
    finger.phone.key("back")
    finger.phone.key("back")
    assert finger.phone.front.screen == "contacts/people"
    assert finger.sees(text="Contacts")


def test_a_favorite_is_marked_and_unmarked(make: Callable[..., Finger]) -> None:
    finger = person(make)
    finger.tap(description="Add to favorites")
    assert finger.phone.state["contacts/77/starred"] is True
    finger.tap(description="Remove from favorites")
    assert finger.phone.state["contacts/77/starred"] is False


def test_holding_a_number_copies_it_and_touching_it_calls(make: Callable[..., Finger]) -> None:
    finger = person(make)
    finger.phone.long_press(*finger.center(text="+1555000"))
    assert finger.phone.clipboard == "+1555000"
    finger.tap(text="+1555000")
    assert finger.phone.front.package == "com.android.dialer"


def test_a_contact_is_shared_by_message(make: Callable[..., Finger]) -> None:
    finger = person(make)
    finger.tap(description="Share")
    finger.tap(text="Messages")
    assert finger.phone.front.screen == "messages/new"
    compose = finger.one(resourceId="com.android.messaging:id/compose_message_text")
    assert compose.view.text.split() == ["Zoe", "Quist", "+1555000"]


def test_a_page_of_a_contact_that_was_deleted_meanwhile_says_so(make: Callable[..., Finger]) -> None:
    finger = person(make)
    finger.phone.remove("contacts/77")
    assert finger.sees(text="This contact was deleted")


def test_two_seeds_have_other_people_some_of_them_easily_confused() -> None:
    def names(seed: int) -> list[str]:
        state = Phone(PhoneSetup(seed=seed)).snapshot().under("contacts")
        return sorted(str(value) for path, value in state.items() if path.endswith("/name"))

    assert names(1) == names(1)
    assert names(1) != names(2)
    alike = 0
    for seed in range(10):
        firsts = [name.split()[0] for name in names(seed)]
        alike += len(firsts) - len(set(firsts))
        assert len(set(names(seed))) == len(names(seed))
    assert alike >= 5
