from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.music import FOLDER, PACKAGE, duration, joined, numbers
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]
SONGS = ("Alpha", "Beta", "Gamma", "Delta")


def opened(make: Make, **state: Scalar) -> Finger:
    """Open the app on a phone that has these four songs only, of 10, 11, 12 and 13 minutes, and no playlist."""
    finger = make(**state)
    for prefix in ("music/songs", "music/playlists"):
        for number in {int(path.split("/")[2]) for path in finger.phone.state if path.startswith(f"{prefix}/")}:
            finger.phone.remove(f"{prefix}/{number}")
    for number, title in enumerate(SONGS, start=1):
        finger.phone.put(f"music/songs/{number}/title", title)
        finger.phone.put(f"music/songs/{number}/artist", "Nobody")
        finger.phone.put(f"music/songs/{number}/seconds", (9 + number) * 60)
    for path in ("music/queue", "music/song"):
        finger.phone.put(path, "" if path.endswith("queue") else 0)
    finger.phone.open_app(PACKAGE)
    return finger


def hold(finger: Finger, **fields: object) -> None:
    finger.phone.long_press(*finger.center(**fields))


def name(finger: Finger, text: str) -> None:
    finger.tap(className="android.widget.EditText")
    finger.phone.clear_text()
    finger.phone.type_text(text)


def more(finger: Finger, place: int) -> None:
    """Open the menu of the row at a place."""
    bounds = finger.all(resourceId=f"{_ID}menu")[place].view.bounds
    assert bounds is not None
    finger.phone.tap(*bounds.center)


def playlists(finger: Finger) -> dict[str, list[str]]:
    state = finger.phone.state
    return {
        str(state[path]): [
            str(state[f"music/songs/{song}/title"]) for song in numbers(str(state[path.replace("/name", "/songs")]))
        ]
        for path in state
        if path.startswith("music/playlists/") and path.endswith("/name")
    }


def test_a_tap_on_a_song_plays_it_and_the_button_pauses_it(make: Make) -> None:
    finger = opened(make)
    finger.tap(text="Gamma")
    assert (finger.phone.state["music/playing"], finger.phone.state["music/song"]) == (True, 3)
    finger.tap(description="Pause")
    assert finger.phone.state["music/playing"] is False
    assert finger.phone.state["music/song"] == 3


def test_the_position_follows_the_clock_while_the_song_plays(make: Make) -> None:
    finger = opened(make)
    finger.tap(text="Alpha")
    finger.tap(resourceId=f"{_ID}mini_player_title")
    finger.phone.advance(65)
    assert finger.one(resourceId=f"{_ID}song_current_progress").view.text == "01:05"
    finger.tap(description="Pause")
    finger.phone.advance(30)
    assert finger.one(resourceId=f"{_ID}song_current_progress").view.text == "01:05"


def test_a_song_that_ends_makes_way_for_the_next_and_the_last_one_stops(make: Make) -> None:
    finger = opened(make)
    finger.tap(text="Beta")  # sorted by title: Alpha, Beta, Delta, Gamma
    finger.phone.advance(11 * 60 + 1)
    assert finger.phone.state["music/song"] == 4
    finger.phone.advance(13 * 60 + 1)
    assert (finger.phone.state["music/song"], finger.phone.state["music/playing"]) == (3, True)
    finger.phone.advance(12 * 60 + 1)
    assert (finger.phone.state["music/song"], finger.phone.state["music/playing"]) == (3, False)


def test_pausing_takes_back_the_end_of_the_song(make: Make) -> None:
    finger = opened(make)
    finger.tap(text="Alpha")
    finger.tap(description="Pause")
    finger.phone.advance(3600)
    assert finger.phone.state["music/song"] == 1


def test_songs_join_the_queue_in_the_order_in_which_they_are_added(make: Make) -> None:
    finger = opened(make)
    for title in ("Gamma", "Alpha", "Delta"):
        more(finger, sorted(SONGS).index(title))
        finger.tap(text="Add to playing queue")
    assert finger.phone.state["music/queue"] == "3,1,4"
    assert finger.phone.state["music/playing"] is False


def test_play_next_goes_behind_the_song_that_plays(make: Make) -> None:
    finger = opened(make)
    finger.tap(text="Alpha")
    more(finger, 3)
    finger.tap(text="Play next")
    assert finger.phone.state["music/queue"] == "1,3,2,4,3"


def test_a_playlist_of_selected_songs_keeps_the_order_of_selection(make: Make) -> None:
    finger = opened(make)
    hold(finger, text="Delta")
    finger.tap(text="Alpha")
    finger.tap(text="Gamma")
    finger.tap(text="Alpha")  # not this one after all
    assert finger.sees(text="2 selected")
    finger.tap(description="Add to playlist")
    finger.tap(text="New playlist…")
    name(finger, "Evening 7")
    finger.tap(text="Create")
    assert playlists(finger) == {"Evening 7": ["Delta", "Gamma"]}
    assert finger.phone.toast == "Created playlist Evening 7."


def test_a_playlist_shows_how_long_it_is(make: Make) -> None:
    finger = opened(make, music__playlists__1__name="Long", music__playlists__1__songs="1,2,3,4")
    finger.phone.put("music/playlists/1/name", "Long")
    finger.phone.put("music/playlists/1/songs", "1,2,3,4")
    finger.tap(text="Playlists")
    assert finger.sees(text="4 songs • 46:00")
    finger.tap(text="Long")
    assert finger.sees(text="4 songs • 46:00")


def test_entries_of_a_playlist_are_moved_and_removed(make: Make) -> None:
    finger = opened(make)
    finger.phone.put("music/playlists/1/name", "Mine")
    finger.phone.put("music/playlists/1/songs", "1,2,3")
    finger.tap(text="Playlists")
    finger.tap(text="Mine")
    more(finger, 1)  # the first is the menu of the playlist itself
    finger.tap(text="Move down")
    assert playlists(finger) == {"Mine": ["Beta", "Alpha", "Gamma"]}
    more(finger, 3)
    finger.tap(text="Move down")  # the last one stays
    more(finger, 3)
    finger.tap(text="Move up")
    assert playlists(finger) == {"Mine": ["Beta", "Gamma", "Alpha"]}
    more(finger, 2)
    finger.tap(text="Remove from playlist")
    assert playlists(finger) == {"Mine": ["Beta", "Alpha"]}


def test_a_playlist_is_renamed_saved_as_a_file_and_deleted_after_a_question(make: Make) -> None:
    finger = opened(make)
    finger.phone.put("music/playlists/1/name", "Mine")
    finger.phone.put("music/playlists/1/songs", "2,1")
    finger.tap(text="Playlists")
    more(finger, 0)
    finger.tap(text="Rename")
    name(finger, "Yours")
    finger.tap(text="Rename")
    more(finger, 0)
    finger.tap(text="Save as file")
    assert finger.phone.files.read(f"{FOLDER}/Yours.m3u").decode().splitlines() == [
        "#EXTM3U",
        "#EXTINF:660,Nobody - Beta",
        "/storage/emulated/0/Music/Beta.mp3",
        "#EXTINF:600,Nobody - Alpha",
        "/storage/emulated/0/Music/Alpha.mp3",
    ]
    more(finger, 0)
    finger.tap(text="Delete")
    finger.tap(text="Cancel")
    assert playlists(finger) == {"Yours": ["Beta", "Alpha"]}
    more(finger, 0)
    finger.tap(text="Delete")
    finger.tap(text="Delete", className="android.widget.Button")
    assert playlists(finger) == {}


def test_a_name_that_is_taken_or_empty_makes_no_playlist(make: Make) -> None:
    finger = opened(make)
    finger.phone.put("music/playlists/1/name", "Mine")
    finger.tap(text="Playlists")
    finger.tap(description="New playlist")
    finger.tap(text="Create")
    assert finger.phone.toast == "Enter a name"
    name(finger, "Mine")
    finger.tap(text="Create")
    assert finger.phone.toast == "Playlist Mine already exists"
    assert list(playlists(finger)) == ["Mine"]


def test_the_search_finds_titles_and_plays_them(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Search")
    finger.tap(className="android.widget.EditText")
    finger.phone.type_text("gam")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}title")] == ["Gamma"]
    finger.tap(text="Gamma")
    assert finger.phone.state["music/song"] == 3


def test_songs_are_sorted_by_duration(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Sort order")
    finger.tap(text="Duration")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}title")] == ["Alpha", "Beta", "Gamma", "Delta"]


@pytest.mark.parametrize("seed", range(4))
def test_a_playlist_of_45_to_50_minutes_is_possible_on_a_fresh_phone(make: Make, seed: int) -> None:
    state = make(seed).phone.state
    lengths = sorted(
        int(value) for path, value in state.items() if path.startswith("music/songs/") and "seconds" in path
    )
    reachable = {0}
    for length in lengths:
        reachable |= {before + length for before in reachable}
    assert any(45 * 60 <= total <= 50 * 60 for total in reachable)


def test_the_player_below_the_songs_leaves_room_for_a_swipe_from_three_quarters_of_the_screen(make: Make) -> None:
    finger = make(music__song=1, music__queue="1")
    finger.phone.open_app(PACKAGE)
    assert finger.sees(resourceId=f"{_ID}mini_player_title")
    before = finger.texts
    finger.phone.swipe(360, 960, 360, 320)
    assert finger.texts != before


def test_two_seeds_differ_and_one_seed_does_not(make: Make) -> None:
    def library(seed: int) -> dict[str, Scalar]:
        return {path: value for path, value in make(seed).phone.state.items() if path.startswith("music/")}

    assert library(1) == library(1)
    assert library(1) != library(2)


def test_every_text_is_there_in_german_and_chinese() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_meets_the_screens_of_the_app() -> None:
    assert {"music/songs", "music/playlists", "music/player", "music/queue", "music/add"} <= stroll(
        PACKAGE, "en"
    ).screens


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00"), (59, "00:59"), (185, "03:05"), (3725, "1:02:05")])
def test_durations_are_written_as_players_do(seconds: int, text: str) -> None:
    assert duration(seconds) == text


@given(st.lists(st.integers(1, 999)))
def test_a_list_of_songs_is_stored_and_read_back(songs: list[int]) -> None:
    assert numbers(joined(songs)) == songs


def test_what_plays_is_paused_from_the_notification_shade(make: Make) -> None:
    finger = opened(make)
    finger.tap(text="Gamma")
    finger.phone.key("home")
    finger.phone.open_shade()
    assert finger.sees(text="Gamma")
    finger.tap(text="Pause")
    assert finger.phone.state["music/playing"] is False
    assert not finger.sees(text="Gamma")
