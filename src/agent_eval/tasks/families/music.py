"""What is asked of Music: a song to play, playing to pause, a playlist to make. Knows where it keeps songs and lists.

Titles come in families: a song's name is the beginning, the end or the middle of its neighbours' names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from agent_eval.device_sim.apps.music import joined, numbers
from agent_eval.tasks.families import music_expert
from agent_eval.tasks.families.music_expert import MUSIC, PLAYLISTS
from agent_eval.tasks.families.people import another
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, every, only
from agent_eval.tasks.moves import Move
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

PLAYING, SONG, QUEUE = "music/playing", "music/song", "music/queue"

_FIRST = (
    "Amber", "Autumn", "Broken", "Copper", "Crimson", "Distant", "Electric", "Empty", "Frozen", "Gentle", "Hollow",
    "Indigo", "Ivory", "Lonely", "Marble", "Northern", "Open", "Painted", "Quiet", "Restless", "Scarlet", "Secret",
    "Silver", "Sleeping", "Southern", "Velvet", "Wandering", "Wild",
)  # fmt: skip
_SECOND = (
    "Anchor", "Canyon", "Carousel", "Coastline", "Feather", "Garden", "Harvest", "Horizon", "Island", "Lantern",
    "Meadow", "Mirror", "Morning", "Orchard", "Parade", "Planet", "Postcard", "Ribbon", "Signal", "Staircase",
    "Sunday", "Telegram", "Valley", "Weather",
)  # fmt: skip
_ARTISTS = ("Quay Trio", "Marlow Sisters", "The Slow Trams", "Odd Numbers")


def _draw_title(rng: Random) -> str:
    return f"{rng.choice(_FIRST)} {rng.choice(_SECOND)}"


def _near_titles(title: str, rng: Random) -> list[str]:
    """Return titles that are easily taken for another one; the first comes before it wherever titles are sorted."""
    first, second = title.split()
    return [
        f"Almost {title}",
        f"{title} Again",
        f"{first} {another(second, _SECOND, rng)}",
        f"{another(first, _FIRST, rng)} {second}",
    ]


def _song_state(songs: dict[int, str], rng: Random) -> dict[str, Scalar]:
    state: dict[str, Scalar] = {}
    for number, title in songs.items():
        artist = rng.choice(_ARTISTS)
        state |= {
            f"music/songs/{number}/title": title,
            f"music/songs/{number}/artist": artist,
            f"music/songs/{number}/album": f"Best of {artist}",
            f"music/songs/{number}/seconds": rng.randint(180, 345),
        }
    return state


def _numbered(titles: Sequence[str], rng: Random) -> dict[int, str]:
    """Number songs in random order, so that no list shows the one that is meant first."""
    shuffled = list(titles)
    rng.shuffle(shuffled)
    return dict(enumerate(shuffled, start=901))


# ----------------------------------------------------------------------------------------------------------------------
# a song to play, playing to pause

_FRAMES: dict[Language, tuple[str, ...]] = {
    "en": ("{}.", "Please {}.", "In the Music app, {}.", "I want you to {}."),
    "de": ("{}.", "Bitte {}.", "In der App Musik: {}.", "Auf diesem Handy: {}."),
    "zh": ("{}。", "请{}。", "请在音乐应用中{}。", "在这部手机上{}。"),
}
_PLAY: dict[Language, tuple[str, ...]] = {
    "en": ("play the song “{t}”", "start the song “{t}”", "put on the song “{t}”", "have the song “{t}” playing"),
    "de": ("spiel den Titel „{t}“ ab", "starte den Titel „{t}“", "lass den Titel „{t}“ laufen"),
    "zh": ("播放歌曲《{t}》", "放一下《{t}》这首歌", "让《{t}》这首歌开始播放"),
}
_PAUSE: dict[Language, tuple[str, ...]] = {
    "en": (
        "pause the music",
        "make sure no music is playing",
        "see to it that the music is paused",
        "have the music player paused",
        "bring the music player to a pause",
        "make sure that the player is not playing anything",
    ),
    "de": (
        "pausiere die Musik",
        "halte die Musik an",
        "sorge dafür, dass keine Musik läuft",
        "stell sicher, dass die Musik pausiert ist",
        "achte darauf, dass die Wiedergabe angehalten ist",
    ),
    "zh": (
        "暂停音乐",
        "把音乐暂停",
        "确保没有音乐在播放",
        "确认音乐处于暂停状态",
        "让音乐播放器处于暂停状态",
        "停止播放音乐",
    ),
}


def play_sentences(title: str) -> dict[Language, tuple[str, ...]]:
    """Return every sentence that asks for a song, by language."""
    return {language: wordings(clauses, _FRAMES[language], t=title) for language, clauses in _PLAY.items()}


def pause_sentences() -> dict[Language, tuple[str, ...]]:
    """Return every sentence that asks for no music, by language."""
    return {language: wordings(clauses, _FRAMES[language]) for language, clauses in _PAUSE.items()}


def _plays(song: int) -> Goal:
    return lambda _start, now: now.get(PLAYING) is True and now.get(SONG) == song


def _play_plan(song: int, title: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        if _plays(song)(view.start, view.now):
            return music_expert.see(view, "Pause", f"{title}: playing")
        if view.now.get(SONG) == song:
            return music_expert.press(view, "Play")
        return music_expert.play(view, title)

    return plan


@mending
def _pause_plan(view: View) -> Move:
    if view.now.get(PLAYING) is True:
        return music_expert.press(view, "Pause")
    return music_expert.see(view, "Play", f"{view.say('Play')}: paused")


def _compose_play(rng: Random) -> Draft:
    wanted, start = rng.choice(("playing", "paused")), rng.choice(("playing", "paused"))
    title = _draw_title(rng)
    keys = (f"song {title}",)  # of both kinds: were it of one only, a split would hold few of that kind
    near = _near_titles(title, rng)
    songs = _numbered([title, *near], rng)
    number = {name: song for song, name in songs.items()}
    loaded = title if wanted == start == "playing" else rng.choice(near)
    queue = [number[loaded], *(song for song in songs if songs[song] != loaded)]
    state = {
        **_song_state(songs, rng),
        SONG: number[loaded],
        QUEUE: joined(queue),
        PLAYING: start == "playing",
    }
    if wanted == "paused":
        return Draft(
            sentences=pause_sentences(),
            parameters={"wanted": wanted, "start": start},
            state=state,
            criteria=Criteria(goal=lambda _start, now: now.get(PLAYING) is False, allowed=only(PLAYING), apps=(MUSIC,)),
            plan=_pause_plan,
            oracle_steps=2 if start == "playing" else 1,
            split_keys=keys,
        )
    return Draft(
        sentences=play_sentences(title),
        parameters={"wanted": wanted, "start": start, "title": title},
        state=state,
        criteria=Criteria(goal=_plays(number[title]), allowed=only(PLAYING, SONG, QUEUE), apps=(MUSIC,)),
        plan=_play_plan(number[title], title),
        oracle_steps=1 if start == "playing" else 4,
        split_keys=keys,
    )


# ----------------------------------------------------------------------------------------------------------------------
# a playlist to make


_MAKE = (
    "create a playlist named “{p}” with these songs in this order: {s}",
    "make a new playlist called “{p}” that holds, in order, {s}",
    "put together a playlist “{p}” of exactly these songs, one after the other: {s}",
    "set up a playlist with the name “{p}”; it has these songs and no others, in this order: {s}",
    "add a playlist “{p}” in the Music app and fill it with {s}, keeping that order",
)
_LIST_NAMES = (
    "Bike Tour", "Breakfast", "Campfire", "Cleaning Day", "Dinner Guests", "Garden Work", "Housewarming", "Night Shift",
    "Rainy Day", "Reading", "Slow Start", "Train Ride",
)  # fmt: skip
_LIBRARY = 11
"""Songs of a library that fills two screens."""
_IN_VIEW = 6
"""Rows that are wholly in view on a default phone, at the top of the list as at its end."""


@dataclass(frozen=True)
class _Playlist:
    """A playlist of the state."""

    number: int
    name: str
    songs: tuple[int, ...]


def _playlists_of(snapshot: Snapshot) -> tuple[_Playlist, ...]:
    values = snapshot.under(PLAYLISTS)
    return tuple(
        _Playlist(number, str(values[f"{number}/name"]), tuple(numbers(str(values[f"{number}/songs"]))))
        for number in sorted({int(path.partition("/")[0]) for path in values})
    )


def _made(start: Snapshot, now: Snapshot, name: str) -> _Playlist | None:
    """Return the new playlist of a name; Music lets no two have the same."""
    old = {playlist.number for playlist in _playlists_of(start)}
    return next((one for one in _playlists_of(now) if one.number not in old and one.name == name), None)


def _list_plan(name: str, songs: Sequence[int], titles: Sequence[str]) -> Plan:
    wanted = tuple(songs)

    @mending
    def plan(view: View) -> Move:
        made = _made(view.start, view.now, name)
        if made is None:
            return music_expert.create(view, name, wanted, titles)
        if made.songs == wanted:
            return music_expert.see_playlist(view, name)
        done = len(made.songs)
        if made.songs == wanted[:done]:
            return music_expert.extend(view, name, wanted[done:], titles[done:])
        return music_expert.delete(view, made.number, name)

    return plan


def _scrolls(places: Sequence[int]) -> int:
    """Count the swipes on the way through songs at these places of a library that fills two screens."""
    count, at_top = 0, True
    for place in places:
        if not (place < _IN_VIEW if at_top else place >= _LIBRARY - _IN_VIEW):
            count, at_top = count + 1, not at_top
    return count


def _compose_list(rng: Random) -> Draft:
    titles: list[str] = []
    while len(titles) < _LIBRARY:
        title = _draw_title(rng)
        family = [title, *_near_titles(title, rng)[: rng.randint(1, 2)]]
        if not set(family) & set(titles):
            titles += family
    library = sorted(titles[:_LIBRARY], key=str.lower)
    songs = _numbered(library, rng)
    chosen = rng.sample(sorted(songs), rng.randint(3, 4))
    chosen_titles = [songs[song] for song in chosen]
    theme, count = rng.choice(_LIST_NAMES), rng.randint(2, 40)
    name = f"{theme} {count}"
    near = (f"{theme} {count + 1}", f"{name} B", f"{another(theme, _LIST_NAMES, rng)} {count}")
    state: dict[str, Scalar] = {SONG: 0, QUEUE: "", PLAYING: False}
    for number, other in enumerate(near, start=901):
        state[f"{PLAYLISTS}/{number}/name"] = other
        state[f"{PLAYLISTS}/{number}/songs"] = joined(rng.sample(sorted(songs), rng.randint(2, 4)))

    def has_songs(start: Snapshot, now: Snapshot) -> bool:
        made = _made(start, now, name)
        return made is not None and sorted(made.songs) == sorted(chosen)

    def has_order(start: Snapshot, now: Snapshot) -> bool:
        made = _made(start, now, name)
        return made is not None and [song for song in made.songs if song in chosen] == chosen

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        made = _made(start, end, name)
        return () if made is None else (f"{PLAYLISTS}/{made.number}/*",)

    sub_goals: dict[str, Goal] = {
        "named": lambda start, now: _made(start, now, name) is not None,
        "songs": has_songs,
        "order": has_order,
    }
    listed = ", ".join(f"“{title}”" for title in chosen_titles)
    return Draft(
        sentences={"en": wordings(_MAKE, ("{}.", "Please {}."), p=name, s=listed)},
        parameters={"name": name, "songs": ", ".join(chosen_titles)},
        state=state | _song_state(songs, rng),
        criteria=Criteria(goal=every(sub_goals), allowed=allowed, apps=(MUSIC,), sub_goals=sub_goals),
        plan=_list_plan(name, chosen, chosen_titles),
        oracle_steps=len(chosen) + 6 + _scrolls([library.index(title) for title in chosen_titles]),
        split_keys=(f"playlist {name}",),
        without=("music/songs", PLAYLISTS),
    )


PLAY_SONG = Template(
    name="PlaySong",
    summary="play one of several songs with near titles, or have the music paused",
    tier=1,
    compose=_compose_play,
)
PLAYLIST_CREATE = Template(
    name="PlaylistCreate",
    summary="make a playlist of some songs in an order",
    tier=3,
    compose=_compose_list,
    android_world=("RetroCreatePlaylist",),
)

TEMPLATES = (PLAY_SONG, PLAYLIST_CREATE)
