"""How to ask for what is done to alarms, and what alarms are called. Knows no phone and no state.

A clause has gaps such as ``{t}`` for the time as its language writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from agent_eval.tasks.task import Language

FRAMES: Mapping[Language, Sequence[str]] = {
    "en": ("{}.", "Please {}.", "On this phone, {}.", "I want you to {}."),
    "de": ("{}.", "Bitte {}.", "{}, bitte.", "Auf diesem Handy bitte Folgendes: {}."),
    "zh": ("{}。", "请{}。", "请帮我{}。", "麻烦在这部手机上{}。"),
}
"""Sentences around what is asked of Clock, by language."""

CREATE = (
    "set an alarm for {t}",
    "add an alarm for {t}",
    "create an alarm at {t}",
    "make a new alarm for {t}",
    "set a new alarm at {t}",
    "add a new alarm at {t}",
)
CREATE_LABELLED = (
    'set an alarm for {t} that rings every {days}, and label it "{label}"',
    'add an alarm labelled "{label}" at {t}, repeating on {days}',
    'create an alarm at {t} with the label "{label}" that repeats every {days}',
    'I need a new alarm called "{label}": {t}, every {days}',
    'make a new alarm for {days} at {t} and give it the label "{label}"',
    'for {days}, add an alarm that goes off at {t} and carries the label "{label}"',
)
SWITCH: Mapping[bool, Mapping[Language, Sequence[str]]] = {
    True: {
        "en": (
            "turn on the {t} alarm",
            "turn the {t} alarm on",
            "switch on the alarm at {t}",
            "switch the alarm at {t} on",
            "enable the {t} alarm",
            "make sure the {t} alarm is on",
        ),
        "de": (
            "schalte den Wecker für {t} Uhr ein",
            "stelle den {t}-Uhr-Wecker an",
            "aktiviere den Wecker für {t} Uhr",
            "sorge dafür, dass der Wecker für {t} Uhr an ist",
            "mach den Wecker an, der auf {t} Uhr steht",
            "schalte den Wecker an, der auf {t} Uhr gestellt ist",
        ),
        "zh": (
            "打开 {t} 的闹钟",
            "开启 {t} 的闹钟",
            "启用 {t} 的闹钟",
            "把 {t} 的闹钟打开",
            "将 {t} 的闹钟设为开启",
            "确保 {t} 的闹钟是开着的",
        ),
    },
    False: {
        "en": (
            "turn off the {t} alarm",
            "turn the {t} alarm off",
            "switch off the alarm at {t}",
            "switch the alarm at {t} off",
            "disable the {t} alarm",
            "make sure the {t} alarm is off",
        ),
        "de": (
            "schalte den Wecker für {t} Uhr aus",
            "stelle den {t}-Uhr-Wecker ab",
            "deaktiviere den Wecker für {t} Uhr",
            "sorge dafür, dass der Wecker für {t} Uhr aus ist",
            "mach den Wecker aus, der auf {t} Uhr steht",
            "schalte den Wecker ab, der auf {t} Uhr gestellt ist",
        ),
        "zh": (
            "关闭 {t} 的闹钟",
            "关掉 {t} 的闹钟",
            "停用 {t} 的闹钟",
            "把 {t} 的闹钟关掉",
            "将 {t} 的闹钟设为关闭",
            "确保 {t} 的闹钟是关着的",
        ),
    },
}
DELETE = (
    "delete the {t} alarm",
    "delete the alarm at {t}",
    "remove the {t} alarm",
    "remove the alarm at {t}",
    "delete the alarm set for {t}",
    "get rid of the {t} alarm",
)
VIBRATES: Mapping[Language, tuple[Sequence[str], Sequence[str]]] = {
    "en": (
        (
            "does the {t} alarm vibrate?",
            "does the alarm at {t} vibrate when it rings?",
            "is vibration on for the {t} alarm?",
            "will the phone vibrate for the {t} alarm?",
            "check whether the {t} alarm vibrates.",
            "look up whether vibration is on for the alarm at {t}.",
            "find out if the alarm set for {t} vibrates.",
        ),
        ("{} Answer yes or no.", "{} A yes or a no will do.", "{} Reply with yes or no."),
    ),
    "de": (
        (
            "vibriert der Wecker um {t} Uhr?",
            "ist für den {t}-Uhr-Wecker die Vibration eingeschaltet?",
            "vibriert das Handy, wenn der Wecker um {t} Uhr klingelt?",
            "prüfe, ob der Wecker für {t} Uhr vibriert.",
            "sieh nach, ob für den Wecker um {t} Uhr Vibrieren aktiviert ist.",
            "finde heraus, ob der auf {t} Uhr gestellte Wecker vibriert.",
        ),
        ("{} Antworte mit Ja oder Nein.", "{} Ein Ja oder Nein genügt.", "{} Sag nur Ja oder Nein."),
    ),
    "zh": (
        (
            "{t} 的闹钟会振动吗？",
            "{t} 的闹钟响铃时会不会振动？",
            "{t} 的闹钟开启振动了吗？",
            "查一下 {t} 的闹钟是否会振动。",
            "看看 {t} 的闹钟有没有开启振动。",
            "请确认 {t} 的闹钟是否设置了振动。",
        ),
        ("{}请回答“是”或“否”。", "{}回答是或否即可。", "{}只需回答是或否。"),
    ),
}

LABELS = ("", "", "", "Work", "School", "Gym", "Medicine", "Weekend")
"""What alarms are called that no task names."""

_CALLS = (
    ("Call", "Text", "Visit", "Wake", "Meet", "Collect"),
    ("Aunt Mia", "the twins", "Mr Bell", "Otis", "Grandpa", "Lena", "Uncle Raj", "Dr Moss", "Nadia", "the neighbours"),
)
_CARES = (
    ("Feed", "Walk", "Brush", "Check on", "Weigh", "Let out"),
    ("the rabbits", "Biscuit", "the ponies", "the kittens", "Pepper", "the goats", "Waffles", "both dogs"),
)
_CHORES = (
    ("Water", "Prune", "Repot", "Photograph", "Shade", "Move"),
    ("the ferns", "the tomatoes", "the orchids", "the roses", "the basil", "the lemon tree", "the seedlings"),
)


def draw_label(rng: Random) -> str:
    """Draw a label that says what an alarm is for, such as ``Feed the rabbits``."""
    verbs, things = rng.choice((_CALLS, _CARES, _CHORES))
    return f"{rng.choice(verbs)} {rng.choice(things)}"
