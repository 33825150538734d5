"""Solutions in Browser, with pages of the shared storage that Files opens."""

from __future__ import annotations

import math
import re

from agent_eval.device_sim.apps.web import maze_page, multiply_page
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Script, Walk, record

NUMBERS = (7, 3, 9, 2, 8)
MAZE = ("S.#.", "#.#.", "#...", "##.G")
_CELL = re.compile(r"Row (\d+), column (\d+): (\w+)")
_MOVES = {"Up": (-1, 0), "Down": (1, 0), "Left": (0, -1), "Right": (0, 1)}


def bookmark(url: str) -> Script:
    """Open an address and bookmark it."""

    def script(hand: Hand) -> None:
        hand.open("Browser")
        hand.type(url, into="Search or type URL")
        hand.tap("Go")
        hand.tap("Bookmark")

    return script


def open_page(hand: Hand) -> None:
    """Open the task's page from the folder of downloads."""
    hand.open("Files")
    hand.tap("Download", role="row")
    hand.tap("task.html")
    hand.tap("Open with Browser")


def multiply(hand: Hand) -> str:
    """Click the button for one number after the other, and type their product."""
    open_page(hand)
    numbers = []
    while not hand.sees("Product of the numbers"):
        hand.tap("Click me")
        numbers += [int(text) for text in hand.texts() if text.isdigit()]
    product = str(math.prod(numbers))
    hand.type(product, into="Product of the numbers")
    hand.tap("Submit")
    assert hand.reach("Success!")
    return product


def cells(hand: Hand) -> dict[tuple[int, int], str]:
    """Return what is at each row and column of the maze."""
    found = map(_CELL.fullmatch, hand.texts())
    return {(int(cell[1]), int(cell[2])): cell[3] for cell in found if cell}


def way(maze: dict[tuple[int, int], str]) -> list[str]:
    """Return the moves from the cell that one is in to the goal."""
    start = next(place for place, what in maze.items() if what == "You")
    known: dict[tuple[int, int], list[str]] = {start: []}
    queue = [start]
    for place in queue:
        if maze[place] == "Goal":
            return known[place]
        for name, (down, right) in _MOVES.items():
            there = (place[0] + down, place[1] + right)
            if there not in known and maze.get(there, "wall") != "wall":
                known[there] = [*known[place], name]
                queue.append(there)
    raise LookupError("the maze has no way out")


def solve(hand: Hand) -> None:
    """Walk through the maze."""
    open_page(hand)
    for move in way(cells(hand)):
        hand.tap(move)


def walks() -> list[Walk]:
    """Return the solutions."""
    url = "https://wiki.example/Glacier"
    numbers = {"files/Download/task.html": multiply_page(NUMBERS)}
    visited = ("browser/history",)
    return [
        Walk("50", 4, bookmark("wiki.example/Glacier"), seed=2, may=visited,
             adds=(record("browser/bookmark", url=url, title="Glacier"),)),
        Walk("51", 13, multiply, state=numbers, sets={"browser/product_solved": True}, may=visited,
             answer=str(math.prod(NUMBERS))),
        Walk("BrowserMaze", 11, solve, state={"files/Download/task.html": maze_page(MAZE)},
             sets={"browser/maze_solved": True}, may=visited),
        Walk("BrowserMultiply", 13, multiply, seed=2, state=numbers, sets={"browser/product_solved": True}, may=visited,
             answer=str(math.prod(NUMBERS))),
    ]  # fmt: skip
