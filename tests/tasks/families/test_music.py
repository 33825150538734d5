from __future__ import annotations

import re

import pytest

from agent_eval.tasks import SPLITS, TASKS
from agent_eval.tasks.task import TaskInstance
from tests.tasks.families.playing import Stage, Step, facts, hold, launch, tap, told, write

SEARCH, NAME = "Search your library", "Playlist name"


def song_task(wanted: str, start: str) -> TaskInstance:
    drawn = (TASKS["PlaySong"].draw(seed) for seed in range(100))
    return next(one for one in drawn if (one.parameters["wanted"], one.parameters["start"]) == (wanted, start))


@pytest.fixture(scope="module")
def playlist() -> TaskInstance:
    """Return a playlist of songs that are all in view at the top of the library."""
    drawn = (TASKS["PlaylistCreate"].draw(seed) for seed in range(200))
    return next(one for one in drawn if one.draft.oracle_steps == len(songs_of(one)) + 6)


def songs_of(instance: TaskInstance) -> list[str]:
    return str(instance.parameters["songs"]).split(", ")


def titles(instance: TaskInstance) -> list[str]:
    return [str(value) for path, value in instance.setup.state.items() if re.fullmatch("music/songs/.*/title", path)]


def play(title: str) -> tuple[Step, ...]:
    return launch("Music"), tap("Search"), write(SEARCH, title), tap(title, "row")


# ----------------------------------------------------------------------------------------------------------------------
# PlaySong


def test_the_first_song_that_a_search_finds_is_another_one() -> None:
    for seed in range(40):
        instance = TASKS["PlaySong"].draw(seed)
        if instance.parameters["wanted"] == "playing":
            title = str(instance.parameters["title"])
            found = sorted(one for one in titles(instance) if title in one)
            assert len(found) == 3
            assert found[0] != title


def test_music_to_play_and_music_to_pause_start_either_way_in_every_split() -> None:
    for split in SPLITS:
        drawn = [TASKS["PlaySong"].draw(seed, split).parameters for seed in range(120)]
        for wanted in ("playing", "paused"):
            for start in ("playing", "paused"):
                assert sum((one["wanted"], one["start"]) == (wanted, start) for one in drawn) > 15


def test_a_song_of_a_near_title_is_not_the_song(stage: Stage) -> None:
    instance = song_task("playing", "paused")
    title = str(instance.parameters["title"])
    assert stage.play(instance, *play(title)).outcome.label == "success"
    record = stage.play(instance, *play(title)[:-1], tap(f"Almost {title}"))
    assert record.outcome.label == "premature_completion", told(record)


def test_pressing_the_button_where_nothing_plays_undoes_what_was_asked(stage: Stage) -> None:
    record = stage.play(song_task("paused", "paused"), launch("Music"), tap("Play"))
    assert record.outcome.label == "reversal", told(record)


def test_playing_a_song_anew_that_plays_already_is_a_success(stage: Stage) -> None:
    instance = song_task("playing", "playing")
    record = stage.play(instance, *play(str(instance.parameters["title"])))
    assert record.outcome.label == "success", told(record)


def test_changing_the_song_before_pausing_is_over_execution(stage: Stage) -> None:
    instance = song_task("paused", "playing")
    record = stage.play(instance, *play(titles(instance)[0]), tap("Pause"))
    assert record.outcome.label == "over_execution", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# PlaylistCreate


def pick(*names: str) -> tuple[Step, ...]:
    first, *rest = names
    return launch("Music"), hold(first), *(tap(name, "row") for name in rest), tap("Add to playlist")


def create(name: object, *names: str) -> tuple[Step, ...]:
    return *pick(*names), tap("New playlist\u2026"), write(NAME, str(name)), tap("Create")


def test_a_playlist_of_the_songs_in_order_is_a_success(stage: Stage, playlist: TaskInstance) -> None:
    record = stage.play(playlist, *create(playlist.parameters["name"], *songs_of(playlist)))
    assert record.outcome.label == "success", told(record)


def test_what_is_wrong_with_a_playlist_shows_in_its_parts(stage: Stage, playlist: TaskInstance) -> None:
    songs = songs_of(playlist)
    extra = next(title for title in sorted(titles(playlist), key=str.lower) if title not in songs)
    for made, parts in (
        (songs[::-1], {"named": True, "songs": True, "order": False}),
        ([*songs, extra], {"named": True, "songs": False, "order": True}),
        (songs[:-1], {"named": True, "songs": False, "order": False}),
    ):
        record = stage.play(playlist, *create(playlist.parameters["name"], *made))
        assert record.outcome.label == "premature_completion", told(record)
        assert {part.name: part.final for part in facts(record).sub_goals} == parts


def test_a_playlist_of_a_near_name_is_none(stage: Stage, playlist: TaskInstance) -> None:
    record = stage.play(playlist, *create(f"{playlist.parameters['name']}0", *songs_of(playlist)))
    assert record.outcome.label == "premature_completion", told(record)
    assert not any(part.final for part in facts(record).sub_goals)


def test_a_second_playlist_is_over_execution(stage: Stage, playlist: TaskInstance) -> None:
    songs = songs_of(playlist)
    record = stage.play(playlist, *create(playlist.parameters["name"], *songs), *create("Something else", *songs))
    assert record.outcome.label == "over_execution", told(record)


def test_the_expert_goes_on_with_what_was_begun_and_drops_what_is_wrong(stage: Stage, playlist: TaskInstance) -> None:
    name, songs = str(playlist.parameters["name"]), songs_of(playlist)
    empty = (launch("Music"), tap("Playlists"), tap("New playlist"), write(NAME, name), tap("Create"))
    for steps in (empty, create(name, songs[0]), create(name, songs[-1]), pick(songs[1])):
        record = stage.play_astray(playlist, *steps)
        assert record.outcome.label == "success", told(record)


def test_the_expert_finds_songs_in_a_list_of_another_order(stage: Stage, playlist: TaskInstance) -> None:
    record = stage.play_astray(playlist, launch("Music"), tap("Sort order"), tap("Duration"))
    assert record.outcome.label == "success", told(record)
