"""Tasks: lists of things to do with a date and a priority, filters, a form (after org.tasks). Knows no other app."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from agent_eval.device_sim import draft, searching
from agent_eval.device_sim.dialogs import (
    choice_dialog,
    date_dialog,
    day_number,
    menu,
    name_dialog,
    numbered_day,
    question,
)
from agent_eval.device_sim.moments import DAY_S, day_of, moment
from agent_eval.device_sim.schema import MOMENT, TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    CHECK,
    GROUP,
    MIDDLE,
    RELATIVE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    column,
    edit_text,
    floating,
    frame,
    image,
    image_button,
    label,
    opener,
    preference,
    radio_row,
    row,
    scroll_column,
    setter,
)
from agent_eval.types import Scalar

PACKAGE = "org.tasks"
_ID = f"{PACKAGE}:id/"
TASK, LIST = "tasks/task", "tasks/list"
_FIELD = (dp(16), dp(4), dp(16), dp(4))
PRIORITIES = ("none", "low", "medium", "high")
_PRIORITY_LABELS = {"none": "No priority", "low": "Low priority", "medium": "Medium priority", "high": "High priority"}
_PRIORITY_INK = {"none": "soft", "low": "primary", "medium": "accent", "high": "error"}
_SORTS = {"due": "By due date", "priority": "By priority", "title": "By title"}
FILTERS = {
    "all": "My Tasks",
    "today": "Today",
    "overdue": "Overdue",
    "high": "High priority",
    "done": "Recently completed",
}
"""Filters beside the lists: name to label."""


def _today(ui: Ui) -> date:
    return ui.host.local_time.date()


def _due_text(ui: Ui, seconds: int) -> str:
    """Say when a task is due."""
    if not seconds:
        return ""
    day = day_of(seconds)
    near = {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}.get((day - _today(ui)).days)
    return f"{ui.say(near)}, {ui.date(day)}" if near else ui.date(day, "long")


def shown(ui: Ui, chosen: str, sort: str, words: str = "") -> list[int]:
    """Return the tasks of a filter or list (``list:Work``), in order; done ones last."""
    found = []
    start = moment(_today(ui))
    for task in ui.ids(TASK):
        path = f"{TASK}/{task}"
        done, due = ui.flag(f"{path}/completed"), ui.number(f"{path}/due")
        fits = {
            "all": True,
            "today": start <= due < start + DAY_S,
            "overdue": 0 < due < start and not done,
            "high": ui.words(f"{path}/priority") == "high",
            "done": done,
        }.get(chosen, ui.words(f"{path}/list") == chosen.removeprefix("list:"))
        if words:
            fits = words in f"{ui.words(f'{path}/title')}\n{ui.words(f'{path}/notes')}".lower()
        if fits:
            found.append(task)

    def key(task: int) -> tuple[object, ...]:
        path = f"{TASK}/{task}"
        due = ui.number(f"{path}/due") or 1 << 40
        title = ui.words(f"{path}/title").lower()
        first: dict[str, tuple[object, ...]] = {
            "due": (due,), "priority": (-PRIORITIES.index(ui.words(f"{path}/priority")), due), "title": (title,),
        }  # fmt: skip
        latest = -ui.number(f"{path}/completed_at") if chosen == "done" else 0
        return (ui.flag(f"{path}/completed"), latest, *first[sort], title, task)

    return sorted(found, key=key)


def _finish(ui: Ui, task: int) -> None:
    path = f"{TASK}/{task}"
    done = not ui.flag(f"{path}/completed")
    ui.put(f"{path}/completed", done)
    ui.put(f"{path}/completed_at", int(ui.host.local_time.timestamp()) if done else 0)


# ----------------------------------------------------------------------------------------------------------------------
# the list


def main(ui: Ui) -> View:
    """Build the tasks of the chosen filter or list."""
    chosen, sort, hides = str(ui.var("filter", "all")), str(ui.var("sort", "due")), bool(ui.var("hides", False))
    title = ui.say(FILTERS[chosen]) if chosen in FILTERS else chosen.removeprefix("list:")
    tasks = shown(ui, chosen, sort)
    if hides and chosen != "done":
        tasks = [task for task in tasks if not ui.flag(f"{TASK}/{task}/completed")]
    bar = row(
        image_button("menu", ui.say("Open filters"), opener(ui, "tasks/filters", chosen=chosen), id=f"{_ID}drawer"),
        label(title, id=f"{_ID}toolbar_title", size=dp(20), weight=1, align=MIDDLE, pad=(dp(8), 0, 0, 0)),
        image_button("search", ui.say("Search"), opener(ui, "tasks/search"), id=f"{_ID}menu_search"),
        image_button("more", ui.say("More options"), opener(ui, "tasks/menu", sort=sort, hides=hides)),
        cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(4), 0),
    )  # fmt: skip
    fab = floating("add", ui.say("Create new task"), lambda: _compose(ui, chosen), id=f"{_ID}fab")
    body = frame(column(_list(ui, tasks, chosen), height=MATCH), fab, weight=1, cls=RELATIVE)
    return activity(ui, bar, body)


def _list(ui: Ui, tasks: list[int], name: str) -> View:
    if not tasks:
        empty = label(ui.say("There are no tasks here."), id=f"{_ID}empty", size=TITLE, ink="soft", align=CENTER)
        return frame(empty, weight=1)
    space = View("android.view.View", height=dp(88))
    rows = [_row(ui, task, latest=name == "done") for task in tasks]
    return scroll_column(ui, [*rows, space], name=name, id=f"{_ID}recycler_view", height=0, weight=1)


def _row(ui: Ui, task: int, *, latest: bool = False) -> View:
    """Build the row of a task; ``latest`` says first when it was completed."""
    path = f"{TASK}/{task}"
    title, done, priority = ui.words(f"{path}/title"), ui.flag(f"{path}/completed"), ui.words(f"{path}/priority")
    facts = [_due_text(ui, ui.number(f"{path}/due"))]
    if priority != "none":
        facts.append(ui.say(_PRIORITY_LABELS[priority]))
    if ui.words(f"{path}/list"):
        facts.append(ui.words(f"{path}/list"))
    if done:
        when = ui.date(day_of(ui.number(f"{path}/completed_at")))
        facts.insert(0 if latest else len(facts), ui.say("Completed {date}", date=when))
    box = View(
        CHECK, id=f"{_ID}completeBox", checkable=True, checked=done, clickable=True, focusable=True, width=dp(48),
        height=dp(48), align=MIDDLE, on_tap=lambda: _finish(ui, task), ink=_PRIORITY_INK[priority],
        desc=ui.say("Complete {title}", title=title),
    )  # fmt: skip
    texts = column(
        label(title, id=f"{_ID}title", size=TITLE, ink="soft" if done else "text", width=MATCH),
        label(" \u00b7 ".join(fact for fact in facts if fact), id=f"{_ID}due_date", size=BODY, ink="soft", width=MATCH),
        cls=RELATIVE, weight=1, align=MIDDLE,
    )  # fmt: skip
    return row(box, texts, height=dp(72), pad=(dp(8), 0, dp(16), 0), gap=dp(8), id=f"{_ID}row",
               on_tap=lambda: _edit(ui, task))  # fmt: skip


def filters(ui: Ui) -> View:
    """Build the list of filters and lists."""
    chosen = str(ui.var("chosen"))

    def show(name: str) -> Callable[[], object]:
        return lambda: ui.close(filter=name)

    icons = {"all": "tasks", "today": "today", "overdue": "clock", "high": "flag", "done": "check"}
    rows = [_filter(ui.say(says), icons[name], show(name), chosen=name == chosen) for name, says in FILTERS.items()]
    for number in ui.ids(LIST):
        name = ui.words(f"{LIST}/{number}/name")
        rows.append(_filter(name, "list", show(f"list:{name}"), chosen=chosen == f"list:{name}"))
    rows.append(_filter(ui.say("Create new list"), "add", opener(ui, "tasks/new_list"), chosen=False))
    return activity(ui, app_bar(ui, ui.say("Filters")), scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def _filter(title: str, icon: str, on_tap: Callable[[], object], *, chosen: bool) -> View:
    return row(
        image(icon, align=MIDDLE), label(title, id=f"{_ID}text", size=TITLE, weight=1, align=MIDDLE), height=dp(56),
        pad=(dp(24), 0, dp(16), 0), gap=dp(24), on_tap=on_tap, selected=chosen, fill="tonal" if chosen else "",
    )  # fmt: skip


def new_list(ui: Ui) -> View:
    """Build the dialog that names a new list."""

    def ok(name: str) -> str:
        if not name or name in [ui.words(f"{LIST}/{number}/name") for number in ui.ids(LIST)]:
            return ui.say("This name is not possible")
        ui.add(LIST, name=name)
        return ""

    return name_dialog(ui, ui.say("Create new list"), ui.say("Name"), ok)


def main_menu(ui: Ui) -> View:
    """Build the menu of the list."""
    sort, hides = str(ui.var("sort")), bool(ui.var("hides"))
    sorts = opener(ui, "tasks/choice", name="sort", title="Sort", labels="|".join(_SORTS.values()),
                   values="|".join(_SORTS), chosen=sort)  # fmt: skip
    return menu(
        ui,
        [
            (ui.say("Sort"), sorts),
            (
                ui.say("Show completed") if hides else ui.say("Hide completed"),
                lambda: ui.host.tell_page({"hides": not hides}),
            ),
            (ui.say("Clear completed"), opener(ui, "tasks/clear")),
        ],
    )


def clear(ui: Ui) -> View:
    """Build the dialog that asks before all completed tasks are deleted."""
    done = [task for task in ui.ids(TASK) if ui.flag(f"{TASK}/{task}/completed")]

    def ok() -> None:
        for task in done:
            ui.remove(f"{TASK}/{task}")

    return question(ui, ui.say("Delete {count} completed tasks?", count=len(done)), "Delete", ok)


def search(ui: Ui) -> View:
    """Build the search in titles and descriptions."""
    words = ui.typed("query").strip().lower()
    bar = searching.bar(ui, ui.say("Search"), id=f"{_ID}search_src_text")
    return activity(ui, bar, _list(ui, shown(ui, "all", "due", words) if words else [], "search"))


# ----------------------------------------------------------------------------------------------------------------------
# the form


def _compose(ui: Ui, chosen: str) -> None:
    name = chosen.removeprefix("list:") if chosen.startswith("list:") else ""
    due = day_number(_today(ui)) if chosen == "today" else -1
    ui.open("tasks/edit", task=0, due=due, priority="high" if chosen == "high" else "none", list=name)


def _edit(ui: Ui, task: int) -> None:
    path = f"{TASK}/{task}"
    seconds = ui.number(f"{path}/due")
    ui.open(
        "tasks/edit", task=task, due=day_number(day_of(seconds)) if seconds else -1, list=ui.words(f"{path}/list"),
        priority=ui.words(f"{path}/priority"),
        **{"text/title": ui.words(f"{path}/title"), "text/notes": ui.words(f"{path}/notes")},
    )  # fmt: skip


def edit(ui: Ui) -> View:
    """Build the form of a new or existing task (fragment_task_edit.xml)."""
    task, due, priority = int(ui.var("task")), int(ui.var("due")), str(ui.var("priority"))
    path = f"{TASK}/{task}"
    actions = [image_button("check", ui.say("Save"), lambda: _save(ui), id=f"{_ID}save")]
    if task:
        trash = image_button("delete", ui.say("Delete"), opener(ui, "tasks/delete", task=task), id=f"{_ID}menu_delete")
        actions.insert(0, trash)
    names = ["", *[ui.words(f"{LIST}/{number}/name") for number in ui.ids(LIST)]]
    lists = opener(ui, "tasks/choice", name="list", title="List", values="|".join(names), chosen=str(ui.var("list")),
                   labels="|".join(f"={name}" if name else "Default list" for name in names))  # fmt: skip
    when = _due_text(ui, moment(numbered_day(due))) if due >= 0 else ui.say("No due date")
    rows = [
        frame(edit_text(ui, Field("title", max_length=120), id=f"{_ID}title", hint=ui.say("Task name"), size=dp(20)),
              pad=_FIELD),
        preference(ui.say("Due date"), when, icon="today", on_tap=opener(ui, "tasks/due", due=due)),
        label(ui.say("Priority"), size=BODY, ink="soft", pad=(dp(24), dp(12), 0, 0)),
        *[
            radio_row(ui.say(_PRIORITY_LABELS[name]), name == priority, setter(ui, "priority", name))
            for name in reversed(PRIORITIES)
        ],
        frame(edit_text(ui, Field("notes", max_length=2000, multiline=True), id=f"{_ID}notes",
                        hint=ui.say("Description"), height=dp(96)), pad=_FIELD),
        preference(ui.say("List"), str(ui.var("list")) or ui.say("Default list"), icon="list", on_tap=lists),
    ]  # fmt: skip
    if task and ui.flag(f"{path}/completed"):
        done = ui.date(day_of(ui.number(f"{path}/completed_at")), "long")
        rows.append(preference(ui.say("Completed"), done, icon="check"))
    title = ui.say("Edit task") if task else ui.say("New task")
    form = scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, pad=(0, dp(8), 0, dp(16)))
    return activity(ui, app_bar(ui, title, actions=actions), form)


def _fields(ui: Ui) -> dict[str, Scalar]:
    due = int(ui.var("due"))
    return {
        "title": ui.typed("title").strip(), "notes": ui.typed("notes").strip(), "priority": str(ui.var("priority")),
        "list": str(ui.var("list")), "due": moment(numbered_day(due)) if due >= 0 else 0,
    }  # fmt: skip


def _save(ui: Ui) -> None:
    task, fields = int(ui.var("task")), _fields(ui)
    if not fields["title"]:
        ui.host.show_toast(ui.say("A task needs a name"))
        return
    ui.close()
    if not task:
        ui.add(TASK, **fields)
    elif f"{TASK}/{task}/title" in ui.host.state:
        for name, value in fields.items():
            ui.put(f"{TASK}/{task}/{name}", value)


def _changed(ui: Ui) -> bool:
    """Tell whether something would be lost if the form were left."""
    task = int(ui.var("task"))
    fields = _fields(ui)
    same = all(ui.host.state.get(f"{TASK}/{task}/{name}") == value for name, value in fields.items())
    return not same and bool(task or fields["title"] or fields["notes"])


def delete(ui: Ui) -> View:
    """Build the dialog that asks before a task is deleted."""
    task = int(ui.var("task"))

    def ok() -> None:
        ui.close()
        ui.remove(f"{TASK}/{task}")

    return question(ui, ui.say("Delete this task?"), "Delete", ok)


def due_menu(ui: Ui) -> View:
    """Build the menu of due dates."""
    today, due = day_number(_today(ui)), int(ui.var("due"))

    def tell(number: int) -> Callable[[], object]:
        return lambda: ui.host.tell_page({"due": number})

    return menu(
        ui,
        [
            (ui.say("Today"), tell(today)),
            (ui.say("Tomorrow"), tell(today + 1)),
            (ui.say("In a week"), tell(today + 7)),
            (ui.say("Pick a date"), opener(ui, "tasks/date", name="due", day=due if due >= 0 else today)),
            (ui.say("No due date"), tell(-1)),
        ],
    )


# ----------------------------------------------------------------------------------------------------------------------
# what a fresh phone has


_VERBS = ("Book", "Check", "Order", "Prepare", "Renew", "Return", "Review", "Send")
_THINGS = ("the slides", "the invoice", "the tickets", "the contract", "the library books", "the passport",
           "the parcel", "the report", "the heating", "the insurance")  # fmt: skip
_NOTES = ("", "", "Ask Ines first.", "See the e-mail of Monday.", "Costs about 40.", "Number is on the fridge.")
_LISTS = ("Work", "Home", "Garden", "Errands", "Studies")


def draw(draw: Draw) -> None:
    """Draw lists and tasks around the phone's day, some of them done, with titles that look alike."""
    rng, now = draw.rng, draw.now
    lists = rng.sample(_LISTS, 2)
    for name in lists:
        draw.record(LIST, name=name)
    titles = [f"{verb} {thing}" for verb in rng.sample(_VERBS, 5) for thing in rng.sample(_THINGS, 4)]
    for title in rng.sample(titles, rng.randint(12, 17)):
        done = rng.random() < 0.35
        due = moment(now.date() + timedelta(days=rng.randint(-6, 13))) if rng.random() < 0.85 else 0
        draw.record(
            TASK, title=title, notes=rng.choice(_NOTES), due=due, priority=rng.choice(PRIORITIES),
            list=rng.choice(("", *lists)), completed=done,
            completed_at=int((now - timedelta(minutes=rng.randrange(30, 6 * 24 * 60))).timestamp()) if done else 0,
        )  # fmt: skip


_WORDS: Words = {
    "A task needs a name": ("Eine Aufgabe braucht einen Namen", "请为任务命名"),
    "By due date": ("Nach Fälligkeit", "按截止日期"),
    "By priority": ("Nach Priorität", "按优先级"),
    "By title": ("Nach Titel", "按标题"),
    "Clear completed": ("Erledigte löschen", "清除已完成的任务"),
    "Complete {title}": ("{title} erledigen", "完成{title}"),
    "Completed": ("Erledigt", "已完成"),
    "Completed {date}": ("Erledigt {date}", "完成于 {date}"),
    "Create new list": ("Neue Liste anlegen", "新建列表"),
    "Create new task": ("Neue Aufgabe anlegen", "新建任务"),
    "Default list": ("Standardliste", "默认列表"),
    "Delete this task?": ("Diese Aufgabe löschen?", "要删除此任务吗？"),
    "Delete {count} completed tasks?": ("{count} erledigte Aufgaben löschen?", "要删除 {count} 个已完成任务吗？"),
    "Due date": ("Fälligkeit", "截止日期"),
    "Edit task": ("Aufgabe bearbeiten", "修改任务"),
    "Filters": ("Filter", "过滤器"),
    "Hide completed": ("Erledigte ausblenden", "隐藏已完成"),
    "High priority": ("Hohe Priorität", "高优先级"),
    "In a week": ("In einer Woche", "一周后"),
    "List": ("Liste", "列表"),
    "Low priority": ("Niedrige Priorität", "低优先级"),
    "Medium priority": ("Mittlere Priorität", "中优先级"),
    "My Tasks": ("Meine Aufgaben", "我的任务"),
    "New task": ("Neue Aufgabe", "新任务"),
    "No due date": ("Kein Datum", "无截止日期"),
    "No priority": ("Keine Priorität", "无优先级"),
    "Open filters": ("Filter öffnen", "打开过滤器"),
    "Overdue": ("Überfällig", "已过期"),
    "Pick a date": ("Datum wählen", "选择日期"),
    "Priority": ("Priorität", "优先级"),
    "Recently completed": ("Kürzlich erledigt", "最近完成"),
    "Show completed": ("Erledigte anzeigen", "显示已完成"),
    "Sort": ("Sortieren", "排序"),
    "Task name": ("Aufgabenname", "任务名称"),
    "Tasks": ("Aufgaben", "任务"),
    "There are no tasks here.": ("Hier gibt es keine Aufgaben.", "此处没有任务。"),
}

_MAIN = f"{PACKAGE}.ui.MainActivity"

APP = App(
    package=PACKAGE,
    label="Tasks",
    home="tasks/main",
    color="#2446a7",
    icon="check",
    records={
        TASK: {
            "title": TEXT, "notes": TEXT, "due": MOMENT, "priority": Kind(str, among=PRIORITIES), "list": TEXT,
            "completed": YES_NO, "completed_at": MOMENT,
        },
        LIST: {"name": TEXT},
    },
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "tasks/main": Screen(main, _MAIN),
        "tasks/filters": Screen(filters, _MAIN),
        "tasks/menu": Screen(main_menu, _MAIN, dialog=True),
        "tasks/choice": Screen(choice_dialog, _MAIN, dialog=True),
        "tasks/clear": Screen(clear, _MAIN, dialog=True),
        "tasks/new_list": Screen(new_list, _MAIN, dialog=True),
        "tasks/search": Screen(search, _MAIN),
        "tasks/edit": Screen(edit, _MAIN, on_back=draft.leave(_changed, "tasks/discard")),
        "tasks/discard": Screen(draft.discard, _MAIN, dialog=True),
        "tasks/delete": Screen(delete, _MAIN, dialog=True),
        "tasks/due": Screen(due_menu, _MAIN, dialog=True),
        "tasks/date": Screen(date_dialog, _MAIN, dialog=True),
    },
)  # fmt: skip
