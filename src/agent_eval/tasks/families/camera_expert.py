"""How an expert deletes shots that should not be, stops a recording and turns the camera round. Knows no goal."""

from __future__ import annotations

from dataclasses import dataclass

from agent_eval.actions import Swipe
from agent_eval.tasks.moves import Move, go_back, open_app, plain
from agent_eval.tasks.view import View
from agent_eval.types import Snapshot

CAMERA = "com.android.camera2"
VIEWFINDER = "camera/viewfinder"
LENS = "camera/lens"
RECORDING = "camera/recording"
SHOTS = "camera/shot"
FOLDER = "files/DCIM/Camera"


@dataclass(frozen=True)
class Shot:
    """One photo or video of the state."""

    id: int
    kind: str
    """``photo`` or ``video``."""
    lens: str
    """``back`` or ``front``."""
    file: str


def shots_of(snapshot: Snapshot) -> tuple[Shot, ...]:
    """Return all photos and videos that the camera knows of, in the order in which they were taken."""
    values = snapshot.under(SHOTS)
    ids = sorted({int(path.split("/")[0]) for path in values})
    return tuple(Shot(one, *(str(values[f"{one}/{name}"]) for name in ("kind", "lens", "file"))) for one in ids)


def new_shots(start: Snapshot, now: Snapshot) -> tuple[Shot, ...]:
    """Return the shots that were taken since a start."""
    old = {shot.id for shot in shots_of(start)}
    return tuple(shot for shot in shots_of(now) if shot.id not in old)


def to_viewfinder(view: View) -> Move | None:
    """Return the move that leads towards the viewfinder; None when it is in front."""
    if view.package != CAMERA:
        return open_app("Camera")
    return None if view.screen == VIEWFINDER else go_back()


def undo(view: View) -> Move | None:
    """Return the next move that puts back what the task has no business with; None if there is none."""
    damaged = {change.path for change in view.damage}
    if RECORDING in damaged:
        return to_viewfinder(view) or view.tap_on("Stop recording", "button")
    spare = [shot for shot in new_shots(view.start, view.now) if f"{SHOTS}/{shot.id}/file" in damaged]
    if spare:
        return _discard(view, spare[-1])
    if LENS in damaged:
        return to_viewfinder(view) or view.tap_on(f"Switch to {view.start[LENS]} camera", "button")
    return None


def _discard(view: View, shot: Shot) -> Move:
    """Return the next move that deletes a shot; the viewer shows the latest first."""
    if view.package == CAMERA and view.screen == "camera/delete" and view.variable("shot") == shot.id:
        return view.tap_on("Delete", "button")
    if view.package == CAMERA and view.screen == "camera/last":
        if view.find(shot.file) is not None:
            return view.tap_on("Delete", "button")
        shown = [one.id for one in shots_of(view.now) if view.find(one.file) is not None]
        older = not shown or shown[0] > shot.id
        return Move(Swipe(direction="left" if older else "right"), f"looking for {plain(shot.file)}")
    return to_viewfinder(view) or view.tap_on("Show last photo", "button")
