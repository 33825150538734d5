"""Intents as ``am`` reads them from its arguments and prints them. Knows no app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_eval.device_sim.shell.context import UsageError

_EXTRAS = {
    "-e": 2, "--es": 2, "--ez": 2, "--ei": 2, "--el": 2, "--ef": 2, "--ed": 2, "--eu": 2, "--ecn": 2, "--eia": 2,
    "--eial": 2, "--ela": 2, "--elal": 2, "--efa": 2, "--efal": 2, "--esa": 2, "--esal": 2, "--esn": 1,
}  # fmt: skip
"""Option of an extra to the words that follow it (Intent.parseCommandArgs)."""
_FLAGS = {
    "--grant-read-uri-permission": 0x1, "--grant-write-uri-permission": 0x2, "--debug-log-resolution": 0x8,
    "--exclude-stopped-packages": 0x10, "--include-stopped-packages": 0x20, "--activity-brought-to-front": 0x400000,
    "--activity-clear-top": 0x4000000, "--activity-clear-task": 0x8000, "--activity-no-history": 0x40000000,
    "--activity-single-top": 0x20000000, "--activity-reset-task-if-needed": 0x200000,
    "--activity-multiple-task": 0x8000000, "--activity-exclude-from-recents": 0x800000,
    "--receiver-registered-only": 0x40000000, "--receiver-replace-pending": 0x20000000,
    "--receiver-foreground": 0x10000000,
}  # fmt: skip


@dataclass(slots=True)
class Intent:
    """What to start or to tell."""

    action: str = ""
    data: str = ""
    kind: str = ""
    """MIME type."""
    categories: list[str] = field(default_factory=list)
    component: str = ""
    package: str = ""
    flags: int = 0
    extras: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """Options of the command that is given the intent, with their values."""

    def __str__(self) -> str:
        shown = self.data
        scheme, colon, _ = shown.partition(":")
        if scheme in ("tel", "sms", "smsto", "mailto", "sip") and colon:
            shown = f"{scheme}:xxxxxxxxxx"
        parts = [
            f"act={self.action}" if self.action else "",
            f"cat=[{','.join(self.categories)}]" if self.categories else "",
            f"dat={shown}" if self.data else "",
            f"typ={self.kind}" if self.kind else "",
            f"flg=0x{self.flags:x}" if self.flags else "",
            f"pkg={self.package}" if self.package else "",
            f"cmp={short(self.component)}" if self.component else "",
            "(has extras)" if self.extras else "",
        ]
        return f"Intent {{ {' '.join(part for part in parts if part)} }}"


def full(component: str) -> str:
    """Return ``package/class`` with the whole name of the class."""
    package, slash, activity = component.partition("/")
    return f"{package}/{package}{activity}" if slash and activity.startswith(".") else component


def short(component: str) -> str:
    """Return ``package/class`` with the package left out of the class's name."""
    package, slash, activity = component.partition("/")
    shortened = activity.removeprefix(package) if activity.startswith(package + ".") else activity
    return f"{package}{slash}{shortened}"


def parse_intent(words: Sequence[str], flags: Sequence[str] = (), valued: Sequence[str] = ()) -> Intent:
    """Read an intent.

    Args:
        words: The arguments.
        flags: Options of the command itself without a value.
        valued: Options of the command itself with one.

    Raises:
        UsageError: an unknown option, or one without its value.
    """
    intent = Intent()
    rest: list[str] = []
    queue = iter(words)

    def value(option: str) -> str:
        found = next(queue, None)
        if found is None:
            raise UsageError(f'Argument expected after "{option}"', 255)
        return found

    for word in queue:
        if word in flags:
            intent.options[word] = ""
        elif word in valued:
            intent.options[word] = value(word)
        elif word in _EXTRAS:
            name = value(word)
            intent.extras[name] = value(word) if _EXTRAS[word] == 2 else ""
        elif word in _FLAGS:
            intent.flags |= _FLAGS[word]
        elif word == "-a":
            intent.action = value(word)
        elif word == "-d":
            intent.data = value(word)
        elif word == "-t":
            intent.kind = value(word)
        elif word == "-c":
            intent.categories.append(value(word))
        elif word == "-n":
            intent.component = value(word)
            if "/" not in intent.component:
                raise UsageError(f"Bad component name: {intent.component}", 255)
        elif word == "-p":
            intent.package = value(word)
        elif word in ("-i", "--selector"):
            value(word)
        elif word == "-f":
            number = value(word)
            try:
                intent.flags |= int(number, 0) & 0xFFFFFFFF
            except ValueError:
                raise UsageError(f'For input string: "{number[:40]}"', 255) from None
        elif word.startswith("-"):
            raise UsageError(f"Unknown option: {word}", 255)
        else:
            rest.append(word)
    if rest:
        _positional(intent, rest[0])
    return intent


def _positional(intent: Intent, word: str) -> None:
    """Take what stands alone: a URI, a component, or a package (Intent.parseCommandArgs)."""
    if ":" in word:
        intent.data = word
        intent.action = intent.action or "android.intent.action.VIEW"
    elif "/" in word:
        intent.component = word
        intent.action = intent.action or "android.intent.action.MAIN"
    else:
        intent.package = word
        intent.action = intent.action or "android.intent.action.MAIN"
        if not intent.categories:
            intent.categories.append("android.intent.category.LAUNCHER")
