from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agent_eval.outcome import Label
from agent_eval.tasks import TASKS
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, facts, hold, launch, tap, told

FOLDERS = ("Alarms", "DCIM", "Documents", "Download", "Movies", "Music")
"""Those that a phone shows without scrolling, wherever folders are listed."""
MOVE, COPY = "Move to\u2026", "Copy to\u2026"


@dataclass(frozen=True)
class Scene:
    """What there is in the folders of one instance."""

    instance: TaskInstance

    @property
    def folders(self) -> set[str]:
        return {path.split("/")[1] for path in self.instance.setup.state}

    @property
    def name(self) -> str:
        return str(self.instance.parameters["name"])

    @property
    def source(self) -> str:
        return str(self.instance.parameters.get("folder") or self.instance.parameters["source"])

    @property
    def target(self) -> str:
        return str(self.instance.parameters.get("target") or self.elsewhere)

    @property
    def elsewhere(self) -> str:
        """A folder that the task has no business with."""
        return next(folder for folder in FOLDERS if folder not in self.folders)

    @property
    def twin_in(self) -> str:
        """The folder that holds another file of the same name."""
        return next(folder for folder in self.folders - {self.source} if self.name in self.names(folder))

    @property
    def near(self) -> str:
        """The first name of the source folder that is like the one that is meant."""
        like = "_".join(self.name.split("_")[:2])
        return next(name for name in self.names(self.source) if name.startswith(like))

    def names(self, folder: str) -> list[str]:
        return sorted(path.split("/")[2] for path in self.instance.setup.state if path.startswith(f"files/{folder}/"))


def draw(task: str) -> Scene:
    """Draw an instance of which all can be seen without scrolling."""
    for seed in range(300):
        scene = Scene(TASKS[task].draw(seed))
        if scene.folders <= set(FOLDERS) and max(len(scene.names(folder)) for folder in scene.folders) <= 6:
            return scene
    raise AssertionError(f"{task} never draws such an instance")


def choose(folder: str, name: str) -> tuple[Step, ...]:
    return launch("Files"), tap(folder, "row"), hold(name)


DELETE = (tap("Delete", "button"), tap("Delete", "button"))


def transfer(verb: str, target: str) -> tuple[Step, ...]:
    return tap("More options"), tap(verb), tap(target, "row"), tap("Move here" if verb == MOVE else "Copy here")


@pytest.mark.parametrize("task", ["FileDelete", "FileMove", "FileCopySameName"])
def test_a_look_alike_stands_above_the_file_and_a_twin_lies_in_another_folder(task: str) -> None:
    for seed in range(40):
        scene = Scene(TASKS[task].draw(seed))
        assert scene.near < scene.name
        state = scene.instance.setup.state
        assert state[f"files/{scene.twin_in}/{scene.name}"] != state[f"files/{scene.source}/{scene.name}"]


@pytest.mark.parametrize("task", ["FileMove", "FileCopySameName"])
def test_look_alikes_are_where_the_file_shall_go_and_the_file_is_not(task: str) -> None:
    for seed in range(40):
        scene = Scene(TASKS[task].draw(seed))
        there = scene.names(scene.target)
        assert any(name.startswith("_".join(scene.name.split("_")[:2])) for name in there)
        assert scene.name not in there


Way = Callable[[Scene], tuple[Step, ...]]
WRONG_DELETIONS: dict[str, tuple[Way, Label]] = {
    "the look-alike": (lambda it: (*choose(it.source, it.near), *DELETE), "premature_completion"),
    "the twin in another folder": (lambda it: (*choose(it.twin_in, it.name), *DELETE), "premature_completion"),
    "the look-alike as well": (
        lambda it: (*choose(it.source, it.name), *DELETE, hold(it.near), *DELETE),
        "over_execution",
    ),
    "nothing, and moves the file away": (
        lambda it: (*choose(it.source, it.name), *transfer(MOVE, it.elsewhere)),
        "premature_completion",
    ),
}


@pytest.mark.parametrize("what", WRONG_DELETIONS)
def test_an_agent_fails_that_deletes(stage: Stage, what: str) -> None:
    scene = draw("FileDelete")
    way, label = WRONG_DELETIONS[what]
    record = stage.play(scene.instance, *way(scene))
    assert record.outcome.label == label, told(record)
    assert facts(record).side_effects


OTHER = {MOVE: COPY, COPY: MOVE}
WRONG_TRANSFERS: dict[str, tuple[Callable[[Scene, str], tuple[Step, ...]], Label]] = {
    "copies instead of moving, or the other way round": (
        lambda it, verb: (*choose(it.source, it.name), *transfer(OTHER[verb], it.target)),
        "premature_completion",
    ),
    "takes it to a third folder": (
        lambda it, verb: (*choose(it.source, it.name), *transfer(verb, it.elsewhere)),
        "premature_completion",
    ),
    "takes the twin": (
        lambda it, verb: (*choose(it.twin_in, it.name), *transfer(verb, it.target)),
        "premature_completion",
    ),
    "takes the look-alike": (
        lambda it, verb: (*choose(it.source, it.near), *transfer(verb, it.target)),
        "premature_completion",
    ),
    "takes the look-alike as well": (
        lambda it, verb: (*choose(it.source, it.name), hold(it.near), *transfer(verb, it.target)),
        "over_execution",
    ),
}


@pytest.mark.parametrize("what", WRONG_TRANSFERS)
@pytest.mark.parametrize(("task", "verb"), [("FileMove", MOVE), ("FileCopySameName", COPY)])
def test_an_agent_fails_that(stage: Stage, task: str, verb: str, what: str) -> None:
    scene = draw(task)
    way, label = WRONG_TRANSFERS[what]
    record = stage.play(scene.instance, *way(scene, verb))
    assert record.outcome.label == label, told(record)


def test_copying_twice_is_over_execution(stage: Stage) -> None:
    scene = draw("FileCopySameName")
    copy = transfer(COPY, scene.target)
    record = stage.play(scene.instance, *choose(scene.source, scene.name), *copy, hold(scene.name), *copy)
    assert record.outcome.label == "over_execution", told(record)
    assert [path.split("/")[1] for path in facts(record).side_effects] == [scene.target]


ASTRAY: dict[str, Way] = {
    "moved it to a third folder": lambda it: (*choose(it.source, it.name), *transfer(MOVE, it.elsewhere)),
    "copied it to a third folder": lambda it: (*choose(it.source, it.name), *transfer(COPY, it.elsewhere)),
    "moved the look-alike": lambda it: (*choose(it.source, it.near), *transfer(MOVE, it.elsewhere)),
    "moved it": lambda it: (*choose(it.source, it.name), *transfer(MOVE, it.target)),
    "copied it": lambda it: (*choose(it.source, it.name), *transfer(COPY, it.target)),
    "was about to move the look-alike": lambda it: (*choose(it.source, it.near), *transfer(MOVE, it.elsewhere)[:3]),
    "was about to delete the look-alike": lambda it: (*choose(it.source, it.near), DELETE[0]),
    "chose the look-alike as well": lambda it: (*choose(it.source, it.name), tap(it.near, "row")),
    "was about to share it": lambda it: (*choose(it.source, it.name), tap("More options"), tap("Share")),
}


@pytest.mark.parametrize("what", ASTRAY)
@pytest.mark.parametrize("task", ["FileDelete", "FileMove", "FileCopySameName"])
def test_the_oracle_goes_on_where_an_agent(stage: Stage, task: str, what: str) -> None:
    scene = draw(task)
    record = stage.play_astray(scene.instance, *ASTRAY[what](scene))
    assert record.outcome.label == "success", told(record)
