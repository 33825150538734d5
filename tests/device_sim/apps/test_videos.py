from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.apps.videos import PACKAGE
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def opened(make: Make, *names: str) -> Finger:
    """Open the app on a phone with these videos only, in VLCVideos, and no playlist."""
    finger = make()
    for folder in ("VLCVideos", "Movies"):
        for name in finger.phone.files.names(f"/sdcard/{folder}"):
            finger.phone.files.remove(f"/sdcard/{folder}/{name}")
    for number in {path.split("/")[2] for path in finger.phone.state if path.startswith("videos/playlists/")}:
        finger.phone.remove(f"videos/playlists/{number}")
    for name in names:
        finger.phone.files.write(f"/sdcard/VLCVideos/{name}", b"mp4")
    finger.phone.open_app(PACKAGE)
    return finger


def playlists(finger: Finger) -> dict[str, list[str]]:
    state = finger.phone.state
    return {
        str(state[path]): str(state[path.replace("/name", "/paths")]).split("\n")
        for path in state
        if path.startswith("videos/playlists/") and path.endswith("/name")
    }


def save_as(finger: Finger, name: str) -> None:
    finger.tap(className="android.widget.EditText")
    finger.phone.type_text(name)
    finger.phone.key("back")
    finger.tap(text="Save")


def test_two_playlists_keep_the_order_of_selection(make: Make) -> None:
    finger = opened(make, "a.mp4", "b.mkv", "c.mp4", "notes.txt")
    assert not finger.sees(text="notes.txt")
    finger.phone.long_press(*finger.center(text="c.mp4"))
    finger.tap(text="a.mp4")
    assert finger.sees(text="2 selected")
    finger.tap(description="Add to playlist")
    save_as(finger, "First")
    finger.phone.long_press(*finger.center(text="b.mkv"))
    finger.tap(description="Add to playlist")
    save_as(finger, "Second")
    assert playlists(finger) == {"First": ["VLCVideos/c.mp4", "VLCVideos/a.mp4"], "Second": ["VLCVideos/b.mkv"]}


def test_a_folder_is_browsed_and_its_videos_join_a_playlist_that_exists(make: Make) -> None:
    finger = opened(make, "a.mp4", "b.mp4")
    finger.phone.put("videos/playlists/1/name", "Mine")
    finger.phone.put("videos/playlists/1/paths", "VLCVideos/b.mp4")
    finger.tap(text="Browse")
    finger.tap(text="Internal memory")
    finger.path("VLCVideos")
    finger.tap(description="More actions")
    finger.tap(text="Add to playlist")
    finger.tap(text="Mine")
    assert playlists(finger) == {"Mine": ["VLCVideos/b.mp4", "VLCVideos/a.mp4"]}


def test_a_playlist_needs_a_name(make: Make) -> None:
    finger = opened(make, "a.mp4")
    finger.tap(description="More actions")
    finger.tap(text="Add to playlist")
    finger.tap(text="Save")
    assert finger.phone.toast == "Enter a name"
    assert playlists(finger) == {}


def test_entries_are_moved_and_removed_and_the_playlist_is_deleted(make: Make) -> None:
    finger = opened(make, "a.mp4", "b.mp4", "c.mp4")
    finger.phone.put("videos/playlists/1/name", "Mine")
    finger.phone.put("videos/playlists/1/paths", "VLCVideos/a.mp4\nVLCVideos/b.mp4\nVLCVideos/c.mp4")
    finger.tap(text="Playlists")
    assert finger.sees(text="3 tracks")
    finger.tap(text="Mine")
    finger.tap(description="More actions")
    finger.tap(text="Move down")
    assert playlists(finger) == {"Mine": ["VLCVideos/b.mp4", "VLCVideos/a.mp4", "VLCVideos/c.mp4"]}
    finger.tap(description="More actions")
    finger.tap(text="Remove from playlist")
    assert playlists(finger) == {"Mine": ["VLCVideos/a.mp4", "VLCVideos/c.mp4"]}
    finger.phone.key("back")
    finger.tap(description="More actions")
    finger.tap(text="Delete")
    finger.tap(text="Delete")
    assert playlists(finger) == {}
    assert finger.phone.files.exists("/sdcard/VLCVideos/a.mp4")


def test_a_video_plays_pauses_and_makes_way_for_the_next(make: Make) -> None:
    finger = opened(make, "a.mp4", "b.mp4")
    finger.tap(text="a.mp4")
    finger.tap(description="Pause")
    assert finger.sees(description="Play")
    finger.tap(description="Next")
    assert finger.one(resourceId=f"{_ID}player_overlay_title").view.text == "b.mp4"


def test_a_video_that_was_deleted_is_no_longer_listed(make: Make) -> None:
    finger = opened(make, "a.mp4", "b.mp4")
    finger.phone.files.remove("/sdcard/VLCVideos/a.mp4")
    assert not finger.sees(text="a.mp4")


def test_two_seeds_differ_and_have_look_alikes(make: Make) -> None:
    def names(seed: int) -> list[str]:
        return make(seed).phone.files.names("/sdcard/VLCVideos")

    assert names(1) == names(1)
    assert names(1) != names(2)
    assert any("_copy" in name for name in names(1))


def test_every_text_is_there_in_german_and_chinese() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_meets_the_screens_of_the_app() -> None:
    assert {"videos/player", "videos/add", "videos/folder", "videos/playlists"} <= stroll(PACKAGE, "en").screens
