"""What is asked of Camera: one photo, one video, and no more. Knows where both are kept in the phone's state.

Each shot is a record, and a file beside it; what a task asks for is one new record that fits, so a second one, or one
of the other kind, is a side effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from agent_eval.tasks.families.camera_expert import (
    CAMERA,
    FOLDER,
    LENS,
    RECORDING,
    SHOTS,
    Shot,
    new_shots,
    to_viewfinder,
)
from agent_eval.tasks.families.later_words import later_wordings
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal
from agent_eval.tasks.moves import Move, complete, finish, tap
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

_LENSES = ("back", "front")

_FRAMES: Mapping[Language, Sequence[str]] = {
    "en": ("{}.", "Please {}.", "Would you {}?", "I would like you to {}."),
    "de": ("{}.", "Bitte {}.", "{}, bitte.", "Kurze Bitte: {}."),
    "zh": ("{}。", "请{}。", "请帮我{}。", "麻烦{}。"),
}
_PHOTO: Mapping[str, Mapping[Language, Sequence[str]]] = {
    "back": {
        "en": (
            "take a single photo with the back camera",
            "use the rear camera for exactly one picture",
            "shoot one photo through the phone's back lens",
            "capture just one image with the camera on the back",
            "snap one picture with the rear camera",
        ),
        "de": (
            "mach genau ein Foto mit der Rückkamera",
            "nimm ein einziges Bild mit der hinteren Kamera auf",
            "schieß mit der Kamera auf der Rückseite ein Foto, und nur eines",
            "fotografiere einmal mit der Rückkamera",
            "knips ein Bild mit der hinteren Kamera, nicht mehr",
        ),
        "zh": (
            "用后置摄像头拍一张照片",
            "使用后置摄像头只拍一张照片",
            "把摄像头设为后置，拍一张照片",
            "通过后置镜头拍摄一张照片",
            "用手机背面的摄像头拍一张照片",
        ),
    },
    "front": {
        "en": (
            "take a single photo with the front camera",
            "use the selfie camera for exactly one picture",
            "shoot one photo through the phone's front lens",
            "capture just one image with the camera on the front",
            "snap one selfie with the front camera",
        ),
        "de": (
            "mach genau ein Foto mit der Frontkamera",
            "nimm ein einziges Bild mit der vorderen Kamera auf",
            "schieß mit der Selfie-Kamera ein Foto, und nur eines",
            "fotografiere einmal mit der Frontkamera",
            "knips ein Selfie mit der vorderen Kamera, nicht mehr",
        ),
        "zh": (
            "用前置摄像头拍一张照片",
            "使用前置摄像头只拍一张照片",
            "把摄像头设为前置，拍一张照片",
            "通过前置镜头拍摄一张照片",
            "用前置摄像头拍一张自拍",
        ),
    },
}
_VIDEO: Mapping[Language, Sequence[str]] = {
    "en": (
        "record a single video with the camera and stop it again",
        "film one short clip, then end the recording",
        "make exactly one video; it may be short, but it must be finished",
        "shoot one video of any length and stop recording",
        "capture one clip with the camera and bring it to an end",
        "use the camera to record one video, and do not leave it recording",
        "start a video recording and stop it, so that there is one new video",
    ),
    "de": (
        "nimm ein einziges Video auf und beende die Aufnahme wieder",
        "filme einen kurzen Clip und stoppe dann",
        "drehe genau ein Video, egal wie kurz, und beende es",
        "mach mit der Kamera ein Video und lass die Aufnahme nicht weiterlaufen",
        "starte eine Videoaufnahme und stoppe sie, sodass es ein neues Video gibt",
        "nimm mit der Kamera einen Clip beliebiger Länge auf und beende ihn",
    ),
    "zh": (
        "用相机录一段视频，然后停止录制",
        "拍摄一段短视频并结束录制",
        "只录制一段视频，长短不限，录完要停止",
        "用相机录像一次，不要让它一直录下去",
        "开始录像再停止，得到一段新视频",
        "录一段任意长度的视频并停止录制",
    ),
}
_LATER_VIDEO: Mapping[Language, Sequence[str]] = {"de": ("mach eine einzige Videoaufnahme und beende sie",)}


Fits = Callable[[Shot], bool]
"""Tells whether a new shot is one that was asked for."""


def _wanted(start: Snapshot, now: Snapshot, fits: Fits) -> Shot | None:
    """Return the new shot that was asked for: the first that fits."""
    return next((shot for shot in new_shots(start, now) if fits(shot)), None)


def _goal(fits: Fits) -> Goal:
    return lambda start, now: _wanted(start, now, fits) is not None and now.get(RECORDING) is False


def _shot_writes(start: Snapshot, end: Snapshot, fits: Fits) -> tuple[str, ...]:
    """Allow the one shot that was asked for, with its file."""
    shot = _wanted(start, end, fits)
    return () if shot is None else (f"{SHOTS}/{shot.id}/**", f"{FOLDER}/{shot.file}")


# ----------------------------------------------------------------------------------------------------------------------
# the expert


def _plan(fits: Fits, press: Callable[[View], Move]) -> Plan:
    """Return a plan that presses what takes a shot until there is one that fits.

    Args:
        fits: What was asked for.
        press: The next move in the viewfinder.
    """

    @mending
    def plan(view: View) -> Move:
        move = to_viewfinder(view)
        if move is not None:
            return move
        if not _goal(fits)(view.start, view.now):
            return press(view)
        thumbnail = view.find("Show last photo", "button")
        return finish("taken") if thumbnail is None else complete(thumbnail)

    return plan


def _press_for_a_photo(lens: str) -> Callable[[View], Move]:
    def press(view: View) -> Move:
        if view.find("Shutter", "button") is None:
            return view.tap_on("Photo", "button")
        switch = view.find(f"Switch to {lens} camera", "button")
        return view.tap_on("Shutter", "button") if switch is None else tap(switch)

    return press


def _press_for_a_video(view: View) -> Move:
    start = view.find("Start recording", "button") or view.find("Stop recording", "button")
    return view.tap_on("Video", "button") if start is None else tap(start)


# ----------------------------------------------------------------------------------------------------------------------
# one photo, one video


def _draw_state(rng: Random, lens: str) -> dict[str, Scalar]:
    """Draw a camera that has taken nothing yet, so that the viewfinder shows it, and what tells nothing of the goal."""
    return {
        LENS: lens,
        "camera/photos": 0,
        "settings/brightness": rng.randrange(26, 243),
        "settings/volume_media": rng.randrange(16),
    }


def _compose_photo(rng: Random) -> Draft:
    lens, opens_with = rng.choice(_LENSES), rng.choice(_LENSES)

    def fits(shot: Shot) -> bool:
        return shot.kind == "photo" and shot.lens == lens

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        turned = (LENS,) if end.get(LENS) == lens else ()
        return (*_shot_writes(start, end, fits), "camera/photos", *turned)

    return Draft(
        sentences={language: wordings(clauses, _FRAMES[language]) for language, clauses in _PHOTO[lens].items()},
        parameters={"wanted": lens, "start": opens_with},
        state=_draw_state(rng, opens_with),
        criteria=Criteria(goal=_goal(fits), allowed=allowed, apps=(CAMERA,)),
        plan=_plan(fits, _press_for_a_photo(lens)),
        oracle_steps=2 if lens == opens_with else 3,
        without=(SHOTS,),
    )


def _compose_video(rng: Random) -> Draft:
    def fits(shot: Shot) -> bool:
        return shot.kind == "video"

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        return (*_shot_writes(start, end, fits), RECORDING)

    return Draft(
        sentences={
            language: wordings(clauses, _FRAMES[language])
            + later_wordings(_LATER_VIDEO.get(language, ()), _FRAMES[language])
            for language, clauses in _VIDEO.items()
        },
        parameters={},
        state=_draw_state(rng, rng.choice(_LENSES)),
        criteria=Criteria(goal=_goal(fits), allowed=allowed, apps=(CAMERA,)),
        plan=_plan(fits, _press_for_a_video),
        oracle_steps=4,
        without=(SHOTS,),
    )


TAKE_PHOTO = Template(
    name="TakePhoto",
    summary="take exactly one photo with the front or the back camera",
    tier=1,
    compose=_compose_photo,
    android_world=("CameraTakePhoto",),
)
RECORD_VIDEO = Template(
    name="RecordVideo",
    summary="record exactly one video and stop it",
    tier=1,
    compose=_compose_video,
    android_world=("CameraTakeVideo",),
)

TEMPLATES: tuple[Template, ...] = (TAKE_PHOTO, RECORD_VIDEO)
