"""The web that the browser reads: a small reader of HTML, and sites that are there without a network. Knows no screens.

A page is a title and blocks. Two kinds of block stand for what a script does on a real page: a maze
(``<div class="maze" data-rows="S.,#G">``) and numbers to remember (``<div class="multiply" data-numbers="3,7">``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import Literal
from urllib.parse import quote, unquote, urljoin, urlsplit

START = "about:blank"
_SEARCH = "https://search.example/?q="
_MOST_BLOCKS, _MOST_CHARACTERS = 400, 200_000

BlockKind = Literal["heading", "text", "item", "link", "maze", "multiply"]
_TEXT_TAGS: dict[str, BlockKind] = {"h1": "heading", "h2": "heading", "h3": "heading", "p": "text", "li": "item",
                                    "a": "link", "div": "text", "td": "text"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a page."""

    kind: BlockKind
    text: str
    value: str = ""
    """Of a link its address; of a maze its rows; of a multiplication its numbers."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """What the browser shows of an address."""

    title: str
    blocks: tuple[Block, ...]
    found: bool = True
    """Whether there is such a page."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.blocks: list[Block] = []
        self._kind: BlockKind | None = None
        self._text = ""
        self._target = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.flush()
        given = {name: value or "" for name, value in attrs}
        if tag in ("title", "script", "style"):
            self._inside = tag
        elif given.get("class") in ("maze", "multiply"):
            kind: BlockKind = "maze" if given["class"] == "maze" else "multiply"
            self.blocks.append(Block(kind, "", given.get("data-rows" if kind == "maze" else "data-numbers", "")))
        else:
            self._kind = _TEXT_TAGS.get(tag, self._kind)
            self._target = given.get("href", "") if tag == "a" else ""

    def handle_endtag(self, tag: str) -> None:
        self.flush()
        if tag == self._inside:
            self._inside = ""
        if tag in _TEXT_TAGS:
            self._kind, self._target = None, ""

    def handle_data(self, data: str) -> None:
        if self._inside == "title":
            self.title += data
        elif not self._inside:
            self._text += data

    def flush(self) -> None:
        """End the block that is being read."""
        text = " ".join(self._text.split())
        self._text = ""
        if text and len(self.blocks) < _MOST_BLOCKS:
            kind: BlockKind = "link" if self._target else self._kind or "text"
            self.blocks.append(Block(kind, text, self._target))


@functools.lru_cache(maxsize=128)
def read_html(html: str, fallback: str) -> WebPage:
    """Read a page; one without a title gets ``fallback``. Whatever is not understood is left out."""
    reader = _Reader()
    reader.feed(html[:_MOST_CHARACTERS])
    reader.close()
    reader.flush()
    return WebPage(reader.title.strip() or fallback, tuple(reader.blocks))


def address_of(typed: str) -> str:
    """Return the address that somebody means who typed this into the address bar; words are searched for."""
    typed = typed.strip()
    if not typed or typed == START:
        return START
    try:
        parts = urlsplit(typed) if "://" in typed else urlsplit(f"https://{typed}")
    except ValueError:  # brackets that hold no IPv6 address
        return _SEARCH + quote(typed)
    if parts.scheme == "file":
        return f"file://{parts.path}"
    if " " in typed or "." not in parts.netloc or parts.scheme not in ("http", "https"):
        return _SEARCH + quote(typed)
    return f"https://{parts.netloc.lower()}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")


def target_of(page: str, link: str) -> str:
    """Return the address that a link of a page leads to."""
    try:
        return address_of(urljoin(page, link))
    except ValueError:  # as above
        return address_of(link)


def site_page(address: str) -> WebPage:
    """Return the page at an address of the web."""
    if address.startswith(_SEARCH):
        return _results(unquote(address[len(_SEARCH) :]))
    html = SITES.get(address)
    return read_html(html, address) if html is not None else WebPage(address, (), found=False)


def _results(words: str) -> WebPage:
    wanted = words.lower().split()
    found = []
    for address, html in SITES.items():
        text = html.lower()
        if all(word in text for word in wanted):
            found.append(Block("link", read_html(html, address).title, address))
    return WebPage(words, tuple(found))


# ----------------------------------------------------------------------------------------------------------------------
# pages for tasks


def maze_page(rows: Iterable[str]) -> str:
    """Return an HTML page with a maze: ``S`` is the start, ``G`` the goal, ``#`` a wall and ``.`` a free cell."""
    return f'<html><title>Maze</title><h1>Maze</h1><div class="maze" data-rows="{",".join(rows)}"></div></html>'


def multiply_page(numbers: Iterable[int]) -> str:
    """Return an HTML page whose button shows one number after the other, and that asks for their product."""
    listed = ",".join(map(str, numbers))
    return f'<html><title>Numbers</title><h1>Numbers</h1><div class="multiply" data-numbers="{listed}"></div></html>'


# ----------------------------------------------------------------------------------------------------------------------
# the sites


def _page(title: str, *parts: str) -> str:
    return (
        f"<html><head><title>{escape(title)}</title></head><body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>"
    )


def _text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def _links(links: dict[str, str]) -> str:
    return "".join(f'<a href="{escape(target)}">{escape(words)}</a>' for words, target in links.items())


_NEWS = {
    "bridge": ("Old harbour bridge closes for repairs", "The bridge is closed from 3 March to 28 April.",
               "Buses of line 12 use the tunnel; the detour takes about 15 minutes."),
    "library": ("City library opens on Sundays", "From next month the city library is open on Sundays from 10 to 16.",
                "The reading room on the second floor stays closed."),
    "marathon": ("Record number of runners at the marathon", "8,412 people reached the finish line.",
                 "The fastest needed 2 hours, 9 minutes and 54 seconds."),
    "solar": ("School roof carries 240 solar panels", "The panels cover two thirds of what the school needs.",
              "Pupils read the meter every Friday."),
    "market": ("Night market moves to Station Square", "The night market takes place every Thursday until 23:00.",
               "More than 40 stalls have registered."),
}  # fmt: skip
_WIKI = {
    "Lighthouse": "A lighthouse is a tower with a lamp that guides ships. The light of a tall one is seen 40 km away.",
    "Honey_bee": "A honey bee visits about 100 flowers on one flight. A hive holds up to 60,000 bees in summer.",
    "Glacier": "A glacier is a body of ice that moves under its own weight, often less than one metre a day.",
    "Violin": "A violin has four strings, tuned in fifths: G, D, A and E. Its bow carries some 150 hairs of a horse.",
    "Saffron": "Saffron is a spice from the crocus. About 150 flowers are needed for one gram.",
    "Tide": "A tide is the rise and fall of the sea. Most coasts have two high tides a day, 12 hours 25 minutes apart.",
}
_GOODS = {
    "kettle-small": ("Kettle, 1.0 litre", "24.90", "Boils a litre in four minutes."),
    "kettle-large": ("Kettle, 1.7 litres", "34.90", "With a display for the temperature."),
    "lamp-desk": ("Desk lamp", "39.50", "Three levels of brightness; bulb included."),
    "lamp-floor": ("Floor lamp", "79.00", "1.5 m tall; bulb not included."),
    "rucksack": ("Rucksack, 25 litres", "54.00", "Waterproof, with a pocket for a laptop."),
    "umbrella": ("Umbrella", "12.00", "Fits into a bag; 96 cm wide when open."),
}

_CITIES = (
    "Aarhus", "Basel", "Bergen", "Bilbao", "Cork", "Ghent", "Graz", "Leeds", "Lille", "Linz", "Malmo", "Naples",
    "Odense", "Oulu", "Padua", "Porto", "Riga", "Rouen", "Split", "Tartu", "Turin", "Utrecht", "Vilnius", "Zagreb",
)  # fmt: skip
GUIDE = "https://travel.example/"
"""A guide to cities, of which no drawn phone has bookmarked or visited a page."""


def _guide() -> dict[str, str]:
    """Return the pages of the guide: one for each city, with one below it for each of its topics."""
    sites = {GUIDE: _page("City Guide", _links({city: f"/{city.lower()}" for city in _CITIES}))}
    for place, city in enumerate(_CITIES):
        home = f"/{city.lower()}"
        topics = {
            "trains": f"Trains leave {city} every {10 + place} minutes, the last one at 22:{10 + place}.",
            "museums": f"The museums of {city} open at {8 + place % 4}; a ticket for all costs {12 + place}.50.",
            "hotels": f"A room in {city} costs {60 + 3 * place} a night; {5 + place} of the hotels have a garden.",
            "walks": f"The long walk around {city} takes {2 + place % 5} hours and passes {3 + place % 7} bridges.",
        }
        links = {topic.capitalize(): f"{home}/{topic}" for topic in topics}
        sites[GUIDE + home[1:]] = _page(city, _links({**links, "City Guide": "/"}))
        for topic, words in topics.items():
            sites[f"{GUIDE}{home[1:]}/{topic}"] = _page(f"{city}: {topic}", _text(words), _links({city: home}))
    return sites


def _sites() -> dict[str, str]:
    sites = {
        "https://news.example/": _page("Harbour News", _links({one[0]: f"/{name}" for name, one in _NEWS.items()})),
        "https://wiki.example/": _page(
            "Open Encyclopedia", _text("Articles that everybody may read."),
            _links({name.replace("_", " "): f"/{name}" for name in _WIKI}),
        ),
        "https://shop.example/": _page(
            "Corner Shop", _text("Free delivery from 50.00."),
            _links({f"{name} {price}": f"/{slug}" for slug, (name, price, _) in _GOODS.items()}),
        ),
    }  # fmt: skip
    for name, (title, *texts) in _NEWS.items():
        sites[f"https://news.example/{name}"] = _page(title, *map(_text, texts), _links({"Harbour News": "/"}))
    names = list(_WIKI)
    for place, (name, words) in enumerate(_WIKI.items()):
        near = names[(place + 1) % len(names)]
        sites[f"https://wiki.example/{name}"] = _page(
            name.replace("_", " "), _text(words),
            _links({near.replace("_", " "): f"/{near}", "Open Encyclopedia": "/"}),
        )  # fmt: skip
    for slug, (name, price, words) in _GOODS.items():
        sites[f"https://shop.example/{slug}"] = _page(
            name, _text(f"Price: {price}"), _text(words), _links({"Corner Shop": "/"})
        )
    return sites


SITES = _sites() | _guide()
"""Address to HTML."""
