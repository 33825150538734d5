"""What is asked of Notes: a note is written, changed or deleted, or the to-dos of a folder are counted.

Beside the note or folder that is meant there are names like its own, and a note in a folder has the very same one. The
texts are of one line each, so that nothing is lost where a field is told in one. Knows how to word the goal.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

from agent_eval.actions import TaskComplete
from agent_eval.device_sim import profile
from agent_eval.device_sim.apps.notes import APP
from agent_eval.tasks import answers
from agent_eval.tasks.families import notes_expert
from agent_eval.tasks.families.notes_expert import NOTES, ROOT, notes_of
from agent_eval.tasks.families.repair import undo
from agent_eval.tasks.families.storage import draw_stem, is_gone, name_of, near_stems, on_phone
from agent_eval.tasks.judge import Criteria, Goal, Writes, only
from agent_eval.tasks.moves import Move, finish, plain
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import PhoneSetup, Scalar, Snapshot

_DEEDS = (
    "check", "clean", "collect", "count", "cover", "describe", "fetch", "label", "measure", "move", "photograph",
    "polish", "repaint", "repair", "replace", "return", "sketch", "unpack", "weigh", "wrap",
)  # fmt: skip
_THINGS = (
    "attic boxes", "blue ladder", "boat engine", "brass bell", "camping stove", "cellar lamps", "front steps",
    "garden gate", "hall window", "kitchen shelf", "north fence", "old radio", "oak table", "paint tins",
    "picnic basket", "rowing boat", "silver frame", "spare tyres", "stage curtain", "water meter", "wooden crates",
)  # fmt: skip
_TIMES = (
    "after the concert", "after the market", "before the first frost", "before the guests come",
    "before the shop closes", "during the long weekend", "in the early morning", "on the last day of the month",
    "on the way home", "once the rain stops", "when the ferry is back", "while it is dry",
)  # fmt: skip
_KINDS = (
    "Agenda", "First ideas", "House rules", "Long version", "Open questions", "Packing list", "Reminders", "Rough plan",
    "Second draft", "Summary", "Things to settle", "Who does what",
)  # fmt: skip
_OCCASIONS = (
    "autumn walk", "boat trip", "book fair", "chess evening", "choir tour", "club dinner", "garden party",
    "harbour day", "lake weekend", "moving day", "new flat", "night market", "open day", "quiz night", "reading group",
    "school play", "spring fair", "street fair", "summer camp", "swap meet", "train ride", "winter feast",
)  # fmt: skip
_GROUPS = (
    "Band", "Boat", "Choir", "Class", "Club", "Crew", "Garden", "Guest", "Kitchen", "Library", "Market", "Museum",
    "Orchard", "Party", "School", "Studio", "Theatre", "Workshop",
)  # fmt: skip
_MATTERS = (
    "Budget", "Calendar", "Chore", "Contract", "Errand", "Event", "Form", "Letter", "Meeting", "Order", "Permit",
    "Plan", "Project", "Record", "Repair", "Supply",
)  # fmt: skip


def draw_text(rng: Random) -> str:
    """Draw what a note says: two things to do, in one line without a full stop."""
    first, second = rng.sample(_DEEDS, 2)
    one, other = rng.sample(_THINGS, 2)
    return f"{first.capitalize()} the {one} and {second} the {other} {rng.choice(_TIMES)}"


def draw_name(rng: Random) -> str:
    """Draw the file name of a note; most have the ending that the app offers."""
    return f"{draw_stem(rng)}.{'txt' if rng.random() < 0.25 else 'md'}"


def ending_steps(name: str) -> int:
    """Return how many more steps a new note's name takes because of its ending."""
    return 0 if name.endswith(".md") else 1


def note_keys(name: str, text: str) -> tuple[str, ...]:
    """Return the split keys of a note."""
    return f"file {name}", f"text {text}"


def look_alikes(name: str, rng: Random) -> dict[str, Scalar]:
    """Draw notes whose names are easily taken for another: three beside it, and its very name in a folder."""
    stem, _, ending = name.partition(".")
    names = [f"{near}.{ending}" for near in near_stems(stem, 3, rng)]
    return {f"{ROOT}/{other}": draw_text(rng) for other in (*names, f"{rng.choice(_GROUPS)}s/{name}")}


# ----------------------------------------------------------------------------------------------------------------------
# a new note


def new_note(start: Snapshot, now: Snapshot, name: str, text: str) -> str | None:
    """Return the path of the new note of a name, in whichever folder; one that says the text before another."""
    old = notes_of(start)
    new = {path: says for path, says in notes_of(now).items() if path not in old and name_of(path) == name}
    return min(new, key=lambda path: (new[path].strip() != text, path), default=None)


def note_added(name: str, text: str) -> Goal:
    """Return the goal that there is a new note of a name with just this text."""

    def holds(start: Snapshot, now: Snapshot) -> bool:
        path = new_note(start, now, name, text)
        return path is not None and str(now[path]).strip() == text

    return holds


def note_writes(name: str, text: str) -> Writes:
    """Allow the one new note that was asked for."""

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        path = new_note(start, end, name, text)
        return () if path is None else (path,)

    return allowed


_CREATE = (
    'create a note named {name} that says "{text}"',
    'write "{text}" into a new note with the name {name}',
    'add the note {name} with the text "{text}"',
    'start a new note, call it {name}, and put "{text}" into it',
    'save a new note as {name}; its text is "{text}"',
)
_IN_NOTES = ("{}.", "Please {}.", "I want you to {}.", "In the Notes app, {}.")


def _create_plan(name: str, text: str) -> Plan:
    added = note_added(name, text)

    def plan(view: View) -> Move:
        repair = undo(view) or notes_expert.undo(view)
        if repair is not None:
            return repair
        if added(view.start, view.now):
            return finish("saved")
        return notes_expert.create(view, new_note(view.start, view.now, name, text) or f"{ROOT}/{name}", text)

    return plan


def _compose_create(rng: Random) -> Draft:
    name, text = draw_name(rng), draw_text(rng)
    return Draft(
        sentences={"en": wordings(_CREATE, _IN_NOTES, name=name, text=text)},
        parameters={"name": name, "text": text},
        state=look_alikes(name, rng),
        criteria=Criteria(goal=note_added(name, text), allowed=note_writes(name, text), apps=(NOTES,)),
        plan=_create_plan(name, text),
        oracle_steps=6 + ending_steps(name),
        split_keys=note_keys(name, text),
    )


# ----------------------------------------------------------------------------------------------------------------------
# a heading

_PREPEND = (
    'put the header "{header}" above the text of the note {name}, with a blank line between them',
    'add "{header}" as the first line of the note {name}, then an empty line, then the text that is there now',
    'give the note {name} the heading "{header}", followed by one blank line and the old text',
    'insert "{header}" and a blank line at the top of the note {name} and leave the rest as it is',
    'let the note {name} begin with "{header}" and an empty line, before what it says already',
)


def _prepend_plan(path: str, text: str) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view) or notes_expert.undo(view)
        if repair is not None:
            return repair
        if _says(view.now, path, text):
            return finish("saved")
        return notes_expert.create(view, path, text)

    return plan


def _says(snapshot: Snapshot, path: str, text: str) -> bool:
    """Tell whether a note says just this; white space at its end does not matter."""
    return str(snapshot.get(path, "")).rstrip() == text


def _compose_prepend(rng: Random) -> Draft:
    name, header = draw_name(rng), f"{rng.choice(_KINDS)} for the {rng.choice(_OCCASIONS)}"
    path, old = f"{ROOT}/{name}", f"{draw_text(rng)}. {draw_text(rng)}."
    text = f"{header}\n\n{old}"
    return Draft(
        sentences={"en": wordings(_PREPEND, _IN_NOTES, name=name, header=header)},
        parameters={"name": name, "header": header},
        state={**look_alikes(name, rng), path: old},
        criteria=Criteria(goal=lambda _start, now: _says(now, path, text), allowed=only(path), apps=(NOTES,)),
        plan=_prepend_plan(path, text),
        oracle_steps=4,
        split_keys=note_keys(name, header),
    )


# ----------------------------------------------------------------------------------------------------------------------
# the newest note

_NEWEST: Mapping[Language, Sequence[str]] = {
    "en": wordings(
        (
            "the newest note",
            "my newest note",
            "the most recent note",
            "the latest of my notes",
            "the note that was saved last",
        ),
        (
            "Delete {}.",
            "Please delete {}.",
            "Remove {} from Notes.",
            "Get rid of {} and keep the others.",
            "I no longer need {}: delete it.",
        ),
    ),
    "de": wordings(
        ("die neueste Notiz", "meine neueste Notiz", "die jüngste Notiz", "die zuletzt gespeicherte Notiz"),
        (
            "Lösche {}.",
            "Bitte lösche {}.",
            "Entferne {} aus der Notizen-App.",
            "Lösche {} und behalte alle anderen.",
            "Ich brauche {} nicht mehr, lösche sie.",
            "Kannst du {} löschen?",
        ),
    ),
    "zh": wordings(
        ("最新的便签", "最新的那条便签", "我最新的一条便签", "最后保存的那条便签"),
        ("删除{}。", "请删除{}。", "把{}删掉。", "请把{}删掉，其他的保留。", "帮我删除{}。", "{}不需要了，请删掉它。"),
    ),
}


def _delete_plan(path: str) -> Plan:
    def plan(view: View) -> Move:
        if view.now.get(path) is not None:
            return undo(view) or notes_expert.delete(view, path)
        repair = undo(view) or notes_expert.undo(view)
        return finish(f"no {name_of(path)}") if repair is None else repair

    return plan


@functools.lru_cache(maxsize=1024)
def _older_notes(phone_seed: int) -> tuple[str, ...]:
    """Return the names of the notes that the simulated phone of a seed has outside its folders, all of them older."""
    fresh = profile.draw(PhoneSetup(phone_seed), (APP,), profile.schema_of((APP,)))
    paths = [path[len(ROOT) + 1 :] for path in fresh.state if path.startswith(f"{ROOT}/")]
    return tuple(sorted(path for path in paths if "/" not in path))


def _name_like_older(older: Sequence[str], rng: Random) -> str:
    """Draw the name of a note that is easily taken for an older one and stands below it in a list by name."""
    stem, _, ending = rng.choice(older).rpartition(".")
    return f"{stem}{rng.choice(('_2', '_new', ' copy', ' again', '_v2'))}.{ending}"


def _compose_delete_newest(rng: Random) -> Draft:
    seed = rng.getrandbits(31)
    older = _older_notes(seed)
    name = draw_name(rng) if rng.random() < 0.5 else _name_like_older(older, rng)
    path = f"{ROOT}/{name}"
    return Draft(
        sentences=_NEWEST,
        parameters={"name": name},
        state={path: draw_text(rng) if rng.random() < 0.7 else f"- [ ] {draw_text(rng)}"},
        criteria=Criteria(goal=lambda start, now: is_gone(start, now, path), allowed=only(path), apps=(NOTES,)),
        plan=_delete_plan(path),
        oracle_steps=4,
        phone_seed=seed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# how many to-dos

_COUNT = (
    'tell me how many notes in the folder "{folder}" are to-dos',
    'count the notes of the "{folder}" folder that are to-dos',
    'find out how many to-do notes the folder "{folder}" holds',
    'look into the folder "{folder}" and report how many of its notes are to-dos',
)
_COUNT_QUESTIONS = (
    'How many of the notes in the folder "{folder}" are to-dos?',
    'How many to-do notes are there in the "{folder}" folder of the Notes app?',
    'What is the number of to-dos among the notes of the folder "{folder}"?',
)


class _Folder(NamedTuple):
    """A folder of notes."""

    name: str
    todos: int
    others: int
    """Notes without an item to tick."""

    def state(self, rng: Random) -> dict[str, Scalar]:
        """Draw its notes; neither a name nor a list without boxes makes a note a to-do."""
        names: set[str] = set()
        while len(names) < self.todos + self.others:
            names.add(f"{rng.choice(('', '', 'todo_'))}{draw_name(rng)}")
        texts = [_todo(rng) for _ in range(self.todos)] + [_no_todo(rng) for _ in range(self.others)]
        return {f"{ROOT}/{self.name}/{name}": text for name, text in zip(_shuffled(names, rng), texts, strict=True)}


def _shuffled(names: Collection[str], rng: Random) -> list[str]:
    return rng.sample(sorted(names), len(names))


def _todo(rng: Random) -> str:
    return "\n".join(f"- [{rng.choice('x ')}] {draw_text(rng)}" for _ in range(rng.randint(1, 3)))


def _no_todo(rng: Random) -> str:
    return "\n".join(f"{rng.choice(('', '- '))}{draw_text(rng)}" for _ in range(rng.randint(1, 3)))


def _count_plan(folder: str) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view) or notes_expert.undo(view)
        if repair is not None:
            return repair
        if view.screen == "notes/info" and view.variable("path") == on_phone(folder):
            return _read_todos(view)
        if view.screen == "notes/actions" and notes_expert.concerns(view, folder):
            return view.tap_on("Info", "row")
        return notes_expert.choose(view, folder) or view.tap_on("More options", "button")

    return plan


def _read_todos(view: View) -> Move:
    """Declare the number below the words, or look for it."""
    title = view.seek("To-dos", "text")
    if isinstance(title, Move):
        return title
    count = next((one.label for one in view.observation.elements if one.index > title.index), None)
    if count is None:
        return view.scroll("To-dos")
    return Move(TaskComplete(answer=count), f"{plain(title.label)}: {count}")


def _compose_count(rng: Random) -> Draft:
    group, matter = rng.choice(_GROUPS), rng.choice(_MATTERS)
    folder = _Folder(f"{group} {matter.lower()}s", rng.randint(2, 7), rng.randint(1, 4))
    near = _Folder(
        rng.choice((f"{group} {matter.lower()}", f"{group}s {matter.lower()}s", f"{group} {matter.lower()}s old")),
        folder.todos + rng.choice((-1, 1, 2)),
        rng.randint(0, 2),
    )
    accepts = answers.number(str(folder.todos))
    clauses = wordings(_COUNT, ("{}.", "Please {}.", "In the Notes app, {}."), folder=folder.name)
    return Draft(
        sentences={"en": (*clauses, *wordings(_COUNT_QUESTIONS, ("{}",), folder=folder.name))},
        parameters={"folder": folder.name, "answer": str(folder.todos)},
        state={**folder.state(rng), **near.state(rng)},
        criteria=Criteria(goal=None, allowed=only(), apps=(NOTES,), answer=lambda _start, text: accepts(text)),
        plan=_count_plan(f"{ROOT}/{folder.name}"),
        oracle_steps=4,
        split_keys=(f"folder {folder.name}",),
    )


NOTE_CREATE = Template(
    name="NoteCreate",
    summary="write one new note",
    tier=2,
    compose=_compose_create,
    android_world=("MarkorCreateNote",),
)
NOTE_PREPEND_HEADER = Template(
    name="NotePrependHeader",
    summary="put a header and a blank line above what a note says",
    tier=2,
    compose=_compose_prepend,
    android_world=("MarkorEditNote",),
)
NOTE_DELETE_NEWEST = Template(
    name="NoteDeleteNewest",
    summary="delete the newest note and keep all others",
    tier=1,
    compose=_compose_delete_newest,
    traits=("guard",),
    android_world=("MarkorDeleteNewestNote",),
)
TODO_COUNT = Template(
    name="TodoCount",
    summary="answer how many notes of a folder are to-dos",
    tier=2,
    compose=_compose_count,
    traits=("answer",),
    android_world=("NotesTodoItemCount",),
)

TEMPLATES = (NOTE_CREATE, NOTE_PREPEND_HEADER, NOTE_DELETE_NEWEST, TODO_COUNT)
