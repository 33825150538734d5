"""Contacts: the list, one person's page, the form that creates or edits (packages/apps/Contacts).

A form that is left without saving leaves nothing behind; while it is open, its fields are variables of its page:
``text/first``, ``text/last``, ``text/phone``, ``text/email`` and ``phone_label``. Knows no other app but by package.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim import draft, searching
from agent_eval.device_sim.dialogs import one_of, question
from agent_eval.device_sim.schema import TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui, last_id_path
from agent_eval.device_sim.sharing import SHARE
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    GROUP,
    MIDDLE,
    RELATIVE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    button,
    column,
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
from agent_eval.types import Scalar

PACKAGE = "com.android.contacts"
DIALER, MESSAGING = "com.android.dialer", "com.android.messaging"
_ID = f"{PACKAGE}:id/"

PHONE_LABELS = {"mobile": "Mobile", "home": "Home", "work": "Work"}
"""Kind of a number to what the page calls it (ContactsContract.CommonDataKinds.Phone)."""
_TEXTS = ("first", "last", "phone", "email")


def by_name(ui: Ui) -> list[int]:
    """Return the ids of all contacts, sorted by name."""
    return sorted(ui.ids("contacts"), key=lambda contact: (ui.words(f"contacts/{contact}/name").lower(), contact))


def people(ui: Ui) -> View:
    """Build the list of people (contact_list_content.xml)."""
    searches = bool(ui.var("searching", False))
    words = ui.typed("query").lower().split() if searches else []
    shown = [contact for contact in by_name(ui) if all(word in _searched(ui, contact) for word in words)]
    rows = [_person(ui, contact) for contact in shown]
    if rows:
        rows.append(View("android.view.View", height=dp(88)))
        body = scroll_column(ui, rows, id="android:id/list", cls="android.widget.ListView")
    else:
        text = ui.say("No contacts found") if words else ui.say("No contacts")
        body = frame(label(text, id=f"{_ID}message", size=TITLE, ink="soft", align=CENTER), height=MATCH)
    create = opener(ui, "contacts/edit", contact=0)
    fab = floating("add", ui.say("Create new contact"), create, id=f"{_ID}floating_action_button")
    bar = _search_bar(ui) if searches else _list_bar(ui)
    return activity(ui, bar, frame(body, fab, weight=1, cls=RELATIVE))


def _list_bar(ui: Ui) -> View:
    search = image_button("search", ui.say("Search contacts"), lambda: searching.begin(ui), id=f"{_ID}menu_search")
    return app_bar(ui, ui.say("Contacts"), up=False, actions=[search])


def _search_bar(ui: Ui) -> View:
    return searching.bar(
        ui,
        ui.say("Search contacts"),
        id=f"{_ID}search_view",
        on_back=lambda: searching.end(ui),
        says="Stop searching",
        back_id=f"{_ID}search_back_button",
    )


def _searched(ui: Ui, contact: int) -> str:
    return " ".join(ui.words(f"contacts/{contact}/{name}") for name in ("name", "phone", "email")).lower()


def _person(ui: Ui, contact: int) -> View:
    name = ui.words(f"contacts/{contact}/name")
    parts = [
        image("person", size=dp(40), align=MIDDLE, fill="chip"),
        label(name, id=f"{_ID}cliv_name_textview", size=TITLE, align=MIDDLE, weight=1),
    ]
    if ui.flag(f"contacts/{contact}/starred"):
        parts.append(image("star", size=dp(20), align=MIDDLE, id=f"{_ID}cliv_star", desc=ui.say("Favorite")))
    return row(
        *parts,
        height=dp(56),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(16),
        on_tap=opener(ui, "contacts/person", contact=contact),
    )


def person(ui: Ui) -> View:
    """Build one person's page (quickcontact_activity.xml)."""
    contact = int(ui.var("contact"))
    path = f"contacts/{contact}"
    name, phone, email = (ui.words(f"{path}/{part}") for part in ("name", "phone", "email"))
    if f"{path}/name" not in ui.host.state:
        return activity(ui, app_bar(ui, ""), label(ui.say("This contact was deleted"), pad=(dp(24),) * 4))
    starred = ui.flag(f"{path}/starred")
    content = "\n".join(part for part in (name, phone, email) if part)
    actions = [
        image_button(
            "star" if starred else "star_outline",
            ui.say("Remove from favorites") if starred else ui.say("Add to favorites"),
            lambda: ui.toggle(f"{path}/starred"),
            id=f"{_ID}menu_star",
        ),
        image_button("share", ui.say("Share"), opener(ui, "contacts/share", content=content), id=f"{_ID}menu_share"),
        image_button("edit", ui.say("Edit contact"), lambda: _edit(ui, contact), id=f"{_ID}menu_edit"),
        image_button(
            "delete", ui.say("Delete"), opener(ui, "contacts/delete", contact=contact), id=f"{_ID}menu_delete"
        ),
    ]

    def text() -> None:
        ui.host.open_app(MESSAGING)
        ui.host.open_page("messages/thread", {"address": phone})

    rows = [
        column(
            image("person", size=dp(72), fill="chip"),
            label(name, id=f"{_ID}large_title", size=dp(24), align=CENTER),
            pad=(dp(16), dp(16), dp(16), dp(16)),
            gap=dp(12),
        )
    ]
    if phone:
        kind = ui.say(PHONE_LABELS[ui.words(f"{path}/phone_label")])
        button_view = image_button("message", ui.say("Text {name}", name=name), text, id=f"{_ID}icon_alternate")
        rows.append(_entry(ui, "call", phone, kind, lambda: _call(ui, phone), button_view))
    if email:
        rows.append(_entry(ui, "mail", email, ui.say("Email"), lambda: _copy(ui, email)))
    return activity(ui, app_bar(ui, "", actions=actions), scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def _entry(ui: Ui, icon: str, text: str, kind: str, on_tap: Callable[[], object], *buttons: View) -> View:
    return row(
        image(icon),
        column(
            label(text, id=f"{_ID}header", size=TITLE),
            label(kind, id=f"{_ID}sub_header", ink="soft"),
            weight=1,
            align=MIDDLE,
        ),
        *buttons,
        height=dp(72),
        pad=(dp(16), 0, dp(8), 0),
        gap=dp(24),
        on_tap=on_tap,
        on_hold=lambda: _copy(ui, text),
    )


def _copy(ui: Ui, text: str) -> None:
    ui.copy(text)
    ui.host.show_toast(ui.say("Copied"))


def _call(ui: Ui, phone: str) -> None:
    if not ui.host.open_app(DIALER):
        ui.host.show_toast(ui.say("No app can do this"))
        return
    if "dialer/in_call" in ui.host.apps[DIALER].screens:
        ui.host.open_page("dialer/in_call", {"number": phone})


def _edit(ui: Ui, contact: int) -> None:
    first, _, last = ui.words(f"contacts/{contact}/name").partition(" ")
    before: dict[str, Scalar] = {
        "first": first,
        "last": last,
        "phone": ui.words(f"contacts/{contact}/phone"),
        "email": ui.words(f"contacts/{contact}/email"),
    }
    kind = ui.words(f"contacts/{contact}/phone_label")
    texts = {f"text/{name}": value for name, value in before.items()}
    ui.open("contacts/edit", contact=contact, phone_label=kind, **texts)


def edit(ui: Ui) -> View:
    """Build the form of a new or existing contact (contact_editor_activity.xml)."""
    contact = int(ui.var("contact", 0))
    kind = str(ui.var("phone_label", "mobile"))
    name = " ".join(part for part in (ui.typed("first").strip(), ui.typed("last").strip()) if part)
    phone, email = ui.typed("phone").strip(), ui.typed("email").strip()

    def save() -> None:
        ui.close()
        if not (name or phone or email):
            return
        number = contact or ui.new_id("contacts")
        fields = {"name": name or phone or email, "phone": phone, "phone_label": kind, "email": email}
        for field, value in fields.items():
            ui.put(f"contacts/{number}/{field}", value)
        if not contact:
            ui.open("contacts/person", contact=number)

    def leave() -> None:
        if not _ask_before_leaving(ui):
            ui.close()

    def line(icon: str, field: str, hint: str, *after: View) -> View:
        return row(
            image(icon, align=MIDDLE),
            edit_text(ui, Field(field, max_length=60), hint=hint, id=f"{_ID}{field}", weight=1, align=MIDDLE),
            *after,
            height=dp(64),
            pad=(dp(16), 0, dp(16), 0),
            gap=dp(16),
        )

    bar = row(
        image_button("close", ui.say("Cancel"), leave, id=f"{_ID}editor_cancel"),
        label(
            ui.say("Edit contact") if contact else ui.say("Create contact"),
            size=dp(20),
            align=MIDDLE,
            weight=1,
            pad=(dp(8), 0, 0, 0),
        ),
        button(ui.say("Save"), save, id=f"{_ID}editor_menu_save_button"),
        cls=GROUP,
        height=dp(56),
        pad=(dp(4), 0, dp(4), 0),
    )
    spinner = button(
        ui.say(PHONE_LABELS[kind]),
        opener(ui, "contacts/phone_label", now=kind),
        id=f"{_ID}spinner",
        cls="android.widget.Spinner",
        ink="text",
        desc=ui.say("Phone label"),
    )
    rows = [
        line("person", "first", ui.say("First name")),
        line("", "last", ui.say("Last name")),
        line("call", "phone", ui.say("Phone"), spinner),
        line("mail", "email", ui.say("Email")),
    ]
    return activity(ui, bar, scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, id=f"{_ID}editors"))


def _changed(ui: Ui) -> bool:
    """Tell whether anything in the form differs from what is saved."""
    contact = int(ui.var("contact", 0))
    first, _, last = ui.words(f"contacts/{contact}/name").partition(" ")
    saved = (first, last, ui.words(f"contacts/{contact}/phone"), ui.words(f"contacts/{contact}/email"))
    kind = ui.words(f"contacts/{contact}/phone_label") or "mobile"
    return tuple(map(ui.typed, _TEXTS)) != saved or ui.var("phone_label", kind) != kind


_ask_before_leaving = draft.leave(_changed, "contacts/discard")


def phone_label(ui: Ui) -> View:
    """Build the dialog that chooses what kind of number it is."""
    options = {kind: ui.say(name) for kind, name in PHONE_LABELS.items()}
    return one_of(ui, ui.say("Phone label"), options, str(ui.var("now")), "phone_label")


def discard(ui: Ui) -> View:
    """Build the dialog that asks before a form is left (CancelEditDialogFragment)."""
    message = ui.say("Discard your changes and quit editing?")
    return question(ui, message, "Discard", ui.close, no="Keep editing")


def delete(ui: Ui) -> View:
    """Build the dialog that asks before deleting."""
    contact = int(ui.var("contact"))

    def ok() -> None:
        ui.close()
        ui.host.remove(f"contacts/{contact}")

    return question(ui, ui.say("Delete this contact?"), "Delete", ok)


def lookup(ui: Ui, phone: str) -> str:
    """Return the name that goes with a number, or the number itself."""
    for contact in ui.ids("contacts"):
        if ui.words(f"contacts/{contact}/phone") == phone and phone:
            return ui.words(f"contacts/{contact}/name")
    return phone


_MAILS = ("example.com", "mail.example", "post.example", "example.org")


def draw_details(draw: Draw) -> None:
    """Give drawn people e-mail addresses and kinds of numbers, and add a few whose names are easily confused."""
    rng = draw.rng
    start = "contacts/"
    numbers = sorted({int(path.split("/")[1]) for path in draw.state if path.startswith(start)})
    names = [str(draw.state[f"contacts/{number}/name"]) for number in numbers]
    for number, name in zip(numbers, names, strict=True):
        draw.put(f"contacts/{number}/phone_label", rng.choice(("mobile", "mobile", "home", "work")))
        if rng.random() < 0.5:
            draw.put(f"contacts/{number}/email", f"{name.lower().replace(' ', '.')}@{rng.choice(_MAILS)}")
        if rng.random() < 0.2:
            draw.put(f"contacts/{number}/starred", True)
    draw.keep(last_id_path("contacts"), max(numbers, default=0))
    for name in rng.sample(names, min(rng.randint(1, 3), len(names))):
        first, _, last = name.partition(" ")
        others = [other.split(" ")[1] for other in names if not other.endswith(last)]
        similar = rng.choice((f"{first} {rng.choice(others or [last])}", f"{first} {last}{last[-1]}", f"{name} Jr."))
        if similar not in names:
            draw.record(
                "contacts",
                name=similar,
                phone=f"+1555{rng.randrange(10**7):07d}",
                phone_label=rng.choice(("home", "work")),
            )


STRINGS: Words = {
    "Add to favorites": ("Zu Favoriten hinzufügen", "添加到收藏"),
    "Contacts": ("Kontakte", "通讯录"),
    "Create contact": ("Kontakt erstellen", "新建联系人"),
    "Create new contact": ("Neuen Kontakt erstellen", "新建联系人"),
    "Delete this contact?": ("Diesen Kontakt löschen?", "要删除此联系人吗？"),
    "Discard your changes and quit editing?": (
        "Änderungen verwerfen und Bearbeitung beenden?",
        "要舍弃更改并退出修改吗？",
    ),
    "Edit contact": ("Kontakt bearbeiten", "修改联系人"),
    "Email": ("E-Mail", "电子邮件"),
    "Favorite": ("Favorit", "收藏"),
    "First name": ("Vorname", "名字"),
    "Home": ("Privat", "住宅"),
    "Keep editing": ("Weiter bearbeiten", "继续修改"),
    "Last name": ("Nachname", "姓氏"),
    "Mobile": ("Mobil", "手机"),
    "No app can do this": ("Keine App kann das", "没有应用可以执行此操作"),
    "No contacts": ("Keine Kontakte", "没有联系人"),
    "No contacts found": ("Keine Kontakte gefunden", "未找到联系人"),
    "Phone": ("Telefon", "电话"),
    "Phone label": ("Telefonlabel", "电话标签"),
    "Remove from favorites": ("Aus Favoriten entfernen", "从收藏中移除"),
    "Search contacts": ("Kontakte suchen", "搜索联系人"),
    "Stop searching": ("Suche beenden", "停止搜索"),
    "Text {name}": ("SMS an {name}", "给{name}发短信"),
    "This contact was deleted": ("Dieser Kontakt wurde gelöscht", "此联系人已删除"),
    "Work": ("Arbeit", "单位"),
}

_QUICK = "com.android.contacts.quickcontact.QuickContactActivity"
_EDITOR = "com.android.contacts.activities.ContactEditorActivity"

APP = App(
    package=PACKAGE,
    label="Contacts",
    home="contacts/people",
    color="#1967d2",
    icon="person",
    home_row=True,
    records={
        "contacts": {
            "name": TEXT,
            "phone": TEXT,
            "phone_label": Kind(str, among=tuple(PHONE_LABELS)),
            "email": TEXT,
            "starred": YES_NO,
        }
    },
    draw=draw_details,
    strings=tables(EVERYWHERE, STRINGS),
    screens={
        "contacts/people": Screen(people, "com.android.contacts.activities.PeopleActivity", on_back=searching.end),
        "contacts/person": Screen(person, _QUICK, private=True),
        "contacts/edit": Screen(edit, _EDITOR, on_back=_ask_before_leaving),
        "contacts/phone_label": Screen(phone_label, _EDITOR, dialog=True),
        "contacts/discard": Screen(discard, _EDITOR, dialog=True),
        "contacts/delete": Screen(delete, _QUICK, dialog=True),
        "contacts/share": SHARE,
    },
    actions={"android.intent.action.INSERT": "contacts/edit"},
)

__all__ = ["APP", "lookup"]
