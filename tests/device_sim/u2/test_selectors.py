from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uiautomator2 import Selector

from agent_eval.device_sim import Phone
from agent_eval.device_sim.patterns import PatternError
from agent_eval.device_sim.u2.selectors import (
    FIELDS,
    INSTANCE,
    MAX_CHAIN,
    Node,
    SelectorProblem,
    describe,
    find,
    is_plain,
    nodes_of,
    object_info,
)
from agent_eval.device_sim.ui import View, Window, lay_out
from agent_eval.types import Bounds, PhoneSetup
from tests.device_sim.conftest import Finger

LABEL = "android.widget.TextView"


def found(finger: Finger, selector: Any) -> list[str]:
    return [node.view.text or node.view.cls for node in find(nodes_of(finger.phone.windows), selector)]


def tree(*rows: tuple[str, ...]) -> list[Node]:
    """Return the nodes of a list whose rows hold labels."""
    views = [
        View("row", [View(LABEL, text=text, height=10) for text in texts], arrange="column", id=f"r{number}")
        for number, texts in enumerate(rows)
    ]
    root = View("list", views, arrange="column", id="list")
    lay_out(root, Bounds(0, 0, 720, 1280))
    return nodes_of([Window("activity", "com.example", root)])


def texts_of(nodes: list[Node]) -> list[str]:
    return [node.view.text for node in nodes]


def test_every_field_of_the_client_is_known_with_its_mask() -> None:
    client = {name: mask for name, (mask, _) in Selector._Selector__fields.items()}
    assert client.pop("instance") == INSTANCE
    assert {name: mask for name, (mask, _) in FIELDS.items()} == client


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"text": "Battery"}, ["Battery"]),
        ({"textContains": "devices"}, ["Connected devices"]),
        ({"textStartsWith": "Bluetooth,"}, ["Bluetooth, pairing"]),
        ({"textMatches": "Apps|Batt.*"}, ["Apps", "Battery"]),
        ({"text": "Battery", "className": "android.widget.Button"}, []),
        ({"text": "Battery", "className": ".TextView"}, ["Battery"]),
        ({"resourceIdMatches": ".*homepage_title"}, ["Settings"]),
        ({"description": "Overview"}, ["android.widget.ImageView"]),
        ({"scrollable": True}, ["androidx.recyclerview.widget.RecyclerView"]),
        ({"resourceId": "android:id/title", "instance": 2}, ["Apps"]),
        ({"resourceId": "android:id/title", "instance": 99}, []),
        ({"resourceId": "android:id/title", "instance": -1}, []),
        ({"packageNameMatches": ".*systemui", "clickable": True, "index": 0}, ["android.widget.ImageView"] * 3),
    ],
)
def test_fields_select_what_they_say(settings: Finger, fields: dict[str, Any], texts: list[str]) -> None:
    assert found(settings, Selector(**fields)) == texts


def test_case_counts_only_where_the_server_asks_all_windows_at_once(settings: Finger) -> None:
    assert found(settings, Selector(textContains="BATT")) == []
    assert found(settings, Selector(textContains="BATT", instance=0)) == ["Battery"]
    assert found(settings, Selector(textStartsWith="batt", instance=0)) == ["Battery"]
    nodes = nodes_of(settings.phone.windows)
    assert texts_of(find(nodes, Selector(textStartsWith="batt"), stepwise=True)) == ["Battery"]


def test_a_child_is_looked_for_below_the_first_match(settings: Finger) -> None:
    rows = Selector(resourceId="com.android.settings:id/recycler_view").child(resourceId="android:id/title", instance=1)
    assert found(settings, rows) == ["Connected devices"]


def test_a_sibling_is_looked_for_below_the_parent(settings: Finger) -> None:
    summary = Selector(text="Storage").sibling(resourceId="android:id/summary")
    assert found(settings, summary) == [f"{settings.phone.world['storage/used']}% used"]
    assert found(settings, Selector(text="absent").child(text="x")) == []


def test_a_child_is_looked_for_below_the_next_match_when_the_first_has_none() -> None:
    nodes = tree(("a",), ("b", "c"), ("c",))
    assert texts_of(find(nodes, Selector(className="row").child(text="c"))) == ["c", "c"]
    assert texts_of(find(nodes, Selector(className="row", instance=1).child(className=LABEL))) == ["b", "c", "c"]


def test_the_instances_of_a_child_are_counted_over_all_parents() -> None:
    nodes = tree(("a",), ("b", "c"), ("d",))
    every = Selector(className="row").child(className=LABEL)
    assert texts_of(find(nodes, every)) == ["a", "b", "c", "d"]
    for instance, text in enumerate(["a", "b", "c", "d"]):
        chained = Selector(className="row").child(className=LABEL, instance=instance)
        assert texts_of(find(nodes, chained)) == [text]
    assert find(nodes, Selector(className="row").child(className=LABEL, instance=4)) == []


def test_chains_go_on_step_by_step() -> None:
    nodes = tree(("a", "b"), ("a", "c"))
    selector = Selector(className="list").child(className="row").child(text="a").sibling(text="c")
    assert texts_of(find(nodes, selector)) == ["c"]
    nested = Selector(className="list")
    nested["childOrSibling"].append("child")
    nested["childOrSiblingSelector"].append(Selector(className="row"))
    nested["childOrSiblingSelector"][0].child(text="a").sibling(text="c")
    assert texts_of(find(nodes, nested)) == ["c"]


def test_a_selector_is_plain_without_index_instance_and_chain() -> None:
    assert is_plain(Selector(text="a"))
    for selector in (Selector(), Selector(index=0), Selector(text="a", instance=0), Selector(text="a").child(text="b")):
        assert not is_plain(selector)


@pytest.mark.parametrize("selector", [{"mask": 1, "text": None}, {"mask": 4, "textMatches": None}])
def test_a_null_is_thrown_at(selector: dict[str, Any]) -> None:
    with pytest.raises(SelectorProblem) as caught:
        find(tree(("a",)), selector)
    assert caught.value.exception == "java.lang.NullPointerException"


@pytest.mark.parametrize(
    "selector",
    [
        {"mask": 1, "text": ["a"]}, {"mask": 0x400, "checkable": "yes"}, {"mask": 0x800000, "index": "0"},
        {"mask": "1", "text": "a"}, {"mask": True}, {"childOrSibling": ["child"], "childOrSiblingSelector": ["x"]},
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused(selector: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        find(tree(("a",)), selector)


def test_numbers_are_taken_for_texts_as_the_servers_reader_does() -> None:
    assert texts_of(find(tree(("5",)), {"mask": 1, "text": 5})) == ["5"]


def nested_in_itself(depth: int) -> dict[str, Any]:
    selector: dict[str, Any] = {"mask": 1, "text": "a"}
    for _ in range(depth):
        selector = {"mask": 0, "childOrSibling": ["sibling"], "childOrSiblingSelector": [selector]}
    return selector


def test_a_chain_without_end_overflows_the_stack_of_a_phone_and_not_ours() -> None:
    long = Selector(className="row")
    for _ in range(MAX_CHAIN):
        long.child(className="row")
    for selector in (long, nested_in_itself(MAX_CHAIN), nested_in_itself(20_000)):
        with pytest.raises(SelectorProblem) as caught:
            find(tree(("a",)), selector)
        assert caught.value.exception == "java.lang.StackOverflowError"


def test_a_chain_that_looks_everywhere_over_and_over_is_given_up() -> None:
    selector = Selector(className="row")
    for _ in range(30):
        selector.sibling(className="row")
    selector.sibling(text="absent")
    with pytest.raises(PatternError) as caught:
        find(tree(*[("a",)] * 8), selector)
    assert caught.value.reason == "limit"


def test_a_catastrophic_pattern_is_answered_at_once(settings: Finger) -> None:
    assert found(settings, Selector(textMatches="(([a-zA-Z &]+)+)+\\d")) == []


def test_a_selector_is_described_as_the_servers_exception_does() -> None:
    selector = Selector(text="a", checked=True, instance=1).child(resourceId="b")
    assert describe(selector) == "UiSelector[TEXT=a, CHECKED=true, INSTANCE=1, CHILD=UiSelector[RESOURCE_ID=b]]"


def test_both_ways_of_finding_describe_a_node_in_their_own_way(settings: Finger) -> None:
    node = settings.one(text="Battery")
    plain, stepwise = object_info(node), object_info(node, plain=False)
    assert plain["resourceName"] == "android:id/title"
    assert plain["contentDescription"] is None
    assert stepwise["resourceName"] is None
    assert stepwise["contentDescription"] == ""
    assert plain["bounds"] == plain["visibleBounds"] == stepwise["bounds"]
    row = settings.one(scrollable=True)
    assert object_info(row)["text"] is None
    assert object_info(row, plain=False)["text"] == ""
    assert object_info(row)["childCount"] == len(row.children)


VALUES = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.lists(st.integers(), max_size=2)


@given(
    st.recursive(
        st.dictionaries(
            st.sampled_from(["mask", "childOrSibling", "childOrSiblingSelector", "instance", *FIELDS]),
            VALUES | st.integers(0, 1 << 26) | st.lists(st.sampled_from(["child", "sibling", "x"]), max_size=3),
        ),
        lambda inner: st.tuples(inner, st.lists(inner, min_size=1, max_size=3)).map(
            lambda pair: {**pair[0], "childOrSibling": ["child", "sibling"], "childOrSiblingSelector": pair[1]}
        ),
        max_leaves=4,
    )
)
def test_no_selector_raises_anything_unforeseen(selector: dict[str, Any]) -> None:
    with contextlib.suppress(SelectorProblem, PatternError, TypeError):
        find(nodes_of(PHONE.windows), selector)


PHONE = Phone(PhoneSetup(seed=1))
