"""What is asked of Messages. Knows where messages are kept in the phone's state, and how to word the goal.

Every draft names all messages of the phone. Among them are conversations with people of nearly the same name or number,
and whoever the goal names is not always the one who stands at the top of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from agent_eval.tasks.answers import folded
from agent_eval.tasks.families.contacts import CONTACTS, SHARE_SHEET, draw_known, person_key, state_of
from agent_eval.tasks.families.launcher_expert import SYSTEM_UI
from agent_eval.tasks.families.people import draw_message, draw_names, draw_phone, near_message, near_phone
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, Writes
from agent_eval.tasks.language import moment_of
from agent_eval.tasks.moves import Move, finish, go_back, hold, open_app, tap
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

MESSAGES = "com.android.messaging"

_FIRST_ID = 901
"""Number of the first message that a task adds; a later message has a higher number."""
_GAPS = (1, 1, 2, 3, 8, 40, 300)
"""Minutes between one message and the next: most conversations are short, and some cross each other."""
_FRAMES = ("{}.", "Please {}.", "On this phone, {}.", "I want you to {}.")

Fits = Callable[[str], bool]
"""Tells whether a text is what was asked for."""


# ----------------------------------------------------------------------------------------------------------------------
# messages


@dataclass(frozen=True)
class Sms:
    """One message of the state."""

    id: int
    address: str
    body: str
    sent: bool
    """Written on this phone, whether or not it went out."""
    failed: bool


class Line(NamedTuple):
    """One message of a draft, before it has a number and a time."""

    address: str
    body: str
    sent: bool = False


def messages_of(snapshot: Snapshot) -> tuple[Sms, ...]:
    """Return all messages, by id."""
    values = snapshot.under("messages")
    return tuple(
        Sms(
            number,
            str(values[f"{number}/address"]),
            str(values[f"{number}/body"]),
            values[f"{number}/sent"] is True,
            values[f"{number}/status"] == "failed",
        )
        for number in sorted({int(path.split("/")[0]) for path in values})
    )


def talk_state(lines: Sequence[Line], phone_seed: int, rng: Random) -> dict[str, Scalar]:
    """Return the paths of messages that came one after the other, the last of them a few minutes ago."""
    state: dict[str, Scalar] = {"settings/airplane_mode_on": False}
    time = int(moment_of(phone_seed).timestamp()) - rng.randint(60, 300)
    for place, line in reversed(list(enumerate(lines))):
        path = f"messages/{_FIRST_ID + place}"
        state |= {
            f"{path}/address": line.address,
            f"{path}/body": line.body,
            f"{path}/sent": line.sent,
            f"{path}/time": time,
        }
        time -= 60 * rng.choice(_GAPS)
    return state


def draw_texts(count: int, rng: Random) -> list[str]:
    """Draw messages that all differ."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw_message(rng)] = None
    return list(found)


def text_key(text: str) -> str:
    """Return the split key of a message."""
    return f"message {text}"


def new_sms(start: Snapshot, now: Snapshot, address: str, fits: Fits) -> Sms | None:
    """Return the first message that went out to an address since the start with a text that fits."""
    old = {sms.id for sms in messages_of(start)}
    for sms in messages_of(now):
        if sms.id not in old and sms.sent and not sms.failed and sms.address == address and fits(sms.body):
            return sms
    return None


def same_text(text: str) -> Fits:
    """Return the test of a message that must be just this, to the sign."""
    return lambda body: body == text


def sends(address: str, fits: Fits) -> Goal:
    """Return the goal that such a message went out."""
    return lambda start, now: new_sms(start, now, address, fits) is not None


def sms_writes(address: str, fits: Fits) -> Writes:
    """Allow the one message that was asked for; a second one is a side effect."""

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        sms = new_sms(start, end, address, fits)
        return () if sms is None else (f"messages/{sms.id}/**",)

    return allowed


# ----------------------------------------------------------------------------------------------------------------------
# the way through the app


def _to_messages(view: View) -> Move | None:
    """Return the move that leads into Messages; None in it."""
    if view.package in (SYSTEM_UI, SHARE_SHEET):
        return go_back()
    return None if view.package == MESSAGES else open_app("Messages")


def _to_thread(view: View, address: str, name: str) -> Move | None:
    """Return the move that leads towards a conversation that is there; None when it is in front.

    Args:
        view: What is in front.
        address: The other one's number.
        name: What the list calls them.
    """
    move = _to_messages(view)
    if move is not None:
        return move
    if view.screen == "messages/thread" and view.variable("address") == address:
        return None
    if view.screen != "messages/conversations":
        return go_back()
    row = view.find(name, "row")
    if row is not None:
        return tap(row)
    return go_back() if view.variable("searching") is True else view.tap_on(name, "row")


def _send(view: View, text: str) -> Move:
    """Return the next move that writes and sends a message in the conversation in front."""
    return view.fill({"Text message": text}) or view.tap_on("Send SMS", "button")


def _hold_message(view: View, body: str) -> Move:
    """Return the next move that opens the menu of a message of the conversation in front."""
    bubble = view.seek(body, "row")
    return bubble if isinstance(bubble, Move) else hold(bubble)


def _in_menu(view: View, message: int) -> bool:
    """Tell whether the menu of a message is in front."""
    return view.package == MESSAGES and view.screen == "messages/message_menu" and view.variable("message") == message


# ----------------------------------------------------------------------------------------------------------------------
# a message with a given text

_SEND = (
    'send the text message "{t}" to {p}',
    'text "{t}" to the number {p}',
    'send an SMS to {p} that says "{t}"',
    'write a text message to {p}: "{t}"',
    'message the number {p} with the words "{t}"',
)
_ANSWER = (
    'reply to {p} with the text message "{t}"',
    'answer the text message from {p} with "{t}"',
    'write back to {p}: "{t}"',
    'send "{t}" as a reply to the number {p}',
    'respond "{t}" to the SMS from {p}',
)
_LATEST_EN = (
    'reply "{t}" to the latest text message that I received',
    'answer the newest text message that I got, saying "{t}"',
    'write back "{t}" to whoever texted me last',
    'respond to the most recent incoming SMS with "{t}"',
    'send "{t}" as a reply to the last text message that came in',
)
_LATEST_DE = (
    "Antworte auf die neueste SMS, die ich bekommen habe, mit „{t}“.",
    "Beantworte die zuletzt empfangene SMS mit „{t}“.",
    "Schreib der Person, die mir zuletzt eine SMS geschickt hat, „{t}“ zurück.",
    "Bitte antworte auf die letzte eingegangene SMS: „{t}“.",
    "Sende „{t}“ als Antwort auf die neueste eingegangene SMS.",
    "Auf die letzte SMS, die bei mir ankam, möchte ich mit „{t}“ antworten.",
)
_LATEST_ZH = (
    "用“{t}”回复我收到的最新一条短信。",
    "回复最近收到的那条短信，内容是“{t}”。",
    "给最后一个发短信给我的人回复“{t}”。",
    "请回复我最新收到的短信：“{t}”。",
    "我刚收到的最后一条短信，请回复“{t}”。",
    "请把“{t}”作为回复，发给最近给我发短信的人。",
)


def _compose_send(rng: Random) -> Draft:
    kind = rng.choice(("new", "reply"))
    address, seed = draw_phone(rng), rng.getrandbits(31)
    text, *others = draw_texts(5, rng)
    near, stranger = near_phone(address, rng), draw_phone(rng)
    lines = [Line(stranger, others[0], sent=True), Line(near, others[1])]
    if kind == "reply":
        lines.insert(rng.randint(0, 2), Line(address, others[2]))
    fits = same_text(text)

    @mending
    def plan(view: View) -> Move:
        if new_sms(view.start, view.now, address, fits) is not None:
            return _to_thread(view, address, address) or finish(f"sent to {address}")
        move = _to_messages(view)
        if move is not None:
            return move
        if view.screen == "messages/new":
            return view.fill({"Type names or phone numbers": address}) or _send(view, text)
        if view.screen == "messages/conversations" and kind == "new" and view.find(address, "row") is None:
            return view.tap_on("Start new conversation", "button")
        return _to_thread(view, address, address) or _send(view, text)

    return Draft(
        sentences={"en": wordings(_SEND if kind == "new" else _ANSWER, _FRAMES, t=text, p=address)},
        parameters={"kind": kind, "number": address, "text": text},
        state=talk_state(lines, seed, rng),
        criteria=Criteria(goal=sends(address, fits), allowed=sms_writes(address, fits), apps=(MESSAGES,)),
        plan=plan,
        oracle_steps=5 if kind == "new" else 4,
        split_keys=(text_key(text),),
        without=("messages",),
        phone_seed=seed,
    )


def _compose_reply_latest(rng: Random) -> Draft:
    known, seed = draw_known(rng, look_alikes=2), rng.getrandbits(31)
    sender, (near, third) = known.person, known.others
    text, *others = draw_texts(6, rng)
    saved = rng.random() < 0.7  # else the sender is a number that nobody has a name for
    lines = [
        Line(draw_phone(rng), others[0]),
        Line(sender.phone, others[1], sent=True),
        Line(near.phone, others[2]),
        Line(sender.phone, others[3]),
    ]
    if rng.random() < 0.5:
        lines.append(Line(third.phone, others[4], sent=True))  # the latest conversation is not the latest to answer
    fits = same_text(text)

    @mending
    def plan(view: View) -> Move:
        name = sender.name if saved else sender.phone
        if new_sms(view.start, view.now, sender.phone, fits) is not None:
            return _to_thread(view, sender.phone, name) or finish(f"sent to {name}")
        return _to_thread(view, sender.phone, name) or _send(view, text)

    return Draft(
        sentences={
            "en": wordings(_LATEST_EN, _FRAMES, t=text),
            "de": wordings(_LATEST_DE, ("{}",), t=text),
            "zh": wordings(_LATEST_ZH, ("{}",), t=text),
        },
        parameters={"text": text, "number": sender.phone},
        state=(known.state if saved else state_of(known.others)) | talk_state(lines, seed, rng),
        criteria=Criteria(goal=sends(sender.phone, fits), allowed=sms_writes(sender.phone, fits), apps=(MESSAGES,)),
        plan=plan,
        oracle_steps=4,
        split_keys=(text_key(text),),
        without=("messages",),
        phone_seed=seed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# a message that is there

_RESEND = (
    "resend the last text message that I sent to {n}",
    "send my most recent text message to {n} again",
    "send {n} once more what I last texted them",
    "repeat the latest SMS that went from me to {n}",
    "send again the last text message I wrote to {n}",
    "let the newest text message from me to {n} go out a second time",
)
_FORWARD = (
    "send {b} the address that {a} texted me",
    "forward the address that I got from {a} to {b} as a text message",
    "text {b} the address that is in the messages from {a}",
    "pass the address that {a} sent me on to {b} by SMS",
    "let {b} know by text message which address {a} sent me",
    "look for the address in what {a} texted me, and text it to {b}",
)
_STREETS = (
    "Mill Street", "Oak Avenue", "Church Lane", "Harbour Road", "Castle Hill", "Garden Way", "Station Road",
    "Bridge Street", "Orchard Close", "Victoria Square", "Market Place", "Forest Drive",
)  # fmt: skip
_WITH_ADDRESS = ("{a}", "Come to {a}", "We meet at {a}", "It is at {a}", "I now live at {a}", "The party is at {a}")


def _compose_resend(rng: Random) -> Draft:
    known, seed = draw_known(rng, look_alikes=2), rng.getrandbits(31)
    person, near = known.person, known.others[0]
    last, *others = draw_texts(5, rng)
    lines = [
        Line(person.phone, near_message(last, rng), sent=True),
        Line(person.phone, others[0]),
        Line(person.phone, last, sent=True),
        Line(near.phone, others[1], sent=True),
        Line(near.phone, others[2]),
    ]
    if rng.random() < 0.5:
        lines.insert(rng.randint(3, 5), Line(person.phone, others[3]))  # they wrote since
    message = _FIRST_ID + 2
    fits = same_text(last)

    @mending
    def plan(view: View) -> Move:
        if new_sms(view.start, view.now, person.phone, fits) is not None:
            return _to_thread(view, person.phone, person.name) or finish(f"sent to {person.name}")
        if _in_menu(view, message):
            return view.tap_on("Resend", "row")
        return _to_thread(view, person.phone, person.name) or _hold_message(view, last)

    return Draft(
        sentences={"en": wordings(_RESEND, _FRAMES, n=person.name)},
        parameters={"name": person.name, "text": last},
        state=known.state | talk_state(lines, seed, rng),
        criteria=Criteria(goal=sends(person.phone, fits), allowed=sms_writes(person.phone, fits), apps=(MESSAGES,)),
        plan=plan,
        oracle_steps=4,
        split_keys=(person_key(person.name),),
        without=("messages",),
        phone_seed=seed,
    )


def _compose_forward(rng: Random) -> Draft:
    names, seed = draw_names(2, rng), rng.getrandbits(31)
    writers = draw_known(rng, look_alikes=1, name=names[0])
    readers = draw_known(rng, look_alikes=2, name=names[1], first_id=writers.others[-1].id + 1)
    writer, reader = writers.person, readers.person
    (address, body), (_, elsewhere) = draw_address(rng), draw_address(rng)
    others = draw_texts(4, rng)
    lines = [
        Line(readers.others[0].phone, others[0]),
        Line(writer.phone, others[1]),
        Line(writer.phone, body),
        Line(writer.phone, others[2]),
        Line(writers.others[0].phone, elsewhere),
    ]
    if rng.random() < 0.5:
        lines.insert(3, Line(writer.phone, others[3], sent=True))
    message = _FIRST_ID + 2
    right = {folded(address), folded(body)}

    def fits(text: str) -> bool:
        return folded(text).rstrip(".") in right

    @mending
    def plan(view: View) -> Move:
        if new_sms(view.start, view.now, reader.phone, fits) is not None:
            return _to_thread(view, reader.phone, reader.name) or finish(f"sent to {reader.name}")
        move = _to_messages(view)
        if move is not None:
            return move
        written = fits(str(view.variable("text/body") or ""))
        if view.screen == "messages/new" and written:
            return view.fill({"Type names or phone numbers": reader.name}) or view.tap_on("Send SMS", "button")
        if view.screen == "messages/thread" and written and view.variable("address") == reader.phone:
            return view.tap_on("Send SMS", "button")
        if _in_menu(view, message):
            return view.tap_on("Forward", "row")
        return _to_thread(view, writer.phone, writer.name) or _hold_message(view, body)

    return Draft(
        sentences={"en": wordings(_FORWARD, _FRAMES, a=writer.name, b=reader.name)},
        parameters={"name1": writer.name, "name2": reader.name, "address": address},
        state=writers.state | readers.state | talk_state(lines, seed, rng),
        criteria=Criteria(
            goal=sends(reader.phone, fits), allowed=sms_writes(reader.phone, fits), apps=(MESSAGES, CONTACTS)
        ),
        plan=plan,
        oracle_steps=6,
        split_keys=(person_key(writer.name), person_key(reader.name)),
        without=("messages",),
        phone_seed=seed,
    )


class Place(NamedTuple):
    """An address, and a message that holds it."""

    address: str
    body: str


def draw_address(rng: Random) -> Place:
    """Draw an address and a message that holds it."""
    address = f"{rng.randint(1, 99)} {rng.choice(_STREETS)}"
    return Place(address, rng.choice(_WITH_ADDRESS).format(a=address))


SMS_SEND = Template(
    name="SmsSend",
    summary="send one message to a number, or answer one from it",
    tier=2,
    compose=_compose_send,
    android_world=("SimpleSmsSend", "SimpleSmsReply"),
)
SMS_REPLY_LATEST = Template(
    name="SmsReplyLatest",
    summary="answer whoever wrote last",
    tier=1,
    compose=_compose_reply_latest,
    android_world=("SimpleSmsReplyMostRecent",),
)
SMS_RESEND_TO = Template(
    name="SmsResendTo",
    summary="send the last message to a person once more",
    tier=2,
    compose=_compose_resend,
    android_world=("SimpleSmsResend",),
)
SMS_FORWARD_ADDRESS = Template(
    name="SmsForwardAddress",
    summary="send the address that one person wrote to another",
    tier=2,
    compose=_compose_forward,
    traits=("multi_app",),
    android_world=("SimpleSmsSendReceivedAddress",),
)

TEMPLATES: tuple[Template, ...] = (SMS_SEND, SMS_REPLY_LATEST, SMS_RESEND_TO, SMS_FORWARD_ADDRESS)
