"""The page ``docs/reference/decisions.md`` from the decision table; this module writes it when it is run."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from agent_eval.spark_backend.weight_path import DECISIONS
from agent_eval.types import Claim, Decision
from tests.markdown import table

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "decisions.md"

_INTRODUCTION = """\
# The decision table

What to expect of a class of devices before anything is measured on it. `agent-eval recommend` without a run prints
the row for this machine, or for the one that `--profile` describes; with a run it names the row beside the evidence.
**No row is evidence**: what a row says is called unverified here until a run on such a device has shown it, and advice
that rests on a row is never conclusive.

The rows are those of the reference study of Spark-X2.5, with three corrections. The bits a weight follow from what is
stored, so GPTQ takes 4.156 and not 4.25. Fused norms are off everywhere. And where this project measured something
else, the row says so beside what the study says. "Verified" means that the study has run it on such a device; what it
measured there is speed and agreement with bf16, and no share of tasks done.

This page is made from the table in `spark_backend/weight_path/decisions.py`: `python -m tests.decision_page`.
"""

_CLASSES = """\
## Classes of devices

| class | what it is |
|---|---|
| `x86-amx`, `x86-avx512`, `x86-avx2`, `x86-other` | x86-64, by the widest units that every core has |
| `arm64` | a 64-bit ARM processor, of a phone or a server |
| `cuda-discrete` | a GPU of NVIDIA with memory of its own |
| `jetson` | a board with a Tegra chip, whose GPU shares the machine's memory |
| `phone-npu` | the NPU of a Qualcomm chip in an arm64 machine |
| `accelerator-other` | any other GPU or NPU |
| `other` | any other processor |

A machine is of the class of what the model *computes on*. This program computes on processors, whatever else is in the
machine: a run on an `x86-avx2` host with an idle GPU is evidence for `x86-avx2`, and the probe says
`computes_on: cpu`. A [profile](profiles/README.md) of a device that is shipped to may say `computes_on: accelerator`.
What a processor computed decides nothing for an accelerator, whose kernels and rounding are others.
"""


def page() -> str:
    """Return the page as the table has it."""
    ways = [list(rows) for _, rows in groupby(_by_class(), key=lambda row: (row.device_class, row.path))]
    parts = [_INTRODUCTION, _CLASSES, "## Rows\n", table(_HEAD, [_cells(rows) for rows in ways])]
    parts.append(
        "Bits a weight are of what is stored. GPTQ stores a packed zero of 4 bits a group though a symmetric matrix "
        "needs none,\nand an index of groups, 32/N of a bit for N outputs, which is not counted. In memory this "
        "program leaves the zeros of\nsymmetric groups out: 4 + 16/128 = 4.125.\n"
    )
    common = _common()
    parts.append(f"Of every row with weights of 4 bits:\n\n{_list(common)}\n")
    for device_class, rows in groupby(ways, key=lambda rows: rows[0].device_class):
        parts += [f"## {device_class}\n", *(_account(way[0], common) for way in rows)]
    return "\n".join(parts)


def _by_class() -> list[Decision]:
    """Return the rows with those of one way side by side."""
    places = list(dict.fromkeys((row.device_class, row.path) for row in DECISIONS))
    return sorted(DECISIONS, key=lambda row: places.index((row.device_class, row.path)))


def _common() -> list[Claim]:
    """Return the claims that stand in every row with a method of vLLM."""
    first, *others = [row for row in DECISIONS if row.quantization]
    return [claim for claim in first.notes if all(claim in row.notes for row in others)]


_HEAD = ("class", "priority", "way", "build here", "in vLLM", "bits a weight", "the study has run it")


def _cells(rows: list[Decision]) -> tuple[str, ...]:
    row = rows[0]
    bits = f"{row.bits_per_weight:.4g}"
    method = f"`{row.quantization}`" if row.quantization else "as it is"
    return (
        f"`{row.device_class}`",
        ", ".join(row.priority for row in rows),
        f"`{row.path}`" if row.path != "none known" else row.path,
        f"`{row.build}`" if row.build else "none",
        method if row.runs_in_vllm else "no",
        bits if row.arithmetic == bits else f"{row.arithmetic} = {bits}",
        "yes" if row.verified else "no",
    )


def _account(row: Decision, common: list[Claim]) -> str:
    claims = [claim for claim in (*row.measured, *row.notes) if claim not in common]
    built = f"* Build it with: {_command(row.build_with)}."
    return f"**{row.path}**. {row.why.text} ({_source(row.why)})\n\n{_list(claims)}{built}\n"


def _list(claims: list[Claim]) -> str:
    return "".join(f"* {claim.text} ({_source(claim)})\n" for claim in claims)


def _command(text: str) -> str:
    return f"`{text}`" if text.startswith("agent-eval ") else text


def _source(claim: Claim) -> str:
    if not claim.source.startswith("docs/"):
        return claim.source
    place = claim.source.removeprefix("docs/")
    return "this page" if place == "reference/decisions.md" else f"[{place.partition('#')[0]}](../{place})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
