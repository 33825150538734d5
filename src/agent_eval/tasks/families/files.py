"""What is asked of Files: that one file is deleted, moved or copied. Knows how to word the goal.

Every folder that a task names holds only what the draft puts there. Beside the file that is meant there are names like
its own, at least one of them above it, and a file of the same name lies in a folder that is not meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from agent_eval.tasks.families import files_expert
from agent_eval.tasks.families.files_expert import DOCUMENTS_UI, Verb
from agent_eval.tasks.families.repair import mending, undo
from agent_eval.tasks.families.storage import (
    FILES,
    draw_stem,
    folder_of,
    is_gone,
    name_of,
    near_stems,
    strays,
)
from agent_eval.tasks.judge import Criteria, Goal, only
from agent_eval.tasks.moves import Move, finish, give_up
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

_PICTURES, _SOUNDS, _PAPERS = ("jpg", "png"), ("mp3", "m4a"), ("pdf", "txt", "csv", "zip")
_ENDINGS: Mapping[str, Sequence[str]] = {
    "Alarms": _SOUNDS,
    "DCIM": _PICTURES,
    "Documents": _PAPERS,
    "Download": (*_PAPERS, *_PICTURES),
    "Movies": ("mp4",),
    "Music": _SOUNDS,
    "Pictures": _PICTURES,
    "Podcasts": _SOUNDS,
    "Ringtones": _SOUNDS,
}
"""Folder of a fresh phone to the kinds of files in it."""

_LISTED = 7
"""Rows of a list that a default phone shows at once."""
_FURTHER_DOWN = ("Podcasts", "Ringtones")
"""Folders below the first rows of the list of all folders."""
_BELOW_TARGETS = ("Pictures", *_FURTHER_DOWN)
"""The same where files are copied or moved to: a row of buttons covers the last one."""

_FRAMES = ("{}.", "Please {}.", "I want you to {}.", "On the phone's storage, {}.")
_DELETE = (
    "delete the file {name} from the {folder} folder",
    "delete {name} in the folder {folder}",
    "remove {name} from {folder}",
    "get rid of the file {name} that lies in {folder}",
    "clear {name} out of the {folder} folder and keep all other files",
)
_MOVE = (
    "move the file {name} from {source} to {target}",
    "move {name} out of the folder {source} and into the folder {target}",
    "take {name}, which is in {source}, and put it into {target} instead",
    "have the file {name} lie in the {target} folder and no longer in {source}",
    "transfer {name} from the {source} folder to the {target} folder, leaving no copy behind",
)
_COPY = (
    "copy the file {name} from {source} to {target} under the same name",
    "put a copy of {name}, which is in the folder {source}, into the folder {target} without renaming it",
    "duplicate {name} from {source} in {target}, with the name as it is",
    "keep {name} in {source} and put a copy with the same name into {target}",
    "make sure that the file {name} of the {source} folder is in {target} as well, under its own name",
)


def _fill(folder: str, names: Sequence[str], rng: Random) -> dict[str, Scalar]:
    """Put files of different contents into a folder."""
    return {
        f"{FILES}/{folder}/{name}": f"{name.rpartition('.')[2].upper()} {rng.randrange(10**9):09d}" for name in names
    }


@dataclass(frozen=True)
class _Scene:
    """A file that is meant, among others."""

    path: str
    """Of the file that is meant."""
    state: Mapping[str, Scalar]
    """All files of the folders that the draft names."""
    low: bool
    """The file stands further down in its folder than a phone shows at once."""

    @property
    def name(self) -> str:
        """Its name."""
        return name_of(self.path)


def _draw_scene(folder: str, twin_in: str, besides: tuple[int, int], rng: Random) -> _Scene:
    """Draw a file among look-alikes in a folder.

    Args:
        folder: Where it lies.
        twin_in: Where another file of the same name lies, with a look-alike of its own.
        besides: Fewest and most other files in the folder, besides three look-alikes.
        rng: The source of randomness.
    """
    stem, ending = draw_stem(rng), rng.choice(_ENDINGS[folder])
    look_alikes = near_stems(stem, 4, rng)
    others = {f"{draw_stem(rng)}.{rng.choice(_ENDINGS[folder])}" for _ in range(rng.randint(*besides))}
    name = f"{stem}.{ending}"
    names = sorted({name, *(f"{near}.{ending}" for near in look_alikes[:2]), f"{stem}.bak", *others})
    state = _fill(folder, names, rng) | _fill(twin_in, (name, f"{look_alikes[3]}.{ending}"), rng)
    return _Scene(f"{FILES}/{folder}/{name}", state, names.index(name) >= _LISTED)


def _declare(view: View, path: str, thought: str) -> Move:
    """Declare the task done where the file is or was, or go there."""
    return files_expert.to_folder(view, folder_of(path)) or finish(thought)


def _name_key(name: str) -> str:
    """Return the split key of a file's name."""
    return f"file {name}"


# ----------------------------------------------------------------------------------------------------------------------
# deleting


def _delete_plan(path: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        left = [path] if view.now.get(path) is not None else strays(view.start, view.now, path)
        if left:
            return files_expert.delete(view, left[0])
        return files_expert.undo(view) or _declare(view, path, f"no {name_of(path)}")

    return plan


def _compose_delete(rng: Random) -> Draft:
    folder, twin_in = rng.sample(list(_ENDINGS), 2)
    scene = _draw_scene(folder, twin_in, (1, 6), rng)
    return Draft(
        sentences={"en": wordings(_DELETE, _FRAMES, name=scene.name, folder=folder)},
        parameters={"name": scene.name, "folder": folder},
        state=scene.state,
        criteria=Criteria(
            goal=lambda start, now: is_gone(start, now, scene.path), allowed=only(scene.path), apps=(DOCUMENTS_UI,)
        ),
        plan=_delete_plan(scene.path),
        oracle_steps=5 + (folder in _FURTHER_DOWN) + scene.low,
        split_keys=(_name_key(scene.name),),
        without=(f"{FILES}/{folder}", f"{FILES}/{twin_in}"),
    )


# ----------------------------------------------------------------------------------------------------------------------
# moving and copying


def _transferred(verb: Verb, path: str, target: str) -> Goal:
    """Return the goal that a file is whole where it shall be, and still or no longer where it was."""

    def holds(start: Snapshot, now: Snapshot) -> bool:
        held = start.get(path)
        return now.get(target) == held and now.get(path) == (held if verb == "copy" else None)

    return holds


def _transfer_plan(verb: Verb, path: str, target: str) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view) or files_expert.undo(view)
        if repair is not None:
            return repair
        here, there = view.now.get(path) is not None, view.now.get(target) == view.start.get(path)
        match verb, here, there:
            case (_, True, False):
                return files_expert.transfer(view, verb, path, folder_of(target))
            case ("move", True, True):
                return files_expert.delete(view, path)
            case ("copy", False, True):
                return files_expert.transfer(view, verb, target, folder_of(path))
            case (_, False, False):
                return give_up(f"no {name_of(path)}")
        return _declare(view, path, "moved" if verb == "move" else "copied")

    return plan


def _draw_way(rng: Random) -> tuple[str, str]:
    """Draw the folders where a file is and where it shall go, at most one of them further down its list."""
    while True:
        source, target = rng.sample(list(_ENDINGS), 2)
        if not (source in _FURTHER_DOWN and target in _BELOW_TARGETS):
            return source, target


def _transfer_task(verb: Verb, clauses: Sequence[str]) -> Callable[[Random], Draft]:
    def compose(rng: Random) -> Draft:
        source, target = _draw_way(rng)
        twin_in = rng.choice([folder for folder in _ENDINGS if folder not in (source, target)])
        scene = _draw_scene(source, twin_in, (0, 2), rng)
        stem, _, ending = scene.name.partition(".")
        there = [f"{name}.{ending}" for name in (*near_stems(stem, 2, rng), draw_stem(rng))]
        goal = f"{FILES}/{target}/{scene.name}"
        return Draft(
            sentences={"en": wordings(clauses, _FRAMES, name=scene.name, source=source, target=target)},
            parameters={"name": scene.name, "source": source, "target": target},
            state={**scene.state, **_fill(target, there, rng)},
            criteria=Criteria(
                goal=_transferred(verb, scene.path, goal),
                allowed=only(goal) if verb == "copy" else only(scene.path, goal),
                apps=(DOCUMENTS_UI,),
            ),
            plan=_transfer_plan(verb, scene.path, goal),
            oracle_steps=7 + (source in _FURTHER_DOWN) + (target in _BELOW_TARGETS),
            split_keys=(_name_key(scene.name),),
            without=tuple(f"{FILES}/{folder}" for folder in (source, target, twin_in)),
        )

    return compose


FILE_DELETE = Template(
    name="FileDelete",
    summary="delete one file and keep its look-alikes",
    tier=2,
    compose=_compose_delete,
    traits=("guard",),
    android_world=("FilesDeleteFile",),
)
FILE_MOVE = Template(
    name="FileMove",
    summary="move one file from one folder to another",
    tier=2,
    compose=_transfer_task("move", _MOVE),
    android_world=("FilesMoveFile",),
)
FILE_COPY_SAME_NAME = Template(
    name="FileCopySameName",
    summary="put a copy of one file into another folder under the same name",
    tier=2,
    compose=_transfer_task("copy", _COPY),
    android_world=("SaveCopyOfReceiptTaskEval",),
)

TEMPLATES = (FILE_DELETE, FILE_MOVE, FILE_COPY_SAME_NAME)
