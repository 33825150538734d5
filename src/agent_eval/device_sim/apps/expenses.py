"""Expenses: what was spent, on what and when, with totals (after Pro Expense). Knows no other app.

Amounts are whole cents. A category is stored by its English name and shown in the phone's language.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from agent_eval.device_sim import draft
from agent_eval.device_sim.dialogs import date_dialog, day_number, month_later, numbered_day, one_of, question
from agent_eval.device_sim.schema import MOMENT, TEXT, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.selection import Selection
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    MIDDLE,
    RELATIVE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    button,
    column,
    dialog,
    edit_text,
    floating,
    frame,
    image,
    image_button,
    label,
    opener,
    preference,
    row,
    scroll_column,
    setter,
)
from agent_eval.types import Scalar

PACKAGE = "com.arduia.expense"
_ID = f"{PACKAGE}:id/"
CATEGORIES = (
    "Food", "Housing", "Social", "Entertainment", "Transportation", "Clothes", "Health Care", "Education", "Donations",
    "Income", "Others",
)  # fmt: skip
"""Everything that an expense can be for."""
MOST_CENTS = 99_999_999
_AMOUNT = re.compile(r"([0-9]{0,6})(?:[.,]([0-9]{0,2}))?")


def cents_of(text: str) -> int | None:
    """Read an amount such as ``12``, ``12.5`` or ``12,50``; None for what is no amount."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or not (match[1] or match[2]):
        return None
    return int(match[1] or 0) * 100 + int((match[2] or "").ljust(2, "0"))


def money(cents: int) -> str:
    """Write an amount."""
    return f"${cents // 100}.{cents % 100:02d}"


def _day(ui: Ui, expense: int) -> date:
    return datetime.fromtimestamp(ui.number(f"expenses/{expense}/moment"), UTC).date()


def _newest_first(ui: Ui) -> list[int]:
    return sorted(ui.ids("expenses"), key=lambda one: (-ui.number(f"expenses/{one}/moment"), -one))


def _spent(ui: Ui, expenses: list[int]) -> int:
    """Add up what was spent; income is none of it."""
    return sum(
        ui.number(f"expenses/{one}/cents") for one in expenses if ui.words(f"expenses/{one}/category") != "Income"
    )


# ----------------------------------------------------------------------------------------------------------------------
# the list


def main(ui: Ui) -> View:
    """Build the list of all expenses by day, with totals above (frag_home.xml)."""
    selection = _selection(ui)
    only = str(ui.var("only"))
    found = [one for one in _newest_first(ui) if not only or ui.words(f"expenses/{one}/category") == only]
    rows: list[View] = []
    if not selection:
        rows.append(_totals(ui, found))
    last: date | None = None
    for one in found:
        day = _day(ui, one)
        if day != last:
            rows.append(
                label(ui.date(day, "long"), id=f"{_ID}tv_date_header", ink="primary", bold=True,
                      pad=(dp(16), dp(12), dp(16), dp(4)))
            )  # fmt: skip
            last = day
        rows.append(_entry(ui, one, selection))
    if not found:
        empty = label(ui.say("No expenses"), id=f"{_ID}tv_no_data", ink="soft", size=TITLE, justify=0.5, width=MATCH)
        rows.append(frame(empty, pad=(0, dp(48), 0, 0)))
    rows.append(frame(height=dp(88)))
    fab = floating("add", ui.say("Add expense"), opener(ui, "expenses/edit"), id=f"{_ID}fab_main")
    body = frame(scroll_column(ui, rows, id=f"{_ID}rv_expense"), fab, weight=1, cls=RELATIVE)
    return activity(ui, _picking_bar(ui, selection) if selection else _bar(ui, only), body)


def _selection(ui: Ui) -> Selection:
    existing = set(map(str, ui.ids("expenses")))
    return Selection(ui, existing.__contains__)


def _bar(ui: Ui, only: str) -> View:
    return app_bar(
        ui,
        ui.say(only) if only else ui.say("Expenses"),
        up=False,
        actions=[
            image_button(
                "filter", ui.say("Filter by category"), opener(ui, "expenses/filter", only=only), id=f"{_ID}filter"
            ),
            image_button("chart", ui.say("Statistics"), opener(ui, "expenses/statistics"), id=f"{_ID}statistics"),
        ],
    )


def _picking_bar(ui: Ui, selection: Selection) -> View:
    delete = opener(ui, "expenses/delete", expenses=",".join(selection.keys))
    trash = image_button("delete", ui.say("Delete"), delete, id=f"{_ID}delete_expense")
    return selection.bar((), (trash,), says="Close")


def _totals(ui: Ui, found: list[int]) -> View:
    today = ui.host.local_time.date()
    month = [one for one in found if (_day(ui, one).year, _day(ui, one).month) == (today.year, today.month)]
    week = [one for one in found if today - timedelta(days=today.weekday()) <= _day(ui, one) <= today]

    def total(text: str, expenses: list[int], id: str) -> View:
        return column(
            label(text, ink="soft"),
            label(money(_spent(ui, expenses)), id=f"{_ID}{id}", size=dp(22), bold=True),
            weight=1,
        )

    card = row(
        total(ui.say("This week"), week, "tv_week_total"),
        total(ui.say("This month"), month, "tv_month_total"),
        pad=(dp(16), dp(12), dp(16), dp(12)),
        fill="card",
    )
    return frame(card, pad=(dp(8), dp(4), dp(8), dp(4)))


def _entry(ui: Ui, expense: int, selection: Selection) -> View:
    path = f"expenses/{expense}"
    note, kind = ui.words(f"{path}/note"), ui.words(f"{path}/category")
    pick, picked = selection.flip(str(expense)), str(expense) in selection
    texts = column(
        label(ui.words(f"{path}/name"), id=f"{_ID}tv_name", size=TITLE, width=MATCH),
        label(f"{ui.say(kind)} \u2022 {note}" if note else ui.say(kind), id=f"{_ID}tv_note", ink="soft", width=MATCH),
        weight=1,
        align=MIDDLE,
    )
    return row(
        image("check" if picked else "wallet", size=dp(40), align=MIDDLE, fill="chip"),
        texts,
        label(money(ui.number(f"{path}/cents")), id=f"{_ID}tv_amount", size=TITLE, align=MIDDLE),
        id=f"{_ID}cv_expense",
        height=dp(68),
        pad=(dp(16), 0, dp(16), 0),
        gap=dp(12),
        on_tap=pick if selection else opener(ui, "expenses/details", expense=expense),
        on_hold=pick,
        selected=picked,
        fill="tonal" if picked else "",
    )


def filter_menu(ui: Ui) -> View:
    """Build the dialog that limits the list to one category."""
    options = {"": ui.say("All categories")} | {name: ui.say(name) for name in CATEGORIES}
    return one_of(ui, ui.say("Filter by category"), options, str(ui.var("only")), "only", **{"scroll/list": 0})


def statistics(ui: Ui) -> View:
    """Build the totals of each category in one month."""
    months = int(ui.var("months", 0))
    first = month_later(ui.host.local_time.date(), months)

    month = row(
        image_button("left", ui.say("Previous month"), setter(ui, "months", months - 1), id=f"{_ID}btn_previous"),
        label(ui.date(first, "month"), id=f"{_ID}tv_month", size=TITLE, weight=1, justify=0.5, align=MIDDLE),
        image_button("right", ui.say("Next month"), setter(ui, "months", months + 1), id=f"{_ID}btn_next"),
    )
    found = [one for one in ui.ids("expenses") if _day(ui, one).replace(day=1) == first]
    rows = []
    for name in CATEGORIES:
        members = [one for one in found if ui.words(f"expenses/{one}/category") == name]
        if members:
            cents = sum(ui.number(f"expenses/{one}/cents") for one in members)
            rows.append(preference(ui.say(name), ui.say("{count} entries", count=len(members)),
                                   widget=label(money(cents), align=MIDDLE)))  # fmt: skip
    rows.append(preference(ui.say("Total spent"), widget=label(money(_spent(ui, found)), align=MIDDLE)))
    bar = app_bar(ui, ui.say("Statistics"))
    return activity(ui, bar, month, scroll_column(ui, rows, height=0, weight=1))


# ----------------------------------------------------------------------------------------------------------------------
# one expense


def details(ui: Ui) -> View:
    """Build the sheet with everything about one expense (frag_expense_detail_dialog.xml)."""
    expense = int(ui.var("expense"))
    path = f"expenses/{expense}"

    def edit_it() -> None:
        ui.close()
        moment = datetime.fromtimestamp(ui.number(f"{path}/moment"), UTC)
        ui.open(
            "expenses/edit",
            expense=expense,
            category=ui.words(f"{path}/category"),
            day=day_number(moment.date()),
            **{f"text/{name}": text for name, text in _texts(ui, expense).items()},
        )

    def delete_it() -> None:
        ui.close()
        ui.open("expenses/delete", expenses=str(expense))

    head = row(
        label(ui.words(f"{path}/name"), id=f"{_ID}tv_detail_name", size=dp(20), weight=1, align=MIDDLE),
        image_button("edit", ui.say("Edit"), edit_it, id=f"{_ID}btn_edit"),
        image_button("delete", ui.say("Delete"), delete_it, id=f"{_ID}btn_delete"),
        image_button("close", ui.say("Close"), ui.close, id=f"{_ID}btn_close"),
    )
    lines = [
        label(money(ui.number(f"{path}/cents")), id=f"{_ID}tv_detail_amount", size=dp(24), bold=True, width=MATCH),
        label(ui.say(ui.words(f"{path}/category")), id=f"{_ID}tv_detail_category", size=TITLE),
        label(ui.date(_day(ui, expense), "long"), id=f"{_ID}tv_detail_date", size=BODY, ink="soft"),
    ]
    if ui.words(f"{path}/note"):
        lines.append(label(ui.words(f"{path}/note"), id=f"{_ID}tv_detail_note", size=TITLE, width=MATCH))
    return dialog(head, column(*lines, gap=dp(8)), width=dp(336))


def delete(ui: Ui) -> View:
    """Build the dialog that asks before expenses are deleted."""
    expenses = [int(part) for part in str(ui.var("expenses")).split(",")]

    def ok() -> None:
        for expense in expenses:
            ui.remove(f"expenses/{expense}")

    many = ui.say("Delete {count} expenses?", count=len(expenses))
    return question(ui, ui.say("Delete this expense?") if len(expenses) == 1 else many, "Delete", ok)


# ----------------------------------------------------------------------------------------------------------------------
# the form


def _texts(ui: Ui, expense: int) -> dict[str, str]:
    """Return what the fields of the form begin with."""
    path = f"expenses/{expense}"
    amount = money(ui.number(f"{path}/cents"))[1:] if expense else ""
    return {"name": ui.words(f"{path}/name"), "amount": amount, "note": ui.words(f"{path}/note")}


def changed(ui: Ui) -> bool:
    """Tell whether the form's fields differ from the expense."""
    return any(ui.typed(name) != text for name, text in _texts(ui, int(ui.var("expense", 0))).items())


def edit(ui: Ui) -> View:
    """Build the form of a new or existing expense (frag_expense_entry.xml)."""
    expense = int(ui.var("expense", 0))
    category, day = (
        str(ui.var("category", CATEGORIES[0])),
        numbered_day(int(ui.var("day", day_number(ui.host.local_time.date())))),
    )

    def save() -> None:
        cents = cents_of(ui.typed("amount"))
        if not ui.typed("name").strip() or not cents:
            ui.host.show_toast(ui.say("Enter a name and an amount"))
            return
        fields: dict[str, Scalar] = {
            "name": ui.typed("name").strip(),
            "cents": min(cents, MOST_CENTS),
            "category": category,
            "note": ui.typed("note").strip(),
        }
        if not expense or day != _day(ui, expense):
            fields["moment"] = int(datetime.combine(day, time(tzinfo=UTC)).timestamp()) + _second_of_day(ui)
        ui.close()
        if expense:
            for name, value in fields.items():
                ui.put(f"expenses/{expense}/{name}", value)
        else:
            ui.add("expenses", **fields)
        ui.host.show_toast(ui.say("Saved"))

    rows = [
        edit_text(ui, Field("name", max_length=60), id=f"{_ID}edt_name", hint=ui.say("Name")),
        edit_text(ui, Field("amount", max_length=9), id=f"{_ID}edt_amount", hint=ui.say("Amount")),
        preference(ui.say("Category"), ui.say(category), icon="apps",
                   on_tap=opener(ui, "expenses/category", category=category)),
        preference(ui.say("Date"), ui.date(day, "weekday"), icon="calendar",
                   on_tap=opener(ui, "expenses/date", name="day", day=day_number(day))),
        edit_text(ui, Field("note", max_length=200), id=f"{_ID}edt_note", hint=ui.say("Note")),
        button(ui.say("Save"), save, id=f"{_ID}btn_save", width=MATCH, fill="accent", ink="on_primary"),
    ]  # fmt: skip
    title = ui.say("Edit expense" if expense else "New expense")
    bar = draft.form_bar(ui, title, changed, "expenses/discard")
    body = scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, gap=dp(8), pad=(dp(16), dp(8), dp(16), dp(16)))
    return activity(ui, bar, body)


def _second_of_day(ui: Ui) -> int:
    now = ui.host.local_time
    return now.hour * 3600 + now.minute * 60 + now.second


def category_menu(ui: Ui) -> View:
    """Build the dialog that chooses a category."""
    options = {name: ui.say(name) for name in CATEGORIES}
    return one_of(ui, ui.say("Category"), options, str(ui.var("category")), "category")


# ----------------------------------------------------------------------------------------------------------------------
# the draw


def draw(draw: Draw) -> None:
    """Draw six weeks of expenses with near duplicates and some that are there twice."""
    rng = draw.rng
    drawn: list[dict[str, Scalar]] = []
    for name, category, low, high in rng.choices(_THINGS, k=rng.randint(14, 20)):
        moment = draw.now - timedelta(days=rng.randint(0, 42), minutes=rng.randint(1, 600))
        cents = rng.randrange(low * 100, high * 100, 5)
        note = rng.choice(_NOTES)
        drawn.append({"name": name, "category": category, "cents": cents, "note": note,
                      "moment": int(moment.timestamp())})  # fmt: skip
    for near in rng.sample(drawn, rng.randint(1, 3)):
        drawn.append({**near, "cents": int(near["cents"]) + rng.choice((5, 50, 100, 1000))})
    drawn += [dict(same) for same in rng.sample(drawn, rng.choice((0, 1, 1, 2)))]
    for expense in sorted(drawn, key=lambda one: int(one["moment"])):
        draw.record("expenses", **expense)


_THINGS = (
    ("Bakery", "Food", 2, 15), ("Birthday gift", "Social", 10, 60), ("Books", "Education", 8, 70),
    ("Bus pass", "Transportation", 20, 60), ("Charity run", "Donations", 5, 50), ("Cinema", "Entertainment", 8, 30),
    ("Coffee", "Food", 2, 8), ("Concert", "Entertainment", 25, 120), ("Dentist", "Health Care", 30, 250),
    ("Dinner", "Food", 12, 80), ("Dinner out", "Food", 15, 90), ("Electricity", "Housing", 40, 130),
    ("Freelance payment", "Income", 100, 900), ("Groceries", "Food", 10, 120), ("Gym", "Health Care", 15, 60),
    ("Haircut", "Others", 12, 50), ("Internet", "Housing", 20, 50), ("Language course", "Education", 40, 200),
    ("Lunch", "Food", 6, 25), ("Parking", "Transportation", 2, 25), ("Pharmacy", "Health Care", 4, 60),
    ("Rent", "Housing", 400, 1200), ("Running shoes", "Clothes", 50, 160), ("Salary", "Income", 1500, 4000),
    ("Taxi", "Transportation", 8, 60), ("Train ticket", "Transportation", 10, 120), ("T-shirt", "Clothes", 8, 40),
    ("Water bill", "Housing", 15, 60), ("Winter coat", "Clothes", 60, 240),
)  # fmt: skip
"""Name, category, and least and most dollars."""
_NOTES = ("", "", "", "Paid by card", "Paid in cash", "Reimbursable", "Shared with Ben", "Monthly", "Weekend")

_WORDS: Words = {
    "Add expense": ("Ausgabe hinzufügen", "添加支出"),
    "All categories": ("Alle Kategorien", "所有类别"),
    "Amount": ("Betrag", "金额"),
    "Category": ("Kategorie", "类别"),
    "Clothes": ("Kleidung", "服装"),
    "Delete this expense?": ("Diese Ausgabe löschen?", "要删除此支出吗？"),
    "Delete {count} expenses?": ("{count} Ausgaben löschen?", "要删除 {count} 笔支出吗？"),
    "Donations": ("Spenden", "捐赠"),
    "Edit expense": ("Ausgabe bearbeiten", "修改支出"),
    "Education": ("Bildung", "教育"),
    "Enter a name and an amount": ("Gib einen Namen und einen Betrag ein", "请输入名称和金额"),
    "Entertainment": ("Unterhaltung", "娱乐"),
    "Expenses": ("Ausgaben", "支出"),
    "Filter by category": ("Nach Kategorie filtern", "按类别过滤"),
    "Food": ("Essen", "餐饮"),
    "Health Care": ("Gesundheit", "医疗"),
    "Housing": ("Wohnen", "住房"),
    "Income": ("Einkommen", "收入"),
    "Name": ("Bezeichnung", "名称"),
    "New expense": ("Neue Ausgabe", "新支出"),
    "No expenses": ("Keine Ausgaben", "没有支出"),
    "Note": ("Notiz", "备注"),
    "Others": ("Sonstiges", "其他"),
    "Social": ("Soziales", "社交"),
    "Statistics": ("Statistik", "统计"),
    "This month": ("Dieser Monat", "本月"),
    "This week": ("Diese Woche", "本周"),
    "Total spent": ("Insgesamt ausgegeben", "总支出"),
    "Transportation": ("Verkehr", "交通"),
    "{count} entries": ("{count} Einträge", "{count} 笔"),
}

_ACTIVITY = f"{PACKAGE}.ui.MainActivity"
APP = App(
    package=PACKAGE,
    label="Expenses",
    home="expenses/main",
    icon="wallet",
    color="#6a1b9a",
    records={
        "expenses": {
            "name": TEXT,
            "cents": Kind(int, 0, MOST_CENTS),
            "category": Kind(str, among=CATEGORIES),
            "note": TEXT,
            "moment": MOMENT,
        }
    },
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "expenses/main": Screen(main, _ACTIVITY),
        "expenses/filter": Screen(filter_menu, _ACTIVITY, dialog=True),
        "expenses/statistics": Screen(statistics, _ACTIVITY),
        "expenses/details": Screen(details, _ACTIVITY, dialog=True),
        "expenses/delete": Screen(delete, _ACTIVITY, dialog=True),
        "expenses/edit": Screen(edit, _ACTIVITY, on_back=draft.leave(changed, "expenses/discard")),
        "expenses/discard": Screen(draft.discard, _ACTIVITY, dialog=True),
        "expenses/category": Screen(category_menu, _ACTIVITY, dialog=True),
        "expenses/date": Screen(date_dialog, _ACTIVITY, dialog=True),
    },
)

__all__ = ["APP", "CATEGORIES", "cents_of", "money"]
