from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

from agent_eval.device_sim.apps import (
    activity_tracker,
    expenses,
    music,
    permission_controller,
    recipes,
    recorder,
    videos,
)

MODULES = (activity_tracker, expenses, music, permission_controller, recipes, recorder, videos)


def said(module: ModuleType) -> Iterator[str]:
    """Yield the English texts that a module hands to ``say``; both of ``a if b else c``."""
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "say":
            yield from _texts(call.args[0])


def _texts(part: ast.expr) -> Iterator[str]:
    if isinstance(part, ast.Constant):
        yield str(part.value)
    elif isinstance(part, ast.IfExp):
        yield from _texts(part.body)
        yield from _texts(part.orelse)


@pytest.mark.parametrize("locale", ["de", "zh"])
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_text_in_the_source_of_an_app_is_translated(module: ModuleType, locale: str) -> None:
    strings = module.APP.strings[locale]
    assert sorted({text for text in said(module) if text not in strings}) == []
    assert module.APP.label in strings


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_translations_keep_the_places_for_values(module: ModuleType) -> None:
    for locale, table in module.APP.strings.items():
        for english, text in table.items():
            places = [part.split("}")[0] for part in english.split("{")[1:]]
            assert sorted(part.split("}")[0] for part in text.split("{")[1:]) == sorted(places), (locale, english)
