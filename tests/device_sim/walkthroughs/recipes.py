"""Solutions in Recipes, some of which begin in Notes."""

from __future__ import annotations

from collections import Counter

from agent_eval.types import Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.notes import file, read_note
from tests.device_sim.walkthroughs.walk import Record, Script, Walk, record

FIELDS = {"title": "Title", "description": "Description", "servings": "Servings", "minutes": "Preparation time (mins)",
          "source": "Source", "ingredients": "Ingredients", "directions": "Directions"}  # fmt: skip
"""Field of a recipe to its name in the form, in order."""

Dish = dict[str, Scalar]
SOUP: Dish = {"title": "Aa Nettle Soup", "servings": 4, "ingredients": "300 g nettles\n2 onions", "directions": "Boil."}
CAKE: Dish = {"title": "Aa Plum Cake", "description": "For Sunday", "servings": 8, "minutes": 50,
              "ingredients": "500 g plums", "directions": "Bake for 50 minutes."}  # fmt: skip
DIP: Dish = {"title": "Aa Beet Dip", "minutes": 10, "ingredients": "2 beets", "directions": "Blend with saffron."}
MENU = "\n\n".join(
    "\n".join(f"{FIELDS[name]}: {value}".replace("\n", "; ") for name, value in dish.items())
    for dish in (SOUP, CAKE, DIP)
)


def stored(number: int, dish: Dish) -> dict[str, Scalar]:
    """Return the paths of a recipe."""
    return {f"recipes/{number}/{name}": value for name, value in dish.items()}


# ----------------------------------------------------------------------------------------------------------------------


def fill(hand: Hand, dish: Dish) -> None:
    """Create a recipe from the list, and come back to it."""
    hand.tap("New recipe")
    for name, text in FIELDS.items():
        if name in dish:
            hand.type(str(dish[name]), into=text)
    hand.tap("Save")


def add(*dishes: Dish) -> Script:
    """Create recipes."""

    def script(hand: Hand) -> None:
        hand.open("Recipes")
        for place, dish in enumerate(dishes):
            if place:
                hand.press("back")
            fill(hand, dish)

    return script


def add_noted(minutes: int = 0) -> Script:
    """Create the recipes that a note lists; only those that take as long as asked for, if so."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        dishes: list[Dish] = []
        for line in read_note(hand, "recipes.txt"):
            name, _, text = line.partition(": ")
            if name == FIELDS["title"]:
                dishes.append({})
            field = next(field for field, shown in FIELDS.items() if shown == name)
            dishes[-1][field] = text.replace("; ", "\n")
        wanted = [dish for dish in dishes if not minutes or dish.get("minutes") == str(minutes)]
        add(*wanted)(hand)

    return script


def open_recipe(hand: Hand, title: str) -> None:
    """Find a recipe and show it."""
    hand.tap("Search")
    hand.type(title, into="Search recipes")
    hand.tap(title, role="row")


def delete_shown(hand: Hand) -> None:
    """Delete the recipe that is shown."""
    hand.tap("More options")
    hand.tap("Delete")
    hand.tap("Delete")


def delete(*titles: str) -> Script:
    """Delete recipes by their titles, which are in view or further down."""

    def script(hand: Hand) -> None:
        hand.open("Recipes")
        for title in titles:
            hand.tap(title, role="row")
            delete_shown(hand)

    return script


def delete_duplicates(hand: Hand) -> None:
    """Delete all but one of the recipes that are the same in everything; those with one title are looked at."""
    hand.open("Recipes")
    names = Counter(row.label for row in hand.all_rows("row"))
    for title in [name for name, count in names.items() if count > 1]:
        if not hand.sees("Search recipes"):
            hand.tap("Search")
        hand.type(title, into="Search recipes")
        seen: list[tuple[str, ...]] = []
        place = 0
        while place < len(found := [row for row in hand.rows("row") if row.label == title]):
            hand.tap_element(found[place])
            page = tuple(text for row in hand.all_rows("text") for text in (row.label, row.value))
            if page in seen:
                delete_shown(hand)
            else:
                seen.append(page)
                hand.press("back")
                place += 1


def delete_with(word: str) -> Script:
    """Delete the recipes whose directions have a word: each is looked at, page by page of the list."""

    def script(hand: Hand) -> None:
        hand.open("Recipes")
        shown = ""
        while shown != hand.look().signature:
            shown = hand.look().signature
            place = 0
            while place < len(rows := hand.rows("row")):
                hand.tap_element(rows[place])
                steps = [text for text in hand.texts() if text[:1].isdigit() and text[1:3] == ". "]
                if any(word in step for step in steps):
                    delete_shown(hand)
                else:
                    hand.press("back")
                    place += 1
            hand.swipe("up")

    return script


def read_amount(title: str, ingredient: str) -> Script:
    """Read how much of an ingredient a recipe needs."""

    def script(hand: Hand) -> str:
        hand.open("Recipes")
        open_recipe(hand, title)
        return next(text for text in hand.texts() if text.endswith(f" {ingredient}")).removesuffix(f" {ingredient}")

    return script


# ----------------------------------------------------------------------------------------------------------------------


def everything(snapshot: Snapshot) -> Counter[tuple[Scalar, ...]]:
    """Count the recipes of a phone by all that they say."""
    rows: dict[str, dict[str, Scalar]] = {}
    for path, value in snapshot.under("recipes").items():
        number, _, name = path.partition("/")
        if name in FIELDS:
            rows.setdefault(number, {})[name] = value
    return Counter(tuple(row[name] for name in FIELDS) for row in rows.values())


def has_no_duplicates(before: Snapshot, after: Snapshot) -> list[str]:
    """Say which recipes are there twice, gone altogether, or new."""
    wanted, found = Counter(set(everything(before))), everything(after)
    return [f"{row[0]} is there {found[row]} times" for row in wanted | found if wanted[row] != found[row]]


def walks() -> list[Walk]:
    """Return the solutions."""
    book = {**stored(901, SOUP), **stored(902, {**SOUP, "servings": 2}), **stored(903, CAKE), **stored(904, DIP)}
    once = {**book, **stored(905, CAKE)}
    twice = {**once, **stored(906, DIP), **stored(907, DIP)}
    thrice = {**twice, **stored(908, SOUP), **stored(909, {**CAKE, "minutes": 55})}
    noted = file("recipes.txt", MENU)
    noise = {**book, **stored(905, {**CAKE, "title": "Aa Plum Cakes"}), **stored(906, {**DIP, "title": "Aa Beet Dips"})}

    def new(*dishes: Dish) -> tuple[Record, ...]:
        return tuple(record("recipes", **dish) for dish in dishes)

    def duplicates(task: str, steps: int, state: dict[str, Scalar], seed: int) -> Walk:
        return Walk(task, steps, delete_duplicates, seed=seed, state=state, may=("recipes",), check=has_no_duplicates)

    return [
        Walk("54", 9, add(SOUP), adds=new(SOUP)),
        Walk("55", 9, delete("Aa Plum Cake", "Aa Beet Dip"), state=noise, gone=("recipes/903", "recipes/904")),
        Walk("56", 4, read_amount("Aa Plum Cake", "plums"), state=book, answer="500 g"),
        Walk("RecipeAddMultipleRecipes", 29, add(SOUP, CAKE, DIP), adds=new(SOUP, CAKE, DIP)),
        Walk("RecipeAddMultipleRecipesFromMarkor", 32, add_noted(), state=noted, adds=new(SOUP, CAKE, DIP)),
        Walk("RecipeAddMultipleRecipesFromMarkor2", 14, add_noted(50), state=noted, adds=new(CAKE)),
        Walk("RecipeAddSingleRecipe", 11, add(CAKE), seed=2, adds=new(CAKE)),
        duplicates("RecipeDeleteDuplicateRecipes", 30, once, 1),
        duplicates("RecipeDeleteDuplicateRecipes2", 49, twice, 2),
        duplicates("RecipeDeleteDuplicateRecipes3", 49, thrice, 3),
        Walk("RecipeDeleteMultipleRecipes", 13, delete("Aa Plum Cake", "Aa Beet Dip", "Aa Plum Cakes"), state=noise,
             gone=("recipes/903", "recipes/904", "recipes/905")),
        Walk("RecipeDeleteMultipleRecipesWithConstraint", 65, delete_with("saffron"), state=book,
             gone=("recipes/904",)),
        Walk("RecipeDeleteMultipleRecipesWithNoise", 13, delete("Aa Plum Cake", "Aa Beet Dip", "Aa Beet Dips"), seed=2,
             state=noise, gone=("recipes/903", "recipes/904", "recipes/906")),
        Walk("RecipeDeleteSingleRecipe", 5, delete("Aa Plum Cake"), state=stored(903, CAKE), gone=("recipes/903",)),
        Walk("RecipeDeleteSingleWithRecipeWithNoise", 5, delete("Aa Beet Dips"), seed=2, state=noise,
             gone=("recipes/906",)),
    ]  # fmt: skip
