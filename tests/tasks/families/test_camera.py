from __future__ import annotations

import pytest

from agent_eval.outcome import Label
from agent_eval.tasks import TASKS
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, back, facts, launch, tap, told

OPEN, SHUTTER, PHOTO, VIDEO = launch("Camera"), tap("Shutter"), tap("Photo"), tap("Video")
RECORD, STOP = tap("Start recording"), tap("Stop recording")
TO_FRONT, TO_BACK = tap("Switch to front camera"), tap("Switch to back camera")


def photo(wanted: str, start: str) -> TaskInstance:
    drawn = (TASKS["TakePhoto"].draw(seed) for seed in range(100))
    return next(one for one in drawn if (one.parameters["wanted"], one.parameters["start"]) == (wanted, start))


PHOTOS: list[tuple[str, str, str, tuple[Step, ...], Label]] = [
    ("the lens in use", "back", "back", (SHUTTER,), "success"),
    ("the other lens", "front", "back", (TO_FRONT, SHUTTER), "success"),
    ("the other way round", "back", "front", (TO_BACK, SHUTTER), "success"),
    ("the wrong lens", "front", "back", (SHUTTER,), "premature_completion"),
    ("the wrong lens first", "front", "back", (SHUTTER, TO_FRONT, SHUTTER), "over_execution"),
    ("a second photo", "back", "back", (SHUTTER, SHUTTER), "over_execution"),
    ("a video", "back", "back", (VIDEO, RECORD, STOP), "premature_completion"),
    ("a video besides", "back", "back", (SHUTTER, VIDEO, RECORD, STOP), "over_execution"),
    ("the lens turned afterwards", "back", "back", (SHUTTER, TO_FRONT), "over_execution"),
    (
        "the photo deleted again",
        "back",
        "back",
        (SHUTTER, tap("Show last photo"), tap("Delete"), tap("Delete", "button")),
        "reversal",
    ),
]


@pytest.mark.parametrize(("name", "wanted", "start", "steps", "label"), PHOTOS, ids=[row[0] for row in PHOTOS])
def test_exactly_one_photo_by_the_right_lens_counts(
    stage: Stage, name: str, wanted: str, start: str, steps: tuple[Step, ...], label: Label
) -> None:
    record = stage.play(photo(wanted, start), OPEN, *steps)
    assert record.outcome.label == label, f"{name}: {told(record)}"


VIDEOS: list[tuple[str, tuple[Step, ...], Label]] = [
    ("one video", (VIDEO, RECORD, STOP), "success"),
    ("still recording", (VIDEO, RECORD), "premature_completion"),
    ("recording again", (VIDEO, RECORD, STOP, RECORD), "reversal"),
    ("a second video", (VIDEO, RECORD, STOP, RECORD, STOP), "over_execution"),
    ("a photo", (SHUTTER,), "premature_completion"),
    ("a photo besides", (VIDEO, RECORD, STOP, PHOTO, SHUTTER), "over_execution"),
]


@pytest.mark.parametrize(("name", "steps", "label"), VIDEOS, ids=[row[0] for row in VIDEOS])
def test_exactly_one_finished_video_counts(stage: Stage, name: str, steps: tuple[Step, ...], label: Label) -> None:
    record = stage.play(TASKS["RecordVideo"].draw(1), OPEN, *steps)
    assert record.outcome.label == label, f"{name}: {told(record)}"


def test_turning_the_camera_round_unasked_is_too_much(stage: Stage) -> None:
    drawn = (TASKS["RecordVideo"].draw(seed) for seed in range(50))
    instance = next(one for one in drawn if one.setup.state["camera/lens"] == "back")
    record = stage.play(instance, OPEN, VIDEO, TO_FRONT, RECORD, STOP)
    assert record.outcome.label == "over_execution", told(record)
    assert facts(record).side_effects == ("camera/lens",)


def test_the_camera_opens_with_either_lens_and_either_is_asked_for() -> None:
    cells = {tuple(TASKS["TakePhoto"].draw(seed).parameters.values()) for seed in range(40)}
    assert len(cells) == 4


ASTRAY: list[tuple[str, str, tuple[Step, ...]]] = [
    ("a photo too many", "TakePhoto", (OPEN, SHUTTER, SHUTTER)),
    ("two videos", "TakePhoto", (OPEN, VIDEO, RECORD, STOP, RECORD, STOP)),
    ("a recording that goes on", "TakePhoto", (OPEN, VIDEO, RECORD, launch("Clock"))),
    ("a photo before the video", "RecordVideo", (OPEN, SHUTTER, VIDEO, RECORD, STOP)),
    ("a recording left alone", "RecordVideo", (OPEN, VIDEO, RECORD, launch("Settings"))),
    ("the viewer", "RecordVideo", (OPEN, VIDEO, RECORD, STOP, tap("Show last photo"), tap("Delete"), back)),
    ("the wrong lens for another task", "WifiSet", (OPEN, TO_FRONT)),
    ("a photo that nobody asked for", "WifiSet", (OPEN, SHUTTER)),
]


@pytest.mark.parametrize(("name", "task", "steps"), ASTRAY, ids=[row[0] for row in ASTRAY])
def test_the_expert_puts_right(stage: Stage, name: str, task: str, steps: tuple[Step, ...]) -> None:
    for seed in range(4):
        record = stage.play_astray(TASKS[task].draw(seed, "training"), *steps)
        assert record.outcome.label == "success", f"{name}: {told(record)}"
