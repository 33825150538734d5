"""Music: songs, the playing queue, playlists and their files (after Retro Music Player). Knows no other app.

What plays is ``music/song`` out of ``music/queue``, a list of song numbers in order; a playlist is such a list with a
name. A song that ends makes way for the next one in the queue, by the phone's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_eval.device_sim import reordering, searching, tabs
from agent_eval.device_sim.dialogs import menu, question
from agent_eval.device_sim.files import SHARED
from agent_eval.device_sim.schema import COUNT, TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Notice, Screen, Ui
from agent_eval.device_sim.selection import Selection
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.tabs import Tab
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    MIDDLE,
    RELATIVE,
    TITLE,
    activity,
    app_bar,
    button,
    cancel_and_ok,
    column,
    dialog,
    edit_text,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
    scroll_column,
)

PACKAGE = "code.name.monkey.retromusic"
_ID = f"{PACKAGE}:id/"
FOLDER = f"{SHARED}/Playlists"
"""Where playlists are saved as files."""
RESTART_MS = 3000
"""The previous button starts the song anew when it has run for longer."""


def numbers(text: str) -> list[int]:
    """Return the songs of a stored list."""
    return [int(part) for part in text.split(",") if part]


def joined(songs: Sequence[int]) -> str:
    """Return a list of songs as it is stored."""
    return ",".join(map(str, songs))


def duration(seconds: int) -> str:
    """Write a length as players do."""
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60:02d}:{rest % 60:02d}"


def total_seconds(ui: Ui, songs: Sequence[int]) -> int:
    """Add up the lengths of songs."""
    return sum(ui.number(f"music/songs/{song}/seconds") for song in songs)


def _title(ui: Ui, song: int) -> str:
    return ui.words(f"music/songs/{song}/title")


def _count(ui: Ui, songs: Sequence[int]) -> str:
    if len(songs) == 1:
        return ui.say("1 song")
    return ui.say("{count} songs", count=len(songs))


# ----------------------------------------------------------------------------------------------------------------------
# playing


def position_ms(ui: Ui) -> int:
    """Return how far into the song the player is."""
    kept = int(ui.known("music/position_ms") or 0)
    if not ui.flag("music/playing"):
        return kept
    return kept + ui.host.now_ms - int(ui.known("music/since_ms") or ui.host.now_ms)


def _start(ui: Ui, song: int) -> None:
    """Play a song from its beginning."""
    ui.put("music/song", song)
    ui.keep("music/position_ms", 0)
    ui.put("music/playing", False)
    _toggle(ui)


def _toggle(ui: Ui) -> None:
    """Pause what plays, or go on with it."""
    song = ui.number("music/song")
    if not song:
        return
    position = position_ms(ui)
    ui.keep("music/position_ms", position)
    turn = int(ui.known("music/turn") or 0) + 1
    ui.keep("music/turn", turn)  # an end that was set before no longer counts
    if ui.flag("music/playing"):
        ui.put("music/playing", False)
        return
    ui.keep("music/since_ms", ui.host.now_ms)
    ui.put("music/playing", True)

    def end() -> None:
        if ui.known("music/turn") == turn:
            _skip(ui, 1)

    left = ui.number(f"music/songs/{song}/seconds") * 1000 - position
    ui.host.after(max(left, 0), end)


def _skip(ui: Ui, by: int) -> None:
    """Go to a neighbour in the queue; after the last song the player stops."""
    queue, song = numbers(ui.words("music/queue")), ui.number("music/song")
    if by < 0 and (position_ms(ui) > RESTART_MS or song not in queue or queue.index(song) == 0):
        _start(ui, song)
        return
    place = queue.index(song) + by if song in queue else len(queue)
    if place < len(queue):
        _start(ui, queue[place])
        return
    if ui.flag("music/playing"):
        _toggle(ui)
    ui.keep("music/position_ms", 0)


def _play(ui: Ui, song: int, songs: Sequence[int]) -> None:
    """Play one song of a list: the list becomes the queue."""
    ui.put("music/queue", joined(songs))
    _start(ui, song)


def _add_to_queue(ui: Ui, songs: Sequence[int], *, next: bool = False) -> None:
    queue, song = numbers(ui.words("music/queue")), ui.number("music/song")
    place = queue.index(song) + 1 if next and song in queue else len(queue)
    ui.put("music/queue", joined([*queue[:place], *songs, *queue[place:]]))
    if not song:
        ui.put("music/song", songs[0])
    added = ui.say("Added title to the playing queue")
    ui.host.show_toast(added if len(songs) == 1 else ui.say("Added {count} titles to the playing queue",
                                                            count=len(songs)))  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# the library


TABS = (Tab("songs", "Songs", "note"), Tab("playlists", "Playlists", "playlist"))
ORDERS = (("title", "Song name"), ("artist", "Artist"), ("album", "Album"), ("seconds", "Duration"))
"""Field by which the songs are sorted, and its name in the menu."""


def _songs_in_order(ui: Ui, order: str) -> list[int]:
    def key(song: int) -> tuple[int, str, str]:
        path = f"music/songs/{song}"
        seconds = ui.number(f"{path}/seconds") if order == "seconds" else 0
        return seconds, ui.words(f"{path}/{order}").lower(), _title(ui, song).lower()

    return sorted(ui.ids("music/songs"), key=key)


def _song_row(
    ui: Ui, song: int, *, on_tap: Callable[[], object], more: View, selection: Selection | None = None
) -> View:
    path = f"music/songs/{song}"
    chosen = selection is not None and str(song) in selection
    details = f"{ui.words(f'{path}/artist')} \u2022 {duration(ui.number(f'{path}/seconds'))}"
    texts = column(
        label(_title(ui, song), id=f"{_ID}title", size=TITLE, width=MATCH, bold=ui.number("music/song") == song),
        label(details, id=f"{_ID}text", ink="soft", width=MATCH),
        cls=RELATIVE,
        weight=1,
        align=MIDDLE,
    )
    return row(
        image("check" if chosen else "note", id=f"{_ID}image", size=dp(40), align=MIDDLE, fill="chip"),
        texts,
        more,
        height=dp(64),
        pad=(dp(16), 0, dp(4), 0),
        gap=dp(16),
        on_tap=on_tap,
        on_hold=None if selection is None else selection.flip(str(song)),
        selected=chosen,
        fill="tonal" if chosen else "",
    )


def _more(ui: Ui, on_tap: Callable[[], object]) -> View:
    return image_button("more", ui.say("More options"), on_tap, id=f"{_ID}menu")


def _picking_bar(ui: Ui, selection: Selection) -> View:
    picked = [int(key) for key in selection.keys]

    def then(act: Callable[[], object]) -> Callable[[], object]:
        def do() -> None:
            selection.choose(())
            act()

        return do

    to_queue, to_playlist = lambda: _add_to_queue(ui, picked), opener(ui, "music/add", songs=joined(picked))
    queue_id, playlist_id = f"{_ID}action_add_to_current_playing", f"{_ID}action_add_to_playlist"
    actions = (
        image_button("queue", ui.say("Add to playing queue"), then(to_queue), id=queue_id),
        image_button("playlist", ui.say("Add to playlist"), then(to_playlist), id=playlist_id),
    )
    return selection.bar((), actions, says="Close")


def _song_rows(ui: Ui, songs: list[int]) -> list[View]:
    selection = Selection(ui)
    rows = []
    for song in songs:

        def play(song: int = song) -> None:
            _play(ui, song, songs)

        tap = selection.flip(str(song)) if selection else play
        more = _more(ui, opener(ui, "music/song_menu", song=song))
        rows.append(_song_row(ui, song, on_tap=tap, more=more, selection=selection))
    return rows


def main(ui: Ui) -> View:
    """Build the library: all songs or all playlists, and the song that plays below."""
    tab = str(ui.var("tab", "songs"))
    selection = Selection(ui)
    if selection:
        bar = _picking_bar(ui, selection)
    else:
        actions = [image_button("search", ui.say("Search"), opener(ui, "music/search"), id=f"{_ID}action_search")]
        if tab == "songs":
            actions.append(
                image_button("sort", ui.say("Sort order"), opener(ui, "music/sort"), id=f"{_ID}action_sort_order")
            )
        else:
            actions.append(
                image_button("add", ui.say("New playlist"), opener(ui, "music/new"), id=f"{_ID}action_new_playlist")
            )
        bar = app_bar(ui, ui.say("Songs" if tab == "songs" else "Playlists"), up=False, actions=actions)
    if tab == "songs":
        rows = _song_rows(ui, _songs_in_order(ui, str(ui.var("order", "title"))))
    else:
        rows = [_playlist_row(ui, playlist) for playlist in ui.ids("music/playlists")]
    body = scroll_column(ui, rows, name=tab, id=f"{_ID}recycler_view", height=0, weight=1)
    if not rows:
        body = frame(label(ui.say("No playlists"), ink="soft", align=CENTER, size=TITLE), weight=1)
    tabs_bar = tabs.bar(ui, TABS, tab, id=f"{_ID}bottom_navigation", tab_id=f"{_ID}action_{{name}}")
    return activity(ui, bar, body, _mini_player(ui), tabs_bar)


def _play_button(ui: Ui, size: int) -> View:
    playing = ui.flag("music/playing")
    return image_button(
        "pause" if playing else "play",
        ui.say("Pause" if playing else "Play"),
        lambda: _toggle(ui),
        id=f"{_ID}play_pause_button",
        size=size,
    )


def _mini_player(ui: Ui) -> View:
    song = ui.number("music/song")
    if not song:
        return row(height=0)
    texts = label(_title(ui, song), id=f"{_ID}mini_player_title", align=MIDDLE, weight=1)
    return row(
        image("note", size=dp(32), align=MIDDLE),
        texts,
        _play_button(ui, dp(48)),
        id=f"{_ID}mini_player_fragment",
        height=dp(52),
        pad=(dp(16), 0, dp(4), 0),
        gap=dp(12),
        fill="card",
        on_tap=opener(ui, "music/player"),
    )


def search(ui: Ui) -> View:
    """Build the search for songs by title, artist or album."""
    words = ui.typed("query").strip().lower()
    found = [
        song
        for song in _songs_in_order(ui, "title")
        if words
        and any(words in ui.words(f"music/songs/{song}/{name}").lower() for name in ("title", "artist", "album"))
    ]
    selection = Selection(ui)
    bar = searching.bar(ui, ui.say("Search your library"), id=f"{_ID}search_view")
    if selection:
        bar = _picking_bar(ui, selection)
    body = scroll_column(ui, _song_rows(ui, found), id=f"{_ID}recycler_view", height=0, weight=1)
    if words and not found:
        body = frame(label(ui.say("No results"), id=f"{_ID}empty", ink="soft", size=TITLE, align=CENTER), weight=1)
    return activity(ui, bar, body, _mini_player(ui))


def sort_menu(ui: Ui) -> View:
    """Build the menu of sort orders."""

    def choose(order: str) -> Callable[[], object]:
        return lambda: ui.host.tell_page({"order": order, "scroll/songs": 0})

    return menu(ui, [(ui.say(text), choose(order)) for order, text in ORDERS])


def song_menu(ui: Ui) -> View:
    """Build the menu of one song in the library."""
    song = int(ui.var("song"))
    return menu(
        ui,
        [
            (ui.say("Play next"), lambda: _add_to_queue(ui, [song], next=True)),
            (ui.say("Add to playing queue"), lambda: _add_to_queue(ui, [song])),
            (ui.say("Add to playlist"), opener(ui, "music/add", songs=str(song))),
            (ui.say("Details"), opener(ui, "music/details", song=song)),
        ],
    )


def details(ui: Ui) -> View:
    """Build the dialog with what is known of a song."""
    path = f"music/songs/{int(ui.var('song'))}"
    lines = (
        (ui.say("Title"), ui.words(f"{path}/title")),
        (ui.say("Artist"), ui.words(f"{path}/artist")),
        (ui.say("Album"), ui.words(f"{path}/album")),
        (ui.say("Track length"), duration(ui.number(f"{path}/seconds"))),
    )
    texts = [label(f"{name}: {value}", size=TITLE, width=MATCH) for name, value in lines]
    return dialog(*texts, title=ui.say("Details"), buttons=(button(ui.say("OK"), ui.close, id="android:id/button1"),))


# ----------------------------------------------------------------------------------------------------------------------
# playlists


def _playlist_row(ui: Ui, playlist: int) -> View:
    songs = numbers(ui.words(f"music/playlists/{playlist}/songs"))
    texts = column(
        label(ui.words(f"music/playlists/{playlist}/name"), id=f"{_ID}title", size=TITLE, width=MATCH),
        label(f"{_count(ui, songs)} \u2022 {duration(total_seconds(ui, songs))}", id=f"{_ID}text", ink="soft"),
        cls=RELATIVE,
        weight=1,
        align=MIDDLE,
    )
    return row(
        image("playlist", size=dp(40), align=MIDDLE, fill="chip"),
        texts,
        _more(ui, opener(ui, "music/playlist_menu", playlist=playlist)),
        height=dp(72),
        pad=(dp(16), 0, dp(4), 0),
        gap=dp(16),
        on_tap=opener(ui, "music/playlist", playlist=playlist),
    )


def add_to_playlist(ui: Ui) -> View:
    """Build the dialog that asks to which playlist songs are added."""
    songs = numbers(str(ui.var("songs")))

    def add(playlist: int) -> Callable[[], object]:
        def do() -> None:
            ui.close()
            path = f"music/playlists/{playlist}/songs"
            ui.put(path, joined([*numbers(ui.words(path)), *songs]))
            name = ui.words(f"music/playlists/{playlist}/name")
            ui.host.show_toast(ui.say("Added {count} to {name}", count=_count(ui, songs), name=name))

        return do

    def new() -> None:
        ui.close()
        ui.open("music/new", songs=joined(songs))

    entries: list[tuple[str, Callable[[], object]]] = [(ui.say("New playlist\u2026"), new)]
    entries += [(ui.words(f"music/playlists/{one}/name"), add(one)) for one in ui.ids("music/playlists")]
    rows = [
        label(text, id="android:id/text1", size=TITLE, width=MATCH, height=dp(48), on_tap=act, pad=(0, dp(12), 0, 0))
        for text, act in entries
    ]
    return dialog(
        scroll_column(ui, rows, cls="android.widget.ListView", height=dp(min(48 * len(rows), 336))),
        title=ui.say("Add to playlist"),
    )


def name_playlist(ui: Ui) -> View:
    """Build the dialog that names a new playlist, or renames one."""
    playlist, songs = int(ui.var("playlist", 0)), str(ui.var("songs"))
    old = ui.words(f"music/playlists/{playlist}/name") if playlist else ""
    name = ui.typed("name", old).strip()
    taken = any(ui.words(f"music/playlists/{one}/name") == name for one in ui.ids("music/playlists") if one != playlist)

    def ok() -> None:
        if not name or taken:
            ui.host.show_toast(ui.say("Playlist {name} already exists", name=name) if taken else ui.say("Enter a name"))
            return
        ui.close()
        if playlist:
            ui.put(f"music/playlists/{playlist}/name", name)
        else:
            ui.add("music/playlists", name=name, songs=songs)
            ui.host.show_toast(ui.say("Created playlist {name}.", name=name))

    field = edit_text(
        ui, Field("name", max_length=80), initial=old, id=f"{_ID}actionNewPlaylist", hint=ui.say("Playlist name")
    )
    return dialog(
        field,
        title=ui.say("Rename playlist" if playlist else "New playlist"),
        buttons=cancel_and_ok(ui, ok, ok="Rename" if playlist else "Create"),
    )


def playlist_menu(ui: Ui) -> View:
    """Build the menu of one playlist."""
    playlist = int(ui.var("playlist"))
    songs = numbers(ui.words(f"music/playlists/{playlist}/songs"))
    delete = opener(ui, "music/delete", playlist=playlist, within=ui.var("within", False))
    return menu(
        ui,
        [
            (ui.say("Play"), lambda: _play(ui, songs[0], songs) if songs else None),
            (ui.say("Add to playing queue"), lambda: _add_to_queue(ui, songs) if songs else None),
            (ui.say("Rename"), opener(ui, "music/new", playlist=playlist)),
            (ui.say("Delete"), delete),
            (ui.say("Save as file"), lambda: _save(ui, playlist)),
        ],
    )


def _save(ui: Ui, playlist: int) -> None:
    """Write a playlist as an extended M3U file, one line of data and one path per song."""
    name = ui.words(f"music/playlists/{playlist}/name").replace("/", "_")
    lines = ["#EXTM3U"]
    for song in numbers(ui.words(f"music/playlists/{playlist}/songs")):
        path = f"music/songs/{song}"
        artist, title = ui.words(f"{path}/artist"), ui.words(f"{path}/title")
        lines += [f"#EXTINF:{ui.number(f'{path}/seconds')},{artist} - {title}", f"{SHARED}/Music/{title}.mp3"]
    ui.files.make_folder(FOLDER, parents=True)
    target = f"{FOLDER}/{name}.m3u"
    ui.files.write(target, ("\n".join(lines) + "\n").encode())
    ui.host.show_toast(ui.say("Saved playlist to {path}.", path=target))


def delete_playlist(ui: Ui) -> View:
    """Build the dialog that asks before a playlist is deleted."""
    playlist = int(ui.var("playlist"))

    def delete() -> None:
        if ui.var("within"):
            ui.close()
        ui.remove(f"music/playlists/{playlist}")

    message = ui.say("Delete the playlist {name}?", name=ui.words(f"music/playlists/{playlist}/name"))
    return question(ui, message, "Delete", delete, title=ui.say("Delete playlist"))


def playlist(ui: Ui) -> View:
    """Build one playlist, with how long it is."""
    number = int(ui.var("playlist"))
    songs = numbers(ui.words(f"music/playlists/{number}/songs"))
    more = _more(ui, opener(ui, "music/playlist_menu", playlist=number, within=True))
    head = label(
        f"{_count(ui, songs)} \u2022 {duration(total_seconds(ui, songs))}",
        id=f"{_ID}subtitle",
        ink="soft",
        pad=(dp(16), dp(4), dp(16), dp(8)),
    )
    rows = [_list_row(ui, songs, place, f"music/playlists/{number}/songs") for place in range(len(songs))]
    body = scroll_column(ui, rows, id=f"{_ID}recycler_view", height=0, weight=1)
    if not rows:
        body = frame(label(ui.say("No songs"), id=f"{_ID}empty", ink="soft", size=TITLE, align=CENTER), weight=1)
    bar = app_bar(ui, ui.words(f"music/playlists/{number}/name"), id=f"{_ID}title", actions=[more])
    return activity(ui, bar, head, body, _mini_player(ui))


def _list_row(ui: Ui, songs: list[int], place: int, path: str) -> View:
    """Build one row of a list whose order the person decides: a playlist or the queue."""
    return _song_row(
        ui,
        songs[place],
        on_tap=lambda: _start(ui, songs[place]) if path == "music/queue" else _play(ui, songs[place], songs),
        more=_more(ui, opener(ui, "music/entry_menu", path=path, place=place)),
    )


def entry_menu(ui: Ui) -> View:
    """Build the menu of one entry of a playlist or of the queue."""
    path, place = str(ui.var("path")), int(ui.var("place"))
    songs = numbers(ui.words(path))
    remove = ui.say("Remove from playing queue" if path == "music/queue" else "Remove from playlist")
    return reordering.entry_menu(ui, songs, place, lambda changed: ui.put(path, joined(changed)), remove=remove)


# ----------------------------------------------------------------------------------------------------------------------
# now playing


def ongoing(ui: Ui) -> Sequence[Notice]:
    """Keep the song that plays in the notification shade."""
    if not ui.flag("music/playing"):
        return ()
    song = ui.number("music/song")
    artist = ui.words(f"music/songs/{song}/artist")
    pause = (ui.say("Pause"), lambda: _toggle(ui))
    return (Notice(_title(ui, song), artist, lambda: ui.host.open_app(PACKAGE), (pause,)),)


def player(ui: Ui) -> View:
    """Build the page of the song that plays."""
    song = ui.number("music/song")
    path = f"music/songs/{song}"
    seconds = ui.number(f"{path}/seconds")
    at = min(position_ms(ui) // 1000, seconds)
    progress = View(
        "android.widget.SeekBar", id=f"{_ID}progress_slider", height=dp(32), level=at / max(seconds, 1), ink="primary"
    )
    texts = [
        label(_title(ui, song), id=f"{_ID}title", size=dp(22), align=CENTER),
        label(ui.words(f"{path}/artist"), id=f"{_ID}text", size=TITLE, ink="soft", align=CENTER),
        label(ui.words(f"{path}/album"), id=f"{_ID}songInfo", ink="soft", align=CENTER),
    ]
    times = row(
        label(duration(at), id=f"{_ID}song_current_progress", ink="soft", weight=1),
        label(duration(seconds), id=f"{_ID}song_total_time", ink="soft"),
    )
    keys = row(
        image_button("previous", ui.say("Previous"), lambda: _skip(ui, -1), id=f"{_ID}previous_button", size=dp(64)),
        _play_button(ui, dp(72)),
        image_button("next", ui.say("Next"), lambda: _skip(ui, 1), id=f"{_ID}next_button", size=dp(64)),
        width=dp(220),
        gap=dp(10),
        align=CENTER,
    )
    queue = image_button("queue", ui.say("Playing queue"), opener(ui, "music/queue"), id=f"{_ID}now_playing_queue")
    art = image("note", id=f"{_ID}player_image", size=dp(200), fill="chip")
    body = column(art, *texts, progress, times, keys, pad=(dp(24), dp(16), dp(24), 0), gap=dp(12))
    return activity(ui, app_bar(ui, ui.say("Now playing"), actions=[queue]), body)


def queue(ui: Ui) -> View:
    """Build the playing queue, in order."""
    songs = numbers(ui.words("music/queue"))
    clear = image_button("delete", ui.say("Clear queue"), lambda: ui.put("music/queue", ""), id=f"{_ID}clear_queue")
    save = image_button(
        "playlist", ui.say("Save as playlist"), opener(ui, "music/add", songs=joined(songs)), id=f"{_ID}save_queue"
    )
    rows = [_list_row(ui, songs, place, "music/queue") for place in range(len(songs))]
    body = scroll_column(ui, rows, id=f"{_ID}recycler_view", height=0, weight=1)
    if not rows:
        body = frame(label(ui.say("No songs"), id=f"{_ID}empty", ink="soft", size=TITLE, align=CENTER), weight=1)
    count = label(_count(ui, songs), id=f"{_ID}subtitle", ink="soft", pad=(dp(16), dp(4), dp(16), dp(8)))
    return activity(ui, app_bar(ui, ui.say("Playing queue"), actions=[save, clear]), count, body)


# ----------------------------------------------------------------------------------------------------------------------
# the draw


def draw(draw: Draw) -> None:
    """Draw a library in which some titles differ in one word, some playlists, and a queue on some phones."""
    rng = draw.rng
    songs = []
    for title in rng.sample(_TITLES, rng.randint(18, 24)):
        artist = rng.choice(tuple(_ALBUMS))
        number = draw.record(
            "music/songs",
            title=title,
            artist=artist,
            album=rng.choice(_ALBUMS[artist]),
            seconds=rng.randint(130, 345),
        )
        songs.append(number)
        draw.file(f"Music/{title}.mp3", f"ID3 {title}")
    for name in rng.sample(_PLAYLISTS, rng.randint(1, 3)):
        draw.record("music/playlists", name=name, songs=joined(rng.sample(songs, rng.randint(2, 6))))
    queue = rng.sample(songs, rng.randint(3, 6)) if rng.random() < 0.4 else []
    draw.put("music/queue", joined(queue))
    draw.put("music/song", queue[0] if queue else 0)
    draw.put("music/playing", False)


_TITLES = (
    "Amber Road", "Amber Sky", "Back to the Harbour", "Before the Rain", "Beyond the Rain", "Blue Window",
    "Broken Compass", "Brothers", "Chasing Shadows", "City of Stars", "Crossing the Line", "Distant Memory",
    "Distant Melody", "Dreamer\u2019s Awake", "Echoes of Silence", "Endless Summer", "Endless Winter", "Fading Light",
    "Fire in the Sky", "Forever Young Hearts", "Golden Days", "Golden Nights", "Hidden Paths", "Home Again",
    "Lost in the Echo", "Midnight Train", "Moonlight Sonata No. 2", "My Heart is Yours", "Night Drive",
    "Paper Lanterns", "Quiet Streets", "Rivers of Glass", "Silent Dreams", "Silent Streams", "Spirit of the Wind",
    "Sunlit Avenue", "Through the Storm", "Twilight Calling", "Under the Stars", "Voices in the Hall",
    "Whispers of the Wind", "Winter Garden",
)  # fmt: skip
_ALBUMS = {
    "Anna Berg": ("Northern Letters", "Snowline"),
    "Blue Meridian": ("Latitude", "Longitude"),
    "Echo Harbour": ("Tides", "Low Water"),
    "Ivo Marsh": ("Fieldwork",),
    "Lena & the Lights": ("Switchboard", "Afterglow"),
    "The Paper Kites Club": ("Crosswind",),
}
_PLAYLISTS = (
    "Chill Vibes", "Evening Chill", "Focus", "Morning Run", "Party Mix", "Road Trip", "Road Trip 2", "Summer",
    "Workout",
)  # fmt: skip

_WORDS: Words = {
    "1 song": ("1 Titel", "1 首歌曲"),
    "Add to playing queue": ("Zur Warteschlange hinzufügen", "添加到播放队列"),
    "Add to playlist": ("Zur Playlist hinzufügen", "添加到播放列表"),
    "Added title to the playing queue": ("Titel zur Warteschlange hinzugefügt", "已将歌曲添加到播放队列"),
    "Added {count} titles to the playing queue": (
        "{count} Titel zur Warteschlange hinzugefügt",
        "已将 {count} 首歌曲添加到播放队列",
    ),
    "Added {count} to {name}": ("{count} zu {name} hinzugefügt", "已将{count}添加到{name}"),
    "Album": ("Album", "专辑"),
    "Artist": ("Interpret", "艺术家"),
    "Clear queue": ("Warteschlange leeren", "清空队列"),
    "Create": ("Erstellen", "创建"),
    "Created playlist {name}.": ("Playlist {name} erstellt.", "已创建播放列表{name}。"),
    "Delete playlist": ("Playlist löschen", "删除播放列表"),
    "Delete the playlist {name}?": ("Die Playlist {name} löschen?", "要删除播放列表{name}吗？"),
    "Details": ("Details", "详细信息"),
    "Duration": ("Dauer", "时长"),
    "Enter a name": ("Gib einen Namen ein", "请输入名称"),
    "Move down": ("Nach unten", "下移"),
    "Move up": ("Nach oben", "上移"),
    "Music": ("Musik", "音乐"),
    "New playlist": ("Neue Playlist", "新建播放列表"),
    "New playlist\u2026": ("Neue Playlist\u2026", "新建播放列表\u2026"),
    "Next": ("Weiter", "下一首"),
    "No playlists": ("Keine Playlists", "没有播放列表"),
    "No results": ("Keine Ergebnisse", "没有结果"),
    "No songs": ("Keine Titel", "没有歌曲"),
    "Now playing": ("Aktuelle Wiedergabe", "正在播放"),
    "Play next": ("Als Nächstes spielen", "下一首播放"),
    "Playing queue": ("Warteschlange", "播放队列"),
    "Playlist name": ("Name der Playlist", "播放列表名称"),
    "Playlist {name} already exists": ("Die Playlist {name} gibt es schon", "播放列表{name}已存在"),
    "Playlists": ("Playlists", "播放列表"),
    "Previous": ("Zurück", "上一首"),
    "Remove from playing queue": ("Aus der Warteschlange entfernen", "从播放队列移除"),
    "Remove from playlist": ("Aus der Playlist entfernen", "从播放列表移除"),
    "Rename playlist": ("Playlist umbenennen", "重命名播放列表"),
    "Save as file": ("Als Datei speichern", "另存为文件"),
    "Save as playlist": ("Als Playlist speichern", "另存为播放列表"),
    "Saved playlist to {path}.": ("Playlist in {path} gespeichert.", "播放列表已保存到 {path}。"),
    "Search your library": ("Mediathek durchsuchen", "搜索媒体库"),
    "Song name": ("Titelname", "歌曲名"),
    "Songs": ("Titelliste", "歌曲"),
    "Sort order": ("Sortierung", "排序方式"),
    "Track length": ("Titellänge", "曲目长度"),
    "{count} songs": ("{count} Titel", "{count} 首歌曲"),
}

_ACTIVITY = f"{PACKAGE}.activities.MainActivity"
APP = App(
    package=PACKAGE,
    label="Music",
    home="music/main",
    icon="note",
    color="#c2185b",
    permissions=("POST_NOTIFICATIONS",),
    paths={"music/playing": YES_NO, "music/queue": TEXT, "music/song": COUNT},
    records={
        "music/playlists": {"name": TEXT, "songs": TEXT},
        "music/songs": {"title": TEXT, "artist": TEXT, "album": TEXT, "seconds": Kind(int, 1, 36_000)},
    },
    draw=draw,
    ongoing=ongoing,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "music/main": Screen(main, _ACTIVITY),
        "music/search": Screen(search, _ACTIVITY),
        "music/sort": Screen(sort_menu, _ACTIVITY, dialog=True),
        "music/song_menu": Screen(song_menu, _ACTIVITY, dialog=True),
        "music/details": Screen(details, _ACTIVITY, dialog=True),
        "music/add": Screen(add_to_playlist, _ACTIVITY, dialog=True),
        "music/new": Screen(name_playlist, _ACTIVITY, dialog=True),
        "music/playlist": Screen(playlist, _ACTIVITY),
        "music/playlist_menu": Screen(playlist_menu, _ACTIVITY, dialog=True),
        "music/entry_menu": Screen(entry_menu, _ACTIVITY, dialog=True),
        "music/delete": Screen(delete_playlist, _ACTIVITY, dialog=True),
        "music/player": Screen(player, _ACTIVITY),
        "music/queue": Screen(queue, _ACTIVITY),
    },
)

__all__ = ["APP", "duration", "joined", "numbers", "total_seconds"]
