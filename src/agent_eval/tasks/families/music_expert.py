"""How an expert finds songs in Music, plays and pauses them, and makes playlists of them. Knows no goal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from agent_eval.device_sim.apps.music import numbers
from agent_eval.tasks.moves import Move, finish, go_back, hold, open_app, plain, scroll_for, tap
from agent_eval.tasks.view import View
from agent_eval.types import Element

MUSIC = "code.name.monkey.retromusic"
PLAYLISTS = "music/playlists"

_SEARCH_BAR = "Search your library"
_NEW = "New playlist\u2026"


def press(view: View, button: str) -> Move:
    """Return the next move that presses Play or Pause below a list or on the player's page."""
    if view.package != MUSIC:
        return open_app("Music")
    found = view.find(button, "button")
    return go_back() if found is None else tap(found)


def see(view: View, button: str, thought: str) -> Move:
    """Declare the task done on seeing the button that shows whether music plays."""
    if view.package != MUSIC:
        return open_app("Music")
    return go_back() if view.find(button, "button") is None else finish(thought)


def play(view: View, title: str) -> Move:
    """Return the next move that plays a song from its beginning."""
    if view.package != MUSIC:
        return open_app("Music")
    page = _page(view)
    if page not in ("music/main", "music/search"):
        return go_back()
    if view.variable("picked"):
        return view.tap_on("Close", "button")
    row = _song_row(view, title)
    if row is not None:
        return tap(row)
    if page == "music/main":
        return view.tap_on("Search", "button")
    return view.fill({_SEARCH_BAR: title}) or view.scroll(title)


def create(view: View, name: str, songs: Sequence[int], titles: Sequence[str]) -> Move:
    """Return the next move that makes a playlist of songs."""
    if _offers(view, "music/new", songs):
        return view.fill({"Playlist name": name}) or view.tap_on("Create", "button")
    if _offers(view, "music/add", songs):
        return view.tap_on(_NEW)
    return _pick(view, songs, titles)


def extend(view: View, name: str, songs: Sequence[int], titles: Sequence[str]) -> Move:
    """Return the next move that adds songs to a playlist."""
    if _offers(view, "music/add", songs):
        return view.tap_on(name)
    return _pick(view, songs, titles)


def delete(view: View, number: int, name: str) -> Move:
    """Return the next move that deletes a playlist."""
    if view.package != MUSIC:
        return open_app("Music")
    page = _page(view)
    if page in ("music/playlist_menu", "music/delete") and view.variable("playlist") == number:
        return view.tap_on("Delete")
    if page == "music/playlist" and view.variable("playlist") == number:
        return view.tap_on("More options", "button")
    if page != "music/main":
        return go_back()
    return view.tap_on(name, "row") if view.screen == "music/playlists" else view.tap_on("Playlists", "row")


def see_playlist(view: View, name: str) -> Move:
    """Declare the task done on seeing a playlist among the others."""
    if view.package != MUSIC:
        return open_app("Music")
    if _page(view) != "music/main":
        return go_back()
    if view.screen != "music/playlists":
        return view.tap_on("Playlists", "row")
    row = view.seek(name, "row")
    if isinstance(row, Move):
        return row
    count, _, _ = row.value.partition(" \u2022 ")
    return finish(f"{name}: {count}")


def _page(view: View) -> str:
    """Return the id of the page in front, whichever of its tabs is open."""
    return str(view.now.get("ui/stack", "")).rpartition(" > ")[2] if view.screen.startswith("music/") else view.screen


def _offers(view: View, page: str, songs: Sequence[int]) -> bool:
    """Tell whether a dialog about just these songs is in front."""
    return (
        view.package == MUSIC
        and view.screen == page
        and not view.variable("playlist")
        and numbers(str(view.variable("songs") or "")) == list(songs)
    )


def _pick(view: View, songs: Sequence[int], titles: Sequence[str]) -> Move:
    """Return the next move that chooses songs in order and asks to which playlist they go."""
    if view.package != MUSIC:
        return open_app("Music")
    if _page(view) != "music/main":
        return go_back()
    picked = [int(key) for key in str(view.variable("picked") or "").split()]
    if picked != list(songs[: len(picked)]):
        return view.tap_on("Close", "button")
    if len(picked) == len(songs):
        return view.tap_on("Add to playlist", "button")
    if view.screen == "music/playlists":
        return view.tap_on("Songs", "row")
    row = _song_row(view, titles[len(picked)])
    if row is None:
        return _scroll(view, titles[len(picked)])
    return tap(row) if picked else hold(row)


def _scroll(view: View, title: str) -> Move:
    """Swipe towards a title; where the list is sorted by something else, look from one end to the other."""
    if view.variable("order") not in (None, "title"):
        return view.scroll(title)
    titles = {value for path, value in view.now.under("music/songs").items() if path.endswith("/title")}
    shown = [row.label for row in _song_rows(view) if row.label in titles]  # a row at an edge may show its artist only
    beyond = any(label.casefold() > title.casefold() for label in shown)
    return scroll_for(title, further_down=not beyond)


def _song_row(view: View, title: str) -> Element | None:
    return next((row for row in _song_rows(view) if plain(row.label) == title), None)


def _song_rows(view: View) -> list[Element]:
    """Return the rows of a list of songs; below it, the one that is loaded has a row that only leads to the player."""
    elements = view.observation.elements
    more = plain(view.say("More options")).casefold()
    return [
        row
        for row, beside in itertools.pairwise(elements)
        if row.role == "row" and plain(beside.label).casefold() == more
    ]
