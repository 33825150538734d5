from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from agent_eval.device_sim.apps.recipes import PACKAGE
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]
FIELDS = ("title", "description", "source", "ingredients", "directions", "servings", "minutes", "favourite")


def recipes(finger: Finger) -> list[dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for path, value in finger.phone.state.items():
        if path.startswith("recipes/"):
            found.setdefault(path.split("/")[1], {})[path.split("/")[2]] = value
    return list(found.values())


def opened(make: Make, *titles: str, seed: int = 1) -> Finger:
    """Open the app on a phone that has these recipes only."""
    finger = make(seed)
    for recipe in {path.split("/")[1] for path in finger.phone.state if path.startswith("recipes/")}:
        finger.phone.remove(f"recipes/{recipe}")
    for number, title in enumerate(titles, start=1):
        finger.phone.put(f"recipes/{number}/title", title)
        finger.phone.put(f"recipes/{number}/ingredients", "200 g flour\n3 eggs")
    finger.phone.open_app(PACKAGE)
    return finger


def write(finger: Finger, field: str, text: str) -> None:
    for _ in range(4):
        if finger.sees(resourceId=f"{_ID}{field}"):
            break
        finger.phone.swipe(360, 900, 360, 600)
    finger.tap(resourceId=f"{_ID}{field}")
    finger.phone.clear_text()
    for place, line in enumerate(text.split("\n")):
        if place:
            finger.phone.key("enter")
        finger.phone.type_text(line)
    finger.phone.key("back")  # the keyboard


def delete(finger: Finger, title: str) -> None:
    finger.path(title)
    finger.tap(description="More options")
    finger.tap(text="Delete")
    finger.tap(text="Delete", className="android.widget.Button")


def test_a_recipe_is_written_field_by_field_and_saved(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New recipe")
    write(finger, "new_title", "Plum Cake")
    write(finger, "new_description", "For August.")
    write(finger, "new_servings", "8")
    write(finger, "new_preparation_time", "45")
    write(finger, "new_ingredients", "500 g plums\n2 eggs\n100 g sugar")
    write(finger, "new_directions", "Stone the plums.\nBake them.")
    assert recipes(finger) == []
    finger.tap(text="Save")
    assert recipes(finger) == [
        {
            "title": "Plum Cake", "description": "For August.", "source": "", "servings": 8, "minutes": 45,
            "ingredients": "500 g plums\n2 eggs\n100 g sugar", "directions": "Stone the plums.\nBake them.",
            "favourite": False,
        }
    ]  # fmt: skip
    assert finger.sees(text="8 servings")
    assert finger.sees(text="2 eggs")


def test_a_recipe_without_a_title_is_not_saved(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New recipe")
    finger.tap(text="Save")
    assert finger.phone.toast == "Please enter a title"
    assert recipes(finger) == []


def test_a_form_that_was_typed_into_asks_before_it_is_thrown_away(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New recipe")
    finger.phone.key("back")
    assert finger.phone.front.screen == "recipes/main"  # nothing was typed
    finger.tap(description="New recipe")
    write(finger, "new_title", "Half")
    finger.phone.key("back")
    finger.tap(text="Cancel")
    finger.tap(description="Navigate up")
    finger.tap(text="Discard")
    assert finger.phone.front.screen == "recipes/main"
    assert recipes(finger) == []


def test_editing_changes_one_recipe_in_place(make: Make) -> None:
    finger = opened(make, "Bread", "Bread roll")
    finger.path("Bread")
    finger.tap(description="Edit")
    write(finger, "new_servings", "6")
    finger.tap(text="Save")
    assert finger.phone.state["recipes/1/servings"] == 6
    assert finger.phone.state["recipes/2/servings"] == 0
    assert len(recipes(finger)) == 2


def test_deleting_asks_first_and_takes_only_the_named_recipe(make: Make) -> None:
    finger = opened(make, "Bread", "Bread roll", "Tart")
    finger.path("Bread roll")
    finger.tap(description="More options")
    finger.tap(text="Delete")
    finger.tap(text="Cancel")
    assert len(recipes(finger)) == 3
    finger.phone.key("back")
    delete(finger, "Bread roll")
    assert [recipe["title"] for recipe in recipes(finger)] == ["Bread", "Tart"]


def test_the_search_looks_into_titles_and_ingredients(make: Make) -> None:
    finger = opened(make, "Bread", "Tart")
    finger.phone.put("recipes/2/ingredients", "Rhubarb")
    finger.tap(description="Search")
    finger.tap(className="android.widget.EditText")
    finger.phone.type_text("rhub")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}card_text_view_title")] == ["Tart"]
    finger.tap(description="Collapse")
    assert len(finger.all(resourceId=f"{_ID}card_text_view_title")) == 2


def test_favourites_are_marked_and_listed(make: Make) -> None:
    finger = opened(make, "Bread", "Tart")
    finger.path("Tart")
    finger.tap(description="Add to favorites")
    assert finger.phone.state["recipes/2/favourite"] is True
    finger.phone.key("back")
    finger.tap(description="Show favorites")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}card_text_view_title")] == ["Tart"]


def test_the_quantity_of_an_ingredient_can_be_read(make: Make) -> None:
    finger = opened(make, "Bread")
    finger.path("Bread")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}ingredient_text_view")] == ["200 g flour", "3 eggs"]


def test_a_recipe_is_copied_as_text(make: Make) -> None:
    finger = opened(make, "Bread")
    finger.path("Bread")
    finger.tap(description="More options")
    finger.tap(text="Copy as text")
    assert finger.phone.clipboard == "Bread\n\n200 g flour\n3 eggs"


def test_books_hold_look_alikes_and_on_some_phones_exact_duplicates(make: Make) -> None:
    duplicates = []
    for seed in range(8):
        drawn = recipes(make(seed))
        titles = Counter(recipe["title"] for recipe in drawn)
        exact = Counter(tuple(sorted((k, v) for k, v in recipe.items())) for recipe in drawn)
        assert max(titles.values()) > 1
        assert all(set(recipe) == set(FIELDS) for recipe in drawn)
        duplicates.append(sum(count - 1 for count in exact.values()))
    assert min(duplicates) == 0
    assert max(duplicates) >= 1


def test_two_seeds_differ_and_one_seed_does_not(make: Make) -> None:
    assert recipes(make(1)) == recipes(make(1))
    assert recipes(make(1)) != recipes(make(2))


def test_every_text_is_there_in_german_and_chinese() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_meets_every_screen() -> None:
    assert {"recipes/main", "recipes/details", "recipes/menu", "recipes/edit"} <= stroll(PACKAGE, "en").screens
