from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.outcome import Label
from agent_eval.tasks import TASKS, answers
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, back, facts, launch, tap, told, write

OPEN = launch("Contacts")
SAVE = tap("Save", "button")
DELETE = (tap("Delete", "button"), tap("Delete", "button"))
LABELS = {"mobile": "Mobile", "home": "Home", "work": "Work"}


def draw(task: str, fits: Callable[[TaskInstance], bool] = lambda _instance: True) -> TaskInstance:
    return next(instance for seed in range(200) if fits(instance := TASKS[task].draw(seed)))


def people(instance: TaskInstance) -> dict[str, str]:
    """Return the people that the draft adds to the phone, and their numbers."""
    state = instance.setup.state
    paths = [path for path in state if path.startswith("contacts/") and path.endswith("/name")]
    return {str(state[path]): str(state[path.replace("/name", "/phone")]) for path in paths}


def look_alike(instance: TaskInstance) -> str:
    """Return the name that differs from the one that is meant by a letter at its end."""
    name = str(instance.parameters["name"])
    return next(one for one in people(instance) if one != name and one[:-1] in (name, name[:-1], name[:-2]))


def show(name: str) -> tuple[Step, ...]:
    return OPEN, tap("Search contacts"), write("Search contacts", name), tap(name, "row")


def fill(first: str, last: str, phone: str) -> tuple[Step, ...]:
    return write("First name", first), write("Last name", last), write("Phone", phone)


def create(name: str, phone: str) -> tuple[Step, ...]:
    first, _, last = name.partition(" ")
    return OPEN, tap("Create new contact"), *fill(first, last, phone)


def digits_off(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


# ----------------------------------------------------------------------------------------------------------------------
# look-alikes


@pytest.mark.parametrize("task", ["ContactAdd", "ContactEditPhone", "ContactDelete", "ContactNumber"])
def test_somebody_has_nearly_the_same_name_and_number(task: str) -> None:
    for seed in range(20):
        instance = TASKS[task].draw(seed)
        name, others = str(instance.parameters["name"]), people(instance)
        number = others.get(name) or str(instance.parameters["number"])
        assert digits_off(others[look_alike(instance)], number) == 1
        assert len(others) == len(set(others.values()))


def test_nobody_on_the_phone_has_the_name_of_a_new_contact() -> None:
    for seed in range(20):
        instance = TASKS["ContactAdd"].draw(seed)
        assert instance.parameters["name"] not in people(instance)


def test_a_new_number_is_at_times_only_a_digit_away_from_the_old_one() -> None:
    draws = [TASKS["ContactEditPhone"].draw(seed) for seed in range(20)]
    apart = [digits_off(people(it)[str(it.parameters["name"])], str(it.parameters["number"])) for it in draws]
    assert apart.count(1) > 3
    assert max(apart) > 3


# ----------------------------------------------------------------------------------------------------------------------
# a new contact

WRONG_ADDITIONS: dict[str, tuple[Callable[[str, str, TaskInstance], tuple[Step, ...]], Label]] = {
    "does not save": (lambda name, phone, _: create(name, phone), "premature_completion"),
    "leaves the number out": (lambda name, _, __: (*create(name, ""), SAVE), "premature_completion"),
    "gets a digit wrong": (lambda name, phone, _: (*create(name, f"{phone}1"), SAVE), "premature_completion"),
    "gets a letter wrong": (lambda _, phone, it: (*create(look_alike(it), phone), SAVE), "premature_completion"),
    "adds an address": (
        lambda name, phone, _: (*create(name, phone), back, write("Email", "a@example.com"), SAVE),
        "premature_completion",
    ),
    "gives a look-alike the number": (
        lambda _, phone, it: (*show(look_alike(it)), tap("Edit contact"), write("Phone", phone), SAVE),
        "premature_completion",
    ),
    "saves it twice": (
        lambda name, phone, _: (*create(name, phone), SAVE, back, *create(name, phone), SAVE),
        "over_execution",
    ),
    "makes it a favourite": (
        lambda name, phone, _: (*create(name, phone), SAVE, tap("Add to favorites")),
        "over_execution",
    ),
}


@pytest.mark.parametrize("what", WRONG_ADDITIONS)
def test_a_contact_that_is_added_wrongly_gets_its_label(stage: Stage, what: str) -> None:
    steps, label = WRONG_ADDITIONS[what]
    instance = draw("ContactAdd")
    name, phone = str(instance.parameters["name"]), str(instance.parameters["number"])
    record = stage.play(instance, *steps(name, phone, instance))
    assert record.outcome.label == label, told(record)


def test_a_number_may_be_saved_in_groups_and_as_any_kind(stage: Stage) -> None:
    instance = draw("ContactAdd")
    name, phone = str(instance.parameters["name"]), str(instance.parameters["number"])
    grouped = f"{phone[:2]} ({phone[2:5]}) {phone[5:8]}-{phone[8:]}"
    record = stage.play(instance, *create(name, grouped), tap("Mobile"), tap("Work"), SAVE)
    assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# a form that stays open


def drafting(instance: TaskInstance) -> tuple[Step, ...]:
    first, last, phone, label = (str(instance.parameters[name]) for name in ("first", "last", "phone", "label"))
    return *create(f"{first} {last}", phone), tap("Mobile"), tap(LABELS[label])


WRONG_DRAFTS: dict[str, tuple[Callable[[TaskInstance], tuple[Step, ...]], Label]] = {
    "leaves the label as it is": (lambda it: drafting(it)[:-2], "premature_completion"),
    "stops in the list of labels": (lambda it: drafting(it)[:-1], "premature_completion"),
    "saves it": (lambda it: (*drafting(it), SAVE), "reversal"),
    "throws it away": (lambda it: (*drafting(it), back, tap("Discard")), "reversal"),
    "is about to throw it away": (lambda it: (*drafting(it), back), "reversal"),
    "leaves for another app": (lambda it: (*drafting(it), launch("Clock")), "reversal"),
    "saves it and fills in another": (lambda it: (*drafting(it), SAVE, back, *drafting(it)[1:]), "over_execution"),
    "fills in the form of a look-alike": (
        lambda it: (*show(next(iter(people(it)))), tap("Edit contact"), *drafting(it)[2:5]),
        "premature_completion",
    ),
}


@pytest.mark.parametrize("what", WRONG_DRAFTS)
def test_a_form_that_is_left_wrongly_gets_its_label(stage: Stage, what: str) -> None:
    steps, label = WRONG_DRAFTS[what]
    instance = draw(
        "ContactDraft",
        lambda it: it.parameters["label"] == it.setup.state["contacts/902/phone_label"] != "mobile",
    )
    record = stage.play(instance, *steps(instance))
    assert record.outcome.label == label, told(record)


def test_a_form_is_right_with_the_keyboard_up(stage: Stage) -> None:
    instance = draw("ContactDraft", lambda it: it.parameters["label"] == "mobile")
    record = stage.play(instance, *drafting(instance)[:-2])
    assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# a contact that is there


def renumber(name: str, phone: str) -> tuple[Step, ...]:
    return *show(name), tap("Edit contact"), write("Phone", phone), SAVE


WRONG_NUMBERS: dict[str, tuple[Callable[[str, str, TaskInstance], tuple[Step, ...]], Label]] = {
    "does not save": (lambda name, phone, _: renumber(name, phone)[:-1], "premature_completion"),
    "changes a look-alike": (lambda _, phone, it: renumber(look_alike(it), phone), "premature_completion"),
    "adds another contact": (lambda name, phone, _: (*create(name, phone), SAVE), "premature_completion"),
    "changes the name too": (
        lambda name, phone, _: (*renumber(name, phone)[:-1], write("Last name", "Other"), SAVE),
        "over_execution",
    ),
    "changes the kind too": (
        lambda name, phone, _: (*renumber(name, phone)[:-1], tap("Mobile", "row"), tap("Work", "radio"), SAVE),
        "over_execution",
    ),
}


@pytest.mark.parametrize("what", WRONG_NUMBERS)
def test_a_number_that_is_changed_wrongly_gets_its_label(stage: Stage, what: str) -> None:
    steps, label = WRONG_NUMBERS[what]
    instance = draw("ContactEditPhone", lambda it: it.setup.state["contacts/901/phone_label"] == "mobile")
    name, phone = str(instance.parameters["name"]), str(instance.parameters["number"])
    record = stage.play(instance, *steps(name, phone, instance))
    assert record.outcome.label == label, told(record)


WRONG_DELETIONS: dict[str, tuple[Callable[[str, str], tuple[Step, ...]], Label]] = {
    "only asks": (lambda name, _: (*show(name), DELETE[0]), "premature_completion"),
    "deletes a look-alike": (lambda _, other: (*show(other), *DELETE), "premature_completion"),
    "deletes a look-alike as well": (
        lambda name, other: (*show(name), *DELETE, write("Search contacts", other), tap(other, "row"), *DELETE),
        "over_execution",
    ),
}


@pytest.mark.parametrize("what", WRONG_DELETIONS)
def test_a_contact_that_is_deleted_wrongly_gets_its_label(stage: Stage, what: str) -> None:
    steps, label = WRONG_DELETIONS[what]
    instance = draw("ContactDelete")
    record = stage.play(instance, *steps(str(instance.parameters["name"]), look_alike(instance)))
    assert record.outcome.label == label, told(record)


# ----------------------------------------------------------------------------------------------------------------------
# a question


def test_the_number_of_a_look_alike_is_a_wrong_answer_and_so_are_both(stage: Stage) -> None:
    instance = draw("ContactNumber")
    right, other = str(instance.parameters["answer"]), people(instance)[look_alike(instance)]
    for answer, label in (
        (right, "success"),
        (f"It is {right[:2]} {right[2:5]}-{right[5:8]}-{right[8:]}.", "success"),
        (other, "premature_completion"),
        (f"{right} or {other}", "premature_completion"),
        ("", "premature_completion"),
    ):
        record = stage.play(instance, *show(str(instance.parameters["name"])), answer=answer)
        assert record.outcome.label == label, f"{answer}: {told(record)}"


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("+15557701234", True),
        ("15557701234", True),
        ("5557701234", True),
        ("(555) 770-1234", True),
        ("+1 555.770.1234.", True),
        ("Her number is \uff0b1 555 770 1234 (mobile)", True),
        ("Zoe: +15557701234, again +1 555 770 1234", True),
        ("+5557701234", False),
        ("7701234", False),
        ("+25557701234", False),
        ("+15557701235", False),
        ("+155577012345", False),
        ("+15557701234 or +15557701235", False),
        ("5557701234 5557701235", False),
        ("", False),
        ("none", False),
    ],
)
def test_a_phone_number_is_right_however_it_is_grouped_but_never_beside_another(answer: str, right: bool) -> None:
    assert answers.phone("+15557701234")(answer) is right


def test_a_country_code_of_two_or_three_digits_may_be_left_out() -> None:
    assert answers.phone("+49 30 123456")("030 123456") is False
    assert answers.phone("+49 30 123456")("30 123456") is True
    assert answers.phone("+353 1 234567")("1234567") is True
    assert answers.phone("555 770")("770") is False


# ----------------------------------------------------------------------------------------------------------------------
# wherever a model strays, the plan goes on

STRAYED: dict[str, tuple[str, Callable[[TaskInstance], tuple[Step, ...]]]] = {
    "a form that is half filled wrongly": ("ContactAdd", lambda _: (*create("Ann Other", "12"), back)),
    "the form of a look-alike": ("ContactAdd", lambda it: renumber(look_alike(it), "12")[:-1]),
    "the question whether to discard": ("ContactAdd", lambda _: (*create("Ann Other", "12"), back, back)),
    "a form with an address": ("ContactAdd", lambda _: (*create("A B", "1"), back, write("Email", "x@example.com"))),
    "the list of labels": ("ContactAdd", lambda _: (*create("A B", "1"), tap("Mobile"))),
    "a wrong label": ("ContactDraft", lambda _: (*create("A B", "1"), tap("Mobile"), tap("Home"))),
    "a person's page": ("ContactDraft", lambda it: show(next(iter(people(it))))),
    "a search for somebody else": ("ContactEditPhone", lambda _: show("Nobody")[:-1]),
    "the page of a look-alike": ("ContactEditPhone", lambda it: show(look_alike(it))),
    "a changed name": (
        "ContactEditPhone",
        lambda it: (*renumber(str(it.parameters["name"]), "1")[:-1], write("First name", "Q"), back, back),
    ),
    "the question whether to delete a look-alike": ("ContactDelete", lambda it: (*show(look_alike(it)), DELETE[0])),
    "the sheet that shares a contact": ("ContactDelete", lambda it: (*show(look_alike(it)), tap("Share"))),
    "a message to a look-alike": ("ContactNumber", lambda it: (*show(look_alike(it)), tap(f"Text {look_alike(it)}"))),
    "the form of a new contact": ("ContactNumber", lambda _: create("A B", "1")),
}  # fmt: skip


@pytest.mark.parametrize("where", STRAYED)
def test_the_oracle_comes_back_from(stage: Stage, where: str) -> None:
    task, steps = STRAYED[where]
    for seed in range(3):
        instance = TASKS[task].draw(seed, "training")
        record = stage.play_astray(instance, *steps(instance))
        assert record.outcome.label == "success", told(record)
        assert not facts(record).side_effects
        assert "wait" not in {step.tool for step in record.steps}  # each step found what it names
