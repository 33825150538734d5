"""Contacts: the list, one person's page, the form that creates or edits (packages/apps/Contacts)."""

from __future__ import annotations

from agent_eval.device_sim.schema import TEXT
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    MIDDLE,
    RELATIVE,
    SCROLL,
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

PACKAGE = "com.android.contacts"
_ID = f"{PACKAGE}:id/"


def by_name(ui: Ui) -> list[int]:
    """Return the ids of all contacts, sorted by name."""
    return sorted(ui.ids("contacts"), key=lambda contact: (ui.words(f"contacts/{contact}/name").lower(), contact))


def people(ui: Ui) -> View:
    """Build the list of people (contact_list_content.xml)."""
    rows = [_person(ui, contact) for contact in by_name(ui)]
    if rows:
        rows.append(View("android.view.View", height=dp(88)))
        body = scroll_column(ui, rows, id="android:id/list", cls="android.widget.ListView")
    else:
        body = frame(label("No contacts", id=f"{_ID}message", size=TITLE, ink="soft", align=CENTER), height=MATCH)
    fab = image_button(
        "add",
        "Create new contact",
        opener(ui, "contacts/edit", contact=0),
        id=f"{_ID}floating_action_button",
        size=dp(56),
        fill="accent",
        ink="on_primary",
    )
    holder = frame(fab, align=(1.0, 1.0), width=dp(88), height=dp(88))
    return activity(ui, app_bar(ui, "Contacts", up=False), frame(body, holder, weight=1, cls=RELATIVE))


def _person(ui: Ui, contact: int) -> View:
    name = ui.words(f"contacts/{contact}/name")
    return row(
        image("person", size=dp(40), align=MIDDLE, fill="chip"),
        label(name, id=f"{_ID}cliv_name_textview", size=TITLE, align=MIDDLE, weight=1),
        height=dp(56),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(16),
        on_tap=opener(ui, "contacts/person", contact=contact),
    )


def person(ui: Ui) -> View:
    """Build one person's page (quickcontact_activity.xml)."""
    contact = int(ui.var("contact"))
    name, phone = ui.words(f"contacts/{contact}/name"), ui.words(f"contacts/{contact}/phone")
    actions = [
        image_button("edit", "Edit contact", lambda: _edit(ui, contact), id=f"{_ID}menu_edit"),
        image_button("delete", "Delete", opener(ui, "contacts/delete", contact=contact), id=f"{_ID}menu_delete"),
    ]

    def text() -> None:
        ui.host.open_app("com.android.messaging")
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
        number = column(
            label(phone, id=f"{_ID}header", size=TITLE),
            label("Mobile", id=f"{_ID}sub_header", ink="soft"),
            weight=1,
            align=MIDDLE,
        )
        rows.append(
            row(
                image("call"),
                number,
                image_button("message", f"Text {name}", text, id=f"{_ID}icon_alternate"),
                height=dp(72),
                pad=(dp(16), 0, dp(8), 0),
                gap=dp(24),
            )
        )
    return activity(ui, app_bar(ui, "", actions=actions), scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def _edit(ui: Ui, contact: int) -> None:
    first, _, last = ui.words(f"contacts/{contact}/name").partition(" ")
    ui.open(
        "contacts/edit",
        contact=contact,
        **{"text/first": first, "text/last": last, "text/phone": ui.words(f"contacts/{contact}/phone")},
    )


def edit(ui: Ui) -> View:
    """Build the form of a new or existing contact (contact_editor_activity.xml)."""
    contact = int(ui.var("contact", 0))
    name = " ".join(part for part in (ui.typed("first").strip(), ui.typed("last").strip()) if part)
    phone = ui.typed("phone").strip()

    def save() -> None:
        number = contact or ui.new_id("contacts")
        ui.close()
        if name or phone:
            ui.put(f"contacts/{number}/name", name or phone)
            ui.put(f"contacts/{number}/phone", phone)
            if not contact:
                ui.open("contacts/person", contact=number)

    def line(icon: str, name: str, hint: str) -> View:
        return row(
            image(icon, align=MIDDLE),
            edit_text(ui, Field(name, max_length=60), hint=hint, id=f"{_ID}{name}", weight=1, align=MIDDLE),
            height=dp(64),
            pad=(dp(16), 0, dp(16), 0),
            gap=dp(16),
        )

    bar = app_bar(
        ui,
        "Edit contact" if contact else "Create contact",
        actions=[button("Save", save, id=f"{_ID}editor_menu_save_button")],
    )
    rows = [line("person", "first", "First name"), line("", "last", "Last name"), line("call", "phone", "Phone")]
    return activity(ui, bar, scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, id=f"{_ID}editors"))


def delete(ui: Ui) -> View:
    """Build the dialog that asks before deleting."""
    contact = int(ui.var("contact"))

    def ok() -> None:
        ui.close()
        ui.close()
        ui.host.remove(f"contacts/{contact}")

    return dialog(message="Delete this contact?", buttons=cancel_and_ok(ui, ok, ok="Delete"))


def lookup(ui: Ui, phone: str) -> str:
    """Return the name that goes with a number, or the number itself."""
    for contact in ui.ids("contacts"):
        if ui.words(f"contacts/{contact}/phone") == phone and phone:
            return ui.words(f"contacts/{contact}/name")
    return phone


APP = App(
    package=PACKAGE,
    label="Contacts",
    home="contacts/people",
    color="#1967d2",
    icon="person",
    home_row=True,
    records={"contacts": {"name": TEXT, "phone": TEXT}},
    screens={
        "contacts/people": Screen(people, "com.android.contacts.activities.PeopleActivity"),
        "contacts/person": Screen(person, "com.android.contacts.quickcontact.QuickContactActivity"),
        "contacts/edit": Screen(edit, "com.android.contacts.activities.ContactEditorActivity"),
        "contacts/delete": Screen(delete, "com.android.contacts.quickcontact.QuickContactActivity", dialog=True),
    },
)

__all__ = ["APP", "lookup"]
