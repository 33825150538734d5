from __future__ import annotations

import math
import re

import pytest

from agent_eval.tasks import TASKS
from agent_eval.tasks.families.browser import BOOKMARK
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, facts, launch, tap, told, write

BAR, PRODUCT = "Search or type URL", "Product of the numbers"


@pytest.fixture
def page() -> TaskInstance:
    return TASKS["OpenUrlBookmark"].draw(3)


@pytest.fixture
def numbers() -> TaskInstance:
    return TASKS["RememberAndMultiply"].draw(3)


def short(address: object) -> str:
    return str(address).removeprefix("https://")


def marked(instance: TaskInstance) -> list[str]:
    """Return the addresses that are bookmarked at the start."""
    return [str(value) for path, value in instance.setup.state.items() if re.fullmatch(f"{BOOKMARK}/.*/url", path)]


def visit(address: object) -> tuple[Step, ...]:
    return write(BAR, short(address)), tap("Go")


def parts(stage: Stage, instance: TaskInstance, *steps: Step) -> dict[str, bool]:
    """Play steps that fall short, and return which parts of the goal held at the end."""
    record = stage.play(instance, launch("Browser"), *steps)
    assert record.outcome.label == "premature_completion", told(record)
    return {part.name: part.final for part in facts(record).sub_goals}


# ----------------------------------------------------------------------------------------------------------------------
# OpenUrlBookmark


def test_two_pages_near_the_one_that_is_meant_are_bookmarked_and_it_is_not() -> None:
    for seed in range(30):
        instance = TASKS["OpenUrlBookmark"].draw(seed)
        address = str(instance.parameters["url"])
        host = address.split("/")[2]
        assert address not in marked(instance)
        assert sum(other.split("/")[2] == host for other in marked(instance)) >= 2


def test_a_page_that_was_only_opened_is_half_of_it(stage: Stage, page: TaskInstance) -> None:
    assert parts(stage, page, *visit(page.parameters["url"])) == {"opened": True, "bookmarked": False}


def test_a_page_above_the_one_that_is_meant_is_none_of_it(stage: Stage, page: TaskInstance) -> None:
    above = str(page.parameters["url"]).rpartition("/")[0]
    assert parts(stage, page, *visit(above), tap("Bookmark")) == {"opened": False, "bookmarked": False}


def test_pages_visited_on_the_way_are_no_side_effect(stage: Stage, page: TaskInstance) -> None:
    record = stage.play(
        page, launch("Browser"), *visit("shop.example"), *visit(page.parameters["url"]), tap("Bookmark")
    )
    assert record.outcome.label == "success", told(record)


def test_a_second_bookmark_and_a_deleted_one_are_over_execution(stage: Stage, page: TaskInstance) -> None:
    done = (launch("Browser"), *visit(page.parameters["url"]), tap("Bookmark"))
    another = stage.play(page, *done, *visit("shop.example"), tap("Bookmark"))
    assert another.outcome.label == "over_execution", told(another)
    fewer = stage.play(page, *done, *visit(marked(page)[0]), tap("Edit bookmark"), tap("Delete"))
    assert fewer.outcome.label == "over_execution", told(fewer)


# ----------------------------------------------------------------------------------------------------------------------
# RememberAndMultiply


def open_page(folder: str, name: object) -> tuple[Step, ...]:
    return launch("Files"), tap(folder, "row"), tap(str(name)), tap("Open with Browser")


def solve(instance: TaskInstance, product: object, *, folder: str = "") -> tuple[Step, ...]:
    """Click through the numbers and submit a product."""
    clicks = [tap("Click me")] * (int(instance.parameters["clicks"]) + 1)
    opened = open_page(folder or str(instance.parameters["folder"]), instance.parameters["file"])
    return (*opened, *clicks, write(PRODUCT, str(product)), tap("Submit"))


def product_of(html: object) -> int:
    listed = re.findall(r'data-numbers="([^"]*)"', str(html))[0]
    return math.prod(map(int, listed.split(",")))


def test_the_pages_of_the_same_name_elsewhere_and_of_a_near_name_have_other_products() -> None:
    for seed in range(30):
        instance = TASKS["RememberAndMultiply"].draw(seed)
        name, folder, answer = (str(instance.parameters[key]) for key in ("file", "folder", "answer"))
        pages = {path: html for path, html in instance.setup.state.items() if path.endswith(".html")}
        assert str(product_of(pages.pop(f"files/{folder}/{name}"))) == answer
        assert any(path.endswith(f"/{name}") for path in pages)
        assert any(path.startswith(f"files/{folder}/") for path in pages)
        assert answer not in {str(product_of(html)) for html in pages.values()}


@pytest.mark.parametrize(
    ("says", "label"),
    [
        ("{}", "success"),
        ("The product is {}.", "success"),
        ("", "premature_completion"),
        ("1{}", "premature_completion"),
        ("{} or 12", "premature_completion"),
    ],
)
def test_the_submitted_product_must_be_told_too(stage: Stage, numbers: TaskInstance, says: str, label: str) -> None:
    product = numbers.parameters["answer"]
    record = stage.play(numbers, *solve(numbers, product), answer=says.format(product))
    assert record.outcome.label == label, told(record)


def test_a_product_that_was_told_but_not_submitted_is_premature(stage: Stage, numbers: TaskInstance) -> None:
    product = numbers.parameters["answer"]
    record = stage.play(numbers, *solve(numbers, product)[:-1], answer=str(product))
    assert record.outcome.label == "premature_completion", told(record)


def test_the_product_of_the_page_in_the_other_folder_is_a_wrong_answer(stage: Stage, numbers: TaskInstance) -> None:
    folder = "Documents" if numbers.parameters["folder"] == "Download" else "Download"
    product = product_of(numbers.setup.state[f"files/{folder}/{numbers.parameters['file']}"])
    record = stage.play(numbers, *solve(numbers, product, folder=folder), answer=str(product))
    assert record.outcome.label == "premature_completion", told(record)
    assert facts(record).answer_ok is False
