"""Solutions in Expenses, some of which begin in Notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from agent_eval.types import Element, Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.notes import file, read_note
from tests.device_sim.walkthroughs.walk import Record, Script, Walk, moment_of, record


@dataclass(frozen=True)
class Expense:
    """What a task says of an expense."""

    name: str
    amount: str
    category: str = "Food"
    note: str = ""

    @property
    def fields(self) -> dict[str, Scalar]:
        """The expense as it is persisted."""
        cents = int(self.amount.replace(".", ""))
        return {"name": self.name, "cents": cents, "category": self.category, "note": self.note}


TENT = Expense("Tent pegs", "12.50", "Clothes", "For the trip")
FERRY = Expense("Ferry", "31.00", "Transportation")
SOUP = Expense("Soup", "4.25")
LEDGER = (
    "Name | Amount | Kind\nFerry | 31.00 | reimbursable\nSoup | 4.25 | private\nTent pegs | 12.50 | private\n"
    "Lamp oil | 7.80 | reimbursable\n"
)


def stored(number: int, expense: Expense, seed: int, *, ago_s: int = 60) -> dict[str, Scalar]:
    """Return the paths of an expense of the phone's day."""
    fields = {**expense.fields, "moment": int(moment_of(seed).timestamp()) - ago_s}
    return {f"expenses/{number}/{name}": value for name, value in fields.items()}


# ----------------------------------------------------------------------------------------------------------------------


def fill(hand: Hand, expense: Expense) -> None:
    """Create an expense from the list."""
    hand.tap("Add expense")
    hand.type(expense.name, into="Name")
    hand.type(expense.amount, into="Amount")
    if expense.note:
        hand.type(expense.note, into="Note")
    if expense.category != "Food":
        hand.tap("Category")
        hand.tap(expense.category, role="radio")
    hand.tap("Save")


def add(*expenses: Expense) -> Script:
    """Create expenses."""

    def script(hand: Hand) -> None:
        hand.open("Expenses")
        for expense in expenses:
            fill(hand, expense)

    return script


def add_noted(hand: Hand) -> None:
    """Create the expenses of a note that will be paid back."""
    hand.open("Notes")
    rows = [line.split(" | ") for line in read_note(hand, "my_expenses.txt")]
    add(*[Expense(row[0], row[1]) for row in rows if row[2] == "reimbursable"])(hand)


def delete(*names: str) -> Script:
    """Delete expenses by their names, all at once."""

    def script(hand: Hand) -> None:
        hand.open("Expenses")
        first, *rest = names
        hand.hold(first, role="row")
        for name in rest:
            hand.tap(name, role="row")
        hand.tap("Delete")
        hand.tap("Delete")

    return script


def delete_twin(name: str, amount: str) -> Script:
    """Delete the second of two expenses that are in view."""

    def script(hand: Hand) -> None:
        hand.open("Expenses")
        _, twin = [row for row in hand.rows("row") if row.label == name and row.value.endswith(amount)]
        delete_row(hand, twin)

    return script


def delete_row(hand: Hand, row: Element) -> None:
    """Delete an expense that is in view."""
    hand.hold_element(row)
    hand.tap("Delete")
    hand.tap("Delete")


def delete_duplicates(hand: Hand) -> None:
    """Delete all but one of the expenses that are the same in everything, which stand below one date."""
    hand.open("Expenses")
    shown = ""
    while shown != hand.look().signature:
        shown = hand.look().signature
        while (twin := find_twin(hand)) is not None:
            delete_row(hand, twin)
        hand.swipe("up")


def find_twin(hand: Hand) -> Element | None:
    """Return a row of the screen that is the same as one above it, below the same date."""
    seen: dict[tuple[str, str], list[Element]] = {}
    for element in hand.look().elements:
        if element.role == "text" and element.label[-4:].isdigit():
            seen.clear()
        if element.role == "row":
            alike = seen.setdefault((element.label, element.value), [])
            if alike and (
                not element.value.endswith("\u2026") or details(hand, element) in [details(hand, e) for e in alike]
            ):
                return element
            alike.append(element)
    return None


def details(hand: Hand, row: Element) -> list[str]:
    """Look at all that an expense says, for a row that does not show it."""
    hand.tap_element(row)
    texts = hand.texts()
    hand.tap("Close")
    return texts


# ----------------------------------------------------------------------------------------------------------------------


def everything(snapshot: Snapshot) -> Counter[tuple[Scalar, ...]]:
    """Count the expenses of a phone by all that they say."""
    rows: dict[str, dict[str, Scalar]] = {}
    for path, value in snapshot.under("expenses").items():
        number, _, name = path.partition("/")
        rows.setdefault(number, {})[name] = int(value) // 86_400 if name == "moment" else value
    return Counter(tuple(row[name] for name in sorted(row)) for row in rows.values())


def has_no_duplicates(before: Snapshot, after: Snapshot) -> list[str]:
    """Say which expenses are there twice, gone altogether, or new."""
    wanted, found = Counter(set(everything(before))), everything(after)
    return [f"{row} is there {found[row]} times" for row in wanted | found if wanted[row] != found[row]]


def walks() -> list[Walk]:
    """Return the solutions."""
    oil = Expense("Lamp oil", "7.80")
    near = Expense("Soup", "4.75")
    three = {**stored(901, TENT, 1), **stored(902, FERRY, 1), **stored(903, SOUP, 1), **stored(904, near, 1)}
    more = {**three, **stored(905, Expense("Soup spoons", "4.25"), 1), **stored(906, oil, 1)}
    once = {**stored(901, SOUP, 5), **stored(902, near, 5), **stored(903, SOUP, 5)}
    twice = {**once, **stored(904, FERRY, 5), **stored(905, FERRY, 5), **stored(906, SOUP, 5, ago_s=3 * 86_400)}

    def new(*expenses: Expense) -> tuple[Record, ...]:
        return tuple(record("expenses", **expense.fields) for expense in expenses)

    def duplicates(task: str, steps: int, state: dict[str, Scalar], seed: int) -> Walk:
        return Walk(task, steps, delete_duplicates, seed=seed, state=state, may=("expenses",), check=has_no_duplicates)

    noted = file("my_expenses.txt", LEDGER)
    food = (Expense("Ferry", "31.00"), oil)
    return [
        Walk("57", 8, add(TENT), adds=new(TENT)),
        Walk("58", 4, delete_twin("Soup", "$4.25"), seed=5, state=once, may=("expenses",), check=has_no_duplicates),
        Walk("59", 15, add_noted, state=noted, adds=new(*food)),
        Walk("ExpenseAddMultiple", 19, add(TENT, FERRY, SOUP), adds=new(TENT, FERRY, SOUP)),
        Walk("ExpenseAddMultipleFromMarkor", 14, add_noted, seed=2, state=noted, adds=new(*food)),
        Walk("ExpenseAddSingle", 7, add(FERRY), seed=2, adds=new(FERRY)),
        duplicates("ExpenseDeleteDuplicates", 11, once, 5),
        duplicates("ExpenseDeleteDuplicates2", 14, twice, 5),
        Walk("ExpenseDeleteMultiple", 6, delete("Tent pegs", "Ferry", "Soup spoons"), state=more,
             gone=("expenses/901", "expenses/902", "expenses/905")),
        Walk("ExpenseDeleteMultiple2", 6, delete("Lamp oil", "Soup spoons", "Ferry"), state=more,
             gone=("expenses/906", "expenses/905", "expenses/902")),
        Walk("ExpenseDeleteSingle", 4, delete("Tent pegs"), state=more, gone=("expenses/901",)),
    ]  # fmt: skip
