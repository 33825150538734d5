from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from agent_eval.outcome import Label
from agent_eval.tasks import TASKS
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, back, facts, hold, launch, tap, told, write

OPEN = launch("Messages")
SEND = tap("Send SMS", "button")
NEW = tap("Start new conversation", "button")
TO, BODY = "Type names or phone numbers", "Text message"


class Line(NamedTuple):
    """One message that the phone starts with."""

    address: str
    body: str
    sent: bool
    time: int


def talk(instance: TaskInstance) -> list[Line]:
    """Return the messages that the phone starts with, in the order in which they came."""
    state = instance.setup.state
    numbers = sorted({int(path.split("/")[1]) for path in state if path.startswith("messages/")})
    return [
        Line(
            str(state[f"messages/{number}/address"]),
            str(state[f"messages/{number}/body"]),
            state[f"messages/{number}/sent"] is True,
            int(state[f"messages/{number}/time"]),
        )
        for number in numbers
    ]


def people(instance: TaskInstance) -> dict[str, str]:
    """Return the numbers of the people that the draft adds to the phone."""
    state = instance.setup.state
    paths = [path for path in state if path.startswith("contacts/") and path.endswith("/name")]
    return {str(state[path]): str(state[path.replace("/name", "/phone")]) for path in paths}


def look_alike(instance: TaskInstance, name: str) -> str:
    """Return the name that differs from another by a letter at its end."""
    return next(one for one in people(instance) if one != name and one[:-1] in (name, name[:-1], name[:-2]))


def draw(task: str, fits: Callable[[TaskInstance], bool] = lambda _instance: True) -> TaskInstance:
    return next(instance for seed in range(200) if fits(instance := TASKS[task].draw(seed)))


def send_to(to: str, text: str) -> tuple[Step, ...]:
    return NEW, write(TO, to), write(BODY, text), SEND


def of_kind(kind: str) -> Callable[[TaskInstance], bool]:
    return lambda it: it.parameters["kind"] == kind


# ----------------------------------------------------------------------------------------------------------------------
# what the phone starts with


@pytest.mark.parametrize("task", ["SmsSend", "SmsReplyLatest", "SmsResendTo", "SmsForwardAddress"])
def test_a_later_message_has_a_higher_number_and_no_two_are_alike(task: str) -> None:
    for seed in range(20):
        lines = talk(TASKS[task].draw(seed))
        times = [line.time for line in lines]
        assert times == sorted(times)
        assert len({line.body for line in lines}) == len(lines)
        assert all(len(line.body) <= 40 for line in lines)  # a longer one would be cut on the screen


def test_messages_from_different_people_come_within_minutes_of_each_other() -> None:
    apart = []
    for seed in range(20):
        received = [line for line in talk(TASKS["SmsReplyLatest"].draw(seed)) if not line.sent]
        assert received[-1].address != received[-2].address
        apart.append(received[-1].time - received[-2].time)
    assert sum(seconds <= 180 for seconds in apart) > 5


# ----------------------------------------------------------------------------------------------------------------------
# a message with a given text


def near_number(instance: TaskInstance) -> str:
    """Return the number that differs by one digit from the one that is meant."""
    right = str(instance.parameters["number"])
    return next(
        line.address for line in talk(instance) if sum(a != b for a, b in zip(line.address, right, strict=True)) == 1
    )


WRONG_MESSAGES: dict[str, tuple[Callable[[str, str, TaskInstance], tuple[Step, ...]], Label]] = {
    "leaves it unsent": (lambda to, text, _: (*send_to(to, text)[:-1], back, back), "premature_completion"),
    "sends it to a number like it": (lambda _, text, it: send_to(near_number(it), text), "premature_completion"),
    "writes into the conversation with a number like it": (
        lambda _, text, it: (tap(near_number(it), "row"), write(BODY, text), SEND),
        "premature_completion",
    ),
    "adds a full stop": (lambda to, text, _: send_to(to, f"{text}."), "premature_completion"),
    "writes it in capitals": (lambda to, text, _: send_to(to, text.upper()), "premature_completion"),
    "sends it twice": (lambda to, text, _: (*send_to(to, text), write(BODY, text), SEND), "over_execution"),
    "sends another one as well": (
        lambda to, text, _: (*send_to(to, "Hello"), write(BODY, text), SEND),
        "over_execution",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["new", "reply"])
@pytest.mark.parametrize("what", WRONG_MESSAGES)
def test_a_message_that_is_sent_wrongly_gets_its_label(stage: Stage, what: str, kind: str) -> None:
    steps, label = WRONG_MESSAGES[what]
    instance = draw("SmsSend", of_kind(kind))
    to, text = str(instance.parameters["number"]), str(instance.parameters["text"])
    record = stage.play(instance, OPEN, *steps(to, text, instance))
    assert record.outcome.label == label, told(record)


def test_a_conversation_to_answer_is_on_the_phone_and_one_to_begin_is_not() -> None:
    for kind in ("new", "reply"):
        instance = draw("SmsSend", of_kind(kind))
        known = [line.address for line in talk(instance) if not line.sent]
        assert (instance.parameters["number"] in known) is (kind == "reply")


def test_a_number_may_be_typed_in_groups(stage: Stage) -> None:
    instance = draw("SmsSend", of_kind("new"))
    to = str(instance.parameters["number"])
    record = stage.play(instance, OPEN, *send_to(f"{to[:2]} {to[2:5]} {to[5:]}", str(instance.parameters["text"])))
    assert record.outcome.label == "success", told(record)


def names(instance: TaskInstance) -> dict[str, str]:
    """Return what the list calls each number."""
    return {line.address: line.address for line in talk(instance)} | {
        number: name for name, number in people(instance).items()
    }


def ends_with_ones_own(instance: TaskInstance) -> bool:
    return talk(instance)[-1].sent


def test_the_latest_conversation_is_at_times_one_in_which_nobody_wrote_to_the_phone() -> None:
    own = [ends_with_ones_own(TASKS["SmsReplyLatest"].draw(seed)) for seed in range(20)]
    assert 4 < sum(own) < 16
    for seed in range(20):
        instance = TASKS["SmsReplyLatest"].draw(seed)
        assert [line.address for line in talk(instance) if not line.sent][-1] == instance.parameters["number"]


def test_an_answer_to_the_top_of_the_list_or_to_the_one_before_is_no_answer_to_the_latest(stage: Stage) -> None:
    instance = draw("SmsReplyLatest", ends_with_ones_own)
    called, lines, text = names(instance), talk(instance), str(instance.parameters["text"])
    received = [line.address for line in lines if not line.sent]
    for address, label in (
        (received[-1], "success"),
        (received[-2], "premature_completion"),
        (lines[-1].address, "premature_completion"),
    ):
        record = stage.play(instance, OPEN, tap(called[address], "row"), write(BODY, text), SEND)
        assert record.outcome.label == label, told(record)


# ----------------------------------------------------------------------------------------------------------------------
# a message that is there


def own_messages(instance: TaskInstance) -> list[str]:
    """Return what was sent to the person of the goal, in order."""
    address = people(instance)[str(instance.parameters["name"])]
    return [line.body for line in talk(instance) if line.sent and line.address == address]


def again(name: str, body: str) -> tuple[Step, ...]:
    return OPEN, tap(name, "row"), hold(body), tap("Resend", "row")


def test_the_last_message_to_a_person_is_one_of_several_and_at_times_not_the_last_of_all() -> None:
    answered = 0
    for seed in range(20):
        instance = TASKS["SmsResendTo"].draw(seed)
        own = own_messages(instance)
        assert len(own) == 2
        assert own[-1] == instance.parameters["text"]
        address = people(instance)[str(instance.parameters["name"])]
        answered += [line for line in talk(instance) if line.address == address][-1].body != own[-1]
    assert 4 < answered < 16


WRONG_RESENDINGS: dict[str, tuple[Callable[[str, str, TaskInstance], tuple[Step, ...]], Label]] = {
    "only opens the menu": (lambda name, last, _: again(name, last)[:-1], "premature_completion"),
    "resends an older one": (lambda name, _, it: again(name, own_messages(it)[0]), "premature_completion"),
    "resends the one to a look-alike": (
        lambda name, _, it: again(look_alike(it, name), next(
            line.body for line in talk(it) if line.sent and line.address == people(it)[look_alike(it, name)]
        )),
        "premature_completion",
    ),
    "resends the older one as well": (
        lambda name, last, it: (*again(name, own_messages(it)[0]), *again(name, last)[2:]),
        "over_execution",
    ),
    "types it anew": (lambda name, last, _: (OPEN, tap(name, "row"), write(BODY, last), SEND), "success"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_RESENDINGS)
def test_a_message_that_is_resent_gets_its_label(stage: Stage, what: str) -> None:
    steps, label = WRONG_RESENDINGS[what]
    instance = draw("SmsResendTo")
    record = stage.play(instance, *steps(str(instance.parameters["name"]), str(instance.parameters["text"]), instance))
    assert record.outcome.label == label, told(record)


def with_address(instance: TaskInstance) -> str:
    """Return the message that holds the address."""
    return next(line.body for line in talk(instance) if line.body.endswith(str(instance.parameters["address"])))


def elsewhere(instance: TaskInstance) -> str:
    """Return what the look-alike of the writer wrote: another address."""
    address = people(instance)[look_alike(instance, str(instance.parameters["name1"]))]
    return next(line.body for line in talk(instance) if line.address == address)


def forward(writer: str, body: str, reader: str) -> tuple[Step, ...]:
    return OPEN, tap(writer, "row"), hold(body), tap("Forward", "row"), write(TO, reader), SEND


FORWARDINGS: dict[str, tuple[Callable[[str, str, TaskInstance], tuple[Step, ...]], Label]] = {
    "leaves it unsent": (lambda a, b, it: forward(a, with_address(it), b)[:-1], "premature_completion"),
    "sends it to a look-alike": (
        lambda a, b, it: forward(a, with_address(it), look_alike(it, b)),
        "premature_completion",
    ),
    "sends what a look-alike wrote": (
        lambda a, b, it: forward(look_alike(it, a), elsewhere(it), b),
        "premature_completion",
    ),
    "sends another message of the writer": (
        lambda a, b, it: forward(a, next(
            line.body for line in talk(it) if line.address == people(it)[a] and line.body != with_address(it)
        ), b),
        "premature_completion",
    ),
    "sends it to both": (
        lambda a, b, it: (
            *forward(a, with_address(it), look_alike(it, b)),
            back,
            *forward(a, with_address(it), b)[2:],
        ),
        "over_execution",
    ),
    "types the address alone": (
        lambda _, b, it: (OPEN, *send_to(b, str(it.parameters["address"]))),
        "success",
    ),
    "types it to the number, in small letters and with a full stop": (
        lambda _, b, it: (OPEN, *send_to(people(it)[b], f"{it.parameters['address']}.".lower())),
        "success",
    ),
    "adds words of its own": (
        lambda _, b, it: (OPEN, *send_to(b, f"Maybe {it.parameters['address']}")),
        "premature_completion",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FORWARDINGS)
def test_an_address_that_is_sent_on_gets_its_label(stage: Stage, what: str) -> None:
    steps, label = FORWARDINGS[what]
    instance = draw("SmsForwardAddress")
    writer, reader = str(instance.parameters["name1"]), str(instance.parameters["name2"])
    record = stage.play(instance, *steps(writer, reader, instance))
    assert record.outcome.label == label, told(record)


# ----------------------------------------------------------------------------------------------------------------------
# wherever a model strays, the plan goes on


def top(instance: TaskInstance) -> str:
    """Return what the list calls the conversation at its top."""
    return names(instance)[talk(instance)[-1].address]


STRAYED: dict[str, tuple[str, Callable[[TaskInstance], tuple[Step, ...]]]] = {
    "a draft to a number like it": ("SmsSend", lambda it: (tap(near_number(it), "row"), write(BODY, "Hi"))),
    "a new message to another number": ("SmsSend", lambda _: send_to("5551234", "Hi")[:-1]),
    "a search": ("SmsReplyLatest", lambda _: (tap("Search messages"), write("Search messages", "zzz"))),
    "the menu of a conversation": ("SmsReplyLatest", lambda it: (hold(top(it)),)),
    "the question whether to delete": ("SmsReplyLatest", lambda it: (hold(top(it)), tap("Delete"))),
    "a person's draft": ("SmsResendTo", lambda it: (tap(str(it.parameters["name"]), "row"), write(BODY, "Hi"))),
    "the menu of an older message": (
        "SmsResendTo",
        lambda it: again(str(it.parameters["name"]), own_messages(it)[0])[1:-1],
    ),
    "the details of a message": (
        "SmsResendTo",
        lambda it: (*again(str(it.parameters["name"]), own_messages(it)[0])[1:-1], tap("Details")),
    ),
    "the sheet that shares a message": (
        "SmsForwardAddress",
        lambda it: (tap(str(it.parameters["name1"]), "row"), hold(with_address(it)), tap("Share")),
    ),
    "a new message about something else": ("SmsForwardAddress", lambda it: send_to(top(it), "Hi")[:-1]),
    "the address of a look-alike": (
        "SmsForwardAddress",
        lambda it: forward(look_alike(it, str(it.parameters["name1"])), elsewhere(it), "")[1:-1],
    ),
    "a suggested look-alike": (
        "SmsForwardAddress",
        lambda it: (
            *forward(
                str(it.parameters["name1"]), with_address(it), look_alike(it, str(it.parameters["name2"]))[:-2]
            )[1:-1],
            tap(look_alike(it, str(it.parameters["name2"])), "row"),
        ),
    ),
    "a suggestion": (
        "SmsForwardAddress",
        lambda it: (
            *forward(str(it.parameters["name1"]), with_address(it), str(it.parameters["name2"])[:-2])[1:-1],
            tap(str(it.parameters["name2"]), "row"),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", STRAYED)
def test_the_oracle_comes_back_from(stage: Stage, where: str) -> None:
    task, steps = STRAYED[where]
    for seed in range(3):
        instance = TASKS[task].draw(seed, "training")
        record = stage.play_astray(instance, OPEN, *steps(instance))
        assert record.outcome.label == "success", told(record)
        assert not facts(record).side_effects
        assert "wait" not in {step.tool for step in record.steps}  # each step found what it names
