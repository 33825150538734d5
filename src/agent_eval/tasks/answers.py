"""When a declared answer is right: tolerant of how people put things, exact about what they say. Knows no task.

Each function here returns a test of an answer. What none of them minds: width and case of the signs, white space, the
words around the asked-for thing, quotation marks, a closing full stop. What all of them mind: an answer that names
another thing as well, so that listing guesses never passes. ``docs/concepts/answers.md`` shows both with examples.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Accepts = Callable[[str], bool]

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_WORDS = re.compile(r"\w+(?:[.,:'’-]\w+)*")
_YES = frozenset({"yes", "true", "on", "ja", "是", "对", "会", "有"})
_NO = frozenset({"no", "not", "false", "off", "nein", "nicht", "否", "不", "没有", "不会"})


def folded(text: str) -> str:
    """Return a text without differences of width, case, white space and typographic signs (Unicode TR 15, NFKC)."""
    signs = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"'})
    return " ".join(unicodedata.normalize("NFKC", text).translate(signs).casefold().split())


def number(right: str) -> Accepts:
    """Accept an answer that names exactly one number, and the right one.

    Leading zeros and a fraction of zero do not matter: ``15``, ``Android 15.`` and ``It is at 82 %`` are answers.
    """
    return lambda answer: {_bare(found) for found in _NUMBER.findall(folded(answer))} == {_bare(right)}


def _bare(text: str) -> str:
    parts = [str(int(part)) for part in text.split(".")]
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return ".".join(parts)
