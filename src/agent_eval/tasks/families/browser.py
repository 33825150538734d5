"""What is asked of Browser: a page to bookmark, numbers to remember. Knows where it keeps bookmarks and visits.

Visiting pages is how one works in a browser, so a new entry of the history is never a side effect.
"""

from __future__ import annotations

import itertools
import math
from random import Random

from agent_eval.device_sim.apps.web import SITES, START, address_of, multiply_page, site_page
from agent_eval.tasks import answers
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, Writes, any_writes, every, only
from agent_eval.tasks.moves import Move, complete, finish, go_back, open_app, plain, type_into
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

BROWSER, FILES = "com.android.browser", "com.android.documentsui"
BOOKMARK, HISTORY, SOLVED = "browser/bookmark", "browser/history", "browser/product_solved"

_BAR = "Search or type URL"


def _records_of(snapshot: Snapshot, prefix: str) -> dict[int, str]:
    """Return the addresses of bookmarks or visits, by number."""
    found = {path.partition("/"): value for path, value in snapshot.under(prefix).items()}
    return {int(number): str(value) for (number, _, name), value in found.items() if name == "url"}


def _new(prefix: str, address: str, start: Snapshot, now: Snapshot) -> int | None:
    """Return the first bookmark of, or visit to, an address that was not there at the start."""
    old = _records_of(start, prefix)
    return min((n for n, url in _records_of(now, prefix).items() if n not in old and url == address), default=None)


def _has_new(prefix: str, address: str) -> Goal:
    return lambda start, now: _new(prefix, address, start, now) is not None


def _visits(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
    """Allow new entries of the history; that an old one goes is a side effect."""
    old = _records_of(start, HISTORY)
    return tuple(f"{HISTORY}/{number}/*" for number in _records_of(end, HISTORY) if number not in old)


def _one_bookmark(address: str) -> Writes:
    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        added = _new(BOOKMARK, address, start, end)
        return () if added is None else (f"{BOOKMARK}/{added}/*",)

    return allowed


def shown_address(view: View) -> str:
    """Return the address of the page that the browser in front shows."""
    tab = int(view.variable("current") or 1)
    visits = str(view.variable(f"visits/{tab}") or (view.variable("url") if tab == 1 else "") or START).split("\n")
    place = view.variable(f"place/{tab}")
    return str(view.variable("goto") or visits[len(visits) - 1 if place is None else int(place)])


# ----------------------------------------------------------------------------------------------------------------------
# a page to bookmark


_PAGE = (
    "open {u} in the browser and bookmark it",
    "go to {u} in the browser and bookmark the page",
    "visit {u} and add it to the bookmarks",
    "open the page {u} and save it as a bookmark",
    "load {u} in the browser, then bookmark it",
    "bring up {u} in the browser and put it among the bookmarks",
    "look up the page at {u} and keep it as a bookmark",
)
_PAGE_FRAMES = ("{}.", "Please {}.", "I need you to {}.", "On this phone, {}.")


def _near(address: str, rng: Random) -> list[str]:
    """Return the other addresses of the web, the ones that begin most like this one first."""
    others = [other for other in SITES if other != address]
    rng.shuffle(others)
    return sorted(others, key=lambda other: -_shared(address, other))


def _shared(one: str, other: str) -> int:
    """Return with how many equal signs two texts begin."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _bookmark_plan(address: str, short: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        if view.package != BROWSER:
            return open_app("Browser")
        if view.screen != "browser/main":
            return go_back()
        bar = view.seek(_BAR, "field")
        if isinstance(bar, Move):
            return bar
        if shown_address(view) == address and not view.keyboard:
            star = view.find("Edit bookmark", "button")
            return view.tap_on("Bookmark", "button") if star is None else finish(f"{plain(star.label)}: there")
        return view.tap_on("Go", "button") if address_of(bar.value) == address else type_into(bar, short)

    return plan


def _compose_bookmark(rng: Random) -> Draft:
    address = rng.choice([known for known in SITES if not known.endswith("/")])
    short = address.removeprefix("https://")
    near = _near(address, rng)
    marked = [near[0], near[1], near[-1]]
    rng.shuffle(marked)
    state: dict[str, Scalar] = {}
    for number, other in enumerate(marked, start=901):
        state |= {f"{BOOKMARK}/{number}/url": other, f"{BOOKMARK}/{number}/title": site_page(other).title}
    sub_goals = {"opened": _has_new(HISTORY, address), "bookmarked": _has_new(BOOKMARK, address)}
    return Draft(
        sentences={"en": wordings(_PAGE, _PAGE_FRAMES, u=short)},
        parameters={"url": address},
        state=state,
        criteria=Criteria(
            goal=every(sub_goals),
            allowed=any_writes(_visits, _one_bookmark(address)),
            apps=(BROWSER,),
            sub_goals=sub_goals,
        ),
        plan=_bookmark_plan(address, short),
        oracle_steps=4,
        split_keys=(f"page {short}",),
        without=(BOOKMARK,),
    )


# ----------------------------------------------------------------------------------------------------------------------
# numbers to remember


_MULTIPLY = (
    "open {f} from the {d} folder in the browser, press its button until it has shown {n} numbers, enter their product "
    "on the page and tell me the product",
    "open the page {f} in {d} with the browser, remember the {n} numbers that its button shows one by one, submit "
    "their product there and give it to me",
    "in {d} there is a page named {f}: open it with the browser, click through its {n} numbers, type in what they "
    "multiply to, submit it, and report the result",
    "find {f} in the folder {d}, open it in the browser, reveal all {n} numbers with the button, multiply them, submit "
    "the product and answer with it",
    "use the browser to open {f}, which is in {d}; its button shows {n} numbers: work out their product, submit it on "
    "the page and tell me what it is",
)
_WORDS = ("numbers", "product", "puzzle", "quiz", "sums", "times", "trial", "factors", "memory", "riddle")
_FOLDERS = ("Download", "Documents")
_FIELD, _DONE = "Product of the numbers", "Success!"
_LARGEST = 999
"""A larger product would be written with a separator by some and without by others."""


def _draw_numbers(rng: Random) -> list[int]:
    """Draw three to five numbers; one may come again, but not at once, since the page would look the same."""
    while True:
        numbers = [rng.randint(2, 12) for _ in range(rng.randint(3, 5))]
        differ = all(one != other for one, other in itertools.pairwise(numbers))
        if differ and math.prod(numbers) <= _LARGEST:
            return numbers


def _multiply_plan(folder: str, name: str, product: str) -> Plan:
    path = f"/storage/emulated/0/{folder}/{name}"

    @mending
    def plan(view: View) -> Move:
        solved = view.now.get(SOLVED) is True
        if view.package == BROWSER and view.screen != "browser/main":
            return go_back()
        if view.package == BROWSER and shown_address(view) == f"file://{path}":
            entry = view.find(_FIELD, "field")
            if entry is None:
                return finish(product, product) if solved else view.tap_on("Click me", "button")
            if solved:
                return complete(entry, answer=product)
            return view.fill({_FIELD: product}) or view.tap_on("Submit", "button")
        return finish(product, product) if solved else _open_page(view, folder, path)

    return plan


def _open_page(view: View, folder: str, path: str) -> Move:
    """Return the next move that opens a page of the shared storage in the browser."""
    if view.package != FILES:
        return open_app("Files")
    if view.screen == "files/open_with" and view.variable("path") == path:
        return view.tap_on("Open with Browser")
    if view.screen != "files/browse" or view.variable("picked"):
        return go_back()
    above, _, name = path.rpartition("/")
    top, _, _ = above.rpartition("/")
    here = view.variable("path") or top
    if here == above:
        return view.tap_on(name, "row")
    return view.tap_on(folder, "row") if here == top else go_back()


def _compose_multiply(rng: Random) -> Draft:
    folder, elsewhere = rng.sample(_FOLDERS, 2)
    word, number = rng.choice(_WORDS), rng.randint(10, 98)
    name, near = f"{word}_{number}.html", f"{word}_{number + 1}.html"
    numbers = _draw_numbers(rng)
    product = str(math.prod(numbers))
    accepts = answers.number(product)

    def others() -> str:
        while True:
            drawn = _draw_numbers(rng)
            if math.prod(drawn) != math.prod(numbers):
                return multiply_page(drawn)

    return Draft(
        sentences={"en": wordings(_MULTIPLY, ("{}.", "Please {}."), f=name, d=folder, n=len(numbers))},
        parameters={"file": name, "folder": folder, "clicks": len(numbers), "answer": product},
        state={
            f"files/{folder}/{name}": multiply_page(numbers),
            f"files/{folder}/{near}": others(),
            f"files/{folder}/{word}.txt": "Nothing to see here.",
            f"files/{elsewhere}/{name}": others(),
        },
        criteria=Criteria(
            goal=lambda _start, now: now.get(SOLVED) is True,
            allowed=any_writes(_visits, only(SOLVED)),
            apps=(FILES, BROWSER),
            answer=lambda _start, answer: accepts(answer),
        ),
        plan=_multiply_plan(folder, name, product),
        oracle_steps=len(numbers) + 7,
        split_keys=(f"file {name}",),
        without=tuple(f"files/{one}" for one in _FOLDERS),
    )


OPEN_URL_BOOKMARK = Template(
    name="OpenUrlBookmark",
    summary="open a page by its address and bookmark it, beside bookmarks of near addresses",
    tier=2,
    compose=_compose_bookmark,
)
REMEMBER_AND_MULTIPLY = Template(
    name="RememberAndMultiply",
    summary="open a file in the browser, remember the numbers that it shows one by one, and answer their product",
    tier=3,
    traits=("answer", "multi_app"),
    compose=_compose_multiply,
    android_world=("BrowserMultiply",),
)

TEMPLATES = (OPEN_URL_BOOKMARK, REMEMBER_AND_MULTIPLY)
