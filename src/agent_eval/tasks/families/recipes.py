"""What is asked of Recipes, and how an expert does it. Knows where recipes are kept in the phone's state.

Every cook book has look-alikes of the recipe that is meant: a title that is a letter or a word off, and one that names
it in its description, and so turns up in the same search.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from agent_eval.device_sim.apps.recipes import PACKAGE
from agent_eval.tasks import answers
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, Writes, every, only
from agent_eval.tasks.moves import Move, finish, go_back, open_app, plain, repairing, tap
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Element, Scalar, Snapshot

RECIPES = PACKAGE

_FRAMES = ("{}.", "Please {}.", "I want you to {}.")
_ADD = (
    'add a recipe to the Recipes app: title "{title}", {servings} servings, ingredients "{ingredients}", directions '
    '"{directions}"',
    'create a new recipe called "{title}" for {servings} servings, with the ingredients "{ingredients}" and the '
    'directions "{directions}"',
    'save "{title}" as a recipe that serves {servings}; it needs "{ingredients}", and the directions are '
    '"{directions}"',
    'enter a new recipe. Title: "{title}". Servings: {servings}. Ingredients: "{ingredients}". Directions: '
    '"{directions}"',
)
_DELETE = (
    'delete the recipes "{first}" and "{second}"',
    'remove "{first}" and "{second}" from the Recipes app',
    'throw the recipes for "{first}" and "{second}" out of the cook book',
    'get rid of two recipes, "{first}" and "{second}"',
)
_AMOUNT: dict[Language, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "en": (
        (
            'how much {ingredient} does the recipe "{title}" need',
            'what quantity of {ingredient} goes into "{title}", according to the recipe',
            'according to the Recipes app, how much {ingredient} do I need for "{title}"',
            'which amount of {ingredient} is listed in the recipe "{title}"',
        ),
        ("{}? Give the number and the unit.", "{}? Answer with the amount and its unit."),
    ),
    "de": (
        (
            "wie viel „{ingredient}“ braucht das Rezept „{title}“",
            "welche Menge „{ingredient}“ steht im Rezept „{title}“",
            "wie viel „{ingredient}“ kommt laut Rezept in „{title}“",
        ),
        ("{}? Nenne Zahl und Einheit.", "{}? Antworte mit Menge und Einheit."),
    ),
    "zh": (
        (
            "食谱“{title}”需要多少“{ingredient}”",
            "做“{title}”要用多少“{ingredient}”",
            "“{title}”这份食谱里“{ingredient}”的用量是多少",
        ),
        ("{}？请回答数量和单位。", "{}？告诉我数字和单位。"),
    ),
}

_BASES = (
    "Almond", "Apple", "Apricot", "Barley", "Beet", "Carrot", "Cashew", "Celery", "Cherry", "Coconut", "Corn", "Fennel",
    "Fig", "Hazelnut", "Kale", "Leek", "Lemon", "Nettle", "Oat", "Olive", "Onion", "Orange", "Parsnip", "Peach", "Pear",
    "Plum", "Potato", "Pumpkin", "Quince", "Radish", "Rhubarb", "Spinach", "Turnip", "Walnut",
)  # fmt: skip
_DISHES = (
    "Bake", "Bread", "Cake", "Chutney", "Crumble", "Curry", "Dip", "Gratin", "Pie", "Pudding", "Salad", "Soup", "Stew",
    "Tart",
)  # fmt: skip
_DESCRIPTIONS = ("For guests.", "For a rainy day.", "From the neighbours.", "Quick to make.", "Keeps for a week.")
_BY_SCALE, _BY_SPOON = range(50, 501, 25), range(2, 7)
_INGREDIENTS = {
    "butter": "g", "cheese": "g", "flour": "g", "honey": "tbsp", "milk": "ml", "mustard": "tsp", "olive oil": "tbsp",
    "paprika": "tsp", "raisins": "g", "rice": "cups", "salt": "tsp", "sour cream": "ml", "stock": "ml", "sugar": "g",
    "syrup": "tbsp", "water": "cups", "yoghurt": "g",
}  # fmt: skip
"""What is measured, to the unit in which it is."""
_STEPS = (
    "Mix everything and bake for {minutes} minutes",
    "Boil for {minutes} minutes and serve warm",
    "Stir well, then cool for {minutes} minutes",
    "Cook on a low heat for {minutes} minutes",
    "Fry for {minutes} minutes and season to taste",
)
_IN_VIEW = 7
"""Recipes with a description that the list shows without scrolling, on a default phone."""
_FIRST_NUMBER = 901


# ----------------------------------------------------------------------------------------------------------------------
# what a cook book holds


@dataclass(frozen=True)
class _Recipe:
    """One recipe as the phone is prepared with it or a task wants it."""

    title: str
    servings: int
    ingredients: tuple[tuple[str, str], ...]
    """Amount and what of."""
    directions: str
    description: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The ingredients, each as one line."""
        return tuple(f"{amount} {name}" for amount, name in self.ingredients)


def _draw_titles(count: int, rng: Random) -> list[str]:
    """Draw titles that share no first word."""
    return [f"{base} {rng.choice(_DISHES)}" for base in rng.sample(_BASES, count)]


def _near_title(title: str, rng: Random) -> str:
    """Draw a title that is easily taken for another: one letter more, or another second word."""
    base, _, dish = title.partition(" ")
    return rng.choice((f"{title}s", f"{base} {rng.choice([other for other in _DISHES if other != dish])}"))


def _draw_amount(name: str, rng: Random, besides: Collection[str] = ()) -> str:
    """Draw how much of an ingredient there is."""
    unit = _INGREDIENTS[name]
    numbers = _BY_SCALE if unit in ("g", "ml") else _BY_SPOON
    return rng.choice([amount for number in numbers if (amount := f"{number} {unit}") not in besides])


def _draw_recipe(title: str, rng: Random) -> _Recipe:
    return _Recipe(
        title,
        rng.randint(2, 12),
        tuple((_draw_amount(name, rng), name) for name in rng.sample(sorted(_INGREDIENTS), rng.randint(2, 3))),
        rng.choice(_STEPS).format(minutes=5 * rng.randint(1, 12)),
        rng.choice(_DESCRIPTIONS),
    )


def _store(recipes: Sequence[_Recipe], rng: Random) -> tuple[dict[str, Scalar], list[int]]:
    """Return the paths of recipes and the number of each, which tells nothing of their order."""
    numbers = rng.sample(range(_FIRST_NUMBER, _FIRST_NUMBER + len(recipes)), len(recipes))
    state: dict[str, Scalar] = {}
    for number, recipe in zip(numbers, recipes, strict=True):
        fields: dict[str, Scalar] = {
            "title": recipe.title,
            "description": recipe.description,
            "servings": recipe.servings,
            "minutes": 5 * rng.randint(2, 18),
            "ingredients": "\n".join(recipe.lines),
            "directions": f"{recipe.directions}.",
        }
        state |= {f"recipes/{number}/{name}": value for name, value in fields.items()}
    return state, numbers


def _listed(recipes: Sequence[_Recipe]) -> list[str]:
    """Return the titles in the order of the app's list."""
    return sorted((recipe.title for recipe in recipes), key=str.lower)


# ----------------------------------------------------------------------------------------------------------------------
# ways through the app


def _to_list(view: View) -> Move | None:
    """Return the move that leads towards the list of recipes; None when it is in front."""
    if view.package != RECIPES:
        return open_app("Recipes")
    if view.screen == "recipes/discard":
        return view.tap_on("Discard", "button")
    return go_back() if view.screen != "recipes/main" else None


def _open_one(view: View, targets: Mapping[int, str]) -> Move:
    """Return the next move that opens one of some recipes, by number and title: one in view, else one that is found."""
    move = _to_list(view)
    if move is not None:
        return move
    for number, title in targets.items():
        row = _row_of(view, number, title)
        if row is not None:
            return tap(row)
    searching, words = view.variable("searching"), next(iter(targets.values()))
    if view.variable("favourites"):
        return view.tap_on("Collapse" if searching else "Show all recipes", "button")
    if not searching:
        return view.tap_on("Search", "button")
    return view.fill({"Search recipes": words}) or view.tap_on(words, "row")


def _row_of(view: View, number: int, title: str) -> Element | None:
    """Return the row of a recipe if it is on the screen; those with one title are listed by their numbers."""
    rows = list(view.labelled(title, "row"))
    paths = [path for path, value in view.now.under("recipes").items() if path.endswith("/title") and value == title]
    numbers = sorted(int(path.split("/")[0]) for path in paths)
    return rows[min(numbers.index(number), len(rows) - 1)] if rows and number in numbers else None


def _delete_one(view: View, targets: Mapping[int, str]) -> Move:
    """Return the next move that deletes one of some recipes, by number and title."""
    if view.package == RECIPES and view.variable("recipe") in targets:
        match view.screen:
            case "recipes/details":
                return view.tap_on("More options", "button")
            case "recipes/menu":
                return view.tap_on("Delete", "row")
            case "recipes/delete":
                return view.tap_on("Delete", "button")
    return _open_one(view, targets)


# ----------------------------------------------------------------------------------------------------------------------
# a new recipe


_LABELS = {
    "title": "Title",
    "description": "Description",
    "servings": "Servings",
    "minutes": "Preparation time (mins)",
    "source": "Source",
    "ingredients": "Ingredients",
    "directions": "Directions",
}
"""Field to its name in the form, from the top."""
_EMPTY: dict[str, Scalar] = {"description": "", "minutes": 0, "source": "", "favourite": False}


def _is_said(name: str, asked: str, found: Scalar | None) -> bool:
    """Tell whether a field says what was asked for; one ingredient a line is as good as commas between them."""
    said = str(found)
    if name == "ingredients":
        return _parts(said) == _parts(asked)
    if name == "directions":
        return said.rstrip(". ").split() == asked.rstrip(". ").split()
    return said == asked


def _parts(text: str) -> list[list[str]]:
    return [part.split() for part in re.split(r"[\n,;]", text.rstrip(". ")) if part.strip()]


def _field_goal(asked: Mapping[str, str], name: str) -> Goal:
    def holds(start: Snapshot, now: Snapshot) -> bool:
        number = _closest(start, now, asked)
        return number is not None and _is_said(name, asked[name], now.get(f"recipes/{number}/{name}"))

    return holds


def _closest(start: Snapshot, now: Snapshot, asked: Mapping[str, str]) -> int | None:
    """Return the new recipe that has most of what was asked for, and of two such ones the one with least besides."""
    new = now.under("recipes")

    def fit(number: int) -> tuple[int, int]:
        right = sum(_is_said(name, text, new.get(f"{number}/{name}")) for name, text in asked.items())
        return right, sum(new.get(f"{number}/{name}") == value for name, value in _EMPTY.items())

    return max(_new(start, now), key=fit, default=None)


def _new(start: Snapshot, now: Snapshot) -> list[int]:
    """Return the numbers of the recipes that were not there at the start."""
    old = start.under("recipes")
    return sorted({int(path.split("/")[0]) for path in now.under("recipes") if path not in old})


def _added_writes(asked: Mapping[str, str], goal: Goal) -> Writes:
    """Allow the one recipe that was asked for; a second one, and whatever else is filled in, is a side effect."""

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        if not goal(start, end):
            return ()
        fields = end.under(f"recipes/{_closest(start, end, asked)}")
        kept = [name for name, value in fields.items() if name in asked or _EMPTY.get(name) == value]
        return tuple(f"recipes/{_closest(start, end, asked)}/{name}" for name in kept)

    return allowed


def _strays(view: View, asked: Mapping[str, str], goal: Goal) -> dict[int, str]:
    """Return the new recipes that nobody asked for, and their titles."""
    kept = {_closest(view.start, view.now, asked)} if goal(view.start, view.now) else set()
    return {
        number: str(view.now.get(f"recipes/{number}/title"))
        for number in _new(view.start, view.now)
        if number not in kept
    }


def _add_plan(asked: Mapping[str, str], goal: Goal) -> Plan:
    @mending
    def plan(view: View) -> Move:
        adding = view.package == RECIPES and view.screen == "recipes/edit" and not view.variable("recipe")
        reached, strays = goal(view.start, view.now), _strays(view, asked, goal)
        if strays and (reached or not adding):
            return repairing(_delete_one(view, strays))
        if reached:
            return finish(f"{asked['title']}: {view.say('{count} servings', count=asked['servings'])}")
        if adding:
            missing = {
                label: asked.get(name, "")
                for name, label in _LABELS.items()
                if (view.variable(f"text/{name}") or "") != asked.get(name, "")
            }
            return view.fill(missing) or view.tap_on("Save", "button")
        if view.package == RECIPES and view.screen == "recipes/discard" and not _changes_old(view):
            return go_back()
        return _to_list(view) or view.tap_on("New recipe", "button")

    return plan


def _changes_old(view: View) -> bool:
    """Tell whether the form below a dialog is that of a recipe that is there already."""
    return any(path.endswith("/recipes/edit/recipe") and value for path, value in view.now.transient)


def _compose_add(rng: Random) -> Draft:
    title = _draw_titles(1, rng)[0]
    recipe = _draw_recipe(title, rng)
    asked = {
        "title": title,
        "servings": str(recipe.servings),
        "ingredients": ", ".join(recipe.lines),
        "directions": recipe.directions,
    }
    there = [_draw_recipe(_near_title(title, rng), rng)]
    if rng.random() < 0.4:
        there.append(_draw_recipe(title, rng))
    sub_goals = {name: _field_goal(asked, name) for name in asked}
    goal = every(sub_goals)
    return Draft(
        sentences={"en": wordings(_ADD, _FRAMES, **asked)},
        parameters=asked,
        state=_store(there, rng)[0],
        criteria=Criteria(goal=goal, allowed=_added_writes(asked, goal), apps=(RECIPES,), sub_goals=sub_goals),
        plan=_add_plan(asked, goal),
        oracle_steps=9,
        split_keys=(f"recipe {title}",),
    )


# ----------------------------------------------------------------------------------------------------------------------
# recipes that go


def _delete_plan(targets: Mapping[int, str]) -> Plan:
    @mending
    def plan(view: View) -> Move:
        left = {number: title for number, title in targets.items() if view.now.get(f"recipes/{number}/title")}
        if not left:
            return finish(f"no {' or '.join(targets.values())}")
        return _delete_one(view, left)

    return plan


def _deletion_steps(titles: Sequence[str], targets: Sequence[str]) -> int:
    """Count the actions: the app, four for each recipe, and a search for what is further down in the list."""
    listed, left, steps, searching = list(titles), list(targets), 1, False
    while left:
        title = next((title for title in left if title in listed[:_IN_VIEW] and not searching), None)
        if title is None:
            title = left[0]
            steps += 1 if searching else 2
            searching = True
        steps += 4
        left.remove(title)
        listed.remove(title)
    return steps


def _compose_delete(rng: Random) -> Draft:
    first, second, *others = _draw_titles(rng.randint(6, 10), rng)
    targets = [_draw_recipe(title, rng) for title in (first, second)]
    near = [_draw_recipe(_near_title(title, rng), rng) for title in (first, second)]
    noise = [_draw_recipe(title, rng) for title in others]
    noise[0] = replace(noise[0], description=f"Goes well with {first}.")
    recipes = [*targets, *near, *noise]
    state, numbers = _store(recipes, rng)
    meant = dict(zip(numbers, (first, second), strict=False))
    sub_goals = {name: _gone(number) for name, number in zip(("first", "second"), meant, strict=True)}
    return Draft(
        sentences={"en": wordings(_DELETE, _FRAMES, first=first, second=second)},
        parameters={"first": first, "second": second},
        state=state,
        criteria=Criteria(
            goal=every(sub_goals),
            allowed=only(*(f"recipes/{number}/**" for number in meant)),
            apps=(RECIPES,),
            sub_goals=sub_goals,
        ),
        plan=_delete_plan(meant),
        oracle_steps=_deletion_steps(_listed(recipes), (first, second)),
        split_keys=(f"recipe {first}",),
        without=("recipes",),
    )


def _gone(number: int) -> Goal:
    return lambda _start, now: not now.under(f"recipes/{number}")


# ----------------------------------------------------------------------------------------------------------------------
# what a recipe says


def _amount_plan(number: int, title: str, amount: str, name: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        if view.package == RECIPES and view.screen == "recipes/details" and view.variable("recipe") == number:
            line = view.seek(f"{amount} {name}", "text")
            return line if isinstance(line, Move) else finish(f"{title}: {plain(line.label)}", amount)
        return _open_one(view, {number: title})

    return plan


def _compose_amount(rng: Random) -> Draft:
    title, *others = _draw_titles(rng.randint(7, 11), rng)
    recipe = _draw_recipe(title, rng)
    amount, name = rng.choice(recipe.ingredients)
    twin = _draw_recipe(_near_title(title, rng), rng)
    rest = tuple(part for part in twin.ingredients if part[1] != name)
    twin = replace(recipe, title=twin.title, ingredients=((_draw_amount(name, rng, {amount}), name), *rest))
    noise = [_draw_recipe(other, rng) for other in others]
    noise[0] = replace(noise[0], description=f"Goes well with {title}.")
    recipes = [recipe, twin, *noise]
    state, numbers = _store(recipes, rng)
    accepts = answers.quantity(amount)
    return Draft(
        sentences={language: wordings(*parts, ingredient=name, title=title) for language, parts in _AMOUNT.items()},
        parameters={"ingredient": name, "title": title, "answer": amount},
        state=state,
        criteria=Criteria(goal=None, allowed=only(), apps=(RECIPES,), answer=lambda _start, text: accepts(text)),
        plan=_amount_plan(numbers[0], title, amount, name),
        oracle_steps=2 if title in _listed(recipes)[:_IN_VIEW] else 4,
        split_keys=(f"recipe {title}",),
        without=("recipes",),
    )


RECIPE_ADD = Template(
    name="RecipeAdd",
    summary="add one recipe with title, servings, ingredients and directions",
    tier=3,
    compose=_compose_add,
    android_world=("RecipeAddSingleRecipe",),
)
RECIPE_DELETE_NAMED = Template(
    name="RecipeDeleteNamed",
    summary="delete two recipes by their titles and keep their look-alikes",
    tier=3,
    traits=("guard",),
    compose=_compose_delete,
    android_world=("RecipeDeleteMultipleRecipes", "RecipeDeleteMultipleRecipesWithNoise"),
)
INGREDIENT_QUANTITY = Template(
    name="IngredientQuantity",
    summary="answer how much of an ingredient a recipe needs",
    tier=1,
    traits=("answer",),
    compose=_compose_amount,
    android_world=("NotesRecipeIngredientCount",),
)

TEMPLATES = (RECIPE_ADD, RECIPE_DELETE_NAMED, INGREDIENT_QUANTITY)
