"""Solutions in Contacts and Messages."""

from __future__ import annotations

from agent_eval.types import Scalar
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Record, Script, Walk, record

NUMBER, OTHER = "+15557701234", "+15557701235"
FRIENDS: dict[str, Scalar] = {
    "contacts/901/name": "Zoe Quill", "contacts/901/phone": NUMBER,
    "contacts/902/name": "Zoe Quills", "contacts/902/phone": OTHER,
}  # fmt: skip


def message(number: int, address: str, body: str, *, sent: bool = False) -> dict[str, Scalar]:
    """Return the paths of a message; one with a higher number is later."""
    path = f"messages/{number}"
    return {
        f"{path}/address": address, f"{path}/body": body, f"{path}/sent": sent, f"{path}/time": 1_700_000_000 + number,
    }  # fmt: skip


TALK = {
    **FRIENDS,
    **message(901, OTHER, "Is the ladder back?"),
    **message(902, NUMBER, "The ladder is back.", sent=True),
}


# ----------------------------------------------------------------------------------------------------------------------
# contacts


def fill(hand: Hand, first: str, last: str, phone: str) -> None:
    """Fill the form of a new contact."""
    hand.open("Contacts")
    hand.tap("Create new contact")
    hand.type(first, into="First name")
    hand.type(last, into="Last name")
    hand.type(phone, into="Phone")


def add(hand: Hand) -> None:
    """Create a contact."""
    fill(hand, "Nia", "Brook", NUMBER)
    hand.tap("Save")


def draft(hand: Hand) -> None:
    """Fill the form, choose what kind of number it is, and leave it open."""
    fill(hand, "Nia", "Brook", NUMBER)
    hand.tap("Mobile")
    hand.tap("Work")


def find_person(hand: Hand, name: str) -> None:
    """Show a person's page."""
    hand.open("Contacts")
    hand.tap("Search contacts")
    hand.type(name, into="Search contacts")
    hand.tap(name, role="row")


def change_phone(hand: Hand) -> None:
    """Give a person another number."""
    find_person(hand, "Zoe Quill")
    hand.tap("Edit contact")
    hand.type("+15559990001", into="Phone")
    hand.tap("Save")


def delete(hand: Hand) -> None:
    """Delete one of two people with nearly one name."""
    find_person(hand, "Zoe Quill")
    hand.tap("Delete")
    hand.tap("Delete")


def read_number(hand: Hand) -> str:
    """Read a person's number."""
    find_person(hand, "Zoe Quill")
    return next(text for text in hand.texts() if text.startswith("+"))


# ----------------------------------------------------------------------------------------------------------------------
# messages


def send(to: str, body: str) -> Script:
    """Send a message to a number."""

    def script(hand: Hand) -> None:
        hand.open("Messages")
        hand.tap("Start new conversation")
        hand.type(to, into="Type names or phone numbers")
        hand.type(body, into="Text message")
        hand.tap("Send SMS")

    return script


def reply(name: str, body: str) -> Script:
    """Answer somebody; without a name, whoever wrote last."""

    def script(hand: Hand) -> None:
        hand.open("Messages")
        latest = hand.rows("row")[0].label
        assert not name or hand.sees(name)
        hand.tap(name or latest)
        hand.type(body, into="Text message")
        hand.tap("Send SMS")

    return script


def resend(hand: Hand) -> None:
    """Send a message again."""
    hand.open("Messages")
    hand.tap("Zoe Quill")
    hand.hold("The ladder is back.")
    hand.tap("Resend")


def forward(hand: Hand) -> None:
    """Forward what one person sent to another."""
    hand.open("Messages")
    hand.tap("Zoe Quill")
    hand.hold("7 Mill Street, second floor")
    hand.tap("Forward")
    hand.type("Zoe Quills", into="Type names or phone numbers")
    hand.tap("Send SMS")


def send_clipboard(hand: Hand) -> None:
    """Send what is in the clipboard, before anything is typed: typing goes through the clipboard."""
    hand.open("Messages")
    hand.tap("Start new conversation")
    hand.hold("Text message")
    hand.tap("Paste")
    hand.type(NUMBER, into="Type names or phone numbers")
    hand.tap("Send SMS")


def walks() -> list[Walk]:
    """Return the solutions."""
    person = (record("contacts", name="Nia Brook", phone=NUMBER, phone_label="mobile"),)
    address = {**FRIENDS, **message(901, OTHER, "Where?"), **message(902, NUMBER, "7 Mill Street, second floor")}

    def sent(to: str, body: str) -> tuple[Record, ...]:
        return (record("messages", address=to, body=body, sent=True, status="sent"),)

    half_typed: dict[str, Scalar] = {
        f"ui/task/com.android.contacts/1/contacts/edit/{name}": value
        for name, value in (
            ("text/first", "Nia"),
            ("text/last", "Brook"),
            ("text/phone", NUMBER),
            ("phone_label", "work"),
        )
    }
    return [
        Walk("26", 6, add, adds=person),
        Walk("27", 7, draft, leaves=half_typed),
        Walk("28", 7, change_phone, state=FRIENDS, sets={"contacts/901/phone": "+15559990001"}),
        Walk("29", 6, delete, state=FRIENDS, gone=("contacts/901",)),
        Walk("30", 4, read_number, state=FRIENDS, answer=NUMBER),
        Walk("31", 5, send(NUMBER, "Bring the ladder"), adds=sent(NUMBER, "Bring the ladder")),
        Walk("32", 4, reply("", "On my way"), state=TALK, adds=sent(NUMBER, "On my way")),
        Walk("33", 4, resend, state=TALK, adds=sent(NUMBER, "The ladder is back.")),
        Walk("34", 6, forward, state=address, adds=sent(OTHER, "7 Mill Street, second floor")),
        Walk("ContactsAddContact", 6, add, seed=2, adds=person),
        Walk("ContactsNewContactDraft", 7, draft, seed=2, leaves=half_typed),
        Walk("SimpleSmsReply", 4, reply(OTHER, "It is"), state=message(901, OTHER, "Is the ladder back?"),
             adds=sent(OTHER, "It is")),
        Walk("SimpleSmsReplyMostRecent", 4, reply("", "It is"), state=TALK, seed=2, adds=sent(NUMBER, "It is")),
        Walk("SimpleSmsResend", 4, resend, seed=2, state=TALK, adds=sent(NUMBER, "The ladder is back.")),
        Walk("SimpleSmsSend", 5, send(OTHER, "Bring the ladder"), seed=2, adds=sent(OTHER, "Bring the ladder")),
        Walk("SimpleSmsSendClipboardContent", 6, send_clipboard, clipboard="Ladder: 3.20 m",
             adds=sent(NUMBER, "Ladder: 3.20 m")),
        Walk("SimpleSmsSendReceivedAddress", 6, forward, seed=2, state=address,
             adds=sent(OTHER, "7 Mill Street, second floor")),
    ]  # fmt: skip
