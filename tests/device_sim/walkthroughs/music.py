"""Solutions in Music, one of which goes on in Files."""

from __future__ import annotations

from agent_eval.types import Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Script, Walk, record

SONGS: dict[str, Scalar] = {
    f"music/songs/{number}/{name}": value
    for number, title, seconds in (
        (901, "Aa Rowing", 201), (902, "Aa Sailing", 202), (903, "Aa Swimming", 203), (904, "Aa Swimming Again", 204),
    )
    for name, value in (("title", title), ("artist", "Quay Trio"), ("album", "Deck"), ("seconds", seconds))
}  # fmt: skip
IDLE: dict[str, Scalar] = {"music/queue": "", "music/song": 0, "music/playing": False}
THREE = ("Aa Swimming", "Aa Rowing", "Aa Sailing")
_FROM_S, _TO_S = 45 * 60, 50 * 60


def play(title: str) -> Script:
    """Find a song and play it."""

    def script(hand: Hand) -> None:
        hand.open("Music")
        hand.tap("Search")
        hand.type(title, into="Search your library")
        hand.tap(title, role="row")

    return script


def see_paused(hand: Hand) -> None:
    """See that nothing plays."""
    hand.open("Music")
    assert hand.sees("Play", role="button")


def pick(hand: Hand, titles: tuple[str, ...]) -> None:
    """Choose songs in order."""
    first, *rest = titles
    hand.hold(first, role="row")
    for title in rest:
        hand.tap(title, role="row")


def create(hand: Hand, name: str, titles: tuple[str, ...]) -> None:
    """Create a playlist of songs in order."""
    pick(hand, titles)
    hand.tap("Add to playlist")
    hand.tap("New playlist\u2026")
    hand.type(name, into="Playlist name")
    hand.tap("Create")


def playlist(name: str, titles: tuple[str, ...]) -> Script:
    """Create a playlist."""

    def script(hand: Hand) -> None:
        hand.open("Music")
        create(hand, name, titles)

    return script


def enqueue(titles: tuple[str, ...]) -> Script:
    """Add songs to the playing queue, in order."""

    def script(hand: Hand) -> None:
        hand.open("Music")
        pick(hand, titles)
        hand.tap("Add to playing queue")

    return script


def seconds_of(details: str) -> int:
    """Return how long a song is whose row ends in ``03:45``."""
    minutes, seconds = details.split(" ")[-1].split(":")
    return int(minutes) * 60 + int(seconds)


def playlist_of_length(name: str) -> Script:
    """Create a playlist between 45 and 50 minutes, of the shortest songs."""

    def script(hand: Hand) -> None:
        hand.open("Music")
        hand.tap("Sort order")
        hand.tap("Duration")
        songs = [row for row in hand.all_rows("row") if ":" in row.value]
        chosen: list[str] = []
        total = 0
        for song in songs:
            if total < _FROM_S and total + seconds_of(song.value) <= _TO_S:
                total += seconds_of(song.value)
                chosen.append(song.label)
        while not hand.sees(songs[0].label):
            hand.swipe("down")
        create(hand, name, tuple(chosen))

    return script


def has_length(name: str, before: Snapshot, after: Snapshot) -> list[str]:
    """Say whether a playlist is missing or has another length than asked for."""
    new = {path.partition("/")[0] for path in after.under("music/playlists")} - {
        path.partition("/")[0] for path in before.under("music/playlists")
    }
    lengths = [
        sum(
            int(after[f"music/songs/{song}/seconds"])
            for song in str(after[f"music/playlists/{number}/songs"]).split(",")
        )
        for number in new
        if after[f"music/playlists/{number}/name"] == name
    ]
    good = [length for length in lengths if _FROM_S <= length <= _TO_S]
    return [] if len(good) == 1 else [f"playlists of the name last {lengths} s"]


def save(name: str, titles: tuple[str, ...]) -> Script:
    """Create a playlist, save it as a file, and move the file to the downloads."""

    def script(hand: Hand) -> None:
        hand.open("Music")
        create(hand, name, titles)
        hand.tap("Playlists")
        hand.tap("More options", beside=name)
        hand.tap("Save as file")
        hand.open("Files")
        hand.tap("Playlists", role="row")
        hand.hold(f"{name}.m3u")
        hand.tap("More options")
        hand.tap("Move to\u2026")
        hand.tap("Download", role="row")
        hand.tap("Move here")

    return script


def walks() -> list[Walk]:
    """Return the solutions."""
    quiet = record("music/playlists", name="Quiet water", songs="903,901,902")
    m3u = "#EXTM3U\n" + "".join(
        f"#EXTINF:{seconds},Quay Trio - {title}\n/storage/emulated/0/Music/{title}.mp3\n"
        for title, seconds in (("Aa Swimming", 203), ("Aa Rowing", 201), ("Aa Sailing", 202))
    )
    return [
        Walk("52", 4, play("Aa Swimming"), "play", state={**SONGS, **IDLE},
             sets={"music/song": 903, "music/playing": True, "music/queue": "903,904"}),
        Walk("52", 1, see_paused, "already", state={**SONGS, "music/song": 901, "music/queue": "901,902",
                                                    "music/playing": False}),
        Walk("53", 8, playlist("Quiet water", THREE), state=SONGS, adds=(quiet,)),
        Walk("RetroCreatePlaylist", 8, playlist("Quiet water", THREE), seed=2, state=SONGS, adds=(quiet,)),
        Walk("RetroPlayingQueue", 5, enqueue(THREE), state={**SONGS, **IDLE},
             sets={"music/queue": "903,901,902", "music/song": 903}),
        Walk("RetroPlaylistDuration", 30, playlist_of_length("Just right"), may=("music/playlists",),
             check=lambda before, after: has_length("Just right", before, after)),
        Walk("RetroSavePlaylist", 19, save("Quiet water", THREE), state=SONGS, adds=(quiet,),
             sets={"files/Download/Quiet water.m3u": m3u}, may=("files/Playlists",)),
    ]  # fmt: skip
