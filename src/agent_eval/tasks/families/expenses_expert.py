"""How an expert adds expenses and deletes those that are there twice. Knows where Expenses keeps them, and no goal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from agent_eval.device_sim.apps.expenses import CATEGORIES, cents_of, money
from agent_eval.tasks.moves import Move, finish, go_back, hold, open_app, plain, scroll_for, tap, type_into
from agent_eval.tasks.view import View
from agent_eval.types import Element, Scalar, Snapshot

EXPENSES = "com.arduia.expense"
PREFIX = "expenses"
DEFAULT_CATEGORY = CATEGORIES[0]
"""What a new expense is for unless somebody chooses."""


@dataclass(frozen=True)
class Expense:
    """What an expense says besides its day."""

    name: str
    cents: int
    category: str = DEFAULT_CATEGORY
    note: str = ""

    @property
    def money(self) -> str:
        """The amount as Expenses shows it, such as ``$12.50``."""
        return money(self.cents)


@dataclass(frozen=True)
class Entry:
    """One expense of the state."""

    number: int
    expense: Expense
    moment: int
    """Seconds since the epoch."""

    @property
    def day(self) -> date:
        """The day that Expenses shows."""
        return datetime.fromtimestamp(self.moment, UTC).date()


def entries_of(snapshot: Snapshot) -> tuple[Entry, ...]:
    """Return all expenses in the order of the list, the newest first."""
    values = snapshot.under(PREFIX)
    entries = [
        Entry(
            number,
            Expense(
                str(values[f"{number}/name"]),
                int(values[f"{number}/cents"]),
                str(values[f"{number}/category"]),
                str(values[f"{number}/note"]),
            ),
            int(values[f"{number}/moment"]),
        )
        for number in {int(path.partition("/")[0]) for path in values}
    ]
    return tuple(sorted(entries, key=lambda entry: (-entry.moment, -entry.number)))


def stored(number: int, expense: Expense, moment: int) -> dict[str, Scalar]:
    """Return the paths of an expense."""
    return {
        f"{PREFIX}/{number}/name": expense.name,
        f"{PREFIX}/{number}/cents": expense.cents,
        f"{PREFIX}/{number}/category": expense.category,
        f"{PREFIX}/{number}/note": expense.note,
        f"{PREFIX}/{number}/moment": moment,
    }


def twins_of(snapshot: Snapshot) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the expenses that say the same of the same day, group by group, in the list's order."""
    groups: dict[tuple[Expense, date], list[int]] = {}
    for entry in entries_of(snapshot):
        groups.setdefault((entry.expense, entry.day), []).append(entry.number)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


# ----------------------------------------------------------------------------------------------------------------------
# a new expense


def add(view: View, expense: Expense, *, details: bool = True) -> Move:
    """Return the next move that adds an expense.

    Args:
        view: What is in front.
        expense: What it says.
        details: Its category and its note matter; otherwise they are left as the form has them.
    """
    if view.package != EXPENSES:
        return open_app("Expenses")
    match view.screen:
        case "expenses/edit" if not view.variable("expense"):
            return _fill(view, expense, details=details)
        case "expenses/category" if details:
            return view.tap_on(expense.category, "radio")
        case "expenses/discard":
            return view.tap_on("Discard", "button")
        case "expenses/main":
            return view.tap_on("Close" if view.variable("picked") else "Add expense", "button")
        case _:
            return go_back()


def _fill(view: View, expense: Expense, *, details: bool) -> Move:
    """Return the next move in the form; what was typed is known from the page, as a field may be off the screen."""
    typed = {name: str(view.variable(f"text/{name}") or "") for name in ("name", "amount", "note")}
    if typed["name"].strip() != expense.name:
        return _type(view, "Name", expense.name)
    if cents_of(typed["amount"]) != expense.cents:
        return _type(view, "Amount", expense.money[1:])
    if details and typed["note"].strip() != expense.note:
        return _type(view, "Note", expense.note)
    if details and (view.variable("category") or DEFAULT_CATEGORY) != expense.category:
        return view.tap_on("Category", "row")
    return view.tap_on("Save", "button")


def _type(view: View, label: str, text: str) -> Move:
    field = view.seek(label, "field")
    return field if isinstance(field, Move) else type_into(field, text)


def see(view: View, expense: Expense) -> Move:
    """Declare the task done on the list, which shows an expense."""
    if view.package != EXPENSES:
        return open_app("Expenses")
    return finish(f"{expense.name}: {expense.money}") if view.screen == "expenses/main" else go_back()


# ----------------------------------------------------------------------------------------------------------------------
# expenses that are there twice


def delete_twins(view: View) -> Move:
    """Return the next move that deletes all but one of every group of equal expenses."""
    if view.package != EXPENSES:
        return open_app("Expenses")
    groups = twins_of(view.now)
    if view.screen == "expenses/delete":
        asked = _numbers(view.variable("expenses"), ",")
        return go_back() if _excess(asked, groups) else view.tap_on("Delete", "button")
    if view.screen == "expenses/filter" and view.variable("only"):
        return view.tap_on("All categories", "radio")
    if view.screen != "expenses/main":
        return go_back()
    picked = _numbers(view.variable("picked"), "\n")
    if view.variable("only"):
        return view.tap_on("Close" if picked else "Filter by category", "button")
    rows = _rows(view)
    excess = _excess(picked, groups)
    if excess:
        shown = next((rows[number] for number in excess if number in rows), None)
        return view.tap_on("Close", "button") if shown is None else tap(shown)
    free = [[number for number in group if number not in picked] for group in groups]
    surplus = [numbers[-1] for numbers in free if len(numbers) > 1]  # the last one: its twin has been seen above it
    if not surplus:
        return view.tap_on("Delete", "button")
    shown = next((rows[number] for number in surplus if number in rows), None)
    if shown is None:
        return _scroll(view, surplus[0], rows)
    return tap(shown) if picked else hold(shown)


def _numbers(value: Scalar | None, separator: str) -> list[int]:
    return [int(part) for part in str(value or "").split(separator) if part]


def _excess(chosen: Collection[int], groups: Sequence[Sequence[int]]) -> list[int]:
    """Return which of the chosen expenses must stay: those without a twin, and one of each group chosen as a whole."""
    twins = {number for group in groups for number in group}
    whole = [group[-1] for group in groups if all(number in chosen for number in group)]
    return [number for number in chosen if number not in twins] + whole


def _scroll(view: View, number: int, rows: Mapping[int, Element]) -> Move:
    order = [entry.number for entry in entries_of(view.now)]
    name = next(entry.expense.name for entry in entries_of(view.now) if entry.number == number)
    if not rows:
        return view.scroll(name)
    above = all(order.index(number) < order.index(shown) for shown in rows)
    return scroll_for(name, further_down=not above)


def _rows(view: View) -> dict[int, Element]:
    """Return the rows on the screen by the number of their expense.

    Twins look alike and so do equal expenses of two days, so what is in view is laid beside the whole list: rows and
    dates, from the first place at which all of them fit.
    """
    lines = _lines(view)
    elements = view.observation.elements
    seen = [
        element for element in elements if any(line.fits(element) for line in lines)
    ]  # a row at an edge may be bare
    for begin in range(len(lines) - len(seen) + 1):
        pairs = list(zip(seen, lines[begin:], strict=False))
        if all(line.fits(element) for element, line in pairs):
            return {line.number: element for element, line in pairs if line.number}
    return {}


@dataclass(frozen=True)
class _Line:
    """A line of the list: an expense, or the date above those of a day."""

    number: int
    """Of the expense; 0 for a date."""
    texts: tuple[str, ...]

    def fits(self, element: Element) -> bool:
        """Tell whether an element may be this line; one at an edge shows only some of the texts."""
        shown = [plain(text) for text in (element.label, *element.value.split(", ")) if text]
        return element.role == ("row" if self.number else "text") and all(text in self.texts for text in shown)


def _lines(view: View) -> list[_Line]:
    lines: list[_Line] = []
    day: date | None = None
    for entry in entries_of(view.now):
        if entry.day != day:
            day = entry.day
            lines.append(_Line(0, (plain(view.speech.date(day, "long")),)))
        expense = entry.expense
        kind = view.say(expense.category)
        details = f"{kind} \u2022 {expense.note}" if expense.note else kind
        lines.append(_Line(entry.number, (expense.name, details, expense.money)))
    return lines
