from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.browser import APP, BOOKMARK, HISTORY, PACKAGE
from agent_eval.device_sim.apps.web import (
    SITES,
    address_of,
    maze_page,
    multiply_page,
    read_html,
    site_page,
    target_of,
)
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def opened(make: Make, seed: int = 1, html: str = "") -> Finger:
    finger = make(seed, **({"files/Download/task.html": html} if html else {}))
    for path in [path for path in finger.phone.state if path.startswith((BOOKMARK, HISTORY))]:
        del finger.phone.state[path]
    if html:
        finger.phone.open_app("com.android.documentsui")
        finger.path("Download", "task.html", "Open with Browser")
    else:
        finger.phone.open_app(PACKAGE)
    return finger


def visit(finger: Finger, address: str) -> None:
    finger.tap(resourceId=f"{_ID}url")
    finger.phone.type_text(address)
    finger.phone.key("enter")


def shown(finger: Finger) -> str:
    return finger.one(resourceId=f"{_ID}url").view.text


def records(finger: Finger, prefix: str, field: str) -> list[object]:
    return [value for path, value in finger.phone.state.items() if path.startswith(prefix) and path.endswith(field)]


def test_an_address_is_opened_by_the_keyboard_and_by_the_button(make: Make) -> None:
    finger = opened(make)
    visit(finger, "news.example/bridge")
    assert finger.sees(text="Old harbour bridge closes for repairs")
    assert not finger.phone.keyboard_open
    finger.tap(resourceId=f"{_ID}url")
    finger.phone.type_text("wiki.example/Tide")
    finger.tap(description="Go")
    assert finger.sees(textStartsWith="A tide is")
    assert not finger.phone.keyboard_open
    assert records(finger, HISTORY, "/url") == ["https://news.example/bridge", "https://wiki.example/Tide"]


def test_a_page_is_bookmarked_once_and_opened_from_the_list(make: Make) -> None:
    finger = opened(make)
    visit(finger, "https://shop.example/kettle-large")
    finger.tap(description="Bookmark")
    assert records(finger, BOOKMARK, "/url") == ["https://shop.example/kettle-large"]
    finger.tap(description="More options")
    finger.tap(text="Add bookmark")
    assert len(records(finger, BOOKMARK, "/url")) == 1
    visit(finger, "news.example")
    finger.tap(description="More options")
    finger.tap(text="Bookmarks")
    finger.tap(text="Kettle, 1.7 litres")
    assert shown(finger) == "https://shop.example/kettle-large"
    finger.tap(description="Edit bookmark")
    finger.tap(description="Delete")
    assert records(finger, BOOKMARK, "/url") == []


def test_links_back_and_forward_lead_where_one_was(make: Make) -> None:
    finger = opened(make)
    visit(finger, "wiki.example")
    finger.path("Glacier", "Violin")
    finger.tap(resourceId=f"{_ID}back_button")
    assert shown(finger).endswith("/Glacier")
    finger.phone.key("back")
    assert shown(finger) == "https://wiki.example/"
    finger.tap(description="Forward")
    assert shown(finger).endswith("/Glacier")
    finger.path("Open Encyclopedia", "Tide")
    finger.tap(description="Forward")  # disabled: what was ahead is forgotten
    assert shown(finger).endswith("/Tide")


def test_an_unknown_address_says_so_and_is_not_remembered(make: Make) -> None:
    finger = opened(make)
    visit(finger, "nowhere.example")
    assert finger.sees(text="This site can’t be reached")
    assert records(finger, HISTORY, "/url") == []
    finger.tap(description="Bookmark")  # disabled
    assert records(finger, BOOKMARK, "/url") == []


def test_words_are_searched_for(make: Make) -> None:
    finger = opened(make)
    visit(finger, "150 flowers")
    finger.tap(text="Saffron")
    assert shown(finger) == "https://wiki.example/Saffron"


def test_words_are_found_in_a_page(make: Make) -> None:
    finger = opened(make)
    visit(finger, "news.example/bridge")
    finger.tap(description="More options")
    finger.tap(text="Find in page")
    finger.tap(resourceId=f"{_ID}find_query")
    finger.phone.type_text("bridge")
    assert finger.sees(text="2 found")
    finger.tap(description="Close")
    assert not finger.sees(resourceId=f"{_ID}find_query")


def test_tabs_keep_their_own_pages(make: Make) -> None:
    finger = opened(make)
    visit(finger, "wiki.example/Tide")
    finger.tap(description="More options")
    finger.tap(text="New tab")
    visit(finger, "news.example/solar")
    finger.tap(description="Tabs, 2 open")
    finger.tap(text="Tide")
    assert shown(finger) == "https://wiki.example/Tide"
    finger.tap(description="Tabs, 2 open")
    finger.tap(description="Close Tide")
    assert shown(finger) == "https://news.example/solar"
    finger.tap(description="Tabs, 1 open")
    finger.tap(descriptionStartsWith="Close School roof")
    assert shown(finger) == ""


def test_the_history_is_forgotten_after_a_question(make: Make) -> None:
    finger = opened(make)
    for address in ("wiki.example/Tide", "news.example/solar"):
        visit(finger, address)
    finger.tap(description="More options")
    finger.tap(text="History")
    finger.tap(description="Remove Tide")
    assert records(finger, HISTORY, "/title") == ["School roof carries 240 solar panels"]
    finger.tap(description="Clear history")
    finger.tap(text="Cancel")
    assert records(finger, HISTORY, "/title")
    finger.tap(description="Clear history")
    finger.tap(text="Clear")
    assert records(finger, HISTORY, "/title") == []


def test_a_maze_is_solved_only_by_reaching_its_goal(make: Make) -> None:
    finger = opened(make, html=maze_page(["S#.", "...", "#.G"]))
    finger.tap(text="Right")  # a wall
    assert finger.sees(description="Row 1, column 1: You")
    for step in ("Down", "Right", "Down"):
        finger.tap(text=step)
    assert not finger.phone.state["browser/maze_solved"]
    finger.tap(text="Right")
    assert records(finger, "browser/", "maze_solved") == [True]
    assert finger.sees(textStartsWith="Success!")


def test_the_product_of_the_numbers_that_were_shown_is_asked_for(make: Make) -> None:
    finger = opened(make, html=multiply_page([3, 7, 2]))
    shown_numbers = []
    for _ in range(3):
        finger.tap(text="Click me")
        shown_numbers += [text for text in finger.texts if text in ("3", "7", "2")]
    assert shown_numbers == ["3", "7", "2"]
    finger.tap(text="Click me")
    assert not {"3", "7", "2"} & set(finger.texts)
    for product, solved in (("41", False), ("42", True)):
        finger.tap(resourceId=f"{_ID}product")
        finger.phone.clear_text()
        finger.phone.type_text(product)
        finger.tap(text="Submit")
        assert finger.phone.state["browser/product_solved"] is solved


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("", "about:blank"),
        ("news.example", "https://news.example/"),
        ("HTTP://News.Example/bridge", "https://news.example/bridge"),
        ("https://a.example/b?c=d", "https://a.example/b?c=d"),
        ("two words", "https://search.example/?q=two%20words"),
        ("word", "https://search.example/?q=word"),
        ("javascript://alert(1)", "https://search.example/?q=javascript%3A//alert%281%29"),
        ("file:///sdcard/Download/task.html", "file:///sdcard/Download/task.html"),
    ],
)
def test_what_is_typed_becomes_an_address(typed: str, address: str) -> None:
    assert address_of(typed) == address


def test_every_link_of_every_site_leads_to_a_page() -> None:
    for address in SITES:
        page = site_page(address)
        assert page.blocks
        for block in page.blocks:
            if block.kind == "link":
                assert site_page(target_of(address, block.value)).found, (address, block)


@given(st.text(max_size=300))
def test_any_text_can_be_read_as_a_page_and_typed_as_an_address(text: str) -> None:
    assert read_html(text, "name").title
    target_of("https://news.example/", address_of(text))
    target_of("https://news.example/", text)


@given(st.lists(st.text("abc ", min_size=1, max_size=9).filter(str.strip), max_size=5))
def test_paragraphs_are_read_in_order(texts: list[str]) -> None:
    page = read_html("".join(f"<p>{text}</p>" for text in texts), "name")
    assert [block.text for block in page.blocks] == [" ".join(text.split()) for text in texts]


def test_a_drawn_maze_can_be_solved_and_seeds_differ(make: Make) -> None:
    pages = []
    for seed in range(1, 9):
        state = make(seed).phone.state
        html = next(str(state[f"files/Download/{name}.html"]) for name in ("task", "game")
                    if "maze" in str(state[f"files/Download/{name}.html"]))  # fmt: skip
        rows = re.findall(r'data-rows="([^"]*)"', html)[0].split(",")
        reached, todo = {(0, 0)}, [(0, 0)]
        while todo:
            x, y = todo.pop()
            for there in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                inside = 0 <= there[0] < len(rows) and 0 <= there[1] < len(rows)
                if inside and there not in reached and rows[there[1]][there[0]] != "#":
                    reached.add(there)
                    todo.append(there)
        assert rows[-1][-1] == "G"
        assert (len(rows) - 1, len(rows) - 1) in reached
        pages.append(html)
    assert len(set(pages)) > 4


def test_every_word_of_the_app_is_translated() -> None:
    words = " ".join(SITES.values()).lower()
    assert [text for text in untranslated(PACKAGE) if text.lower() not in words and "example/" not in text] == []


def test_a_walk_reaches_every_screen() -> None:
    assert set(APP.screens) <= stroll(PACKAGE, "de", steps=600).screens
