"""The slow twin of the pre-tokenizer: the four rules as loops over characters, without regular expressions."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

Rule = Callable[[str, int], int]
"""Where the match that begins at a position ends; the position itself if none begins there."""

# the property White_Space of Unicode; str.isspace() has the four separators of ASCII as well
BLANKS = {*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def splits(text: str) -> list[str]:
    """Cut a text into pieces."""
    pieces = [text] if text else []
    for rule in (numbers, cjk, words, numeral):
        pieces = [part for piece in pieces for part in cut(piece, rule)]
    return pieces


def cut(piece: str, rule: Rule) -> list[str]:
    """Cut a piece into what a rule matches and what lies between."""
    parts, at, gap = [], 0, 0
    while at < len(piece):
        end = rule(piece, at)
        if end == at:
            at += 1
            continue
        parts += [piece[gap:at], piece[at:end]]
        at = gap = end
    return [part for part in [*parts, piece[gap:]] if part]


def category(text: str, at: int) -> str:
    """Return the general category at a position, by its first letter; nothing behind the end."""
    return unicodedata.category(text[at])[0] if at < len(text) else ""


def run(text: str, at: int, wanted: Callable[[int], bool], most: int = 2**30) -> int:
    """Return where a run of characters ends that are wanted."""
    end = at
    while end < len(text) and end - at < most and wanted(end):
        end += 1
    return end


def numbers(text: str, at: int) -> int:
    """Match one to three numerals."""
    return run(text, at, lambda i: category(text, i) == "N", most=3)


def numeral(text: str, at: int) -> int:
    """Match one numeral."""
    return run(text, at, lambda i: category(text, i) == "N", most=1)


def cjk(text: str, at: int) -> int:
    """Match ideographs, hiragana and katakana."""
    return run(text, at, lambda i: 0x4E00 <= ord(text[i]) <= 0x9FA5 or 0x3040 <= ord(text[i]) <= 0x30FF)


def words(text: str, at: int) -> int:
    """Match the first of six forms that fits."""
    if text[at] in PUNCTUATION:
        end = run(text, at + 1, lambda i: text[i].isascii() and text[i].isalpha())
        if end > at + 1:
            return end
    if text[at] not in "\r\n" and category(text, at) not in ("L", "P", "S"):
        end = run(text, at + 1, lambda i: category(text, i) in ("L", "M"))
        if end > at + 1:
            return end
    end = run(text, at, lambda i: category(text, i) in ("L", "M"))
    if end > at:
        return end
    first = at + (text[at] == " ")
    end = run(text, first, lambda i: category(text, i) in ("P", "S"))
    if end > first:
        return end
    if text[at] in "\r\n":
        return at + 1
    end = run(text, at, lambda i: ord(text[i]) in BLANKS)
    return end - 1 if end < len(text) and end > at + 1 else end
