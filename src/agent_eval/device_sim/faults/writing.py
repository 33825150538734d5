"""Faults of typing: the keyboard covers the page, the text arrives changed (F4, F8)."""

from __future__ import annotations

import difflib

from agent_eval.device_sim.faults.fault import Fault

WORDS = (
    "about", "after", "again", "alarm", "apple", "bring", "call", "cheese", "coffee", "cream", "dinner", "evening",
    "every", "family", "flight", "friday", "gift", "glass", "gum", "gym", "home", "house", "kitchen", "letter", "list",
    "lunch", "market", "meat", "meet", "meeting", "milk", "minute", "monday", "money", "morning", "music", "night",
    "note", "office", "order", "paper", "party", "phone", "photo", "plan", "price", "report", "room", "school", "shop",
    "song", "stand up", "sugar", "sunday", "table", "team", "thing", "ticket", "train", "trail", "travel", "tuesday",
    "wake", "water", "weekend", "word", "work", "world", "write", "year",
)  # fmt: skip
"""What the autocorrection takes for words."""


class KeyboardOverlay(Fault):
    """The keyboard hides what it covers (mobilerun#164, agent-device#2589)."""

    name = "keyboard_overlay"
    number = "F4"
    summary = "the keyboard lies over the lower part of the page, which does not shrink"

    covers = True

    def keyboard_opened(self) -> None:
        """Note that the page is covered now."""
        self.fire(f"the keyboard covers {self.phone.stacks.in_focus.screen}")


class TextMangled(Fault):
    """Typed text is appended to what was there, loses a character, or is corrected to another word."""

    name = "text_mangled"
    number = "F8"
    summary = "a text is appended, loses a character, or is autocorrected; never twice in a row"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._clean_next = False

    def typed(self, before: str, after: str, *, numeric: bool) -> str:
        """Change what was added, at times; single characters and deletions stay as they are."""
        kept = next(
            (place for place, pair in enumerate(zip(before, after, strict=False)) if len(set(pair)) > 1), len(before)
        )
        added = after[kept:]
        if len(added) < 2:
            return after
        if self._clean_next or self.rng.random() >= 0.5:
            self._clean_next = False
            return after
        way, place = self.rng.choice(("append", "drop", "autocorrect")), self.rng.randrange(len(added))
        result = ""
        if way == "append" and before and kept < len(before):
            result, what = before + after, "was appended"
        elif way == "autocorrect" and not numeric:
            result, what = after[:kept] + corrected(added), "was autocorrected"
        if result in ("", after):
            result, what = after[:kept] + added[:place] + added[place + 1 :], "lost a character"
        self._clean_next = True
        self.fire(f"a text {what}: {result!r} instead of {after!r}")
        return result


def corrected(text: str) -> str:
    """Return a text whose last word that is nearly another one became that one."""
    words = text.split(" ")
    for place in range(len(words) - 1, -1, -1):
        near = difflib.get_close_matches(words[place].lower(), WORDS, 3, 0.6)
        other = next((word for word in near if word != words[place].lower()), "")
        if other:
            words[place] = other.capitalize() if words[place][:1].isupper() else other
            break
    return " ".join(words)
