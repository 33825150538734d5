"""What a sentence of a recommendation says in numbers, and what the places that it cites say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_eval.spark_backend.weight_path import DECISIONS
from agent_eval.types import Source

_NAMES = re.compile(
    r"\b(bf16|fp16|w\da\d+|q4_k_m|x86-\w+|arm64|x86|int[48]|[48]-bit|AVX-?512|AVX2|1\.7B|nano|Task\d+|binary16|float16|"
    r"bfloat16|8480C|cpu_int4|export-qnn-\w+|w4a16-tinygemm|w4a8-amx|concurrency 1|Weights of 4 bits|runs/x)\b"
)
"""Words with digits that say no number."""


def numbers_in(text: str) -> set[str]:
    """Return the numbers in a text, without signs and without noughts at the end of a fraction."""
    return {_plain(found) for found in re.findall(r"\d+(?:\.\d+)?", re.sub(_NAMES, " ", text.replace(",", "  ")))}


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def section(root: Path, place: str) -> str:
    """Return the text of a section of a page, with the sections below it; of the whole page without an anchor.

    Raises:
        LookupError: there is no such section.
    """
    page, _, anchor = place.partition("#")
    text = (root / page).read_text(encoding="utf-8")
    if not anchor:
        return text
    headings = list(re.finditer(r"^(#+) (.+)$", text, re.MULTILINE))
    for at, heading in enumerate(headings):
        if slug(heading[2]) == anchor:
            ends = [later.start() for later in headings[at + 1 :] if len(later[1]) <= len(heading[1])]
            return text[heading.start() : ends[0] if ends else len(text)]
    raise LookupError(f"{page} has no section {anchor!r}")


def told_by(source: Source, record: dict[str, Any], root: Path) -> Iterator[Any]:
    """Yield what a source holds: values of ``recommendation.json``, of a row of the table, or the text of a section.

    Raises:
        LookupError: it cites something that is not there.
    """
    if source.kind == "document":
        yield section(root, source.where)
    elif source.kind == "table":
        row = next((row for row in DECISIONS if row.name == source.where), None)
        if row is None:
            raise LookupError(f"no row {source.where!r}")
        yield from (asdict(row)[field] for field in source.fields)
    else:
        yield from (at(record, field) for field in source.fields)


def at(record: Any, place: str) -> Any:
    """Return the value at a place such as ``evidence.pairs[0].difference``."""
    value = record
    for key, index in re.findall(r"(\w+)|\[(\d+)\]", place):
        value = value[key] if key else value[int(index)]
    return value


def renderings(value: Any) -> set[str]:
    """Return the numbers that a sentence may say of a value: a number, its percentage, or what a text says."""
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, str):
        return numbers_in(value)
    if isinstance(value, int | float):
        said = {f"{abs(value):.0f}", f"{abs(value):.2f}", f"{100 * abs(value):.0f}", f"{100 * abs(value):.1f}", "100"}
        return {_plain(each) for each in said} | {f"{round(100 * abs(value))}"}
    if isinstance(value, dict):
        counted = "estimate" in value and "n" in value
        counts = {f"{round(value['estimate'] * value['n'])}"} if counted else set()
        return counts.union(*(renderings(each) for each in value.values()))
    return set().union(*(renderings(each) for each in value))


def as_json(record: str) -> dict[str, Any]:
    """Return a written record as plain values."""
    made: dict[str, Any] = json.loads(record)
    return made
