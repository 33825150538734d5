"""A task under a condition of its own: some parameters fixed, a fault of the phone, a skin. Knows no particular task.

A variant's name says what it is: ``WifiSet[wanted=on]+async_toggle+vendor`` is the task ``WifiSet`` with its parameter
``wanted`` fixed, on a phone with a fault and a skin. So the name alone, as a record has it, brings the variant back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agent_eval.conditions import SKINS
from agent_eval.device_sim.faults import FAULTS
from agent_eval.errors import TaskFault, UnknownName
from agent_eval.tasks.task import TaskInstance, Template
from agent_eval.types import Skin

_NAME = re.compile(r"(?P<template>\w+)(?:\[(?P<fixed>[^\]]*)\])?(?P<conditions>(?:\+[\w-]+)*)")
_MOST_TRIES = 400
_STRIDE = 1_000_003
"""Distance of the template's seeds that a variant tries for one seed of its own."""


@dataclass(frozen=True)
class Variant:
    """Implements ``contracts.Task`` on a template.

    Args:
        template: What is asked.
        fixed: Parameters and what they must be, as text.
        conditions: Names of faults and skins, in the order of the name.
    """

    template: Template
    fixed: tuple[tuple[str, str], ...] = ()
    conditions: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str:
        """The name that brings the variant back."""
        fixed = ";".join(f"{name}={value}" for name, value in self.fixed)
        return self.template.name + (f"[{fixed}]" if fixed else "") + "".join(f"+{one}" for one in self.conditions)

    @property
    def summary(self) -> str:
        """The template's line, and what is different."""
        return ", ".join([self.template.summary, *(f"{k} {v}" for k, v in self.fixed), *self.conditions])

    @property
    def tier(self) -> int:
        """The template's tier."""
        return self.template.tier

    @property
    def traits(self) -> tuple[str, ...]:
        """The template's traits."""
        return self.template.traits

    @property
    def version(self) -> int:
        """The template's version."""
        return self.template.version

    def draw(self, seed: int, split: str = "evaluation", language: str = "en") -> TaskInstance:
        """Draw the instance of a seed.

        Raises:
            UnknownName: there is no such split or language.
            TaskFault: the template never draws the fixed parameters.
        """
        for number in range(_MOST_TRIES if self.fixed else 1):
            drawn = self.template.draw(seed + number * _STRIDE, split, language)
            if all(str(drawn.parameters.get(name)) == value for name, value in self.fixed):
                break
        else:
            raise TaskFault(
                f"the task {self.template.name!r} never drew {dict(self.fixed)} in {_MOST_TRIES} tries",
                hint=f"one that it draws is {dict(drawn.parameters)}",
            )
        faults = tuple(name for name in self.conditions if name in FAULTS)
        skin = next((SKINS[name] for name in self.conditions if name in SKINS), Skin())
        setup = replace(drawn.setup, skin=skin, faults=(*drawn.setup.faults, *faults))
        return replace(drawn, task=self.name, seed=seed, setup=setup)


def variant_of(name: str, templates: Mapping[str, Template]) -> Template | Variant:
    """Return the template or variant of a name.

    Raises:
        UnknownName: there is no such template, fault or skin.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["template"] not in templates:
        raise UnknownName("task", name, templates, hint="`agent-eval tasks` lists them; a suite's name stands alone")
    template = templates[match["template"]]
    fixed: Sequence[str] = match["fixed"].split(";") if match["fixed"] else ()
    conditions = tuple(one for one in match["conditions"].split("+") if one)
    for one in conditions:
        if one not in FAULTS and one not in SKINS:
            raise UnknownName("fault or skin", one, [*FAULTS, *SKINS], hint="`agent-eval sim --list` describes them")
    if not fixed and not conditions:
        return template
    pairs = tuple((key.strip(), value.strip()) for key, _, value in (one.partition("=") for one in fixed))
    return Variant(template, pairs, conditions)
