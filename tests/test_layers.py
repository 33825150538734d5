"""The directions of imports, and what an import may not cost."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "agent_eval"
SIBLINGS = ("agent", "tasks", "device_sim", "spark_backend", "reports")
ALLOWED_BETWEEN_SIBLINGS = {("tasks", "device_sim")}
CORE = {
    "errors": set(),
    "environment": {"errors"},
    "types": {"errors"},
    "actions": {"types", "errors"},
    "outcome": {"types", "errors"},
    "records": {"types", "actions", "outcome", "errors"},
    "contracts": {"types", "actions", "outcome", "records", "errors"},
    "taxonomy": {"outcome", "errors"},
    "conditions": {"contracts", "types", "errors"},
    "command_line": {"types", "errors"},
    "diagnosis": {"types"},
    "episode": {"contracts", "records", "types", "actions", "outcome", "errors"},
    "matrix": {"episode", "contracts", "records", "types", "outcome", "errors"},
    "flight": {"contracts", "types", "errors"},
    "waves": {"flight", "matrix", "episode", "contracts", "records", "types", "outcome", "errors"},
    "replay": {"contracts", "records", "types", "actions", "outcome", "errors"},
}
"""What each module of the core may import of this project."""
COMPOSERS = {
    "bench", "bench_arm", "cli", "curriculum", "demonstrations", "doctor", "drills", "fidelity", "gates", "lessons",
    "progress", "running", "scoring", "training", "wiring", "__main__",
}  # fmt: skip
"""Modules that join packages; nothing else imports them."""
DRAWING = {
    ("reports", "advice_tables"),
    ("reports", "layout"),
    ("reports", "tables"),
    ("reports", "explained"),
    ("reports", "bench_tables"),
    ("reports", "fidelity_tables"),
    ("reports", "doctor_tables"),
}
"""Modules that draw what others compute."""
HEAVY: dict[str, Callable[[tuple[str, ...]], bool]] = {
    "torch": lambda place: place[0] == "spark_backend",
    "tokenizers": lambda place: place[0] == "spark_backend" or place in {("lessons",), ("training",)},
    "huggingface_hub": lambda place: place == ("spark_backend", "checkpoints", "hub"),
    "vllm": lambda place: place[:2] == ("spark_backend", "vllm"),
    "transformers": lambda place: place[:2] == ("spark_backend", "vllm"),
    "uiautomator2": lambda place: place in {("agent", "device"), ("device_sim", "u2", "device")},
    "adbutils": lambda place: place in {("agent", "device"), ("agent", "adb"), ("device_sim", "u2", "device")},
    "plotly": lambda place: place == ("reports", "html", "plots"),
    "rich": lambda place: place in {("cli",), ("progress",)} or place in DRAWING,
}
"""Library to the places that may import it."""


def modules() -> list[tuple[tuple[str, ...], ast.Module]]:
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).with_suffix("").parts
        found.append((place[:-1] if place[-1] == "__init__" else place, ast.parse(file.read_text("utf-8"))))
    return found


def imports(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def project_places(tree: ast.Module) -> set[tuple[str, ...]]:
    return {tuple(name.split(".")[1:]) for name in imports(tree) if name.startswith("agent_eval.")}


def test_the_packages_are_exactly_the_five_of_the_design() -> None:
    folders = {entry.name for entry in SOURCE.iterdir() if entry.is_dir() and not entry.name.startswith("__")}
    assert folders == set(SIBLINGS)


def test_the_root_shows_the_five_as_links_and_nothing_imports_through_them() -> None:
    root = SOURCE.parent.parent
    assert all((root / name).is_symlink() and (root / name).resolve() == SOURCE / name for name in SIBLINGS)
    wrong = [file for file in (*SOURCE.rglob("*.py"), *(root / "tests").rglob("*.py")) if bare_imports(file)]
    assert wrong == []


def bare_imports(file: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(ast.parse(file.read_text("utf-8")))} & set(SIBLINGS)


def test_siblings_do_not_import_each_other() -> None:
    wrong = [
        f"{'.'.join(place)} imports {'.'.join(target)}"
        for place, tree in modules()
        if place and place[0] in SIBLINGS
        for target in project_places(tree)
        if target[0] in SIBLINGS and target[0] != place[0] and (place[0], target[0]) not in ALLOWED_BETWEEN_SIBLINGS
    ]
    assert wrong == []


def test_the_core_imports_only_what_stands_below_it() -> None:
    names = {place[0] for place, _ in modules() if place}
    wrong = [
        f"{place[0]} imports {target[0]}"
        for place, tree in modules()
        if place and place[0] in CORE
        for target in project_places(tree)
        if target[0] in names and target[0] not in CORE[place[0]]
    ]
    assert wrong == []


def test_nothing_imports_the_modules_that_join_packages() -> None:
    wrong = [
        f"{'.'.join(place)} imports {target[0]}"
        for place, tree in modules()
        if not place or place[0] not in COMPOSERS
        for target in project_places(tree)
        if target[0] in COMPOSERS
    ]
    assert wrong == []


@pytest.mark.parametrize("library", sorted(HEAVY))
def test_a_heavy_library_is_imported_only_where_it_belongs(library: str) -> None:
    allowed = HEAVY[library]
    wrong = [
        ".".join(place)
        for place, tree in modules()
        if any(name.split(".")[0] == library for name in imports(tree)) and not (place and allowed(place))
    ]
    assert wrong == []


@pytest.mark.parametrize("arguments", [["-c", "import agent_eval"], ["-m", "agent_eval", "--help"]])
def test_starting_loads_no_heavy_library(arguments: list[str]) -> None:
    run = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in run.stderr.splitlines() if "|" in line}
    assert "agent_eval" in loaded
    heavy = {"torch", "vllm", "rich", "uiautomator2", "adbutils", "scipy", "numpy", "pydantic", "PIL", "plotly"}
    assert loaded.isdisjoint(heavy)


def test_help_is_there_well_under_half_a_second() -> None:
    def seconds() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "agent_eval", "--help"], capture_output=True, check=True)
        return time.perf_counter() - began

    assert min(seconds() for _ in range(3)) < 0.5
