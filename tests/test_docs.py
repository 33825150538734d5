"""The pages for people: their links lead somewhere, their commands are understood, their examples run."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import agent_eval
from agent_eval.command_line import command_line
from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import PhoneSetup

ROOT = Path(__file__).parent.parent
SOURCES = Path(agent_eval.__file__).parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "changes").rglob("*.md"), *(ROOT / "docs").rglob("*.md"),
                *SOURCES.rglob("*.md")])  # fmt: skip
TEXTS = {page: page.read_text("utf-8") for page in PAGES}
COMMANDS = ("run", "bench", "build", "report", "compare", "recommend", "explain", "sim", "doctor", "tasks",
            "check-suite", "export", "fidelity", "gate", "html", "replay", "score", "train")  # fmt: skip
WHERE = {page: str(page.relative_to(ROOT)) for page in PAGES}
by_page = pytest.mark.parametrize("page", PAGES, ids=WHERE.get)


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page that are in a language."""
    return re.findall(rf"```{language}\n(.*?)```", TEXTS[page], re.DOTALL)


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"```.*?```", "", TEXTS[page], flags=re.DOTALL)


def test_the_pages_are_there() -> None:
    assert {"README.md", "docs/concepts/faults.md", "docs/guides/adding-an-app.md"} <= set(WHERE.values())
    assert len(PAGES) > 25


@by_page
def test_every_link_leads_to_something(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", prose(page))
    local = [target for pair in targets for target in pair if target and "://" not in target]
    assert [target for target in local if not (page.parent / target.partition("#")[0]).exists()] == []


NEW_APP = "src/agent_eval/device_sim/apps/water.py"
"""What a reader of the guide is to write."""


@by_page
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    spans = re.findall(r"`([\w./-]+)`", prose(page))
    named = [span for span in spans if re.match(r"(src|docs|tests|benchmarks|device_sim|\.\.)/\w", span)]
    places = (ROOT, SOURCES, page.parent)
    gone = {path for path in named if not any((at / path).exists() for at in places)}
    assert gone - {NEW_APP} == set()


@by_page
def test_every_module_that_a_page_starts_is_there(page: Path) -> None:
    modules = [name for name in re.findall(r"python -m ([\w.]+)", TEXTS[page]) if name not in ("pytest", "pip")]
    scripts = re.findall(r"python (benchmarks/\w+\.py)", TEXTS[page])
    files = [f"{name.replace('.', '/')}.py" for name in modules] + scripts
    assert [path for path in files if not (ROOT / path).exists()] == []


@by_page
def test_every_target_of_make_that_a_page_names_is_in_the_makefile(page: Path) -> None:
    rules = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = re.findall(r"`make(?: ([\w-]+))?[^`]*`", prose(page)) + re.findall(
        r"^make (\w+)", TEXTS[page], re.MULTILINE
    )
    assert [target for target in named if target and target not in rules] == []


def commands_in(text: str) -> list[list[str]]:
    """Return the words after ``agent-eval`` of every command that a text shows, up to where the shell takes its output.

    The first of alternatives is taken.
    """
    spans = re.findall(r"`(agent-eval [^`]+)`", text)
    lines = re.findall(r"^(?:\$ )?(?:\S+=\S+ )?(?:\.venv(?:-vllm)?/bin/)?(agent-eval [^\n`]*)$", text, re.MULTILINE)
    found = []
    for command in spans + lines:
        command = re.split(r"\s[>|]\s", command, maxsplit=1)[0]
        words = shlex.split(command.replace("\n", " ").replace("\\|", "|"), comments=True)[1:]
        found.append([word.split("|")[0] for word in words if word not in ("…", "...")])
    return found


SHOWN = [(page, words) for page in PAGES for words in commands_in(TEXTS[page])]
HINTED = [
    (path, words)
    for path in sorted(SOURCES.rglob("*.py"))
    for words in commands_in(path.read_text("utf-8"))
    if "{" not in " ".join(words)
]


@pytest.mark.parametrize(
    ("place", "words"), SHOWN + HINTED, ids=lambda value: value.name if isinstance(value, Path) else "-".join(value)
)
def test_every_command_that_is_shown_is_understood(place: Path, words: list[str]) -> None:
    assert words[0] in COMMANDS or words[0].startswith("--"), place
    if len(words) > 1:
        assert command_line().parse_args(words).command


def test_commands_are_found_in_pages_and_in_messages() -> None:
    assert len(SHOWN) > 20
    assert len(HINTED) > 2
    assert commands_in("`agent-eval run --device sim\\|tcp …`") == [["run", "--device", "sim"]]


def test_the_readme_names_every_command() -> None:
    rows = re.findall(r"^\| `agent-eval ([\w-]+)", TEXTS[ROOT / "README.md"], re.MULTILINE)
    assert sorted(rows) == sorted(COMMANDS)
    usage = command_line().format_help()
    assert [name for name in COMMANDS if not re.search(rf"^    {name}\b", usage, re.MULTILINE)] == []


GUIDE = ROOT / "docs" / "guides" / "adding-an-app.md"
"""Has a test of its own."""


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.is_relative_to(ROOT / "docs") and page != GUIDE], ids=WHERE.get
)
def test_the_examples_of_the_docs_run(page: Path) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in blocks(page, "python"):
            exec(compile(block, WHERE[page], "exec", dont_inherit=True), names)  # noqa: S102 - our own text


@pytest.mark.parametrize("package", ["device_sim", "device_sim/shell"])
def test_the_example_at_the_head_of_a_readme_prints_what_it_says(package: str) -> None:
    page = SOURCES / package / "README.md"
    example = blocks(page, "python")[0]
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    assert said
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, WHERE[page], "exec", dont_inherit=True), {"__name__": "example"})  # noqa: S102
    assert [line for line in printed.getvalue().splitlines() if line] == said


def test_the_screen_of_the_readme_works() -> None:
    page = SOURCES / "device_sim" / "README.md"
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(blocks(page, "python")[1], WHERE[page], "exec", dont_inherit=True), names)  # noqa: S102
    app = names["APP"]
    phone = Phone(PhoneSetup(seed=1), apps={**APPS, app.package: app})
    device = SimDevice(phone)
    device.app_start(app.package)
    device(text="Wave").click()
    assert phone.snapshot()["greeting/waves"] == 1


def test_the_words_of_the_vocabulary_are_where_it_says() -> None:
    page = (ROOT / "docs" / "concepts" / "vocabulary.md").read_text("utf-8")
    names = [name for row in page.splitlines() if row.startswith("| **") for name in
             re.findall(r"`([a-z_.]+\.[A-Za-z_.]+)`", row.split("|")[3])]  # fmt: skip
    assert len(names) > 25
    assert [name for name in names if not resolves(name)] == []


def resolves(name: str) -> bool:
    """Tell whether a dotted name below the package is a module, or something in one."""
    module, rest = agent_eval.__name__, name.split(".")
    while (
        rest
        and hasattr(importlib.import_module(module), "__path__")
        and importlib.util.find_spec(f"{module}.{rest[0]}")
    ):
        module = f"{module}.{rest.pop(0)}"
    found: Any = importlib.import_module(module)
    for part in rest:
        fields = getattr(found, "model_fields", None) or getattr(found, "__dataclass_fields__", {})
        if part in fields:
            return part == rest[-1]
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True
