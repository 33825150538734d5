"""The page ``docs/reference/judge-mutations.md`` from the tables; this module writes it when it is run."""

from __future__ import annotations

from pathlib import Path

from tests.markdown import table
from tests.tasks.judged import FIXTURES
from tests.tasks.mutants import MUTANTS, Mutant, caught_by, rule_mutants

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "judge-mutations.md"

_INTRODUCTION = """\
# Wrong judges, and what catches them

Each line is a judge that is wrong on purpose, in one way. `tests/tasks/judged.py` holds {fixtures} trajectories with
the label and the facts that each must get; the real judge gives them all, and each wrong judge stumbles over at least
one. Some of these are what public benchmarks and harnesses really do ([conventions](../concepts/conventions.md)), the
others are slips that are easily made. [How a label comes about](../concepts/judge.md) says what is right.

This page is made from the tables of the tests: `python -m tests.tasks.mutation_page`.
"""


def page() -> str:
    """Return the page as the tables have it."""
    rules = rule_mutants()
    caught = [mutant for mutant in rules if not mutant.equivalent]
    equivalent = [mutant for mutant in rules if mutant.equivalent]
    parts = [
        _INTRODUCTION.format(fixtures=len(FIXTURES)),
        f"## Judges that find or use the facts wrongly: {len(MUTANTS)}\n",
        table(("judge", "what it gets wrong", "caught by", "first of them"), [
            (mutant.name, mutant.wrong, *_catchers(mutant)) for mutant in MUTANTS
        ]),
        f"## Judges with a rule missing or two rules in the wrong order: {len(caught)}\n",
        table(("judge", "caught by", "first of them"), [(mutant.name, *_catchers(mutant)) for mutant in caught]),
        f"## Orders that make no difference: {len(equivalent)}\n",
        table(("order", "why"), [(mutant.name, mutant.equivalent) for mutant in equivalent]),
    ]  # fmt: skip
    return "\n".join(parts)


def _catchers(mutant: Mutant) -> tuple[str, str]:
    names = caught_by(mutant)
    return str(len(names)), names[0] if names else "none"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
