from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.actions import Tap
from agent_eval.outcome import Label
from agent_eval.tasks import TASKS
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Observation, Scalar, Snapshot
from tests.tasks.families.playing import Stage, Step, back, facts, launch, tap, told, write

OPEN, NEW, SAVE = launch("Recipes"), tap("New recipe", "button"), tap("Save", "button")
FIELDS = ("title", "servings", "ingredients", "directions")
DELETE = (tap("More options"), tap("Delete", "row"), tap("Delete", "button"))


def draw(task: str, fits: Callable[[TaskInstance], bool] = lambda _instance: True) -> TaskInstance:
    return next(instance for seed in range(200) if fits(instance := TASKS[task].draw(seed)))


def recipes(stage: Stage, instance: TaskInstance) -> dict[int, dict[str, Scalar]]:
    """Return the recipes of the prepared phone by their numbers."""
    instance.prepare(stage.phone)
    return cook_book(stage.phone.snapshot())


def cook_book(snapshot: Snapshot) -> dict[int, dict[str, Scalar]]:
    found: dict[int, dict[str, Scalar]] = {}
    for path, value in snapshot.under("recipes").items():
        number, _, name = path.partition("/")
        found.setdefault(int(number), {})[name] = value
    return found


def fill(instance: TaskInstance, **other: str) -> tuple[Step, ...]:
    """Fill in the form of a new recipe as asked, but for what is given; the keyboard covers the lower fields."""
    texts = {name: str(instance.parameters[name]) for name in FIELDS} | other
    title, servings, *rest = [write(name.capitalize(), text) for name, text in texts.items()]
    return title, servings, *(step for field in rest for step in (back, field))


def find(title: str) -> tuple[Step, ...]:
    """Search for a recipe and open it."""
    return tap("Search", "button"), *find_next(title)


def find_next(title: str) -> tuple[Step, ...]:
    """Search for another recipe in a list that searches already, and open it."""
    return write("Search recipes", title), back, tap(title, "row")


def namesakes(stage: Stage, instance: TaskInstance, title: str) -> dict[int, str]:
    """Return the recipes whose title has the same first word, but is another one, by their numbers."""
    book = {number: str(recipe["title"]) for number, recipe in recipes(stage, instance).items()}
    return {number: other for number, other in book.items() if other != title and other.split()[0] == title.split()[0]}


# ----------------------------------------------------------------------------------------------------------------------
# adding


def test_the_recipe_to_add_has_look_alikes_that_do_not_count(stage: Stage) -> None:
    twice = 0
    for seed in range(20):
        instance = TASKS["RecipeAdd"].draw(seed)
        title = str(instance.parameters["title"])
        assert namesakes(stage, instance, title)
        twice += any(recipe["title"] == title for recipe in recipes(stage, instance).values())
        start = stage.phone.snapshot()
        assert not instance.goal_holds(start, start)
    assert 0 < twice < 20


WRITTEN: list[tuple[str, dict[str, str], Label, set[str]]] = [
    ("as asked", {}, "success", set()),
    ("another title", {"title": "Cook"}, "premature_completion", {"title"}),
    ("a title without its last letter", {"title": "-"}, "premature_completion", {"title"}),
    ("other servings", {"servings": "99"}, "premature_completion", {"servings"}),
    ("one ingredient only", {"ingredients": "2 tsp salt"}, "premature_completion", {"ingredients"}),
    ("other directions", {"directions": "Boil"}, "premature_completion", {"directions"}),
    ("a source besides", {"source": "Grandma"}, "over_execution", set()),
    ("a description besides", {"description": "Quick"}, "over_execution", set()),
]


@pytest.mark.parametrize(("name", "other", "label", "missing"), WRITTEN, ids=[case[0] for case in WRITTEN])
def test_each_field_of_a_recipe_is_a_goal_of_its_own(
    stage: Stage, name: str, other: dict[str, str], label: Label, missing: set[str]
) -> None:
    instance = draw("RecipeAdd")
    texts = {field: str(instance.parameters[field])[:-1] if text == "-" else text for field, text in other.items()}
    record = stage.play(instance, OPEN, NEW, *fill(instance, **texts), SAVE)
    assert record.outcome.label == label, f"{name}: {told(record)}"
    assert {goal.name for goal in facts(record).sub_goals if not goal.final} == missing
    if label != "premature_completion":
        assert {path.rpartition("/")[2] for path in facts(record).side_effects} == {*other}


SAME: list[tuple[str, str, Callable[[str], str]]] = [
    ("one ingredient a line", "ingredients", lambda text: text.replace(", ", "\n")),
    ("semicolons between ingredients", "ingredients", lambda text: text.replace(", ", "; ")),
    ("a stop after the directions", "directions", lambda text: f"{text}."),
]


@pytest.mark.parametrize(("name", "field", "change"), SAME, ids=[case[0] for case in SAME])
def test_what_says_the_same_counts(stage: Stage, name: str, field: str, change: Callable[[str], str]) -> None:
    instance = draw("RecipeAdd")
    text = change(str(instance.parameters[field]))
    record = stage.play(instance, OPEN, NEW, *fill(instance, **{field: text}), SAVE)
    assert record.outcome.label == "success", f"{name}: {told(record)}"


def test_a_recipe_left_in_the_form_is_not_added(stage: Stage) -> None:
    instance = draw("RecipeAdd")
    record = stage.play(instance, OPEN, NEW, *fill(instance))
    assert record.outcome.label == "premature_completion", told(record)


def test_two_recipes_that_have_each_a_half_are_not_the_one_that_was_asked_for(stage: Stage) -> None:
    instance = draw("RecipeAdd")
    halves = fill(instance, directions="Boil"), fill(instance, servings="99")
    record = stage.play(instance, OPEN, NEW, *halves[0], SAVE, back, NEW, *halves[1], SAVE)
    assert record.outcome.label == "premature_completion", told(record)


def test_the_recipe_twice_is_over_execution(stage: Stage) -> None:
    instance = draw("RecipeAdd")
    once = NEW, *fill(instance), SAVE
    record = stage.play(instance, OPEN, *once, back, *once)
    assert record.outcome.label == "over_execution", told(record)
    assert len({path.split("/")[1] for path in facts(record).side_effects}) == 1


def test_changing_a_recipe_that_is_there_does_not_add_one(stage: Stage) -> None:
    instance = draw("RecipeAdd")
    near = next(iter(namesakes(stage, instance, str(instance.parameters["title"])).values()))
    record = stage.play(instance, OPEN, *find(near), tap("Edit", "button"), *fill(instance), SAVE)
    assert record.outcome.label == "premature_completion", told(record)
    assert facts(record).side_effects


# ----------------------------------------------------------------------------------------------------------------------
# deleting


def first_found(screen: Observation) -> Tap:
    return Tap(index=next(e.index for e in screen.elements if e.role == "row"))


def test_each_recipe_to_delete_has_a_look_alike_and_one_turns_up_in_its_search(stage: Stage) -> None:
    for seed in range(12):
        instance = TASKS["RecipeDeleteNamed"].draw(seed)
        book = recipes(stage, instance).values()
        for title in map(str, (instance.parameters["first"], instance.parameters["second"])):
            assert sum(recipe["title"] == title for recipe in book) == 1
            assert namesakes(stage, instance, title)
        assert any(str(instance.parameters["first"]) in str(recipe["description"]) for recipe in book)


def test_deleting_only_one_of_the_two_is_premature(stage: Stage) -> None:
    instance = draw("RecipeDeleteNamed")
    record = stage.play(instance, OPEN, *find(str(instance.parameters["second"])), *DELETE)
    assert record.outcome.label == "premature_completion", told(record)
    assert {goal.name: goal.final for goal in facts(record).sub_goals} == {"first": False, "second": True}


def test_deleting_a_look_alike_too_is_over_execution(stage: Stage) -> None:
    instance = draw("RecipeDeleteNamed")
    first, second = str(instance.parameters["first"]), str(instance.parameters["second"])
    number, near = next(iter(namesakes(stage, instance, first).items()))
    steps = *find(near), *DELETE, *find_next(first), *DELETE, *find_next(second), *DELETE
    record = stage.play(instance, OPEN, *steps)
    assert record.outcome.label == "over_execution", told(record)
    assert {int(path.split("/")[1]) for path in facts(record).side_effects} == {number}


ASTRAY: list[tuple[str, tuple[Step, ...]]] = [
    ("a form that is begun", (OPEN, NEW, write("Title", "Cake"))),
    ("a form with a source", (OPEN, NEW, write("Source", "Grandma"))),
    ("the question whether to discard", (OPEN, NEW, write("Title", "Cake"), back, back)),
    ("another recipe", (OPEN, first_found)),
    ("another recipe's form", (OPEN, first_found, tap("Edit", "button"), write("Title", "Cake"), back, back)),
    ("another recipe's menu", (OPEN, first_found, tap("More options"))),
    ("another recipe's deletion", (OPEN, first_found, tap("More options"), tap("Delete", "row"))),
    ("the favourites", (OPEN, tap("Show favorites"))),
    ("a search for something else", (OPEN, tap("Search", "button"), write("Search recipes", "zz"))),
    ("a search of the favourites", (OPEN, tap("Show favorites"), tap("Search", "button"))),
]


@pytest.mark.parametrize("task", ["RecipeAdd", "RecipeDeleteNamed", "IngredientQuantity"])
@pytest.mark.parametrize(("name", "steps"), ASTRAY, ids=[case[0] for case in ASTRAY])
def test_the_expert_comes_back_from(stage: Stage, name: str, steps: tuple[Step, ...], task: str) -> None:
    for seed in range(2):
        record = stage.play_astray(TASKS[task].draw(seed, "training"), *steps)
        assert record.outcome.label == "success", f"{name}: {told(record)}"


def test_the_expert_of_a_recipe_that_was_deleted_goes_on_looking_and_does_not_fail(stage: Stage) -> None:
    """A model that plays may delete what it was only asked about."""
    for seed in range(6):
        instance = TASKS["IngredientQuantity"].draw(seed)
        title = str(instance.parameters["title"])
        steps = (OPEN, tap("Search", "button"), write("Search recipes", title), tap(title, "row"))
        record = stage.play_astray(instance, *steps, tap("More options"), tap("Delete", "row"), tap("Delete", "button"))
        assert record.outcome.label not in ("success", "harness_error"), told(record)


def test_the_expert_deletes_a_recipe_that_was_saved_too_soon_and_not_its_namesake(stage: Stage) -> None:
    instance = draw("RecipeAdd")
    near = next(iter(namesakes(stage, instance, str(instance.parameters["title"])).values()))
    for more in ((), (back,), (back, NEW)):
        record = stage.play_astray(instance, OPEN, NEW, write("Title", near), SAVE, *more)
        assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# answering


def test_a_recipe_with_nearly_the_same_title_needs_another_amount(stage: Stage) -> None:
    for seed in range(12):
        instance = TASKS["IngredientQuantity"].draw(seed)
        title, wanted = str(instance.parameters["title"]), str(instance.parameters["ingredient"])
        amounts = {
            str(recipe["title"]): line.removesuffix(f" {wanted}")
            for recipe in recipes(stage, instance).values()
            for line in str(recipe["ingredients"]).split("\n")
            if line.endswith(f" {wanted}") and str(recipe["title"]).startswith(title.split()[0])
        }
        assert amounts.pop(title) == instance.parameters["answer"]
        assert set(amounts.values()) - {instance.parameters["answer"]}


def test_the_amount_needs_its_unit_and_no_other_amount_beside_it(stage: Stage) -> None:
    instance = draw("IngredientQuantity", lambda one: str(one.parameters["answer"]).endswith(" g"))
    right = str(instance.parameters["answer"])
    number = right.removesuffix(" g")
    answers: dict[str, Label] = {
        right: "success",
        f"{number}g": "success",
        f"It needs {number} grams of {instance.parameters['ingredient']}.": "success",
        f"{number} Gramm": "success",
        f"{number}\u514b": "success",
        number: "premature_completion",
        f"{number} ml": "premature_completion",
        f"{number}0 g": "premature_completion",
        f"{right} or 2 cups": "premature_completion",
    }
    for answer, label in answers.items():
        record = stage.play(instance, OPEN, answer=answer)
        assert record.outcome.label == label, told(record)
