"""A walk through an app that prefers what it has not touched, and what it saw: for tests of a whole app."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.ui import View
from agent_eval.types import PhoneSetup, Skin


class ListeningPhone(Phone):
    """A phone that remembers which English texts its screens asked it to translate."""

    def say(self, english: str, screen: str) -> str:
        self.asked: set[tuple[str, str]] = getattr(self, "asked", set())
        self.asked.add((self._owners.get(screen, ""), english))
        return super().say(english, screen)


@dataclass
class Seen:
    """What a walk came across."""

    screens: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    """English texts of the app's own chrome."""
    shown: set[str] = field(default_factory=set)
    """Texts and descriptions on the app's own screens."""
    content: str = ""
    """Everything that is persisted, or was typed: a person's own words."""


def stroll(package: str, locale: str, *, steps: int = 300, seed: int = 3) -> Seen:
    """Walk through an app in one language and return what was seen."""
    phone = ListeningPhone(PhoneSetup(seed=seed, skin=Skin(locale=locale)))
    rng, tapped, seen = random.Random(f"stroll {package}"), Counter[str](), Seen()
    content = set[str]()
    for _ in range(steps):
        if phone.front.package not in (package, "com.android.intentresolver"):
            phone.open_app(package)
        screen = phone.stacks.on_top_of(package)
        if screen is not None:
            seen.screens.add(screen.screen)
        seen.screens.add(phone.front.screen)
        views = list(phone.active_window.root.visible())
        seen.shown |= {text for view in views for text in (view.text, view.desc, view.hint) if text and not view.field}
        seen.shown |= {view.hint for view in views if view.field and view.hint}
        content |= {str(value) for value in phone.state.values()} | {path for path in phone.state if "/" in path}
        content |= {view.text for view in views if view.field}
        targets = [view for view in views if view.clickable or view.on_hold]
        targets.sort(key=lambda view: (tapped[_key(phone, view)], rng.random()))
        if not targets or rng.random() < 0.06:
            phone.key("back")
            continue
        target = targets[0]
        tapped[_key(phone, target)] += 1
        assert target.bounds is not None
        if target.field is not None:
            phone.tap(*target.bounds.center)
            phone.type_text(rng.choice(("a", "Hello", "12")))
        elif target.on_hold is not None and rng.random() < 0.6:
            phone.long_press(*target.bounds.center)
        else:
            phone.tap(*target.bounds.center)
    seen.asked = {english for owner, english in getattr(phone, "asked", set()) if owner == package}
    seen.content = "\n".join(content)
    return seen


def _key(phone: Phone, view: View) -> str:
    """Name what a touch would do, so that the rows of a list count as one and the entries of a menu do not."""
    words = ""
    if view.cls.endswith("Button") or phone.active_window.kind == "dialog":
        words = next((below.text or below.desc for below in view.visible() if below.text or below.desc), "")
    return f"{phone.front.screen} {bool(phone.stacks.in_focus.vars.get('picked'))} {view.id or view.cls} {words}"


def untranslated(package: str) -> list[str]:
    """Return English texts of an app's chrome that lack a translation, and Latin words on its Chinese screens."""
    strings = APPS[package].strings
    seen = stroll(package, "zh")
    missing = [
        text for text in sorted(seen.asked) if any(text not in strings.get(locale, {}) for locale in ("de", "zh"))
    ]
    kept = seen.content.lower()
    return missing + [
        text
        for text in sorted(seen.shown)
        for word in re.findall(r"[A-Za-z]{3,}", text)
        if word.lower() not in kept and word not in ("html", "storage", "emulated")
    ]
