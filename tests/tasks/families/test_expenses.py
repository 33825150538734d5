from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from agent_eval.actions import Action, LongPress, Tap, Wait
from agent_eval.tasks import TASKS
from agent_eval.tasks.families.expenses_expert import Entry, Expense, entries_of, twins_of
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Observation, Snapshot
from tests.tasks.families.playing import Stage, Step, back, facts, launch, tap, told, write


def prepared(instance: TaskInstance) -> Snapshot:
    """Return the expenses that an instance names, as a state."""
    named = [(path, value) for path, value in instance.setup.state.items() if path.startswith("expenses/")]
    return Snapshot(tuple(sorted(named)))


def differing(one: Entry, other: Entry) -> set[str]:
    """Return in what two expenses differ."""
    fields = {name for name, value in vars(one.expense).items() if vars(other.expense)[name] != value}
    return fields | ({"day"} if one.day != other.day else set())


def enter(expense: Expense) -> tuple[Step, ...]:
    """Return the steps from the list that add an expense; one without a note is added with name and amount only."""
    named = (tap("Add expense"), write("Name", expense.name), write("Amount", expense.money[1:]))
    if not expense.note:
        return (*named, back, tap("Save"))
    return (*named, write("Note", expense.note), tap("Category"), tap(expense.category, "radio"), tap("Save"))


# ----------------------------------------------------------------------------------------------------------------------
# ExpenseAdd


def asked(instance: TaskInstance) -> Expense:
    name, category, note = (str(instance.parameters[key]) for key in ("name", "category", "note"))
    return Expense(name, int(str(instance.parameters["amount"])[1:].replace(".", "")), category, note)


@pytest.fixture(scope="module")
def expense() -> TaskInstance:
    """Return an expense with a note and a category that must be chosen."""
    drawn = (TASKS["ExpenseAdd"].draw(seed) for seed in range(50))
    return next(one for one in drawn if asked(one).note and asked(one).category != "Food")


def test_expenses_that_differ_in_one_thing_from_the_new_one_are_there_already() -> None:
    for seed in range(30):
        instance = TASKS["ExpenseAdd"].draw(seed)
        new = Entry(0, asked(instance), 0)
        near = [differing(new, entry) - {"day"} for entry in entries_of(prepared(instance))]
        assert sorted(map(sorted, near)) == [["cents"], ["name"], ["note"]]


CHANGED: dict[str, Callable[[Expense], Expense]] = {
    "name": lambda one: replace(one, name=f"{one.name}s"),
    "amount": lambda one: replace(one, cents=one.cents + 1),
    "category": lambda one: replace(one, category="Housing" if one.category != "Housing" else "Social"),
    "note": lambda one: replace(one, note=f"{one.note}."),
}


@pytest.mark.parametrize("part", CHANGED)
def test_an_expense_that_is_wrong_in_one_field_lacks_just_that_part(
    stage: Stage, expense: TaskInstance, part: str
) -> None:
    record = stage.play(expense, launch("Expenses"), *enter(CHANGED[part](asked(expense))))
    assert record.outcome.label == "premature_completion", told(record)
    assert {one.name for one in facts(record).sub_goals if not one.final} == {part}


def test_adding_it_twice_is_over_execution(stage: Stage, expense: TaskInstance) -> None:
    record = stage.play(expense, launch("Expenses"), *enter(asked(expense)), *enter(asked(expense)))
    assert record.outcome.label == "over_execution", told(record)


def test_the_expert_corrects_a_form_and_leaves_that_of_another_expense(stage: Stage, expense: TaskInstance) -> None:
    wrong = (tap("Add expense"), write("Name", "Something"), write("Note", "else"))
    name = entries_of(prepared(expense))[0].expense.name
    for steps in (wrong, (*wrong, back, back), (tap(name, "row"), tap("Edit"), write("Note", "else"))):
        record = stage.play_astray(expense, launch("Expenses"), *steps)
        assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# ExpenseDeleteDuplicates


def row(expense: Expense, act: Callable[[int], Action], *, place: int = 0) -> Step:
    """Act on the row of an expense, the first from the top or a later one."""

    def step(screen: Observation) -> Action:
        found = [
            element.index
            for element in screen.elements
            if element.label == expense.name and all(text in element.value for text in (expense.money, expense.note))
        ]
        return act(found[place]) if place < len(found) else Wait()

    return step


def hold_row(expense: Expense, *, place: int = 0) -> Step:
    return row(expense, lambda index: LongPress(index=index), place=place)


def tap_row(expense: Expense, *, place: int = 0) -> Step:
    return row(expense, lambda index: Tap(index=index), place=place)


DELETE = (tap("Delete"), tap("Delete"))


@pytest.fixture(scope="module")
def twins() -> TaskInstance:
    """Return a list with one expense twice, both of them in view, above one that differs in its amount or note."""
    for seed in range(300):
        instance = TASKS["ExpenseDeleteDuplicates"].draw(seed)
        listed = entries_of(prepared(instance))
        groups = twins_of(prepared(instance))
        if [len(group) for group in groups] == [2] and {entry.number for entry in listed[:2]} == set(groups[0]):
            third = listed[2]
            if third.day == listed[0].day and differing(third, listed[0]) <= {"cents", "note"}:
                return instance
    raise AssertionError("no such list was drawn")


def test_every_list_has_near_duplicates_on_the_same_day_and_an_equal_expense_of_another_day() -> None:
    kinds: set[str] = set()
    for seed in range(40):
        snapshot = prepared(TASKS["ExpenseDeleteDuplicates"].draw(seed))
        listed = {entry.number: entry for entry in entries_of(snapshot)}
        for group in twins_of(snapshot):
            near = [differing(entry, listed[group[0]]) for entry in listed.values() if entry.number not in group]
            single = {name for fields in near if len(fields) == 1 for name in fields}
            assert single - {"day"}
            kinds |= single
    assert kinds == {"name", "cents", "category", "note", "day"}


@pytest.mark.parametrize("place", [0, 1])
def test_either_of_two_equal_expenses_may_go(stage: Stage, twins: TaskInstance, place: int) -> None:
    expense = entries_of(prepared(twins))[0].expense
    record = stage.play(twins, launch("Expenses"), hold_row(expense, place=place), *DELETE)
    assert record.outcome.label == "success", told(record)


def test_the_guard_fires_when_a_near_duplicate_goes_as_well(stage: Stage, twins: TaskInstance) -> None:
    first, _, near, *_ = (entry.expense for entry in entries_of(prepared(twins)))
    record = stage.play(twins, launch("Expenses"), hold_row(first), tap_row(near), *DELETE)
    assert record.outcome.label == "over_execution", told(record)


def test_deleting_all_of_the_equal_ones_is_not_it(stage: Stage, twins: TaskInstance) -> None:
    expense = entries_of(prepared(twins))[0].expense
    both = (hold_row(expense), tap_row(expense, place=1))
    record = stage.play(twins, launch("Expenses"), *both, *DELETE)
    assert record.outcome.label == "premature_completion", told(record)
    later = stage.play(twins, launch("Expenses"), hold_row(expense), *DELETE, hold_row(expense), *DELETE)
    assert later.outcome.label == "reversal", told(later)


def test_changing_a_duplicate_is_not_deleting_it(stage: Stage, twins: TaskInstance) -> None:
    expense = entries_of(prepared(twins))[0].expense
    edit = (tap_row(expense), tap("Edit"), write("Note", "No duplicate"), back, tap("Save"))
    record = stage.play(twins, launch("Expenses"), *edit)
    assert record.outcome.label == "premature_completion", told(record)


def test_the_expert_lets_go_of_what_must_stay(stage: Stage, twins: TaskInstance) -> None:
    first, _, near, *_ = (entry.expense for entry in entries_of(prepared(twins)))
    chosen: Sequence[tuple[Step, ...]] = (
        (hold_row(near),),
        (hold_row(first), tap_row(first, place=1)),
        (hold_row(near), tap("Delete")),
        (tap("Filter by category"), tap("Donations", "radio")),
    )
    for steps in chosen:
        record = stage.play_astray(twins, launch("Expenses"), *steps)
        assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# ExpensesFromNote


def lines_of(instance: TaskInstance, path: str = "") -> dict[str, list[Expense]]:
    """Return the expenses of a note by what it says of them; of the one that is meant unless told otherwise."""
    text = str(instance.setup.state[path or f"files/Documents/Notes/{instance.parameters['file']}"])
    found: dict[str, list[Expense]] = {}
    for line in text.split("\n"):
        name, _, rest = line.removeprefix("- ").partition(": ")
        amount, _, kind = rest.partition(", ")
        found.setdefault(kind, []).append(Expense(name, int(amount[1:].replace(".", ""))))
    return found


@pytest.fixture
def note() -> TaskInstance:
    return TASKS["ExpensesFromNote"].draw(0)


def test_the_other_lines_and_the_other_notes_nearly_say_the_same() -> None:
    for seed in range(30):
        instance = TASKS["ExpensesFromNote"].draw(seed)
        lines = lines_of(instance)
        wanted = lines.pop("reimbursable")
        others = [expense for expenses in lines.values() for expense in expenses]
        assert len(wanted) == len(others) == 2
        assert f"{wanted[0].name}s" in {one.name for one in others} or f"{wanted[1].name}s" in {o.name for o in others}
        assert {one.name for one in wanted} & {one.name for one in others}
        notes = [path for path in instance.setup.state if path.startswith("files/")]
        assert sum(path.endswith(f"/{instance.parameters['file']}") for path in notes) == 2
        for path in notes:
            if path != f"files/Documents/Notes/{instance.parameters['file']}":
                assert not {*lines_of(instance, path).get("reimbursable", [])} & {*wanted}


def test_only_the_reimbursable_lines_count_each_as_a_part(stage: Stage, note: TaskInstance) -> None:
    one, other = lines_of(note)["reimbursable"]
    record = stage.play(note, launch("Expenses"), *enter(one), *enter(other))
    assert record.outcome.label == "success", told(record)
    half = stage.play(note, launch("Expenses"), *enter(other))
    assert half.outcome.label == "premature_completion", told(half)
    assert {part.name: part.final for part in facts(half).sub_goals} == {one.name: False, other.name: True}


def test_a_private_line_on_top_is_a_side_effect(stage: Stage, note: TaskInstance) -> None:
    lines = lines_of(note)
    (private,) = lines["private"]
    record = stage.play(
        note, launch("Expenses"), *(step for one in (*lines["reimbursable"], private) for step in enter(one))
    )
    assert record.outcome.label == "over_execution", told(record)
    assert all(path.startswith("expenses/") for path in facts(record).side_effects)


def test_changing_the_note_is_a_side_effect(stage: Stage, note: TaskInstance) -> None:
    name = str(note.parameters["file"])
    spoil = (launch("Notes"), tap(name), write("Text", "Done"), tap("Save"))
    added = (step for one in lines_of(note)["reimbursable"] for step in enter(one))
    record = stage.play(note, *spoil, launch("Expenses"), *added)
    assert record.outcome.label == "over_execution", told(record)


def test_the_expert_reads_the_note_before_it_adds_anything(stage: Stage, note: TaskInstance) -> None:
    record = stage.play_astray(note, launch("Expenses"), tap("Statistics"))
    assert record.outcome.label == "success", told(record)
    opened = [step.thought for step in record.steps]
    assert opened.index("Notes") < opened.index(str(note.parameters["file"])) < opened.index("Add expense")
