"""Names of files with neighbours that are easily taken for them, and where the phone's state keeps files.

A file of the shared storage is a path of the state, ``files/<folder>/<name>``, whose value is what it holds. Knows no
app and no task.
"""

from __future__ import annotations

import posixpath
from random import Random

from agent_eval.device_sim.files import SHARED
from agent_eval.types import Snapshot

FILES = "files"

_FIRST = (
    "amber", "birch", "bridge", "canal", "cedar", "chapel", "cobalt", "copper", "coral", "depot", "ferry", "garage",
    "garden", "granite", "harbour", "island", "jetty", "kitchen", "lantern", "library", "meadow", "museum", "orchard",
    "pantry", "quarry", "saddle", "station", "studio", "summit", "tunnel", "valley", "willow",
)  # fmt: skip
_SECOND = (
    "badge", "chart", "diagram", "form", "guide", "label", "leaflet", "ledger", "letter", "list", "log", "map", "memo",
    "outline", "permit", "plan", "poster", "roster", "scan", "sketch", "survey", "ticket", "voucher",
)  # fmt: skip


def draw_stem(rng: Random) -> str:
    """Draw a file name without its ending, such as ``canal_map_27``; both digits of the number differ."""
    tens, ones = rng.sample(range(1, 9), 2)
    return f"{rng.choice(_FIRST)}_{rng.choice(_SECOND)}_{tens}{ones}"


def near_stems(stem: str, count: int, rng: Random) -> list[str]:
    """Draw up to seven names that are easily taken for another; the first stands above it in a list by name."""
    first, second, number = stem.split("_")
    above = [f"{first}_{second}_{int(number) - 1}", f"{first}_{second}"]
    others = [
        f"{first}_{second}_{number[::-1]}",
        f"{first}_{second}_{int(number) + 1}",
        f"{first}_{second}s_{number}",
        f"{first}_{second}_{number}_old",
        f"{rng.choice([word for word in _FIRST if word != first])}_{second}_{number}",
    ]
    rng.shuffle(above)
    rest = [name for name in dict.fromkeys([above[1], *others]) if name != above[0]]
    rng.shuffle(rest)
    return [above[0], *rest][:count]


def on_phone(path: str) -> str:
    """Return what the phone itself calls a path of the state below ``files``."""
    return SHARED + path[len(FILES) :]


def folder_of(path: str) -> str:
    """Return the path of the folder that holds a path."""
    return posixpath.dirname(path)


def name_of(path: str) -> str:
    """Return the last part of a path."""
    return posixpath.basename(path)


def strays(start: Snapshot, now: Snapshot, path: str) -> list[str]:
    """Return the new paths that hold what a path held at the start: where its file, or a copy of it, went."""
    held, before = start.get(path), start.under(FILES)
    return [f"{FILES}/{other}" for other, holds in now.under(FILES).items() if holds == held and other not in before]


def is_gone(start: Snapshot, now: Snapshot, path: str) -> bool:
    """Tell whether a file was deleted, not just moved or given another name."""
    return now.get(path) is None and not strays(start, now, path)
