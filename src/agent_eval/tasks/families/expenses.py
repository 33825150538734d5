"""What is asked of Expenses: one to add, duplicates to delete, those of a note to log. Knows how to word the goals.

Around what is meant stand expenses that differ from it in one thing only: a letter, some cents, the note, the day.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

from agent_eval.device_sim.apps.expenses import CATEGORIES
from agent_eval.tasks.families import expenses_expert
from agent_eval.tasks.families.expenses_expert import EXPENSES, PREFIX, Entry, Expense, entries_of, stored, twins_of
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, every
from agent_eval.tasks.language import moment_of
from agent_eval.tasks.moves import Move, finish, go_back, open_app
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.split import split_of
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

_PLACES = (
    "Airport", "Beach", "Castle", "Cinema", "Club", "Garden", "Harbour", "Hotel", "Island", "Library", "Market",
    "Museum", "Office", "Opera", "Park", "School", "Stadium", "Station", "Studio", "Zoo",
)  # fmt: skip
_KINDS = {
    "book": "Education", "cake": "Food", "course": "Education", "dinner": "Food", "donation": "Donations",
    "gift": "Social", "guide": "Education", "lamp": "Housing", "locker": "Others", "lunch": "Food",
    "massage": "Health Care", "parking": "Transportation", "poster": "Others", "repair": "Housing", "scarf": "Clothes",
    "show": "Entertainment", "snack": "Food", "taxi": "Transportation", "ticket": "Entertainment", "tour": "Social",
}  # fmt: skip
"""The last word of an expense's name, and what it is for."""
_NOTES = (
    "For the club", "In advance", "On the way home", "Paid by card", "Paid in cash", "Rest of the sum", "With Jonas",
    "With a receipt",
)  # fmt: skip
_IN_VIEW = 6
"""Categories that the dialog shows without scrolling."""


def _draw_expense(rng: Random) -> Expense:
    kind = rng.choice(tuple(_KINDS))
    return Expense(f"{rng.choice(_PLACES)} {kind}", rng.randint(150, 9899), _KINDS[kind], rng.choice(_NOTES))


def _near_cents(cents: int, rng: Random) -> int:
    """Return an amount that is easily taken for another: two digits swapped, or one dollar or ten cents more."""
    tens, ones = cents // 10 % 10, cents % 10
    near = [cents + 10, cents + 100]
    if tens != ones:
        near.append(cents - cents % 100 + 10 * ones + tens)
    return rng.choice(near)


def _seconds(phone_seed: int, days_ago: int) -> int:
    """Return a moment so many days before the phone's, in seconds since the epoch."""
    return int((moment_of(phone_seed) - timedelta(days=days_ago)).timestamp())


def _key(expense: Expense) -> str:
    return f"expense {expense.name}"


def _is_evaluated(expense: Expense) -> bool:
    return split_of(_key(expense)) == "evaluation"


def _new_entries(start: Snapshot, now: Snapshot) -> list[Entry]:
    old = {entry.number for entry in entries_of(start)}
    return sorted((entry for entry in entries_of(now) if entry.number not in old), key=lambda entry: entry.number)


# ----------------------------------------------------------------------------------------------------------------------
# a new expense


_ADD = (
    "add an expense named “{x}” of {m} in the category {c}{o}",
    "record that I spent {m} on “{x}”, category {c}{o}",
    "log the expense “{x}”: {m}, filed under {c}{o}",
    "enter a new expense of {m} called “{x}” and put it in {c}{o}",
    "note down in Expenses {m} for “{x}” in the category {c}{o}",
)
_WITH_NOTE = ", with the note “{o}”"
_FIELDS: dict[str, Callable[[Expense], str | int]] = {
    "name": lambda expense: expense.name,
    "amount": lambda expense: expense.cents,
    "category": lambda expense: expense.category,
    "note": lambda expense: expense.note,
}


def _closest(expense: Expense, start: Snapshot, now: Snapshot) -> Entry | None:
    """Return the new expense that says most of what was asked for."""
    return max(
        _new_entries(start, now),
        key=lambda entry: sum(read(entry.expense) == read(expense) for read in _FIELDS.values()),
        default=None,
    )


def _has(expense: Expense, read: Callable[[Expense], str | int]) -> Goal:
    def holds(start: Snapshot, now: Snapshot) -> bool:
        entry = _closest(expense, start, now)
        return entry is not None and read(entry.expense) == read(expense)

    return holds


def _add_plan(expense: Expense, goal: Goal) -> Plan:
    @mending
    def plan(view: View) -> Move:
        if goal(view.start, view.now):
            return expenses_expert.see(view, expense)
        return expenses_expert.add(view, expense)

    return plan


def _compose_add(rng: Random) -> Draft:
    seed = rng.getrandbits(31)
    expense = _draw_expense(rng)
    if rng.random() < 0.5:
        expense = replace(expense, category=rng.choice(CATEGORIES))
    if CATEGORIES.index(expense.category) >= _IN_VIEW:
        expense = replace(expense, note="")  # what the swipe costs is saved, so that the task stays of its tier
    near = (
        replace(expense, cents=_near_cents(expense.cents, rng)),
        replace(expense, name=f"{expense.name}s"),
        replace(expense, note=rng.choice([note for note in _NOTES if note != expense.note])),
    )
    state: dict[str, Scalar] = {}
    for number, other in enumerate(rng.sample(near, len(near)), start=901):
        state |= stored(number, other, _seconds(seed, rng.randint(1, 4)))
    sub_goals = {name: _has(expense, read) for name, read in _FIELDS.items()}
    goal = every(sub_goals)

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        entry = _closest(expense, start, end)
        return () if entry is None else (f"{PREFIX}/{entry.number}/*",)

    note = _WITH_NOTE.format(o=expense.note) if expense.note else ""
    return Draft(
        sentences={
            "en": wordings(
                _ADD,
                ("{}.", "Please {}.", "I need you to {}."),
                x=expense.name,
                m=expense.money,
                c=expense.category,
                o=note,
            )
        },
        parameters={
            "name": expense.name,
            "amount": expense.money,
            "category": expense.category,
            "note": expense.note,
        },
        state=state,
        criteria=Criteria(goal=goal, allowed=allowed, apps=(EXPENSES,), sub_goals=sub_goals),
        plan=_add_plan(expense, goal),
        oracle_steps=7 if expense.category == expenses_expert.DEFAULT_CATEGORY else 8,
        split_keys=(_key(expense),),
        phone_seed=seed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# expenses that are there twice


_DELETE = (
    "delete the duplicate expenses so that one of each is left; only expenses that agree in name, amount, category, "
    "note and date are duplicates",
    "keep one of each of the expenses that were entered more than once with the same name, amount, category, note and "
    "date, and delete the rest",
    "remove expenses that repeat another one exactly, its category, note and date included, and leave one of each",
    "clean up the list of expenses: where entries are identical in every field and in their date, all but one must go",
    "get rid of exact copies among the expenses (same name, amount, category, note and date), but keep one of each",
    "look for expenses that are there twice or more with all details equal, date included, and delete the surplus ones",
)
_COPIES = ((2,), (2, 2), (3,))


def _near_expenses(expense: Expense, rng: Random) -> list[Expense]:
    """Return expenses that differ from one in one field, in random order."""
    near = [
        replace(expense, cents=_near_cents(expense.cents, rng)),
        replace(expense, name=f"{expense.name}s"),
        replace(expense, note=rng.choice([note for note in _NOTES if note != expense.note])),
        replace(expense, category=rng.choice([one for one in CATEGORIES if one != expense.category])),
    ]
    rng.shuffle(near)
    return near


def _one_left(start: Snapshot, now: Snapshot) -> bool:
    left = {entry.number for entry in entries_of(now)}
    return all(sum(number in left for number in group) == 1 for group in twins_of(start))


def _surplus(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
    """Allow that of each group of equal expenses some go and at least one stays."""
    left = {entry.number for entry in entries_of(end)}
    return tuple(
        f"{PREFIX}/{number}/*"
        for group in twins_of(start)
        if any(number in left for number in group)
        for number in group
        if number not in left
    )


def _twins_plan(names: Sequence[str]) -> Plan:
    @mending
    def plan(view: View) -> Move:
        if not _one_left(view.start, view.now):
            return expenses_expert.delete_twins(view)
        shown = next((name for name in names if view.find(name, "row") is not None), None)
        return finish("each of them: once" if shown is None else f"{shown}: once")

    return plan


def _compose_twins(rng: Random) -> Draft:
    seed = rng.getrandbits(31)
    copies = rng.choice(_COPIES)
    doubled = [_draw_expense(rng)]
    while len(doubled) < len(copies):
        drawn = _draw_expense(rng)
        if drawn.name != doubled[0].name and _is_evaluated(drawn) == _is_evaluated(doubled[0]):
            doubled.append(drawn)  # both or neither, or the evaluation would hardly ever have two
    days = rng.sample(range(1, 9), 3)
    listed: list[tuple[Expense, int]] = []
    for place, (expense, count) in enumerate(zip(doubled, copies, strict=True)):
        listed += [(expense, days[place])] * count
        listed += [(near, days[place]) for near in _near_expenses(expense, rng)[: 3 - len(copies)]]
    listed.append((doubled[0], days[2]))
    listed += [(_draw_expense(rng), rng.choice(days)) for _ in range(2)]
    rng.shuffle(listed)
    state: dict[str, Scalar] = {}
    for number, (expense, day) in enumerate(listed, start=901):
        state |= stored(number, expense, _seconds(seed, day))
    return Draft(
        sentences={"en": wordings(_DELETE, ("{}.", "Please {}.", "In the Expenses app, {}.", "I need you to {}."))},
        parameters={"surplus": sum(copies) - len(copies), "names": ", ".join(expense.name for expense in doubled)},
        state=state,
        criteria=Criteria(goal=_one_left, allowed=_surplus, apps=(EXPENSES,)),
        plan=_twins_plan([expense.name for expense in doubled]),
        oracle_steps=4 + sum(copies) - len(copies),
        split_keys=tuple(map(_key, doubled)),
        without=(PREFIX,),
        phone_seed=seed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# the expenses of a note


NOTES = "org.fossify.notes"
_ROOT = "/storage/emulated/0/Documents/Notes"
_FROM_NOTE = (
    "read the note {f} and add its reimbursable expenses to Expenses, with name and amount",
    "open {f} in Notes; enter every expense in it that is marked reimbursable, and no other one, into the Expenses app "
    "by name and amount",
    "go through the list in the note {f} and log in Expenses only what is reimbursable, each by its name and amount",
    "the note {f} lists what I spent: record the reimbursable items, name and amount, in the Expenses app",
    "create an entry with name and amount in Expenses for each reimbursable line of the note {f}, and for no other",
)
_WORDS = ("bills", "budget", "costs", "expenses", "outlays", "payments", "receipts", "spent", "travel", "trip")
_UNPAID = ("private", "not reimbursable")
_WANTED = 2
"""Reimbursable lines of a note; each takes five actions."""


def _added(expense: Expense, start: Snapshot, now: Snapshot) -> Entry | None:
    """Return the first new expense with a name and an amount."""
    fits = (e for e in _new_entries(start, now) if (e.expense.name, e.expense.cents) == (expense.name, expense.cents))
    return next(fits, None)


def _is_added(expense: Expense) -> Goal:
    return lambda start, now: _added(expense, start, now) is not None


def _note_plan(path: str, name: str, wanted: Sequence[Expense]) -> Plan:
    @mending
    def plan(view: View) -> Move:
        missing = [expense for expense in wanted if _added(expense, view.start, view.now) is None]
        if not missing:
            return expenses_expert.see(view, wanted[-1])
        if view.package == EXPENSES and view.screen != "expenses/main":
            typed = view.variable("text/name")
            begun = next((expense for expense in missing if expense.name == typed), missing[0])
            return expenses_expert.add(view, begun, details=False)
        if _has_open(view.now, path):
            return expenses_expert.add(view, missing[0], details=False)
        return _open_note(view, name)

    return plan


def _has_open(snapshot: Snapshot, path: str) -> bool:
    """Tell whether Notes shows a note, in front or behind another app: then it has been read."""
    return any(
        value == path
        for place, value in snapshot.transient
        if place.startswith(f"ui/task/{NOTES}/") and place.endswith("/notes/edit/path")
    )


def _open_note(view: View, name: str) -> Move:
    """Return the next move that opens a note of the outermost folder."""
    if view.package != NOTES:
        return open_app("Notes")
    outermost = view.variable("path") in (None, _ROOT)
    if view.screen != "notes/notes" or view.variable("picked") or not outermost:
        return go_back()
    return view.tap_on(name, "row")


def _compose_from_note(rng: Random) -> Draft:
    seed = rng.getrandbits(31)
    word, digits = rng.choice(_WORDS), rng.sample("123456789", 4)
    name = f"{word}_{''.join(digits)}.txt"
    near = f"{word}_{''.join((*digits[:2], digits[3], digits[2]))}.txt"
    wanted: list[Expense] = []
    while len(wanted) < _WANTED:
        drawn = _draw_expense(rng)
        if all(drawn.name != other.name for other in wanted):
            wanted.append(drawn)
    rest = [replace(wanted[0], name=f"{wanted[0].name}s"), replace(wanted[1], cents=_near_cents(wanted[1].cents, rng))]
    lines = [(expense, "reimbursable") for expense in wanted]
    lines += [(expense, kind) for expense, kind in zip(rest, rng.sample(_UNPAID, 2), strict=True)]
    rng.shuffle(lines)

    def text(items: Sequence[tuple[Expense, str]]) -> str:
        return "\n".join(f"- {expense.name}: {expense.money}, {kind}" for expense, kind in items)

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        entries = [_added(expense, start, end) for expense in wanted]
        return tuple(f"{PREFIX}/{entry.number}/*" for entry in entries if entry is not None)

    other_lines = [(_draw_expense(rng), "reimbursable") for _ in range(2)]
    sub_goals = {expense.name: _is_added(expense) for expense in wanted}
    folder = _ROOT.removeprefix("/storage/emulated/0/")
    return Draft(
        sentences={"en": wordings(_FROM_NOTE, ("{}.", "Please {}."), f=name)},
        parameters={"file": name, "expenses": ", ".join(f"{one.name} {one.money}" for one in wanted)},
        state={
            f"files/{folder}/{name}": text(lines),
            f"files/{folder}/{near}": text(other_lines),
            f"files/{folder}/Work/{name}": text(other_lines[::-1]),
            **stored(901, rest[1], _seconds(seed, 1)),
        },
        criteria=Criteria(goal=every(sub_goals), allowed=allowed, apps=(NOTES, EXPENSES), sub_goals=sub_goals),
        plan=_note_plan(f"{_ROOT}/{name}", name, wanted),
        oracle_steps=3 + 5 * _WANTED,
        split_keys=(f"file {name}",),
        phone_seed=seed,
    )


EXPENSE_ADD = Template(
    name="ExpenseAdd",
    summary="add one expense with its name, amount, category and note",
    tier=2,
    compose=_compose_add,
    android_world=("ExpenseAddSingle",),
)
EXPENSE_DELETE_DUPLICATES = Template(
    name="ExpenseDeleteDuplicates",
    summary="delete all but one of equal expenses and keep those that differ in anything",
    tier=2,
    traits=("guard",),
    compose=_compose_twins,
    android_world=("ExpenseDeleteDuplicates", "ExpenseDeleteDuplicates2"),
)
EXPENSES_FROM_NOTE = Template(
    name="ExpensesFromNote",
    summary="add the expenses of a note that are reimbursable, and no others",
    tier=3,
    traits=("multi_app",),
    compose=_compose_from_note,
    android_world=("ExpenseAddMultipleFromMarkor",),
)

TEMPLATES = (EXPENSE_ADD, EXPENSE_DELETE_DUPLICATES, EXPENSES_FROM_NOTE)
