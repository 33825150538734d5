"""What is asked of several apps at once: a note is written and its text is sent. Knows how to word the goal."""

from __future__ import annotations

from random import Random

from agent_eval.tasks.families import notes_expert
from agent_eval.tasks.families.messages import MESSAGES, Fits, Line, sends, sms_writes, talk_state
from agent_eval.tasks.families.notes import (
    draw_name,
    draw_text,
    ending_steps,
    look_alikes,
    new_note,
    note_added,
    note_keys,
    note_writes,
)
from agent_eval.tasks.families.notes_expert import NOTES, ROOT
from agent_eval.tasks.families.people import draw_phone, near_phone
from agent_eval.tasks.families.repair import undo
from agent_eval.tasks.judge import Criteria, any_writes, every
from agent_eval.tasks.moves import Move, finish, go_back, open_app
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View

_NOTE_THEN_SMS = (
    'create a note named {name} that says "{text}", then send its text to {number} as a message',
    'write "{text}" into a new note called {name} and text exactly that to {number} as well',
    'save "{text}" as the note {name}, and send the whole note to {number} by text message',
    'put "{text}" into a new note with the name {name}; afterwards message the same words to {number}',
    'make the note {name} with the text "{text}" and share what it says with {number} in a text message',
)
_FRAMES = ("{}.", "Please {}.", "I want you to {}.", "On this phone, {}.")


def _says(text: str) -> Fits:
    return lambda body: body.strip() == text


def _note_then_sms_plan(name: str, text: str, number: str) -> Plan:
    noted, sent = note_added(name, text), sends(number, _says(text))

    def plan(view: View) -> Move:
        is_noted, is_sent = noted(view.start, view.now), sent(view.start, view.now)
        if view.screen == "messages/new" and view.variable("text/body") == text and not is_sent:
            return _send(view, text, number)
        repair = undo(view) or notes_expert.undo(view)
        if repair is not None:
            return repair
        path = new_note(view.start, view.now, name, text) or f"{ROOT}/{name}"
        if not is_noted:
            return notes_expert.create(view, path, text)
        if is_sent:
            return finish("sent")
        if notes_expert.shares(view, text):
            return view.tap_on("Messages", "row")
        return view.tap_on("Share", "button") if notes_expert.edits(view, path) else _send(view, text, number)

    return plan


def _send(view: View, text: str, number: str) -> Move:
    """Return the next move that sends a message to a number that nobody has written to yet."""
    if view.screen == "messages/new":
        fields = {"Type names or phone numbers": number, "Text message": text}
        return view.fill(fields) or view.tap_on("Send SMS", "button")
    if view.screen == "messages/conversations" and view.variable("searching") is not True:
        return view.tap_on("Start new conversation", "button")
    return go_back() if view.screen.startswith("messages/") else open_app("Messages")


def _compose_note_then_sms(rng: Random) -> Draft:
    name, text, number = draw_name(rng), draw_text(rng), draw_phone(rng)
    seed = rng.getrandbits(31)
    near = near_phone(number, rng)
    talk = [Line(near, draw_text(rng), sent=rng.random() < 0.5) for _ in range(rng.randint(1, 2))]
    goals = {"note": note_added(name, text), "message": sends(number, _says(text))}
    return Draft(
        sentences={"en": wordings(_NOTE_THEN_SMS, _FRAMES, name=name, text=text, number=number)},
        parameters={"name": name, "text": text, "number": number},
        state=look_alikes(name, rng) | talk_state(talk, seed, rng),
        criteria=Criteria(
            goal=every(goals),
            allowed=any_writes(note_writes(name, text), sms_writes(number, _says(text))),
            apps=(NOTES, MESSAGES),
            sub_goals=goals,
        ),
        plan=_note_then_sms_plan(name, text, number),
        oracle_steps=10 + ending_steps(name),
        split_keys=note_keys(name, text),
        without=("messages",),
        phone_seed=seed,
    )


NOTE_THEN_SMS = Template(
    name="NoteThenSms",
    summary="write a note, and send its text to a number",
    tier=3,
    compose=_compose_note_then_sms,
    traits=("multi_app",),
    android_world=("MarkorCreateNoteAndSms",),
)

TEMPLATES = (NOTE_THEN_SMS,)
