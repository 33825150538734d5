from __future__ import annotations

from agent_eval.device_sim import Phone
from agent_eval.types import Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Walk, problems, record


def nothing(_: Hand) -> None:
    pass


ADA = {"contacts/901/name": "Ada Stone"}


def found(walk: Walk, *steps: tuple[str, object], gone: str = "", answer: str | None = None) -> list[str]:
    """Return what is wrong after the owner changed the phone himself."""
    phone: Phone = walk.phone()
    before = phone.snapshot()
    for path, value in steps:
        assert isinstance(value, bool | int | str)
        phone.put(path, value)
    if gone:
        phone.remove(gone)
    return problems(walk, before, phone.snapshot(), answer)


def test_a_wanted_value_must_be_there() -> None:
    walk = Walk("x", 0, nothing, state={"settings/torch_on": False}, sets={"settings/torch_on": True})
    assert found(walk) == ["settings/torch_on is False, not True"]
    assert found(walk, ("settings/torch_on", True)) == []


def test_what_nobody_asked_for_is_named_unless_it_may_change() -> None:
    step = ("settings/night_light", True)
    assert found(Walk("x", 0, nothing), step) == [
        "also changed: Change(path='settings/night_light', before=False, after=True)"
    ]
    assert found(Walk("x", 0, nothing, may=("settings/night_light",)), step) == []
    assert found(Walk("x", 0, nothing, may=("settings/night",)), step) != []


def test_a_new_record_must_fit_and_be_the_only_one() -> None:
    walk = Walk("x", 0, nothing, adds=(record("contacts", name="Ada"),))
    assert len(found(walk)) == 1
    assert found(walk, ("contacts/950/name", "Ada")) == []
    assert found(walk, ("contacts/950/name", "Ben"))[0].startswith("no new Record")
    twice = found(walk, ("contacts/950/name", "Ada"), ("contacts/951/name", "Ada"))
    assert twice
    assert all(line.startswith("also changed: Change(path='contacts/951/") for line in twice)


def test_two_equal_records_are_wanted_twice() -> None:
    walk = Walk("x", 0, nothing, adds=(record("contacts", name="Ada"), record("contacts", name="Ada")))
    assert len(found(walk, ("contacts/950/name", "Ada"))) == 1
    assert found(walk, ("contacts/950/name", "Ada"), ("contacts/951/name", "Ada")) == []


def test_what_must_go_must_have_been_there_and_be_gone() -> None:
    assert found(Walk("x", 0, nothing, state=ADA, gone=("contacts/901",))) == ["contacts/901 is still there"]
    assert found(Walk("x", 0, nothing, state=ADA, gone=("contacts/901",)), gone="contacts/901") == []
    assert found(Walk("x", 0, nothing, state=ADA, gone=("contacts/90",))) == ["contacts/90 was never there"]


def test_an_answer_must_be_right_and_none_is_given_where_none_is_asked_for() -> None:
    def count(start: Snapshot) -> str:
        return str(start["contacts/901/name"])

    walk = Walk("x", 0, nothing, state=ADA, answer=count)
    assert found(walk, answer="Ada Stone") == []
    assert found(walk, answer="Ada") == ["the answer is 'Ada', not 'Ada Stone'"]
    assert found(Walk("x", 0, nothing), answer="Ada") == ["the answer is 'Ada', not ''"]


def test_a_check_of_its_own_is_asked_too() -> None:
    walk = Walk("x", 0, nothing, check=lambda before, after: [f"{before == after}"])
    assert found(walk) == ["True"]
