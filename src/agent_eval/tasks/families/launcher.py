"""What is asked of the launcher, the notification shade and quick settings.

Two apps that call themselves almost as Settings and Clock do stand beside them wherever the name of an app decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from agent_eval.actions import Swipe
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.faults.screens import LOOKALIKES
from agent_eval.tasks.families import launcher_expert
from agent_eval.tasks.families.later_words import later_wordings
from agent_eval.tasks.families.launcher_expert import SYSTEM_UI
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.families.switches import TORCH_SET, draw_world
from agent_eval.tasks.judge import Criteria, Goal, only
from agent_eval.tasks.language import Speech, moment_of
from agent_eval.tasks.moves import Move, finish, open_app, plain
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import LANGUAGES, Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

_LOOKALIKE_FAULT = "lookalike_app"
_MIMICKED = tuple(LOOKALIKES)
"""Packages of the apps that others look like."""
_LABELS = {app.package: app.label for app in (*APPS.values(), *LOOKALIKES.values())}


def app_names(package: str) -> dict[Language, str]:
    """Return what an app is called on a phone in each language."""
    return {
        language: Speech(language, "locale", "", ascii_hyphen=False).say(_LABELS[package], package, {})
        for language in LANGUAGES
    }


# ----------------------------------------------------------------------------------------------------------------------
# an app

_OPEN: dict[Language, tuple[Sequence[str], Sequence[str]]] = {
    "en": (
        (
            "open {x}",
            "open the {x} app",
            "start the {x} app",
            "launch {x}",
            "bring the {x} app to the front",
            "show me the {x} app",
        ),
        ("{}.", "Please {}.", "On this phone, {}."),
    ),
    "de": (
        (
            "öffne die App „{x}“",
            "starte die App „{x}“",
            "ruf die App „{x}“ auf",
            "zeig mir die App „{x}“",
            "wechsle zur App „{x}“",
        ),
        ("{}.", "Bitte {}."),
    ),
    "zh": (
        ("打开“{x}”应用", "启动“{x}”应用", "把“{x}”应用打开", "运行“{x}”应用", "进入“{x}”应用"),
        ("{}。", "请{}。", "帮我{}。"),
    ),
}
"""By language, clauses and the frames around them."""

_LATER_OPEN: dict[Language, Sequence[str]] = {
    "en": ("switch to the {x} app", "go to the {x} app"),
    "de": ("bring die App „{x}“ in den Vordergrund", "hol die App „{x}“ nach vorn"),
    "zh": ("切换到“{x}”应用", "把“{x}”应用调到前台"),
}
"""More clauses by language, so that the validation asks for every app too."""

_OPENABLE = tuple(app.package for app in APPS.values() if app.launchable and not app.hidden)


def _is_in_front(package: str) -> Goal:
    return lambda _start, now: now.get("ui/package") == package and now.get("ui/shade") is not True


def _open_plan(package: str) -> Plan:
    in_front = _is_in_front(package)

    @mending
    def plan(view: View) -> Move:
        if in_front(view.start, view.now):
            return finish(f"{_LABELS[package]} is open")
        return open_app(_LABELS[package])

    return plan


def _compose_open(rng: Random) -> Draft:
    package = rng.choice(_MIMICKED if rng.random() < 0.3 else _OPENABLE)
    names = app_names(package)
    return Draft(
        sentences={
            language: wordings(clauses, frames, x=names[language])
            + later_wordings(_LATER_OPEN[language], frames, x=names[language])
            for language, (clauses, frames) in _OPEN.items()
        },
        parameters={"app": names["en"]},
        state=draw_world(rng),
        criteria=Criteria(goal=_is_in_front(package), allowed=only(), apps=(package,)),
        plan=_open_plan(package),
        oracle_steps=1,
        faults=(_LOOKALIKE_FAULT,),
        needs=("ui/package",),
    )


# ----------------------------------------------------------------------------------------------------------------------
# a notification

_DISMISS: dict[Language, tuple[Sequence[str], Sequence[str]]] = {
    "en": (
        (
            "dismiss the notification from {x} and keep the others",
            "remove the {x} notification, but leave all other notifications alone",
            "get rid of the notification that {x} sent; the others should stay",
            "clear only the notification of the {x} app",
            "take away the {x} app's notification and nothing else",
        ),
        ("{}.", "Please {}."),
    ),
    "de": (
        (
            "entferne die Benachrichtigung von „{x}“ und behalte die anderen",
            "lösche nur die Benachrichtigung der App „{x}“",
            "räum die Benachrichtigung von „{x}“ weg, aber lass die übrigen stehen",
            "schließe die Benachrichtigung der App „{x}“ und sonst keine",
            "wisch die Benachrichtigung von „{x}“ weg und lass die anderen da",
        ),
        ("{}.", "Bitte {}.", "Auf diesem Telefon: {}.", "Jetzt bitte: {}."),
    ),
    "zh": (
        (
            "清除“{x}”的通知，保留其他通知",
            "只删除“{x}”应用的那条通知",
            "去掉“{x}”发来的通知，不要动其他通知",
            "把“{x}”的通知清掉，其余的都留着",
            "将“{x}”的通知划掉，别的通知不要动",
        ),
        ("{}。", "请{}。", "麻烦{}。", "帮我{}。"),
    ),
}

_LATER_DISMISS: dict[Language, Sequence[str]] = {
    "en": ("swipe away what {x} has posted, and nothing else", "of all notifications, remove just the one from {x}"),
}
"""More clauses by language, so that the validation asks for every app too."""

_NEWS: dict[str, tuple[tuple[str, str], ...]] = {
    "com.android.settings": (("System update available", "Tap to download, 412 MB"), ("Backup finished", "All saved")),
    "com.android.deskclock": (("Missed alarm", "7:15 AM - Gym"), ("Bedtime soon", "In 30 minutes")),
    "com.settlngs.tools": (("System update available", "Get it with Premium"), ("Phone too slow", "Boost it now")),
    "com.clockplus.alarm": (("Missed alarm", "6:00 AM"), ("Wake up fresh", "Try Premium for a week")),
    "com.android.calendar": (("Team lunch", "Today, 12:00"), ("Dentist", "Tomorrow, 9:30")),
    "com.android.dialer": (("Missed call", "Elena Rossi"), ("Missed call", "Hugo Martin (2)")),
    "com.android.contacts": (("Contacts merged", "2 duplicates were found"), ("Birthday", "Grace Kim is 30 today")),
    "com.android.messaging": (("New message", "Your parcel arrives today."), ("New message", "Lunch on Friday?")),
    "org.fossify.notes": (("Reminder", "Water the plants"), ("Note restored", "Packing list")),
    "org.tasks": (("Task overdue", "Renew the library card"), ("Two tasks today", "Post office, bins")),
    "code.name.monkey.retromusic": (("Scan finished", "3 new songs"), ("Playlist saved", "Evening run")),
}
"""By app, titles and texts of what it may have posted."""

_IMPOSTORS = {package: app.package for package, app in LOOKALIKES.items()}
_IMPOSTORS |= {copy: package for package, copy in _IMPOSTORS.items()}
"""Each of two apps with nearly one name to the other."""


def _draw_posted(package: str, rng: Random) -> list[tuple[str, str, str]]:
    """Draw notifications as package, title and text: first the one that is meant, then those that must stay.

    Beside one of two look-alike apps stands the other one, and some other app's notification names the app that is
    meant.
    """
    taken = {package, _IMPOSTORS.get(package, "")}
    others = rng.sample(sorted(_NEWS.keys() - taken - set(_IMPOSTORS)), 3)
    posted = [(app, *rng.choice(_NEWS[app])) for app in (package, *others)]
    app, title, _ = posted[1]
    posted[1] = (app, title, f"Shared from {_LABELS[package]}")
    if package in _IMPOSTORS:
        posted[-1] = (_IMPOSTORS[package], posted[0][1], rng.choice(_NEWS[_IMPOSTORS[package]])[1])
    return posted


def _dismiss_plan(package: str, number: int, title: str, text: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        name = plain(view.speech.say(_LABELS[package], package, {}))
        if not _is_posted(view.now, number):
            return finish(f"{name}: dismissed")
        found = launcher_expert.notification(view, name, title, text)
        return (
            found if isinstance(found, Move) else Move(Swipe(direction="right", index=found.index), plain(found.label))
        )

    return plan


def _is_posted(snapshot: Snapshot, number: int) -> bool:
    return snapshot.get(f"notifications/{number}/package") is not None


def _compose_dismiss(rng: Random) -> Draft:
    package = rng.choice(sorted(_IMPOSTORS) if rng.random() < 0.4 else sorted(_NEWS))
    posted = _draw_posted(package, rng)
    numbers = rng.sample(range(901, 901 + len(posted)), len(posted))
    phone_seed = rng.getrandbits(31)
    now = int(moment_of(phone_seed).timestamp())
    ages = rng.sample(range(2, 300), len(posted))
    state = draw_world(rng)
    for number, age, (app, title, text) in zip(numbers, ages, posted, strict=True):
        fields: dict[str, Scalar] = {"package": app, "title": title, "text": text, "posted": now - 60 * age}
        state |= {f"notifications/{number}/{name}": value for name, value in fields.items()}
    number = numbers[0]
    names = app_names(package)
    return Draft(
        sentences={
            language: wordings(clauses, frames, x=names[language])
            + later_wordings(_LATER_DISMISS.get(language, ()), frames, x=names[language])
            for language, (clauses, frames) in _DISMISS.items()
        },
        parameters={"app": names["en"]},
        state=state,
        criteria=Criteria(
            goal=lambda _start, end: not _is_posted(end, number),
            allowed=only(f"notifications/{number}/**"),
            apps=(SYSTEM_UI,),
        ),
        plan=_dismiss_plan(package, number, *posted[0][1:]),
        oracle_steps=2,
        without=("notifications",),
        phone_seed=phone_seed,
        faults=(_LOOKALIKE_FAULT,),
    )


OPEN_APP = Template(
    name="OpenApp",
    summary="bring an app to the front, not one whose name is nearly the same",
    tier=1,
    compose=_compose_open,
    android_world=("OpenAppTaskEval",),
)
DISMISS_NOTIFICATION = Template(
    name="DismissNotification",
    summary="dismiss the notification of one app and keep the others",
    tier=1,
    traits=("guard",),
    compose=_compose_dismiss,
)

TEMPLATES = (OPEN_APP, TORCH_SET, DISMISS_NOTIFICATION)
