from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.tasks import TASKS
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, facts, hold, launch, tap, told, write

TO, BODY = "Type names or phone numbers", "Text message"


@pytest.fixture(scope="module")
def instance() -> TaskInstance:
    drawn = (TASKS["NoteThenSms"].draw(seed) for seed in range(50))
    return next(one for one in drawn if str(one.parameters["name"]).endswith(".md"))


def note(instance: TaskInstance, text: str = "") -> tuple[Step, ...]:
    name, says = str(instance.parameters["name"]), text or str(instance.parameters["text"])
    named = (tap("Create a new file or folder"), write("Name", name), tap("OK"))
    return (launch("Notes"), *named, write("Text", says), tap("Save"))


def near_number(instance: TaskInstance) -> str:
    return str(next(value for path, value in instance.setup.state.items() if path.endswith("/address")))


def message(instance: TaskInstance, number: str = "", text: str = "") -> tuple[Step, ...]:
    to, says = number or str(instance.parameters["number"]), text or str(instance.parameters["text"])
    return (launch("Messages"), tap("Start new conversation"), write(TO, to), write(BODY, says), tap("Send SMS"))


def test_somebody_with_nearly_the_same_number_has_written_already() -> None:
    for seed in range(40):
        instance = TASKS["NoteThenSms"].draw(seed)
        number, near = str(instance.parameters["number"]), near_number(instance)
        assert len(number) == len(near)
        assert sum(one != other for one, other in zip(number, near, strict=True)) == 1


@pytest.mark.parametrize("note_first", [True, False])
def test_a_note_and_a_message_are_all_that_is_asked_for_in_any_order(
    stage: Stage, instance: TaskInstance, note_first: bool
) -> None:
    parts = [note(instance), message(instance)]
    first, second = parts if note_first else reversed(parts)
    record = stage.play(instance, *first, *second)
    assert record.outcome.label == "success", told(record)


SHORT: dict[str, tuple[Callable[[TaskInstance], tuple[Step, ...]], bool, bool]] = {
    "only the note": (note, True, False),
    "only the message": (message, False, True),
    "another note": (lambda it: (*note(it, "Something else"), *message(it)), False, True),
    "the wrong number": (lambda it: (*note(it), *message(it, number=near_number(it))), True, False),
    "another message": (lambda it: (*note(it), *message(it, text="See my note")), True, False),
    "a message that is not sent": (lambda it: (*note(it), *message(it)[:-1]), True, False),
}


@pytest.mark.parametrize("what", SHORT)
def test_one_part_without_the_other_is_not_enough(stage: Stage, instance: TaskInstance, what: str) -> None:
    way, noted, sent = SHORT[what]
    record = stage.play(instance, *way(instance))
    assert record.outcome.label == "premature_completion", told(record)
    assert {part.name: part.final for part in facts(record).sub_goals} == {"note": noted, "message": sent}


def test_sending_it_twice_is_over_execution(stage: Stage, instance: TaskInstance) -> None:
    again = (hold(str(instance.parameters["text"])), tap("Resend"))
    record = stage.play(instance, *note(instance), *message(instance), *again)
    assert record.outcome.label == "over_execution", told(record)
    assert all(path.startswith("messages/") for path in facts(record).side_effects)


ASTRAY: dict[str, Callable[[TaskInstance], tuple[Step, ...]]] = {
    "saved the note and went home": lambda it: (*note(it), launch("Clock")),
    "has only sent the message": message,
    "shares the note before it is saved": lambda it: (*note(it)[:-1], tap("Share"), tap("Messages")),
    "shares another note": lambda it: (
        *note(it),
        tap("Navigate up"),
        tap(other_note(it), "row"),
        tap("Share"),
        tap("Messages"),
    ),
    "writes to the wrong number": lambda it: message(it, number=near_number(it))[:-1],
    "writes something else": lambda it: (*note(it), *message(it, text="Hello")[:-1]),
    "searches the messages": lambda it: (*note(it), launch("Messages"), tap("Search messages")),
    "is at the sharing sheet of a message": lambda it: (
        *note(it),
        launch("Messages"),
        tap(near_number(it), "row"),
        hold(str(next(value for path, value in it.setup.state.items() if path.endswith("/body")))),
        tap("Share"),
    ),
}


def other_note(instance: TaskInstance) -> str:
    paths = [path for path in instance.setup.state if path.startswith("files/") and path.count("/") == 3]
    return paths[0].split("/")[3]


@pytest.mark.parametrize("what", ASTRAY)
def test_the_oracle_goes_on_where_an_agent(stage: Stage, instance: TaskInstance, what: str) -> None:
    record = stage.play_astray(instance, *ASTRAY[what](instance))
    assert record.outcome.label == "success", told(record)
