"""Solutions in the apps that fill and sort the shared storage: Files, Camera, Recorder, Videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_eval.types import Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Script, Walk, record

RECEIPTS: dict[str, Scalar] = {
    "files/DCIM/invoice_07.jpg": "JPEG invoice 7",
    "files/DCIM/invoice_70.jpg": "JPEG invoice 70",
    "files/Download/invoice_77.jpg": "JPEG invoice 77",
}
CLIPS: dict[str, Scalar] = {f"files/VLCVideos/aa_{name}.mp4": f"mp4 {name}" for name in ("dawn", "dusk", "noon")}


def _choose(hand: Hand, folder: str, name: str) -> None:
    hand.open("Files")
    hand.tap(folder, role="row")
    hand.hold(name)


def delete(folder: str, name: str) -> Script:
    """Delete a file."""

    def script(hand: Hand) -> None:
        _choose(hand, folder, name)
        hand.tap("Delete")
        hand.tap("Delete")

    return script


def transfer(verb: str, name: str, source: str, target: str) -> Script:
    """Copy or move a file into another folder."""

    def script(hand: Hand) -> None:
        _choose(hand, source, name)
        hand.tap("More options")
        hand.tap(f"{verb} to\u2026")
        hand.tap(target, role="row")
        hand.tap(f"{verb} here")

    return script


def photograph(*, front: bool) -> Script:
    """Take one photo."""

    def script(hand: Hand) -> None:
        hand.open("Camera")
        if front:
            hand.tap("Switch to front camera")
        hand.tap("Shutter")

    return script


def film(hand: Hand) -> None:
    """Take one video."""
    hand.open("Camera")
    hand.tap("Video")
    hand.tap("Start recording")
    hand.tap("Stop recording")


def sound(name: str) -> Script:
    """Record a clip and save it, under a name if there is one."""

    def script(hand: Hand) -> None:
        hand.open("Recorder")
        hand.tap("Record")
        hand.tap("While using the app")
        hand.tap("Stop")
        if name:
            hand.type(name, into="File name")
        hand.tap("Save")

    return script


def list_videos(playlists: Mapping[str, tuple[str, ...]]) -> Script:
    """Make playlists of videos, each in order."""

    def script(hand: Hand) -> None:
        hand.open("Videos")
        for playlist, (first, *rest) in playlists.items():
            hand.hold(first)
            for other in rest:
                hand.tap(other)
            hand.tap("Add to playlist")
            hand.type(playlist, into="Create new playlist")
            hand.tap("Save")

    return script


def one_new_file(folder: str) -> Callable[[Snapshot, Snapshot], list[str]]:
    """Return a check that a folder has one more file and is otherwise as before."""

    def check(before: Snapshot, after: Snapshot) -> list[str]:
        changes = [change for change in before.diff(after) if change.path.startswith(f"{folder}/")]
        if len(changes) == 1 and changes[0].before is None:
            return []
        return [f"{folder} must have exactly one new file: {changes}"]

    return check


def walks() -> list[Walk]:
    """Return the solutions."""
    photo: dict[str, Scalar] = {"camera/photos": 8}
    back = record("camera/shot", kind="photo", lens="back")
    video = record("camera/shot", kind="video", lens="back")
    shots = ("files/DCIM/Camera",)
    one_shot = one_new_file("files/DCIM/Camera")
    voice: dict[str, Scalar] = {"permissions/com.dimowner.audiorecorder/RECORD_AUDIO": "granted"}
    one = {"Quiet hours": ("aa_noon.mp4", "aa_dawn.mp4", "aa_dusk.mp4")}
    two = {"Quiet hours": ("aa_noon.mp4", "aa_dawn.mp4"), "Loud hours": ("aa_dusk.mp4", "aa_noon.mp4")}

    def playlist(name: str, *stems: str) -> dict[str, Scalar]:
        return {"name": name, "paths": "\n".join(f"VLCVideos/aa_{stem}.mp4" for stem in stems)}

    return [
        Walk("41", 2, photograph(front=False), "back", state={"camera/photos": 7}, sets=photo, adds=(back,),
             may=shots, check=one_shot),
        Walk("41", 3, photograph(front=True), "front", state={"camera/photos": 7},
             sets={**photo, "camera/lens": "front"},
             adds=(record("camera/shot", kind="photo", lens="front"),), may=shots, check=one_shot),
        Walk("42", 4, film, adds=(video,), may=shots, check=one_shot, sets={"camera/recording": False}),
        Walk("43", 5, delete("DCIM", "invoice_07.jpg"), state=RECEIPTS, gone=("files/DCIM/invoice_07.jpg",)),
        Walk("44", 7, transfer("Move", "invoice_07.jpg", "DCIM", "Documents"), state=RECEIPTS,
             gone=("files/DCIM/invoice_07.jpg",), sets={"files/Documents/invoice_07.jpg": "JPEG invoice 7"}),
        Walk("45", 7, transfer("Copy", "invoice_70.jpg", "DCIM", "Download"), state=RECEIPTS,
             sets={"files/Download/invoice_70.jpg": "JPEG invoice 70"}),
        Walk("CameraTakePhoto", 2, photograph(front=False), seed=2, state={"camera/photos": 7}, sets=photo,
             adds=(back,), may=shots, check=one_shot),
        Walk("CameraTakeVideo", 4, film, seed=2, adds=(video,), may=shots, check=one_shot),
        Walk("FilesDeleteFile", 5, delete("Download", "invoice_77.jpg"), seed=2, state=RECEIPTS,
             gone=("files/Download/invoice_77.jpg",)),
        Walk("FilesMoveFile", 8, transfer("Move", "invoice_77.jpg", "Download", "Pictures"), seed=2, state=RECEIPTS,
             gone=("files/Download/invoice_77.jpg",), sets={"files/Pictures/invoice_77.jpg": "JPEG invoice 77"}),
        Walk("SaveCopyOfReceiptTaskEval", 7, transfer("Copy", "invoice_07.jpg", "DCIM", "Download"), seed=2,
             state=RECEIPTS, sets={"files/Download/invoice_07.jpg": "JPEG invoice 7"}),
        Walk("AudioRecorderRecordAudio", 5, sound(""), sets=voice, may=("files/Recordings",),
             check=one_new_file("files/Recordings")),
        Walk("AudioRecorderRecordAudioWithFileName", 6, sound("Rain on tin"),
             sets={**voice, "files/Recordings/Rain on tin.m4a": "m4a 0"}),
        Walk("VlcCreatePlaylist", 7, list_videos(one), state=CLIPS,
             adds=(record("videos/playlists", **playlist("Quiet hours", "noon", "dawn", "dusk")),)),
        Walk("VlcCreateTwoPlaylists", 11, list_videos(two), state=CLIPS,
             adds=(record("videos/playlists", **playlist("Quiet hours", "noon", "dawn")),
                   record("videos/playlists", **playlist("Loud hours", "dusk", "noon")))),
    ]  # fmt: skip
