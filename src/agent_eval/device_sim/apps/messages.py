"""Messages: conversations, one conversation, a new one (packages/apps/Messaging). Knows the contacts' names."""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.apps.contacts import lookup
from agent_eval.device_sim.schema import TEXT, YES_NO
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, WRAP, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    MIDDLE,
    RELATIVE,
    TITLE,
    activity,
    app_bar,
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

PACKAGE = "com.android.messaging"
_ID = f"{PACKAGE}:id/"


def threads(ui: Ui) -> dict[str, list[int]]:
    """Return the messages of each address, the latest conversation first, messages in order."""
    found: dict[str, list[int]] = {}
    for message in ui.ids("messages"):
        found.setdefault(ui.words(f"messages/{message}/address"), []).append(message)
    return dict(sorted(found.items(), key=lambda item: -item[1][-1]))


def conversations(ui: Ui) -> View:
    """Build the list of conversations (conversation_list_fragment.xml)."""
    rows = []
    for address, messages in threads(ui).items():
        last = messages[-1]
        body = ui.words(f"messages/{last}/body")
        texts = column(
            label(lookup(ui, address), id=f"{_ID}conversation_name", size=TITLE, width=MATCH),
            label(
                f"You: {body}" if ui.flag(f"messages/{last}/sent") else body,
                id=f"{_ID}conversation_snippet",
                ink="soft",
                width=MATCH,
            ),
            cls=RELATIVE,
            weight=1,
            align=MIDDLE,
        )
        rows.append(
            row(
                image("person", size=dp(40), align=MIDDLE, fill="chip"),
                texts,
                height=dp(76),
                pad=(dp(16), 0, dp(16), 0),
                gap=dp(16),
                on_tap=opener(ui, "messages/thread", address=address),
            )
        )
    if rows:
        rows.append(View("android.view.View", height=dp(88)))
        body_view = scroll_column(ui, rows, id="android:id/list")
    else:
        empty = label("No conversations", id=f"{_ID}no_conversations", size=TITLE, ink="soft", align=CENTER)
        body_view = frame(empty, height=MATCH)
    fab = image_button(
        "add",
        "Start new conversation",
        opener(ui, "messages/new"),
        id=f"{_ID}start_new_conversation_button",
        size=dp(56),
        fill="accent",
        ink="on_primary",
    )
    holder = frame(fab, align=(1.0, 1.0), width=dp(88), height=dp(88))
    return activity(ui, app_bar(ui, "Messages", up=False), frame(body_view, holder, weight=1, cls=RELATIVE))


def _compose(ui: Ui, address: str) -> View:
    text = ui.typed("body")

    def send() -> None:
        if not text.strip() or not address:
            return
        number = ui.new_id("messages")
        ui.put(f"messages/{number}/address", address)
        ui.put(f"messages/{number}/body", text)
        ui.put(f"messages/{number}/sent", True)
        ui.set("text/body", "")
        if ui.page.screen == "messages/new":
            ui.close()
            ui.open("messages/thread", address=address)

    return row(
        edit_text(
            ui, Field("body"), id=f"{_ID}compose_message_text", hint="Text message", desc="", weight=1, align=MIDDLE
        ),
        image_button("send", "Send SMS", send, id=f"{_ID}send_message_button", enabled=bool(text.strip() and address)),
        height=dp(64),
        pad=(dp(16), dp(4), dp(8), dp(4)),
        fill="bar",
    )


def thread(ui: Ui) -> View:
    """Build one conversation (conversation_fragment.xml)."""
    address = str(ui.var("address"))
    bubbles = []
    for message in threads(ui).get(address, []):
        sent = ui.flag(f"messages/{message}/sent")
        text = label(
            ui.words(f"messages/{message}/body"),
            id=f"{_ID}message_text",
            size=BODY + 2,
            width=WRAP,
            pad=(dp(12), dp(8), dp(12), dp(8)),
            fill="accent" if sent else "card",
            ink="on_primary" if sent else "text",
            align=(1.0 if sent else 0.0, 0.0),
        )
        bubbles.append(frame(text, pad=(dp(48) if sent else dp(16), dp(4), dp(16) if sent else dp(48), dp(4))))
    return activity(
        ui,
        app_bar(ui, lookup(ui, address), id=f"{_ID}conversation_title"),
        scroll_column(ui, bubbles, id="android:id/list", height=0, weight=1),
        _compose(ui, address),
    )


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
        if phone != typed
    ]
    to = row(
        label("To", size=TITLE, ink="soft", align=MIDDLE),
        edit_text(
            ui,
            Field("to", max_length=60),
            id=f"{_ID}recipient_text_view",
            hint="Type names or phone numbers",
            weight=1,
            align=MIDDLE,
        ),
        height=dp(64),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(12),
    )
    return activity(
        ui,
        app_bar(ui, "New conversation"),
        to,
        scroll_column(ui, rows, id=f"{_ID}all_contacts_list", height=0, weight=1),
        _compose(ui, address),
    )


def _chooser(ui: Ui, phone: str) -> Callable[[], object]:
    def choose() -> None:
        ui.close()
        ui.open("messages/thread", address=phone)

    return choose


APP = App(
    package=PACKAGE,
    label="Messages",
    home="messages/conversations",
    color="#1a73e8",
    icon="message",
    home_row=True,
    records={"messages": {"address": TEXT, "body": TEXT, "sent": YES_NO}},
    screens={
        "messages/conversations": Screen(
            conversations, "com.android.messaging.ui.conversationlist.ConversationListActivity"
        ),
        "messages/thread": Screen(thread, "com.android.messaging.ui.conversation.ConversationActivity"),
        "messages/new": Screen(new, "com.android.messaging.ui.conversation.ConversationActivity"),
    },
)
