"""Recipes: a cook book with a list, a search, one recipe and its form (after Broccoli). Knows no other app.

Ingredients and directions are texts of several lines, one ingredient or step per line.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from agent_eval.device_sim import draft, searching
from agent_eval.device_sim.dialogs import menu, question
from agent_eval.device_sim.schema import TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import Field, View, dp, line_height, text_lines
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    MIDDLE,
    RELATIVE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    button,
    column,
    edit_text,
    floating,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
    scroll_column,
    setter,
)
from agent_eval.types import Scalar

PACKAGE = "com.flauschcode.broccoli"
_ID = f"{PACKAGE}:id/"
TEXTS = ("title", "description", "source", "ingredients", "directions")
"""Fields of the form that hold text."""
NUMBERS = ("servings", "minutes")
"""Fields of the form that hold a whole number; an empty one is 0 and is not shown."""


def _servings(ui: Ui, recipe: int) -> str:
    count = ui.number(f"recipes/{recipe}/servings")
    if not count:
        return ""
    return ui.say("1 serving") if count == 1 else ui.say("{count} servings", count=count)


def _minutes(ui: Ui, recipe: int) -> str:
    count = ui.number(f"recipes/{recipe}/minutes")
    return ui.say("{count} mins", count=count) if count else ""


def _title(ui: Ui, recipe: int) -> str:
    return ui.words(f"recipes/{recipe}/title")


# ----------------------------------------------------------------------------------------------------------------------
# the list


def recipes(ui: Ui) -> View:
    """Build the list of recipes, all or the favourites, those that match a search (fragment_recipes.xml)."""
    favourites, searches = bool(ui.var("favourites", False)), bool(ui.var("searching", False))
    words = ui.typed("query").strip().lower() if searches else ""
    found = sorted(ui.ids("recipes"), key=lambda recipe: (_title(ui, recipe).lower(), recipe))
    if favourites:
        found = [recipe for recipe in found if ui.flag(f"recipes/{recipe}/favourite")]
    found = [recipe for recipe in found if _matches(ui, recipe, words)]
    rows = [_card(ui, recipe) for recipe in found]
    if rows:
        body = scroll_column(
            ui, [*rows, frame(height=dp(88))], id=f"{_ID}recycler_view", gap=dp(8), pad=(0, dp(8), 0, 0)
        )
    else:
        text = ui.say("No recipes found" if words or favourites else "No recipes yet")
        body = frame(label(text, id=f"{_ID}recipes_empty", size=TITLE, ink="soft", align=CENTER), height=-1)
    fab = floating("add", ui.say("New recipe"), opener(ui, "recipes/edit"), id=f"{_ID}fab_recipes")
    bar = _search_bar(ui) if searches else _bar(ui, favourites=favourites)
    return activity(ui, bar, frame(body, fab, weight=1, cls=RELATIVE))


def _matches(ui: Ui, recipe: int, words: str) -> bool:
    path = f"recipes/{recipe}"
    return not words or any(
        words in ui.words(f"{path}/{name}").lower() for name in ("title", "description", "ingredients")
    )


def _bar(ui: Ui, *, favourites: bool) -> View:
    filter_name = ui.say("Show all recipes" if favourites else "Show favorites")
    actions = [
        image_button("search", ui.say("Search"), lambda: searching.begin(ui), id=f"{_ID}action_search"),
        image_button(
            "star" if favourites else "star_outline", filter_name, setter(ui, "favourites", not favourites),
            id=f"{_ID}action_favorites",
        ),
    ]  # fmt: skip
    return app_bar(ui, ui.say("Favorites" if favourites else "All recipes"), up=False, actions=actions)


def _search_bar(ui: Ui) -> View:
    return searching.bar(
        ui,
        ui.say("Search recipes"),
        id=f"{_ID}search_src_text",
        on_back=lambda: searching.end(ui),
        says="Collapse",
        back_id=f"{_ID}search_close",
    )


def _card(ui: Ui, recipe: int) -> View:
    texts = [label(_title(ui, recipe), id=f"{_ID}card_text_view_title", size=TITLE, width=-1)]
    description = ui.words(f"recipes/{recipe}/description")
    if description:
        texts.append(label(description, id=f"{_ID}card_text_view_description", size=BODY, ink="soft", width=-1))
    parts = [image("recipe", size=dp(40), align=MIDDLE, fill="chip"), column(*texts, weight=1, align=MIDDLE)]
    if ui.flag(f"recipes/{recipe}/favourite"):
        parts.append(image("star", desc=ui.say("Favorite"), id=f"{_ID}card_favorite", align=MIDDLE))
    card = row(
        *parts,
        cls="androidx.cardview.widget.CardView",
        id=f"{_ID}card_view",
        pad=(dp(16), dp(12), dp(16), dp(12)),
        gap=dp(16),
        fill="card",
        on_tap=opener(ui, "recipes/details", recipe=recipe),
    )
    return frame(card, pad=(dp(8), 0, dp(8), 0))


# ----------------------------------------------------------------------------------------------------------------------
# one recipe


def details(ui: Ui) -> View:
    """Build one recipe (activity_recipe_details.xml)."""
    recipe = int(ui.var("recipe"))
    path = f"recipes/{recipe}"
    favourite = ui.flag(f"{path}/favourite")
    actions = [
        image_button(
            "star" if favourite else "star_outline",
            ui.say("Remove from favorites" if favourite else "Add to favorites"),
            lambda: ui.toggle(f"{path}/favourite"),
            id=f"{_ID}action_favorite",
        ),
        image_button("edit", ui.say("Edit"), lambda: _edit(ui, recipe), id=f"{_ID}action_edit"),
        image_button("more", ui.say("More options"), opener(ui, "recipes/menu", recipe=recipe)),
    ]
    rows = [label(_title(ui, recipe), id=f"{_ID}recipe_title", size=dp(22), width=-1)]
    if ui.words(f"{path}/description"):
        rows.append(label(ui.words(f"{path}/description"), id=f"{_ID}recipe_description", ink="soft", width=-1))
    facts = [("person", "servings", _servings(ui, recipe)), ("timer", "preparation_time", _minutes(ui, recipe)),
             ("info", "source", ui.words(f"{path}/source"))]  # fmt: skip
    rows += [
        row(image(icon, align=MIDDLE), label(text, id=f"{_ID}recipe_{name}", size=TITLE, align=MIDDLE), gap=dp(12))
        for icon, name, text in facts
        if text
    ]
    for heading, name in ((ui.say("Ingredients"), "ingredients"), (ui.say("Directions"), "directions")):
        lines = [line for line in ui.words(f"{path}/{name}").split("\n") if line.strip()]
        if not lines:
            continue
        rows.append(label(heading, size=dp(18), bold=True, ink="primary", pad=(0, dp(8), 0, 0)))
        for place, line in enumerate(lines, start=1):
            text = f"{place}. {line}" if name == "directions" else line
            rows.append(label(text, id=f"{_ID}{name[:-1]}_text_view", size=TITLE, width=-1))
    body = scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, gap=dp(10), pad=(dp(16), dp(8), dp(16), dp(24)))
    return activity(ui, app_bar(ui, "", actions=actions), body)


def recipe_menu(ui: Ui) -> View:
    """Build the menu of one recipe."""
    recipe = int(ui.var("recipe"))

    def copy() -> None:
        ui.copy(as_text(ui, recipe))
        ui.host.show_toast(ui.say("Copied to clipboard"))

    return menu(ui, [(ui.say("Copy as text"), copy), (ui.say("Delete"), opener(ui, "recipes/delete", recipe=recipe))])


def as_text(ui: Ui, recipe: int) -> str:
    """Return a recipe as a text for the clipboard."""
    path = f"recipes/{recipe}"
    facts = [_servings(ui, recipe), _minutes(ui, recipe), ui.words(f"{path}/source")]
    parts = [_title(ui, recipe), ", ".join(filter(None, facts)), ui.words(f"{path}/ingredients"),
             ui.words(f"{path}/directions")]  # fmt: skip
    return "\n\n".join(filter(None, parts))


def delete(ui: Ui) -> View:
    """Build the dialog that asks before a recipe is deleted."""
    recipe = int(ui.var("recipe"))

    def ok() -> None:
        ui.close()
        ui.remove(f"recipes/{recipe}")

    return question(ui, ui.say("Do you really want to delete this recipe?"), "Delete", ok)


# ----------------------------------------------------------------------------------------------------------------------
# the form


def _texts(ui: Ui, recipe: int) -> dict[str, str]:
    """Return what the fields of the form begin with."""
    path = f"recipes/{recipe}"
    texts = {name: ui.words(f"{path}/{name}") for name in TEXTS}
    return texts | {name: str(ui.number(f"{path}/{name}") or "") for name in NUMBERS}


def _edit(ui: Ui, recipe: int) -> None:
    ui.open("recipes/edit", recipe=recipe, **{f"text/{name}": text for name, text in _texts(ui, recipe).items()})


def changed(ui: Ui) -> bool:
    """Tell whether the form differs from the recipe."""
    return any(ui.typed(name) != text for name, text in _texts(ui, int(ui.var("recipe", 0))).items())


def edit(ui: Ui) -> View:
    """Build the form of a new or existing recipe (activity_create_and_edit_recipe.xml)."""
    recipe = int(ui.var("recipe", 0))

    def save() -> None:
        if not ui.typed("title").strip():
            ui.host.show_toast(ui.say("Please enter a title"))
            return
        fields: dict[str, Scalar] = {name: ui.typed(name).strip() for name in TEXTS}
        fields |= {name: int(ui.typed(name) or 0) for name in NUMBERS}
        ui.close()
        if recipe:
            for name, value in fields.items():
                ui.put(f"recipes/{recipe}/{name}", value)
        else:
            ui.open("recipes/details", recipe=ui.add("recipes", **fields))

    rows = [
        _line(ui, "title", ui.say("Title")),
        _line(ui, "description", ui.say("Description")),
        row(
            _line(ui, "servings", ui.say("Servings"), weight=1),
            _line(ui, "minutes", ui.say("Preparation time (mins)"), weight=1),
            gap=dp(12),
        ),
        _line(ui, "source", ui.say("Source")),
        _line(ui, "ingredients", ui.say("Ingredients")),
        _line(ui, "directions", ui.say("Directions")),
    ]
    save_button = button(ui.say("Save"), save, id=f"{_ID}button_save_recipe")
    title = ui.say("Edit recipe" if recipe else "New recipe")
    bar = draft.form_bar(ui, title, changed, "recipes/discard", save_button)
    body = scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, gap=dp(8), pad=(dp(16), dp(8), dp(16), dp(24)))
    return activity(ui, bar, body)


_IDS = {"minutes": "new_preparation_time"}
_LONG = ("ingredients", "directions")


def _line(ui: Ui, name: str, text: str, *, weight: int = 0) -> View:
    """Build a field under its name; the name is a text of its own, as a floating hint is."""
    tall = name in _LONG
    field = Field(name, numeric=name in NUMBERS, max_length=2 if name == "servings" else 4 if name in NUMBERS else 0,
                  multiline=tall)  # fmt: skip
    lines = len(text_lines(ui.typed(name), TITLE, ui.canvas.right - dp(48))) if tall else 1
    height = dp(56) if lines < 2 else dp(24) + lines * line_height(TITLE)
    return column(
        label(text, id=f"{_ID}hint_{name}", ink="soft"),
        edit_text(ui, field, id=f"{_ID}{_IDS.get(name, f'new_{name}')}", hint=text, height=height),
        weight=weight,
        cls="com.google.android.material.textfield.TextInputLayout",
    )


# ----------------------------------------------------------------------------------------------------------------------
# the draw


@dataclass(frozen=True, slots=True)
class _Dish:
    """A recipe before its amounts are drawn; ``{a}``, ``{b}`` and ``{c}`` in its lines stand for them."""

    title: str
    description: str
    ingredients: tuple[str, ...]
    directions: tuple[str, ...]


def draw(draw: Draw) -> None:
    """Draw a cook book: some titles twice with other amounts, on some phones a recipe twice to the letter."""
    rng = draw.rng
    dishes = rng.sample(_DISHES, rng.randint(9, 13))
    drawn = [_recipe(rng, dish) for dish in dishes]
    drawn += [_recipe(rng, dish) for dish in rng.sample(dishes, rng.randint(1, 2))]
    drawn += [dict(recipe) for recipe in rng.sample(drawn, rng.choice((0, 1, 1, 2)))]
    rng.shuffle(drawn)
    for recipe in drawn:
        draw.record("recipes", **recipe)


def _recipe(rng: random.Random, dish: _Dish) -> dict[str, Scalar]:
    amounts = {name: rng.choice(choices) for name, choices in _AMOUNTS.items()}
    return {
        "title": dish.title,
        "description": dish.description,
        "servings": rng.choice((1, 2, 2, 3, 4, 4, 6, 8)),
        "minutes": rng.choice((10, 15, 20, 25, 30, 45, 60, 90)),
        "source": rng.choice(_SOURCES),
        "ingredients": "\n".join(line.format(**amounts) for line in dish.ingredients),
        "directions": "\n".join(line.format(**amounts) for line in dish.directions),
        "favourite": rng.random() < 0.25,
    }


_AMOUNTS = {"a": (100, 150, 200, 250, 300, 400), "b": (1, 2, 3, 4), "c": (5, 8, 10, 12, 15)}
_SOURCES = ("", "", "Grandma", "Cook book p. 12", "Cook book p. 21", "Neighbour", "Magazine")
_DISHES = (
    _Dish("Avocado Toast", "A quick breakfast.", ("{b} slices of bread", "{b} avocados", "Salt", "Lime"),
          ("Toast the bread.", "Mash the avocado with lime and salt.", "Spread and serve.")),
    _Dish("Baked Cod with Lemon", "Light and fresh.", ("{a} g cod", "{b} lemons", "Olive oil", "Parsley"),
          ("Heat the oven to 200 degrees.", "Lay the cod in a dish with lemon and oil.", "Bake for {c} minutes.")),
    _Dish("Beef Stir Fry", "For a weekday.", ("{a} g beef", "{b} peppers", "Soy sauce", "Ginger"),
          ("Cut the beef into strips.", "Fry with ginger for {c} minutes.", "Add peppers and soy sauce.")),
    _Dish("Butternut Squash Soup", "Warms in autumn.", ("{a} g squash", "{b} onions", "500 ml stock", "Cream"),
          ("Soften the onions.", "Add squash and stock and cook for {c} minutes.", "Blend and stir in the cream.")),
    _Dish("Caprese Salad", "", ("{b} tomatoes", "{a} g mozzarella", "Basil", "Olive oil"),
          ("Slice tomatoes and mozzarella.", "Layer with basil.", "Sprinkle with olive oil.")),
    _Dish("Chicken Alfredo Pasta", "Creamy.", ("{a} g pasta", "{b} chicken breasts", "Cream", "Parmesan"),
          ("Boil the pasta.", "Fry the chicken for {c} minutes.", "Add cream and parmesan and toss.")),
    _Dish("Chicken Caesar Wrap", "Good to take along.", ("{b} tortillas", "{a} g chicken", "Lettuce", "Parmesan"),
          ("Fry the chicken.", "Toss lettuce with dressing.", "Roll everything into the tortillas.")),
    _Dish("Chickpea Curry", "Gets better overnight.", ("{a} g chickpeas", "{b} onions", "Coconut milk", "Curry paste"),
          ("Fry onions and curry paste.", "Add chickpeas and coconut milk.", "Simmer for {c} minutes.")),
    _Dish("Garlic Butter Shrimp", "", ("{a} g shrimp", "{b} cloves of garlic", "Butter", "Parsley"),
          ("Melt the butter with garlic.", "Cook the shrimp for {c} minutes.", "Sprinkle with parsley.")),
    _Dish("Greek Salad", "For hot days.", ("{b} tomatoes", "{a} g feta", "Cucumber", "Olives"),
          ("Cut tomatoes and cucumber.", "Add feta and olives.", "Dress with oil.")),
    _Dish("Lentil Soup", "", ("{a} g lentils", "{b} carrots", "Celery", "Cumin"),
          ("Fry carrots and celery.", "Add lentils, cumin and water.", "Cook for {c} minutes.")),
    _Dish("Mango Chicken Curry", "Sweet and mild.", ("{a} g chicken", "{b} mangos", "Coconut milk", "Garlic"),
          ("Fry the chicken with garlic.", "Add mango and coconut milk.", "Simmer for {c} minutes.")),
    _Dish("Mushroom Risotto", "Needs patience.", ("{a} g rice", "{a} g mushrooms", "{b} onions", "White wine"),
          ("Soften the onions.", "Stir in rice and wine.", "Add stock and mushrooms over {c} minutes.")),
    _Dish("Pancakes", "Sunday morning.", ("{a} g flour", "{b} eggs", "Milk", "Sugar"),
          ("Whisk flour, eggs, milk and sugar.", "Rest for {c} minutes.", "Fry in butter on both sides.")),
    _Dish("Pesto Pasta with Peas", "", ("{a} g pasta", "{b} spoons of pesto", "Peas", "Parmesan"),
          ("Boil the pasta with the peas.", "Stir in pesto.", "Serve with parmesan.")),
    _Dish("Quinoa Salad with Vegetables", "", ("{a} g quinoa", "{b} peppers", "Cucumber", "Lemon"),
          ("Cook the quinoa for {c} minutes.", "Chop peppers and cucumber.", "Mix with lemon and oil.")),
    _Dish("Ratatouille", "", ("{b} aubergines", "{b} zucchini", "{a} g tomatoes", "Thyme"),
          ("Cut the vegetables into slices.", "Layer with thyme.", "Bake for {c} minutes.")),
    _Dish("Shakshuka", "Eat from the pan.", ("{b} eggs", "{a} g tomatoes", "Onion", "Cumin"),
          ("Fry onion and cumin.", "Add tomatoes and cook for {c} minutes.", "Poach the eggs in the sauce.")),
    _Dish("Spicy Tuna Wraps", "", ("{b} cans of tuna", "{b} tortillas", "Mayonnaise", "Chili"),
          ("Mix tuna, mayonnaise and chili.", "Fill the tortillas.", "Roll and cut in half.")),
    _Dish("Thai Peanut Noodles", "", ("{a} g noodles", "{b} spoons of peanut butter", "Soy sauce", "Lime"),
          ("Boil the noodles.", "Stir peanut butter, soy sauce and lime.", "Toss with the noodles.")),
    _Dish("Tomato Basil Bruschetta", "", ("{b} tomatoes", "Basil", "Baguette", "{b} cloves of garlic"),
          ("Dice tomatoes with basil.", "Toast the baguette and rub it with garlic.", "Spoon the tomatoes on top.")),
    _Dish("Zucchini Noodles with Pesto", "Without pasta.", ("{b} zucchini", "Pesto", "{a} g cherry tomatoes"),
          ("Cut the zucchini into ribbons.", "Fry for {c} minutes.", "Toss with pesto and tomatoes.")),
)  # fmt: skip

_WORDS: Words = {
    "1 serving": ("1 Portion", "1 人份"),
    "Add to favorites": ("Zu Favoriten hinzufügen", "添加到收藏"),
    "All recipes": ("Alle Rezepte", "所有食谱"),
    "Collapse": ("Schließen", "收起"),
    "Copied to clipboard": ("In die Zwischenablage kopiert", "已复制到剪贴板"),
    "Copy as text": ("Als Text kopieren", "复制为文本"),
    "Directions": ("Zubereitung", "做法"),
    "Do you really want to delete this recipe?": ("Dieses Rezept wirklich löschen?", "确定要删除此食谱吗？"),
    "Edit recipe": ("Rezept bearbeiten", "修改食谱"),
    "Favorite": ("Favorit", "已收藏"),
    "Favorites": ("Favoriten", "收藏"),
    "Ingredients": ("Zutaten", "配料"),
    "New recipe": ("Neues Rezept", "新建食谱"),
    "No recipes found": ("Keine Rezepte gefunden", "未找到食谱"),
    "No recipes yet": ("Noch keine Rezepte", "还没有食谱"),
    "Please enter a title": ("Bitte gib einen Titel ein", "请输入标题"),
    "Preparation time (mins)": ("Zubereitungszeit (Min.)", "准备时间（分钟）"),
    "Recipes": ("Rezepte", "食谱"),
    "Remove from favorites": ("Aus Favoriten entfernen", "取消收藏"),
    "Search recipes": ("Rezepte suchen", "搜索食谱"),
    "Servings": ("Portionen", "份数"),
    "Show all recipes": ("Alle Rezepte anzeigen", "显示所有食谱"),
    "Show favorites": ("Favoriten anzeigen", "显示收藏"),
    "Source": ("Quelle", "来源"),
    "{count} mins": ("{count} Min.", "{count} 分钟"),
    "{count} servings": ("{count} Portionen", "{count} 人份"),
}

_FORM = f"{PACKAGE}.recipe.crud.CreateAndEditRecipeActivity"
APP = App(
    package=PACKAGE,
    label="Recipes",
    home="recipes/main",
    icon="recipe",
    color="#2e7d32",
    records={
        "recipes": {
            **dict.fromkeys(TEXTS, TEXT),
            "servings": Kind(int, 0, 99),
            "minutes": Kind(int, 0, 9999),
            "favourite": YES_NO,
        }
    },
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "recipes/main": Screen(recipes, f"{PACKAGE}.MainActivity"),
        "recipes/details": Screen(details, f"{PACKAGE}.recipe.details.RecipeDetailsActivity", private=True),
        "recipes/menu": Screen(recipe_menu, f"{PACKAGE}.recipe.details.RecipeDetailsActivity", dialog=True),
        "recipes/delete": Screen(delete, f"{PACKAGE}.recipe.details.RecipeDetailsActivity", dialog=True),
        "recipes/edit": Screen(edit, _FORM, on_back=draft.leave(changed, "recipes/discard")),
        "recipes/discard": Screen(draft.discard, _FORM, dialog=True),
    },
)

__all__ = ["APP", "as_text"]
