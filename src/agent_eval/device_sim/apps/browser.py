"""Browser: an address bar, pages, tabs, bookmarks, history, words found in a page. What pages say is in ``web.py``.

Where somebody was, tab by tab, lives in the variables of the page; bookmarks and the history are persisted.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from agent_eval.device_sim.apps.web import (
    GUIDE,
    SITES,
    START,
    Block,
    WebPage,
    address_of,
    maze_page,
    multiply_page,
    read_html,
    site_page,
    target_of,
)
from agent_eval.device_sim.dialogs import menu, question
from agent_eval.device_sim.schema import MOMENT, TEXT, YES_NO
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.sharing import SHARE
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    GROUP,
    MIDDLE,
    RELATIVE,
    TITLE,
    activity,
    app_bar,
    button,
    column,
    edit_text,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
    scroll_column,
)
from agent_eval.types import Scalar

PACKAGE = "com.android.browser"
_ID = f"{PACKAGE}:id/"
BOOKMARK, HISTORY = "browser/bookmark", "browser/history"
_MOST_CELLS = 20
_NUMBERS = re.compile(r"\b[0-9]{1,6}\b")
_MOVES: dict[str, complex] = {"Up": -1j, "Left": -1, "Right": 1, "Down": 1j}


# ----------------------------------------------------------------------------------------------------------------------
# tabs: each a list of addresses and a place in it


def _tab(ui: Ui) -> int:
    return int(ui.var("current", 1))


def _tabs(ui: Ui) -> list[int]:
    return [int(number) for number in str(ui.var("tabs", "1")).split(",")]


def _kept(ui: Ui, tab: int) -> tuple[list[str], int]:
    """Return where a tab was, and which of them it showed before another page of the browser sent it elsewhere."""
    first = address_of(str(ui.var("url", START))) if tab == 1 else START
    visits = str(ui.var(f"visits/{tab}", first)).split("\n")
    return visits, int(ui.var(f"place/{tab}", len(visits) - 1))


def _sent(ui: Ui, tab: int) -> str:
    return str(ui.var("goto")) if tab == _tab(ui) else ""


def _visits(ui: Ui, tab: int) -> list[str]:
    visits, place = _kept(ui, tab)
    return [*visits[: place + 1], _sent(ui, tab)] if _sent(ui, tab) else visits


def _place(ui: Ui, tab: int) -> int:
    return len(_visits(ui, tab)) - 1 if _sent(ui, tab) else _kept(ui, tab)[1]


def _fresh_page(address: str) -> dict[str, Scalar]:
    """Return the variables of a page of which nothing was typed, found or played yet."""
    shown = "" if address == START else address
    return {"text/url": shown, "text/product": "", "clicks": 0, "maze": "", "verdict": "", "finding": False,
            "text/find": "", "scroll/page": 0}  # fmt: skip


def current(ui: Ui, tab: int | None = None) -> str:
    """Return the address that a tab shows; the current one unless told otherwise."""
    tab = tab or _tab(ui)
    return _visits(ui, tab)[_place(ui, tab)]


def page_at(ui: Ui, address: str) -> WebPage:
    """Return the page at an address of the web or of the shared storage."""
    if address == START:
        return WebPage(ui.say("New tab"), ())
    if address.startswith("file://"):
        path = address[len("file://") :]
        if not ui.files.is_file(path):
            return WebPage(address, (), found=False)
        return read_html(ui.files.read(path).decode(errors="replace"), posixpath.basename(path))
    return site_page(address)


def _remember(ui: Ui, address: str) -> None:
    page = page_at(ui, address)
    if page.found and address != START:
        ui.add(HISTORY, url=address, title=page.title, time=int(ui.host.local_time.timestamp()))


def _show(ui: Ui, visits: list[str], place: int) -> None:
    tab = _tab(ui)
    ui.set("goto", "")
    ui.set(f"visits/{tab}", "\n".join(visits))
    ui.set(f"place/{tab}", place)
    ui.page.vars.update(_fresh_page(visits[place]))
    ui.host.hide_keyboard()


def go(ui: Ui, address: str) -> None:
    """Show an address in the current tab and remember it."""
    tab = _tab(ui)
    visits = [*_visits(ui, tab)[: _place(ui, tab) + 1], address]
    _show(ui, visits, len(visits) - 1)
    _remember(ui, address)


def _step(ui: Ui, by: int) -> bool:
    visits, place = _visits(ui, _tab(ui)), _place(ui, _tab(ui)) + by
    if not 0 <= place < len(visits):
        return False
    _show(ui, visits, place)
    return True


def _bookmark_of(ui: Ui, address: str) -> int:
    return next((number for number in ui.ids(BOOKMARK) if ui.words(f"{BOOKMARK}/{number}/url") == address), 0)


# ----------------------------------------------------------------------------------------------------------------------
# the page


def main(ui: Ui) -> View:
    """Build the address bar, the page, and the bar below it."""
    address = current(ui)
    page = page_at(ui, address)
    shown = "" if address == START else address

    def submit() -> None:
        go(ui, address_of(ui.typed("url", shown)))

    entry = edit_text(ui, Field("url", select_on_focus=True), initial=shown, id=f"{_ID}url", size=BODY,
                      hint=ui.say("Search or type URL"), weight=1, align=MIDDLE)  # fmt: skip
    entry.on_submit = submit
    bar = row(
        entry,
        image_button("forward", ui.say("Go"), submit, id=f"{_ID}go"),
        image_button("tabs", ui.say("Tabs, {count} open", count=len(_tabs(ui))), opener(
            ui, "browser/tabs", listed="\n".join(f"{tab} {current(ui, tab)}" for tab in _tabs(ui)),
            current=_tab(ui)), id=f"{_ID}tab_switcher_button"),
        image_button("more", ui.say("More options"), opener(
            ui, "browser/menu", address=address, title=page.title,
            tabs=",".join(map(str, _tabs(ui)))), id=f"{_ID}menu_button"),
        cls=GROUP, height=dp(56), pad=(dp(8), 0, dp(4), 0), fill="bar",
    )  # fmt: skip
    place, last = _place(ui, _tab(ui)), len(_visits(ui, _tab(ui))) - 1
    marked = _bookmark_of(ui, address)
    foot = row(
        image_button("left", ui.say("Back"), lambda: _step(ui, -1), enabled=place > 0, id=f"{_ID}back_button"),
        image_button("right", ui.say("Forward"), lambda: _step(ui, 1), enabled=place < last, id=f"{_ID}forward_button"),
        View("android.widget.Space", weight=1, height=dp(1)),
        image_button("star" if marked else "star_outline", ui.say("Edit bookmark") if marked else ui.say("Bookmark"),
                     lambda: _mark(ui, address, page.title), enabled=page.found and address != START,
                     id=f"{_ID}bookmark_button"),
        height=dp(48), fill="bar", pad=(dp(8), 0, dp(8), 0),
    )  # fmt: skip
    body = scroll_column(ui, _content(ui, address, page), name="page", cls="android.webkit.WebView", height=0, weight=1,
                         id=f"{_ID}webview", pad=(dp(16), dp(8), dp(16), dp(8)), gap=dp(8))  # fmt: skip
    found = [_find_bar(ui, page)] if ui.var("finding") else []
    return activity(ui, bar, *found, body, foot)


def _content(ui: Ui, address: str, page: WebPage) -> list[View]:
    if address == START:
        marks = [(ui.words(f"{BOOKMARK}/{n}/title"), ui.words(f"{BOOKMARK}/{n}/url")) for n in ui.ids(BOOKMARK)]
        return [_heading(ui.say("Bookmarks")), *[_link(ui, title, url) for title, url in marks]]
    if not page.found:
        return [
            _heading(ui.say("This site can\u2019t be reached")),
            label(ui.say("Check if there is a typo in the address."), size=BODY, ink="soft", width=MATCH),
            label(address, size=BODY, ink="soft", width=MATCH),
        ]
    if not page.blocks:
        return [label(ui.say("Nothing found"), size=TITLE, ink="soft", width=MATCH)]
    words = ui.typed("find").lower() if ui.var("finding") else ""
    return [_block(ui, address, block, words) for block in page.blocks]


def _block(ui: Ui, address: str, block: Block, words: str) -> View:
    match block.kind:
        case "heading":
            return _heading(block.text)
        case "link":
            return _link(ui, block.text, target_of(address, block.value))
        case "maze":
            return _maze(ui, [line[:_MOST_CELLS] for line in block.value.split(",")[:_MOST_CELLS]])
        case "multiply":
            return _multiply(ui, list(map(int, _NUMBERS.findall(block.value)[:_MOST_CELLS])))
        case "item" | "text":
            view = label(("\u2022 " if block.kind == "item" else "") + block.text, size=TITLE, width=MATCH)
            view.cls = "android.widget.TextView"
            view.fill = "tonal" if words and words in block.text.lower() else ""
            return view


def _heading(text: str) -> View:
    return label(text, size=dp(22), bold=True, width=MATCH)


def _link(ui: Ui, text: str, address: str) -> View:
    view = label(text, size=TITLE, ink="primary", width=MATCH, height=dp(40), pad=(0, dp(8), 0, 0),
                 on_tap=lambda: go(ui, address))  # fmt: skip
    view.cls = "android.view.View"
    return view


def _maze(ui: Ui, rows: list[str]) -> View:
    """Build a maze: cells, and a button for each direction."""
    cells = {complex(x, y): sign for y, line in enumerate(rows) for x, sign in enumerate(line)}
    start = next((place for place, sign in cells.items() if sign == "S"), 0j)
    x, _, y = (str(ui.var("maze")) or f"{start.real:.0f},{start.imag:.0f}").partition(",")
    here = complex(int(x), int(y))

    def mover(step: complex) -> Callable[[], object]:
        def move() -> None:
            there = here + step
            if cells.get(there, "#") == "#" or cells.get(here) == "G":
                return
            ui.set("maze", f"{there.real:.0f},{there.imag:.0f}")
            if cells[there] == "G":
                ui.put("browser/maze_solved", True)

        return move

    def cell(place: complex) -> View:
        wall = cells[place] == "#"
        goal = cells[place] == "G"
        what = "wall" if wall else "You" if place == here else "Goal" if goal else "free"
        where = ui.say("Row {row}, column {column}", row=int(place.imag) + 1, column=int(place.real) + 1)
        icon = "person" if place == here else "flag" if goal else ""
        return View(
            "android.view.View",
            icon=icon,
            desc=f"{where}: {ui.say(what)}",
            width=dp(48),
            height=dp(48),
            ink="primary",
            fill="text" if wall else "card",
        )

    grid = [
        row(*[cell(complex(x, y)) for x in range(len(line))], gap=dp(2), height=dp(48)) for y, line in enumerate(rows)
    ]
    pads = [button(ui.say(name), mover(step), fill="chip", weight=1) for name, step in _MOVES.items()]
    parts = [*grid, row(*pads, gap=dp(4))]
    if cells.get(here) == "G":
        parts.append(label(ui.say("Success! You reached the goal."), size=TITLE, bold=True))
    return column(*parts, gap=dp(2))


def _multiply(ui: Ui, numbers: list[int]) -> View:
    """Build a button that shows the next number at each click, and then asks for the product."""
    clicks = int(ui.var("clicks", 0))
    shown = str(numbers[clicks - 1]) if 0 < clicks <= len(numbers) else ""
    parts = [
        label(ui.say("Click the button {count} times and remember the numbers.", count=len(numbers)), size=BODY,
              width=MATCH),
        label(shown, size=dp(40), bold=True, height=dp(64), width=MATCH, justify=0.5),
        button(ui.say("Click me"), lambda: ui.set("clicks", clicks + 1), enabled=clicks <= len(numbers), fill="chip"),
    ]  # fmt: skip
    if clicks > len(numbers):
        product = 1
        for number in numbers:
            product *= number

        def submit() -> None:
            right = ui.typed("product").strip() == str(product)
            ui.host.hide_keyboard()
            ui.set("verdict", "Success!" if right else "That is not the product.")
            if right:
                ui.put("browser/product_solved", True)

        entry = edit_text(ui, Field("product", numeric=True, max_length=12), hint=ui.say("Product of the numbers"),
                          id=f"{_ID}product", weight=1)  # fmt: skip
        entry.on_submit = submit
        parts[2] = row(entry, button(ui.say("Submit"), submit), gap=dp(8))
        if ui.var("verdict"):
            parts.append(label(ui.say(str(ui.var("verdict"))), size=TITLE, bold=True))
    return column(*parts, gap=dp(8))


def _find_bar(ui: Ui, page: WebPage) -> View:
    words = ui.typed("find").lower()
    texts = [block.text.lower() for block in page.blocks]
    count = sum(text.count(words) for text in texts) if words else 0

    def close() -> None:
        ui.host.hide_keyboard()
        for name in ("finding", "text/find"):
            ui.page.vars.pop(name, None)

    return row(
        edit_text(ui, Field("find"), id=f"{_ID}find_query", hint=ui.say("Find in page"), weight=1, align=MIDDLE),
        label(ui.say("{count} found", count=count), id=f"{_ID}find_status", size=BODY, align=MIDDLE),
        image_button("close", ui.say("Close"), close, id=f"{_ID}close_find_button"),
        height=dp(56), pad=(dp(16), 0, dp(4), 0), gap=dp(8),
    )  # fmt: skip


def _main_back(ui: Ui) -> bool:
    return _step(ui, -1)


def _mark(ui: Ui, address: str, title: str) -> None:
    marked = _bookmark_of(ui, address)
    if marked:
        ui.open("browser/bookmark", number=marked, **{"text/name": ui.words(f"{BOOKMARK}/{marked}/title")})
    else:
        ui.add(BOOKMARK, url=address, title=title)
        ui.host.show_toast(ui.say("Bookmark added"))


# ----------------------------------------------------------------------------------------------------------------------
# the pages beside it


def browser_menu(ui: Ui) -> View:
    """Build the menu of the browser."""
    address, title, tabs = str(ui.var("address")), str(ui.var("title")), str(ui.var("tabs"))

    def mark() -> None:
        if address != START and not _bookmark_of(ui, address):
            ui.add(BOOKMARK, url=address, title=title)
            ui.host.show_toast(ui.say("Bookmark added"))

    return menu(
        ui,
        [
            (ui.say("New tab"), lambda: ui.host.tell_page(_new_tab(tabs))),
            (ui.say("Add bookmark"), mark),
            (ui.say("Bookmarks"), opener(ui, "browser/bookmarks")),
            (ui.say("History"), opener(ui, "browser/history")),
            (ui.say("Find in page"), lambda: ui.host.tell_page({"finding": True})),
            (ui.say("Share"), opener(ui, "browser/share", content=address)),
        ],
    )


def _new_tab(tabs: str) -> dict[str, Scalar]:
    number = max(map(int, tabs.split(","))) + 1
    return {"tabs": f"{tabs},{number}", "current": number, "goto": "", **_fresh_page(START)}


def tab_list(ui: Ui) -> View:
    """Build the list of tabs."""
    listed = [line.partition(" ") for line in str(ui.var("listed")).split("\n")]
    numbers, now = [number for number, _, _ in listed], str(ui.var("current"))

    def show(number: str, address: str) -> Callable[[], object]:
        return lambda: ui.close(current=int(number), goto="", **_fresh_page(address))

    def close(number: str) -> Callable[[], object]:
        def drop() -> None:
            rest = [entry for entry in listed if entry[0] != number]
            if not rest:
                ui.close(**{**_new_tab(number), "tabs": str(int(number) + 1)})
                return
            _, _, address = next((entry for entry in rest if entry[0] == now), rest[-1])
            shown = now if number != now else rest[-1][0]
            ui.close(tabs=",".join(entry[0] for entry in rest), current=int(shown), goto="", **_fresh_page(address))

        return drop

    rows = []
    for number, _, address in listed:
        title = page_at(ui, address).title
        rows.append(_entry(ui, title, address, show(number, address), image_button(
            "close", ui.say("Close {title}", title=title), close(number)), chosen=number == now))  # fmt: skip
    new = image_button("add", ui.say("New tab"), lambda: ui.close(**_new_tab(",".join(numbers))))
    return activity(ui, app_bar(ui, ui.say("Tabs"), actions=[new]), _entries(ui, rows))


def _entry(
    ui: Ui,
    title: str,
    address: str,
    on_tap: Callable[[], object],
    *beside: View,
    details: str = "",
    chosen: bool = False,
) -> View:
    texts = [
        label(title, id=f"{_ID}title", size=TITLE, width=MATCH),
        label(details or (ui.say("New tab") if address == START else address), id=f"{_ID}description", size=BODY,
              ink="soft", width=MATCH),
    ]  # fmt: skip
    return row(
        image("globe", align=MIDDLE), column(*texts, cls=RELATIVE, weight=1, align=MIDDLE), *beside, height=dp(72),
        pad=(dp(16), 0, dp(4), 0), gap=dp(16), on_tap=on_tap, selected=chosen, fill="tonal" if chosen else "",
    )  # fmt: skip


def _entries(ui: Ui, rows: list[View]) -> View:
    if not rows:
        return frame(
            label(ui.say("Nothing here"), id=f"{_ID}empty_view", size=TITLE, ink="soft", align=CENTER), weight=1
        )
    return scroll_column(ui, rows, id=f"{_ID}list", height=0, weight=1)


def _sender(ui: Ui, address: str) -> Callable[[], object]:
    """Return a callback that closes this page and shows an address on the one below."""

    def send() -> None:
        ui.close(goto=address, **_fresh_page(address))
        _remember(ui, address)

    return send


def bookmarks(ui: Ui) -> View:
    """Build the list of bookmarks."""
    rows = []
    for number in ui.ids(BOOKMARK):
        title, address = ui.words(f"{BOOKMARK}/{number}/title"), ui.words(f"{BOOKMARK}/{number}/url")
        change = opener(ui, "browser/bookmark", number=number, **{"text/name": title})
        edit = image_button("edit", ui.say("Edit {title}", title=title), change)
        rows.append(_entry(ui, title, address, _sender(ui, address), edit))
    return activity(ui, app_bar(ui, ui.say("Bookmarks")), _entries(ui, rows))


def bookmark(ui: Ui) -> View:
    """Build the form of one bookmark."""
    number = int(ui.var("number"))
    path = f"{BOOKMARK}/{number}"

    def save() -> None:
        ui.close()
        if ui.typed("name").strip():
            ui.put(f"{path}/title", ui.typed("name").strip())

    def remove() -> None:
        ui.close()
        ui.remove(path)

    actions = [image_button("delete", ui.say("Delete"), remove), image_button("check", ui.say("Save"), save)]
    return activity(
        ui, app_bar(ui, ui.say("Edit bookmark"), actions=actions),
        column(
            edit_text(ui, Field("name", max_length=100), hint=ui.say("Name"), id=f"{_ID}title_text"),
            label(ui.words(f"{path}/url"), size=BODY, ink="soft", pad=(dp(8), 0, 0, 0)),
            pad=(dp(16), dp(16), dp(16), 0), gap=dp(8),
        ),
    )  # fmt: skip


def history(ui: Ui) -> View:
    """Build the list of visited pages, the latest first."""
    numbers = sorted(ui.ids(HISTORY), key=lambda number: (-ui.number(f"{HISTORY}/{number}/time"), -number))
    rows = []
    for number in numbers[:60]:
        title, address = ui.words(f"{HISTORY}/{number}/title"), ui.words(f"{HISTORY}/{number}/url")
        when = ui.moment(ui.number(f"{HISTORY}/{number}/time"))
        drop = image_button("close", ui.say("Remove {title}", title=title), _remover(ui, number))
        rows.append(_entry(ui, title, address, _sender(ui, address), drop, details=f"{address}\n{when}"))
    clear = image_button("delete", ui.say("Clear history"), opener(ui, "browser/clear"))
    return activity(ui, app_bar(ui, ui.say("History"), actions=[clear]), _entries(ui, rows))


def _remover(ui: Ui, number: int) -> Callable[[], object]:
    return lambda: ui.remove(f"{HISTORY}/{number}")


def clear(ui: Ui) -> View:
    """Build the dialog that asks before the history is forgotten."""

    def ok() -> None:
        for number in ui.ids(HISTORY):
            ui.remove(f"{HISTORY}/{number}")

    return question(ui, ui.say("Clear the whole history?"), "Clear", ok)


# ----------------------------------------------------------------------------------------------------------------------
# what a fresh phone has


def draw(draw: Draw) -> None:
    """Draw bookmarks, a history, and a page in Download with a maze or with numbers to multiply."""
    rng = draw.rng
    draw.put("browser/maze_solved", False)
    draw.put("browser/product_solved", False)
    known = [address for address in SITES if not address.endswith("/") and not address.startswith(GUIDE)]
    for address in ["https://news.example/", *rng.sample(known, rng.randint(1, 3))]:
        draw.record(BOOKMARK, url=address, title=site_page(address).title)
    start = int(draw.now.timestamp())
    for address in rng.sample(known, rng.randint(3, 6)):
        draw.record(HISTORY, url=address, title=site_page(address).title, time=start - rng.randrange(3600, 10**6))
    pages = [maze_page(_draw_maze(draw)), multiply_page(rng.sample(range(2, 10), 5))]
    rng.shuffle(pages)
    for name, html in zip(("task.html", "game.html"), pages, strict=True):
        draw.file(f"Download/{name}", html, mtime_s=start - rng.randrange(3600, 10**6))


def _draw_maze(draw: Draw, side: int = 4) -> list[str]:
    rng = draw.rng
    steps = ["x"] * (side - 1) + ["y"] * (side - 1)
    rng.shuffle(steps)
    way, x, y = {(0, 0)}, 0, 0
    for step in steps:
        x, y = (x + 1, y) if step == "x" else (x, y + 1)
        way.add((x, y))

    def sign(x: int, y: int) -> str:
        if (x, y) in ((0, 0), (side - 1, side - 1)):
            return "S" if x == 0 else "G"
        return "." if (x, y) in way or rng.random() < 0.3 else "#"

    return ["".join(sign(x, y) for x in range(side)) for y in range(side)]


_WORDS: Words = {
    "Add bookmark": ("Lesezeichen hinzufügen", "添加书签"),
    "Back": ("Zurück", "后退"),
    "Bookmark": ("Lesezeichen setzen", "加入书签"),
    "Bookmark added": ("Lesezeichen hinzugefügt", "已添加书签"),
    "Bookmarks": ("Lesezeichen", "书签"),
    "Browser": ("Browser", "浏览器"),
    "Check if there is a typo in the address.": ("Prüfe die Adresse auf Tippfehler.", "请检查网址是否有误。"),
    "Clear history": ("Verlauf löschen", "清除历史记录"),
    "Clear the whole history?": ("Den ganzen Verlauf löschen?", "要清除全部历史记录吗？"),
    "Click me": ("Klick mich", "点击我"),
    "Click the button {count} times and remember the numbers.": (
        "Klicke {count}-mal auf den Knopf und merke dir die Zahlen.",
        "点击按钮 {count} 次并记住数字。",
    ),
    "Close {title}": ("{title} schließen", "关闭{title}"),
    "Down": ("Runter", "下"),
    "Edit bookmark": ("Lesezeichen bearbeiten", "修改书签"),
    "Edit {title}": ("{title} bearbeiten", "修改{title}"),
    "Find in page": ("Auf der Seite suchen", "在网页中查找"),
    "Forward": ("Vorwärts", "前进"),
    "Go": ("Los", "前往"),
    "Goal": ("Ziel", "终点"),
    "History": ("Verlauf", "历史记录"),
    "Left": ("Links", "左"),
    "New tab": ("Neuer Tab", "新标签页"),
    "Nothing found": ("Nichts gefunden", "未找到结果"),
    "Product of the numbers": ("Produkt der Zahlen", "数字的乘积"),
    "Remove {title}": ("{title} entfernen", "移除{title}"),
    "Right": ("Rechts", "右"),
    "Row {row}, column {column}": ("Zeile {row}, Spalte {column}", "第 {row} 行第 {column} 列"),
    "Search or type URL": ("Suchen oder Adresse eingeben", "搜索或输入网址"),
    "Submit": ("Absenden", "提交"),
    "Success!": ("Richtig!", "成功！"),
    "Success! You reached the goal.": ("Geschafft! Du hast das Ziel erreicht.", "成功！你已到达终点。"),
    "Tabs": ("Tabs", "标签页"),
    "Tabs, {count} open": ("Tabs, {count} offen", "标签页，已打开 {count} 个"),
    "That is not the product.": ("Das ist nicht das Produkt.", "乘积不正确。"),
    "This site can\u2019t be reached": ("Diese Website ist nicht erreichbar", "无法访问此网站"),
    "Up": ("Hoch", "上"),
    "You": ("Du", "你"),
    "free": ("frei", "空"),
    "wall": ("Wand", "墙"),
    "{count} found": ("{count} gefunden", "找到 {count} 处"),
}

_MAIN, _LIST = f"{PACKAGE}.BrowserActivity", f"{PACKAGE}.ComboViewActivity"

APP = App(
    package=PACKAGE,
    label="Browser",
    home="browser/main",
    color="#4285f4",
    icon="globe",
    paths={"browser/maze_solved": YES_NO, "browser/product_solved": YES_NO},
    records={BOOKMARK: {"url": TEXT, "title": TEXT}, HISTORY: {"url": TEXT, "title": TEXT, "time": MOMENT}},
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "browser/main": Screen(main, _MAIN, on_back=_main_back),
        "browser/menu": Screen(browser_menu, _MAIN, dialog=True),
        "browser/tabs": Screen(tab_list, _MAIN),
        "browser/bookmarks": Screen(bookmarks, _LIST),
        "browser/bookmark": Screen(bookmark, f"{PACKAGE}.AddBookmarkPage", private=True),
        "browser/history": Screen(history, _LIST),
        "browser/clear": Screen(clear, _LIST, dialog=True),
        "browser/share": SHARE,
    },
)
