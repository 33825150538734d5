"""Messages: conversations, one conversation, a new one (packages/apps/Messaging). Knows the contacts' names.

Half-written messages (``messages/draft/<address>``) and what was not read yet (``messages/unread``) are transient:
looking at a conversation changes nothing that lasts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from agent_eval.device_sim import searching
from agent_eval.device_sim.apps.contacts import lookup
from agent_eval.device_sim.dialogs import menu, question
from agent_eval.device_sim.schema import MOMENT, TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Host, Page, Screen, Ui, last_id_path
from agent_eval.device_sim.sharing import SHARE
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, WRAP, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    GROUP,
    MIDDLE,
    RELATIVE,
    SMALL,
    TITLE,
    activity,
    app_bar,
    column,
    dialog,
    edit_text,
    floating,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
    scroll_column,
)
from agent_eval.types import Bounds

PACKAGE = "com.android.messaging"
_ID = f"{PACKAGE}:id/"
_UNREAD = "messages/unread"


def threads(ui: Ui) -> dict[str, list[int]]:
    """Return the messages of each address, the latest conversation first, messages in order."""
    found: dict[str, list[int]] = {}
    for message in ui.ids("messages"):
        found.setdefault(ui.words(f"messages/{message}/address"), []).append(message)
    return dict(sorted(found.items(), key=lambda item: -item[1][-1]))


def send(ui: Ui, address: str, body: str) -> int:
    """Send a message now; without a mobile network it stays unsent. Return its number."""
    now = int(ui.host.local_time.timestamp())
    status = "failed" if ui.flag("settings/airplane_mode_on") else "sent"
    return ui.add("messages", address=address, body=body, sent=True, time=now, status=status)


def receive(host: Host, address: str, body: str) -> int:
    """Let a message arrive: it stands in its conversation, unread, and in the notification shade. Return its number."""
    ui = Ui(host, Page(APP.home), Bounds(0, 0, 0, 0), Bounds(0, 0, 0, 0))
    number = ui.add("messages", address=address, body=body, sent=False, time=int(host.local_time.timestamp()))
    ui.keep(_UNREAD, "|".join([*(name for name in _unread(ui) if name != address), address]))
    host.heads_up(PACKAGE, lookup(ui, address), body)
    return number


def _unread(ui: Ui) -> list[str]:
    return [name for name in str(ui.known(_UNREAD)).split("|") if name]


# ----------------------------------------------------------------------------------------------------------------------
# the list


def conversations(ui: Ui) -> View:
    """Build the list of conversations (conversation_list_fragment.xml)."""
    searches = bool(ui.var("searching", False))
    words = ui.typed("query").lower() if searches else ""
    rows = [
        _conversation(ui, address, messages)
        for address, messages in threads(ui).items()
        if not words or words in _searched(ui, address, messages)
    ]
    if rows:
        rows.append(View("android.view.View", height=dp(88)))
        body_view = scroll_column(ui, rows, id="android:id/list")
    else:
        text = ui.say("No messages found") if words else ui.say("No conversations")
        empty = label(text, id=f"{_ID}no_conversations", size=TITLE, ink="soft", align=CENTER)
        body_view = frame(empty, height=MATCH)
    start = opener(ui, "messages/new")
    fab = floating("add", ui.say("Start new conversation"), start, id=f"{_ID}start_new_conversation_button")
    bar = _search_bar(ui) if searches else _list_bar(ui)
    return activity(ui, bar, frame(body_view, fab, weight=1, cls=RELATIVE))


def _list_bar(ui: Ui) -> View:
    search = image_button("search", ui.say("Search messages"), lambda: searching.begin(ui), id=f"{_ID}action_search")
    return app_bar(ui, ui.say("Messages"), up=False, actions=[search])


def _search_bar(ui: Ui) -> View:
    hint = ui.say("Search messages")
    return searching.bar(ui, hint, id=f"{_ID}search_src_text", on_back=lambda: searching.end(ui), says="Stop searching")


def _searched(ui: Ui, address: str, messages: list[int]) -> str:
    bodies = " ".join(ui.words(f"messages/{message}/body") for message in messages)
    return f"{lookup(ui, address)} {address} {bodies}".lower()


def _conversation(ui: Ui, address: str, messages: list[int]) -> View:
    last = messages[-1]
    body = ui.words(f"messages/{last}/body")
    draft = str(ui.known(f"messages/draft/{address}"))
    unread = address in _unread(ui)
    snippet = ui.say("You: {text}", text=body) if ui.flag(f"messages/{last}/sent") else body
    if draft:
        snippet = ui.say("Draft: {text}", text=draft)
    elif ui.words(f"messages/{last}/status") == "failed":
        snippet = ui.say("Not sent: {text}", text=body)
    texts = column(
        label(lookup(ui, address), id=f"{_ID}conversation_name", size=TITLE, width=MATCH, bold=unread),
        label(
            snippet.replace("\n", " "), id=f"{_ID}conversation_snippet", ink="text" if unread else "soft", width=MATCH
        ),
        cls=RELATIVE,
        weight=1,
        align=MIDDLE,
    )
    moment = ui.number(f"messages/{last}/time")
    return row(
        image("person", size=dp(40), align=MIDDLE, fill="chip"),
        texts,
        label(
            _when(ui, moment) if moment else "", id=f"{_ID}conversation_timestamp", size=SMALL, ink="soft", align=MIDDLE
        ),
        height=dp(76),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(16),
        on_tap=lambda: _read(ui, address),
        on_hold=opener(ui, "messages/conversation_menu", address=address),
    )


def _read(ui: Ui, address: str) -> None:
    _mark_read(ui, address)
    ui.open("messages/thread", address=address)


def _mark_read(ui: Ui, address: str) -> None:
    if address in _unread(ui):
        ui.keep(_UNREAD, "|".join(name for name in _unread(ui) if name != address))


def _when(ui: Ui, moment: int) -> str:
    at = datetime.fromtimestamp(moment, UTC)
    if at.date() == ui.host.local_time.date():
        return ui.time_of_day(at.hour, at.minute)
    return ui.date(at, "short")


def conversation_menu(ui: Ui) -> View:
    """Build the menu that holding a conversation opens."""
    address = str(ui.var("address"))

    def mark_unread() -> None:
        ui.keep(_UNREAD, "|".join([*(name for name in _unread(ui) if name != address), address]))

    delete = opener(ui, "messages/delete_conversation", address=address)
    return menu(ui, [(ui.say("Delete"), delete), (ui.say("Mark as unread"), mark_unread)])


def delete_conversation(ui: Ui) -> View:
    """Build the dialog that asks before a conversation is deleted."""
    address = str(ui.var("address"))

    def ok() -> None:
        for message in threads(ui).get(address, []):
            ui.remove(f"messages/{message}")
        ui.host.world.pop(f"messages/draft/{address}", None)
        if ui.var("inside", False):
            ui.close()

    return question(ui, ui.say("Delete this conversation?"), "Delete", ok)


# ----------------------------------------------------------------------------------------------------------------------
# one conversation


def _compose(ui: Ui, address: str) -> View:
    draft = str(ui.known(f"messages/draft/{address}")) if ui.page.screen == "messages/thread" else ""
    text = ui.typed("body", draft)

    def submit() -> None:
        if not text.strip() or not address:
            return
        send(ui, address, text)
        ui.set("text/body", "")
        ui.host.world.pop(f"messages/draft/{address}", None)
        if ui.page.screen == "messages/new":
            ui.close()
            ui.open("messages/thread", address=address)

    return row(
        edit_text(
            ui,
            Field("body"),
            initial=draft,
            id=f"{_ID}compose_message_text",
            hint=ui.say("Text message"),
            desc="",
            weight=1,
            align=MIDDLE,
        ),
        image_button(
            "send", ui.say("Send SMS"), submit, id=f"{_ID}send_message_button", enabled=bool(text.strip() and address)
        ),
        height=dp(64),
        pad=(dp(16), dp(4), dp(8), dp(4)),
        fill="bar",
    )


def thread(ui: Ui) -> View:
    """Build one conversation (conversation_fragment.xml)."""
    address = str(ui.var("address"))
    bubbles = [_bubble(ui, message) for message in threads(ui).get(address, [])]
    actions = [
        image_button("call", ui.say("Call"), lambda: _call(ui, address), id=f"{_ID}action_call"),
        image_button(
            "delete",
            ui.say("Delete conversation"),
            opener(ui, "messages/delete_conversation", address=address, inside=True),
            id=f"{_ID}action_delete",
        ),
    ]

    def leave() -> None:
        _leave(ui)
        ui.close()

    up = image_button("back", ui.say("Navigate up"), leave)
    title = label(
        lookup(ui, address), id=f"{_ID}conversation_title", size=dp(20), align=MIDDLE, weight=1, pad=(dp(8), 0, 0, 0)
    )
    return activity(
        ui,
        row(up, title, *actions, cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(4), 0)),
        scroll_column(ui, bubbles, id="android:id/list", height=0, weight=1),
        _compose(ui, address),
    )


def _leave(ui: Ui) -> bool:
    """Keep what is half-written when a conversation is left; the page closes all the same."""
    address, text = str(ui.var("address")), ui.page.vars.get("text/body")
    _mark_read(ui, address)
    if text:
        ui.keep(f"messages/draft/{address}", text)
    elif text is not None:
        ui.host.world.pop(f"messages/draft/{address}", None)
    return False


def _call(ui: Ui, address: str) -> None:
    if not ui.host.open_app("com.android.dialer"):
        ui.host.show_toast(ui.say("No app can do this"))
        return
    if "dialer/in_call" in ui.host.apps["com.android.dialer"].screens:
        ui.host.open_page("dialer/in_call", {"number": address})


def _bubble(ui: Ui, message: int) -> View:
    path = f"messages/{message}"
    sent, failed = ui.flag(f"{path}/sent"), ui.words(f"{path}/status") == "failed"
    text = label(
        ui.words(f"{path}/body"),
        id=f"{_ID}message_text",
        size=BODY + 2,
        width=WRAP,
        pad=(dp(12), dp(8), dp(12), dp(8)),
        fill="accent" if sent else "card",
        ink="on_primary" if sent else "text",
        align=(1.0 if sent else 0.0, 0.0),
    )
    parts = [text]
    moment = ui.number(f"{path}/time")
    state = _when(ui, moment) if moment else ""
    if sent:  # in words, as a screen reader has no sides
        state = ui.say("Not sent. Touch to try again.") if failed else ui.say("Sent {when}", when=state).strip()
    if state:
        parts.append(
            label(
                state,
                id=f"{_ID}message_status",
                size=SMALL,
                ink="error" if failed else "soft",
                align=(1.0 if sent else 0.0, 0.0),
            )
        )
    holder = frame(
        column(*parts, cls=RELATIVE),
        pad=(dp(48) if sent else dp(16), dp(4), dp(16) if sent else dp(48), dp(4)),
        on_hold=opener(ui, "messages/message_menu", message=message),
        on_tap=(lambda: _try_again(ui, message)) if failed else None,
    )
    holder.id = f"{_ID}message_content"
    return holder


def _try_again(ui: Ui, message: int) -> None:
    if ui.flag("settings/airplane_mode_on"):
        ui.host.show_toast(ui.say("Airplane mode is on"))
        return
    ui.put(f"messages/{message}/status", "sent")
    ui.put(f"messages/{message}/time", int(ui.host.local_time.timestamp()))


def message_menu(ui: Ui) -> View:
    """Build the menu that holding a message opens."""
    message = int(ui.var("message"))
    path = f"messages/{message}"
    body, address = ui.words(f"{path}/body"), ui.words(f"{path}/address")
    if f"{path}/body" not in ui.host.state:
        return menu(ui, [(ui.say("Cancel"), lambda: None)])

    def copy() -> None:
        ui.copy(body)
        ui.host.show_toast(ui.say("Copied"))

    entries: list[tuple[str, Callable[[], object]]] = [(ui.say("Copy"), copy)]
    if ui.flag(f"{path}/sent"):
        entries.append((ui.say("Resend"), lambda: send(ui, address, body)))
    entries += [
        (ui.say("Forward"), opener(ui, "messages/new", **{"text/body": body})),
        (ui.say("Share"), opener(ui, "messages/share", content=body)),
        (ui.say("Delete"), opener(ui, "messages/delete_message", message=message)),
        (ui.say("Details"), opener(ui, "messages/details", message=message)),
    ]
    return menu(ui, entries)


def delete_message(ui: Ui) -> View:
    """Build the dialog that asks before one message is deleted."""
    path = f"messages/{int(ui.var('message'))}"
    return question(ui, ui.say("Delete this message?"), "Delete", lambda: ui.remove(path))


def details(ui: Ui) -> View:
    """Build the dialog with a message's particulars."""
    path = f"messages/{int(ui.var('message'))}"
    address = ui.words(f"{path}/address")
    at = datetime.fromtimestamp(ui.number(f"{path}/time"), UTC)
    who = (
        ui.say("To: {address}", address=address)
        if ui.flag(f"{path}/sent")
        else ui.say("From: {address}", address=address)
    )
    moment = f"{ui.date(at, 'long')} {ui.time_of_day(at.hour, at.minute)}"
    return dialog(
        label(who, width=MATCH),
        label(moment, id=f"{_ID}message_time", width=MATCH),
        title=ui.say("Message details"),
    )


# ----------------------------------------------------------------------------------------------------------------------
# a new conversation


def new(ui: Ui) -> View:
    """Build a new conversation: whom to, suggestions, and the first message."""
    typed = ui.typed("to").strip()
    words = typed.lower()
    people = [
        (ui.words(f"contacts/{contact}/name"), ui.words(f"contacts/{contact}/phone")) for contact in ui.ids("contacts")
    ]
    exact = [phone for name, phone in people if name.lower() == words]
    digits = "".join(character for character in typed if character.isdigit() or character == "+")
    address = exact[0] if exact else digits if len(digits) >= 3 and not any(c.isalpha() for c in typed) else ""
    matches = sorted((name, phone) for name, phone in people if words and words in f"{name} {phone}".lower())
    rows = [
        row(
            image("person", size=dp(40), align=MIDDLE, fill="chip"),
            column(
                label(name, id=f"{_ID}contact_name", size=TITLE),
                label(phone, id=f"{_ID}contact_details", ink="soft"),
                weight=1,
                align=MIDDLE,
                cls=RELATIVE,
            ),
            height=dp(64),
            pad=(dp(16), 0, dp(16), 0),
            gap=dp(16),
            on_tap=_chooser(ui, phone),
        )
        for name, phone in matches
        if phone and phone != typed
    ]
    to = row(
        label(ui.say("To"), size=TITLE, ink="soft", align=MIDDLE),
        edit_text(
            ui,
            Field("to", max_length=60),
            id=f"{_ID}recipient_text_view",
            hint=ui.say("Type names or phone numbers"),
            weight=1,
            align=MIDDLE,
        ),
        height=dp(64),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(12),
    )
    return activity(
        ui,
        app_bar(ui, ui.say("New conversation")),
        to,
        scroll_column(ui, rows, id=f"{_ID}all_contacts_list", height=0, weight=1),
        _compose(ui, address),
    )


def _chooser(ui: Ui, phone: str) -> Callable[[], object]:
    def choose() -> None:
        body = ui.typed("body")
        ui.close()
        ui.open("messages/thread", address=phone)
        if body:
            ui.host.tell_page({"text/body": body})

    return choose


# ----------------------------------------------------------------------------------------------------------------------
# a fresh phone

_SERVICES = (
    ("72345", "Your code is {code}. It is valid for ten minutes."),
    ("22000", "Your parcel {code} will be delivered between 2 and 4 PM."),
    ("80101", "You have used 80% of your data for this month."),
    ("33663", "Reminder: your appointment is at 10:30. Reply C to cancel."),
)


def draw_times(draw: Draw) -> None:
    """Give drawn messages their times, let one fail at times, and add what services send."""
    rng = draw.rng
    numbers = sorted({int(path.split("/")[1]) for path in draw.state if path.startswith("messages/")})
    last = max(numbers, default=0)
    draw.keep(last_id_path("messages"), last)
    if last and rng.random() < 0.3 and draw.state[f"messages/{last}/sent"]:
        draw.put(f"messages/{last}/status", "failed")
    for address, body in rng.sample(_SERVICES, rng.randint(0, 2)):
        text = body.format(code=rng.randrange(100_000, 1_000_000))
        numbers.append(draw.record("messages", address=address, body=text, sent=False))
    now = int(draw.now.timestamp())
    ages = sorted(rng.sample(range(3, 6 * 24 * 60), len(numbers)), reverse=True)
    for number, age in zip(numbers, ages, strict=True):
        draw.put(f"messages/{number}/time", now - age * 60)


STRINGS: Words = {
    "Airplane mode is on": ("Flugmodus ist aktiviert", "飞行模式已开启"),
    "Call": ("Anrufen", "呼叫"),
    "Delete conversation": ("Konversation löschen", "删除对话"),
    "Delete this conversation?": ("Diese Konversation löschen?", "要删除此对话吗？"),
    "Delete this message?": ("Diese Nachricht löschen?", "要删除此消息吗？"),
    "Details": ("Details", "详情"),
    "Draft: {text}": ("Entwurf: {text}", "草稿：{text}"),
    "Forward": ("Weiterleiten", "转发"),
    "From: {address}": ("Von: {address}", "发件人：{address}"),
    "Mark as unread": ("Als ungelesen markieren", "标记为未读"),
    "Message details": ("Nachrichtendetails", "消息详情"),
    "New conversation": ("Neue Konversation", "新对话"),
    "No app can do this": ("Keine App kann das", "没有应用可以执行此操作"),
    "No conversations": ("Keine Konversationen", "没有对话"),
    "No messages found": ("Keine Nachrichten gefunden", "未找到消息"),
    "Not sent. Touch to try again.": ("Nicht gesendet. Zum Wiederholen tippen.", "未发送。轻触即可重试。"),
    "Not sent: {text}": ("Nicht gesendet: {text}", "未发送：{text}"),
    "Resend": ("Erneut senden", "重新发送"),
    "Search messages": ("Nachrichten suchen", "搜索消息"),
    "Send SMS": ("SMS senden", "发送短信"),
    "Sent {when}": ("Gesendet {when}", "已发送 {when}"),
    "Start new conversation": ("Neue Konversation starten", "开始新对话"),
    "Stop searching": ("Suche beenden", "停止搜索"),
    "Text message": ("SMS", "短信"),
    "To": ("An", "收件人"),
    "To: {address}": ("An: {address}", "收件人：{address}"),
    "Type names or phone numbers": ("Namen oder Nummern eingeben", "输入姓名或电话号码"),
    "You: {text}": ("Ich: {text}", "我：{text}"),
}

_LIST = "com.android.messaging.ui.conversationlist.ConversationListActivity"
_CONVERSATION = "com.android.messaging.ui.conversation.ConversationActivity"

APP = App(
    package=PACKAGE,
    label="Messages",
    home="messages/conversations",
    color="#1a73e8",
    icon="message",
    home_row=True,
    records={
        "messages": {
            "address": TEXT,
            "body": TEXT,
            "sent": YES_NO,
            "status": Kind(str, among=("sent", "failed")),
            "time": MOMENT,
        }
    },
    draw=draw_times,
    strings=tables(EVERYWHERE, STRINGS),
    screens={
        "messages/conversations": Screen(conversations, _LIST, on_back=searching.end),
        "messages/thread": Screen(thread, _CONVERSATION, on_back=_leave),
        "messages/new": Screen(new, _CONVERSATION),
        "messages/conversation_menu": Screen(conversation_menu, _LIST, dialog=True),
        "messages/delete_conversation": Screen(delete_conversation, _CONVERSATION, dialog=True),
        "messages/message_menu": Screen(message_menu, _CONVERSATION, dialog=True),
        "messages/delete_message": Screen(delete_message, _CONVERSATION, dialog=True),
        "messages/details": Screen(details, _CONVERSATION, dialog=True),
        "messages/share": SHARE,
    },
    actions={"android.intent.action.SENDTO": "messages/new"},
)
