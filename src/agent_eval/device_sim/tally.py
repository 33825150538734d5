"""How often each of some names was met, where others choose the names: long ones are cut, and there is a limit."""

from __future__ import annotations

from collections import Counter

LONGEST_NAME = 80
"""Characters of a name that are kept."""
MOST_NAMES = 1000
"""Names that are kept apart; what comes later counts under one."""
OTHERS = "(others)"
"""The name of all that was not kept apart."""


class Tally(Counter[str]):
    """Names and how often each was met."""

    def note(self, name: str) -> None:
        """Count a name once more."""
        name = name[:LONGEST_NAME]
        self[name if name in self or len(self) < MOST_NAMES else OTHERS] += 1
