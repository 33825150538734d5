"""What is asked of Contacts. Knows where people are kept in the phone's state, and how to word the goal.

Beside the person that is meant there are others with nearly the same name or number, and whomever the phone draws.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from agent_eval.device_sim.apps.contacts import PHONE_LABELS
from agent_eval.tasks import answers
from agent_eval.tasks.families.launcher_expert import SYSTEM_UI
from agent_eval.tasks.families.people import draw_name, draw_phone, near_names, near_phone
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, only
from agent_eval.tasks.moves import Move, complete, finish, go_back, open_app, plain, tap
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

CONTACTS = "com.android.contacts"
SHARE_SHEET = "com.android.intentresolver"

_SAVED = ("name", "phone", "phone_label", "email")
"""What the form of a contact saves; that a person is a favourite is chosen elsewhere."""
_FIRST_ID = 901
"""Number of the first person that a task adds; the phone draws fewer people than that."""
_FRAMES = ("{}.", "Please {}.", "On this phone, {}.", "I want you to {}.")


# ----------------------------------------------------------------------------------------------------------------------
# people


@dataclass(frozen=True)
class Person:
    """One contact of the state."""

    id: int
    name: str
    phone: str
    kind: str
    email: str = ""


class Known(NamedTuple):
    """A person who is meant, and others who are easily taken for them."""

    person: Person
    others: tuple[Person, ...]

    @property
    def state(self) -> dict[str, Scalar]:
        """The paths that make them contacts of the phone."""
        return state_of((self.person, *self.others))


def people_of(snapshot: Snapshot) -> tuple[Person, ...]:
    """Return all contacts, by id."""
    values = snapshot.under("contacts")
    ids = sorted({int(path.split("/")[0]) for path in values})
    return tuple(Person(number, *(str(values[f"{number}/{part}"]) for part in _SAVED)) for number in ids)


def state_of(people: Sequence[Person]) -> dict[str, Scalar]:
    """Return the paths that make people contacts of the phone."""
    state: dict[str, Scalar] = {}
    for person in people:
        path = f"contacts/{person.id}"
        state |= {
            f"{path}/name": person.name,
            f"{path}/phone": person.phone,
            f"{path}/phone_label": person.kind,
            f"{path}/email": person.email,
        }
    return state


def draw_known(rng: Random, *, look_alikes: int, name: str = "", first_id: int = _FIRST_ID) -> Known:
    """Draw a person and up to three look-alikes, one of whom has nearly the same number as well.

    Args:
        rng: Where chance comes from.
        look_alikes: How many.
        name: Of the person; drawn unless given.
        first_id: Number of the person; the others follow.
    """
    phone = draw_phone(rng)
    name = name or draw_name(rng)
    names = [name, *near_names(name, look_alikes, rng)]
    phones = [phone, near_phone(phone, rng), draw_phone(rng), draw_phone(rng)]
    people = [
        Person(first_id + place, one, number, rng.choice(tuple(PHONE_LABELS)))
        for place, (one, number) in enumerate(zip(names, phones, strict=False))
    ]
    return Known(people[0], tuple(people[1:]))


def person_key(name: str) -> str:
    """Return the split key of a person."""
    return f"person {name}"


def same_number(one: str, other: str) -> bool:
    """Tell whether two phone numbers differ in nothing but how their digits are grouped."""
    return _bare(one) == _bare(other)


def _bare(number: str) -> str:
    return re.sub(r"[^0-9+]", "", number)


def _person(snapshot: Snapshot, number: int) -> Person | None:
    return next((person for person in people_of(snapshot) if person.id == number), None)


# ----------------------------------------------------------------------------------------------------------------------
# the way through the app


def _to_contacts(view: View) -> Move | None:
    """Return the move that leads into Contacts; None in it."""
    if view.package in (SYSTEM_UI, SHARE_SHEET):
        return go_back()
    return None if view.package == CONTACTS else open_app("Contacts")


def _to_person(view: View, person: Person) -> Move | None:
    """Return the move that leads towards a person's page; None when it is in front."""
    move = _to_contacts(view)
    if move is not None:
        return move
    if view.screen == "contacts/person" and view.variable("contact") == person.id:
        return None
    move = _to_list(view)
    if move is not None:
        return move
    row = view.find(person.name, "row")
    if row is not None:
        return tap(row)
    if view.variable("searching") is not True:
        return view.tap_on("Search contacts", "button")
    return view.fill({"Search contacts": person.name}) or view.tap_on(person.name, "row")


def _to_list(view: View) -> Move | None:
    """Return the move that leads from another page of Contacts to the list of people; None when it is in front."""
    if view.screen == "contacts/discard":
        return view.tap_on("Discard", "button")
    return None if view.screen == "contacts/people" else go_back()


def _to_absence(view: View, name: str) -> Move | None:
    """Return the move that leads to where a list shows that there is nobody of a name; None when it does."""
    move = _to_contacts(view) or _to_list(view)
    if move is not None:
        return move
    if view.variable("searching") is True:
        return view.fill({"Search contacts": name})
    rows = [plain(element.label).lower() for element in view.observation.elements if element.role == "row"]
    if not view.observation.scrollable or min(rows) < name.lower() < max(rows):
        return None
    return view.tap_on("Search contacts", "button")


def _form_value(snapshot: Snapshot, name: str) -> Scalar | None:
    """Return a variable of the form that is open in Contacts, whatever dialog lies over it; None if it has none."""
    end = f"/contacts/edit/{name}"
    paths = (path for path, _ in snapshot.transient if path.startswith(f"ui/task/{CONTACTS}/") and path.endswith(end))
    return snapshot.get(next(paths, ""))


def _of_form(view: View, contact: int, fields: Mapping[str, str], kind: str) -> Move | None:
    """Return the next move in a form or in a dialog over it, short of saving; None once it is filled.

    Args:
        view: What is in front.
        contact: Whose form it must be; 0 for a new person.
        fields: What belongs into the fields, by their labels.
        kind: What kind of number it must be.
    """
    right = _form_value(view.now, "contact") == contact
    chosen = str(_form_value(view.now, "phone_label") or "mobile")
    if view.screen == "contacts/discard":
        return view.tap_on("Keep editing" if right else "Discard", "button")
    if view.screen == "contacts/phone_label":
        return view.tap_on(PHONE_LABELS[kind], "radio") if right and chosen != kind else go_back()
    if not right:
        return go_back()
    move = view.fill(fields)
    if move is not None:
        return move
    return None if chosen == kind else view.tap_on(PHONE_LABELS[chosen], "row")


_OF_FORM = ("contacts/edit", "contacts/phone_label", "contacts/discard")


def _fields(view: View, first: str, last: str, phone: str, email: str) -> dict[str, str]:
    """Return what belongs into a form; the address is looked at only if somebody wrote into its field."""
    fields = {"First name": first, "Last name": last, "Phone": phone}
    written = _form_value(view.now, "text/email")
    return fields if written is None or written == email else fields | {"Email": email}


def _seen(view: View, person: Person, answer: str = "") -> Move:
    """Return the move that leads to a person's number, and there declare the task done."""
    move = _to_person(view, person)
    if move is not None:
        return move
    row = view.seek(person.phone, "row")
    return row if isinstance(row, Move) else complete(row, answer)


# ----------------------------------------------------------------------------------------------------------------------
# a new person

_ADD = (
    "add {n} to the contacts with the number {p}",
    "create a contact for {n} with the phone number {p}",
    "save {n} as a new contact with the number {p}",
    "make a new contact: {n}, phone number {p}",
    "store the number {p} as a new contact named {n}",
    "put {n} into the contacts, the number is {p}",
)


def _added(start: Snapshot, now: Snapshot, name: str, phone: str) -> Person | None:
    """Return the first new contact with just this name and number."""
    old = {person.id for person in people_of(start)}
    for person in people_of(now):
        same = " ".join(person.name.split()) == name and same_number(person.phone, phone) and not person.email
        if person.id not in old and same:
            return person
    return None


def _compose_add(rng: Random) -> Draft:
    known = draw_known(rng, look_alikes=rng.randint(1, 3))
    name, phone = known.person.name, known.person.phone
    first, _, last = name.partition(" ")

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        person = _added(start, end, name, phone)
        if person is None:
            return ()
        made_favourite = end.get(f"contacts/{person.id}/starred") is True
        parts = _SAVED if made_favourite else (*_SAVED, "starred")
        return tuple(f"contacts/{person.id}/{part}" for part in parts)

    @mending
    def plan(view: View) -> Move:
        person = _added(view.start, view.now, name, phone)
        if person is not None:
            return _seen(view, person)
        move = _to_contacts(view)
        if move is not None:
            return move
        if view.screen in _OF_FORM:
            kind = str(_form_value(view.now, "phone_label") or "mobile")
            return _of_form(view, 0, _fields(view, first, last, phone, ""), kind) or view.tap_on("Save", "button")
        return view.tap_on("Create new contact", "button") if view.screen == "contacts/people" else go_back()

    return Draft(
        sentences={"en": wordings(_ADD, _FRAMES, n=name, p=phone)},
        parameters={"name": name, "number": phone},
        state=state_of(known.others),
        criteria=Criteria(
            goal=lambda start, now: _added(start, now, name, phone) is not None, allowed=allowed, apps=(CONTACTS,)
        ),
        plan=plan,
        oracle_steps=6,
        split_keys=(person_key(name),),
    )


# ----------------------------------------------------------------------------------------------------------------------
# a form that stays open

_DRAFT = (
    "start a new contact with the first name {f}, the last name {l} and the {k} number {p}, and leave it unsaved",
    "fill in a new contact, first name {f}, last name {l}, phone {p} with the label {k}, but do not save it",
    "enter a new contact without saving it: first name {f}, last name {l}, {k} phone {p}",
    "prepare a contact for {f} {l} (first name {f}, last name {l}) with the {k} number {p}; I will save it myself",
    "type the details of a new contact, first name {f}, last name {l}, phone {p}, label {k}, and do not save",
    "open a new contact, put in first name {f}, last name {l} and phone {p} labelled {k}, and stop before saving",
)


def _drafted(first: str, last: str, phone: str, kind: str) -> Goal:
    """Return the goal that the form of a new contact is in front and holds just this."""
    wanted = {"text/first": first, "text/last": last, "text/email": ""}

    def holds(_start: Snapshot, now: Snapshot) -> bool:
        if now.get("ui/package") != CONTACTS or now.get("ui/screen") != "contacts/edit":
            return False
        return (
            _form_value(now, "contact") == 0
            and all(str(_form_value(now, name) or "").strip() == text for name, text in wanted.items())
            and same_number(str(_form_value(now, "text/phone") or ""), phone)
            and (_form_value(now, "phone_label") or "mobile") == kind
        )

    return holds


def _compose_draft(rng: Random) -> Draft:
    known = draw_known(rng, look_alikes=rng.randint(1, 2))
    name, phone, kind = known.person.name, known.person.phone, known.person.kind
    first, _, last = name.partition(" ")
    holds = _drafted(first, last, phone, kind)

    @mending
    def plan(view: View) -> Move:
        entry = view.find("Phone", "field")
        if holds(view.start, view.now):
            return finish(f"{name} unsaved") if entry is None else complete(entry)
        move = _to_contacts(view)
        if move is not None:
            return move
        if view.screen in _OF_FORM:
            return _of_form(view, 0, _fields(view, first, last, phone, ""), kind) or go_back()
        return view.tap_on("Create new contact", "button") if view.screen == "contacts/people" else go_back()

    return Draft(
        sentences={"en": wordings(_DRAFT, _FRAMES, f=first, l=last, k=kind, p=phone)},
        parameters={"first": first, "last": last, "phone": phone, "label": kind},
        state=state_of(known.others),
        criteria=Criteria(goal=holds, allowed=only(), apps=(CONTACTS,)),
        plan=plan,
        oracle_steps=5 if kind == "mobile" else 7,
        split_keys=(person_key(name),),
    )


# ----------------------------------------------------------------------------------------------------------------------
# a person who is there

_EDIT = (
    "change the phone number of {n} to {p}",
    "set the number of the contact {n} to {p}",
    "update the contact {n}: the phone number is now {p}",
    "give the contact {n} the new number {p}",
    "correct the phone number of {n}, it should be {p}",
    "replace the number of {n} with {p}",
)
_DELETE = (
    "delete the contact {n}",
    "remove {n} from the contacts",
    "delete {n} from the contacts",
    "get rid of the contact {n}",
    "erase the contact {n}",
    "make sure that {n} is no longer among the contacts",
)


def _compose_edit(rng: Random) -> Draft:
    known = draw_known(rng, look_alikes=rng.randint(1, 3))
    person, phone = known.person, near_phone(known.person.phone, rng) if rng.random() < 0.5 else draw_phone(rng)
    first, _, last = person.name.partition(" ")
    path = f"contacts/{person.id}/phone"

    def holds(_start: Snapshot, now: Snapshot) -> bool:
        return same_number(str(now.get(path, "")), phone)

    @mending
    def plan(view: View) -> Move:
        changed = _person(view.now, person.id)
        if changed is not None and holds(view.start, view.now):
            return _seen(view, changed)
        if view.package == CONTACTS and view.screen in _OF_FORM:
            fields = _fields(view, first, last, phone, person.email)
            return _of_form(view, person.id, fields, person.kind) or view.tap_on("Save", "button")
        return _to_person(view, person) or view.tap_on("Edit contact", "button")

    return Draft(
        sentences={"en": wordings(_EDIT, _FRAMES, n=person.name, p=phone)},
        parameters={"name": person.name, "number": phone},
        state=known.state,
        criteria=Criteria(goal=holds, allowed=only(path), apps=(CONTACTS,)),
        plan=plan,
        oracle_steps=7,
        split_keys=(person_key(person.name),),
    )


def _compose_delete(rng: Random) -> Draft:
    known = draw_known(rng, look_alikes=rng.randint(2, 3))
    person = known.person

    def holds(_start: Snapshot, now: Snapshot) -> bool:
        return _person(now, person.id) is None

    @mending
    def plan(view: View) -> Move:
        if holds(view.start, view.now):
            return _to_absence(view, person.name) or finish(f"no {person.name}")
        if view.package == CONTACTS and view.screen == "contacts/delete" and view.variable("contact") == person.id:
            return view.tap_on("Delete", "button")
        return _to_person(view, person) or view.tap_on("Delete", "button")

    return Draft(
        sentences={"en": wordings(_DELETE, _FRAMES, n=person.name)},
        parameters={"name": person.name},
        state=known.state,
        criteria=Criteria(goal=holds, allowed=only(f"contacts/{person.id}/**"), apps=(CONTACTS,)),
        plan=plan,
        oracle_steps=6,
        split_keys=(person_key(person.name),),
    )


# ----------------------------------------------------------------------------------------------------------------------
# a question

_NUMBER_EN = (
    "tell me the phone number of {n}",
    "look up the phone number of {n}",
    "find out which phone number {n} has",
    "give me the number that is saved for {n}",
)
_NUMBER_QUESTIONS_EN = (
    "What is the phone number of {n}?",
    "Which phone number does {n} have?",
    "At which number can I call {n}?",
    "What number is saved for {n}?",
)
_NUMBER_DE = (
    "Nenne mir die Telefonnummer von {n}.",
    "Suche die Telefonnummer von {n} heraus.",
    "Bitte schau nach, welche Telefonnummer {n} hat.",
    "Sag mir, welche Nummer für {n} gespeichert ist.",
    "Wie lautet die Telefonnummer von {n}?",
    "Welche Telefonnummer hat {n}?",
    "Unter welcher Nummer kann ich {n} anrufen?",
    "Welche Nummer ist für {n} gespeichert?",
)
_NUMBER_ZH = (
    "告诉我{n}的电话号码。",
    "请查一下{n}的电话号码。",
    "帮我找出{n}的电话号码。",
    "请告诉我{n}存的是哪个号码。",
    "{n}的电话号码是多少？",
    "{n}的电话是哪个号码？",
    "我该拨哪个号码联系{n}？",
    "通讯录里{n}的号码是多少？",
)


def _compose_number(rng: Random) -> Draft:
    known = draw_known(rng, look_alikes=rng.randint(2, 3))
    person = known.person
    accepts = answers.phone(person.phone)

    @mending
    def plan(view: View) -> Move:
        return _seen(view, person, person.phone)

    return Draft(
        sentences={
            "en": (
                *wordings(_NUMBER_EN, ("{}.", "Please {}."), n=person.name),
                *wordings(_NUMBER_QUESTIONS_EN, ("{}",), n=person.name),
            ),
            "de": wordings(_NUMBER_DE, ("{}",), n=person.name),
            "zh": wordings(_NUMBER_ZH, ("{}",), n=person.name),
        },
        parameters={"name": person.name, "answer": person.phone},
        state=known.state,
        criteria=Criteria(goal=None, allowed=only(), apps=(CONTACTS,), answer=lambda _start, answer: accepts(answer)),
        plan=plan,
        oracle_steps=4,
        split_keys=(person_key(person.name),),
    )


CONTACT_ADD = Template(
    name="ContactAdd",
    summary="save one new contact with a name and a number",
    tier=2,
    compose=_compose_add,
    android_world=("ContactsAddContact",),
)
CONTACT_DRAFT = Template(
    name="ContactDraft",
    summary="fill in a new contact and leave it unsaved",
    tier=2,
    compose=_compose_draft,
    traits=("guard",),
    android_world=("ContactsNewContactDraft",),
)
CONTACT_EDIT_PHONE = Template(
    name="ContactEditPhone",
    summary="give one of several similar contacts another number",
    tier=2,
    compose=_compose_edit,
)
CONTACT_DELETE = Template(
    name="ContactDelete",
    summary="delete one contact and keep its look-alikes",
    tier=2,
    compose=_compose_delete,
    traits=("guard",),
)
CONTACT_NUMBER = Template(
    name="ContactNumber",
    summary="answer which number one of several similar contacts has",
    tier=1,
    compose=_compose_number,
    traits=("answer",),
)

TEMPLATES: tuple[Template, ...] = (CONTACT_ADD, CONTACT_DRAFT, CONTACT_EDIT_PHONE, CONTACT_DELETE, CONTACT_NUMBER)
