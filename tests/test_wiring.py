"""Names become objects: builds with checkpoints of their own, and where a model may come from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_eval import wiring
from agent_eval.errors import CheckpointError, OperatorError, UnknownName
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.loader import read_card
from agent_eval.wiring import Checkpoint, Checkpoints
from tests.fakes import tiny_checkpoint


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints") / "tiny"
    tiny_checkpoint(folder)
    return folder


@pytest.fixture
def copy(checkpoint: Path, tmp_path: Path) -> Path:
    """The same checkpoint, for a test to change."""
    return Path(shutil.copytree(checkpoint, tmp_path / "copy"))


# ----------------------------------------------------------------------------------------------------------------------
# builds


@pytest.mark.parametrize(
    ("words", "names", "own"),
    [
        (["bf16", "w4a8"], ("bf16", "w4a8"), {}),
        (["bf16", "bf16", "w4a8-sym"], ("bf16", "w4a8"), {}),
        (["bf16", "w4a8=my/folder"], ("bf16", "w4a8"), {"w4a8": "my/folder"}),
        (["w4a8", "w4a8-g128=a/b@v1"], ("w4a8", "w4a8-g128"), {"w4a8-g128": "a/b@v1"}),
        (["bf16= /models/a=b "], ("bf16",), {"bf16": "/models/a=b"}),
        (["w4a16=x", "w4a16-asym=x"], ("w4a16",), {"w4a16": "x"}),
        (["oracle", "null"], ("oracle", "null"), {}),
    ],
)
def test_builds_are_names_or_are_taken_from_a_checkpoint_of_their_own(
    words: list[str], names: tuple[str, ...], own: dict[str, str]
) -> None:
    assert wiring.choose_builds(words) == (names, own)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["w4a8", "w4a8=x"], "two builds are called 'w4a8': made of the model and taken from 'x'"),
        (["w4a8=x", "w4a8-sym=y"], "two builds are called 'w4a8': taken from 'x' and taken from 'y'"),
        (["w4a8="], "'w4a8=' names no checkpoint"),
    ],
)
def test_one_name_for_two_builds_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(OperatorError) as caught:
        wiring.choose_builds(words)
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("word", ["oracle=x", "q9=x", "=x"])
def test_only_builds_of_a_model_have_checkpoints(word: str) -> None:
    with pytest.raises(UnknownName):
        wiring.choose_builds([word])


# ----------------------------------------------------------------------------------------------------------------------
# models


def test_a_model_is_embedded_or_a_folder(checkpoint: Path) -> None:
    assert wiring.resolve_checkpoint("nano") == Checkpoint("nano", wiring.EMBEDDED["nano"])
    assert wiring.resolve_checkpoint(str(checkpoint)) == Checkpoint(str(checkpoint), checkpoint)


def test_a_constructed_model_is_made_of_its_source_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_EVAL_CACHE", str(tmp_path))
    found = wiring.resolve_checkpoint("nano-outliers")
    assert found.given == found.source == "nano-outliers"
    assert found.folder.is_relative_to(tmp_path)
    assert wiring.resolve_checkpoint("nano-outliers") == found
    card = read_card(found.folder)
    assert (card.name, card.kind) == ("nano-outliers", "constructed")
    assert card.details["constructed"]["digest"] == checkpoint_digest(wiring.EMBEDDED["nano"])
    assert wiring.CONSTRUCTED.keys().isdisjoint(wiring.EMBEDDED)
    assert set(wiring.CONSTRUCTED.values()) <= set(wiring.EMBEDDED)


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (["published"], "published"),
        (["embedded", "constructed"], "constructed"),
        (["constructed", "embedded"], "constructed"),
        (["constructed", "synthetic"], "synthetic"),
    ],
)
def test_one_build_that_is_no_models_own_makes_the_whole_run_so(tmp_path: Path, kinds: list[str], found: str) -> None:
    for number, kind in enumerate(kinds):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "card.json").write_text(json.dumps({"kind": kind}), "utf-8")
    model, *own = (Checkpoint(str(number), tmp_path / str(number)) for number in range(len(kinds)))
    assert wiring.kind_of(Checkpoints(model, {f"w4a{number}": one for number, one in enumerate(own)})) == found


@pytest.mark.parametrize("model", ["namo", "", "./a/b", "/nowhere/at/all", "a/b/c"])
def test_what_is_neither_lists_what_there_is(model: str) -> None:
    with pytest.raises(
        UnknownName, match=r"unknown model .* one of: nano, nano-outliers, a path of .*, a hub id such as"
    ):
        wiring.resolve_checkpoint(model)


def test_a_file_is_called_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "Spark.gguf").touch()
    with pytest.raises(CheckpointError, match="holds its weights as GGUF"):
        wiring.resolve_checkpoint(str(tmp_path / "Spark.gguf"))
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(CheckpointError, match=r"model\.safetensors is no folder"):
        wiring.resolve_checkpoint(str(tmp_path / "model.safetensors"))


def test_a_source_names_the_commit_and_not_the_branch() -> None:
    assert Checkpoint("a/b@main", Path("x"), "0123").source == "a/b@0123"
    assert Checkpoint("a/b", Path("x"), "0123").source == "a/b@0123"
    assert Checkpoint("my@folder", Path("my@folder")).source == "my@folder"


def test_a_run_without_a_model_has_no_checkpoints() -> None:
    assert wiring.find_checkpoints("nano", ["oracle"], {}) is None


def test_a_build_of_the_same_model_is_taken_from_its_own_checkpoint(checkpoint: Path, copy: Path) -> None:
    found = wiring.find_checkpoints(str(checkpoint), ["bf16", "w4a8"], {"w4a8": str(copy)})
    assert isinstance(found, Checkpoints)
    assert (found.of("bf16").folder, found.of("w4a8").folder) == (checkpoint, copy)


def another_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace('"<unused3>"', '"<mine>"'), "utf-8")


def another_template(folder: Path) -> None:
    with (folder / "chat_template.jinja").open("a") as file:
        file.write("x")


def another_shape(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"sliding_window": 32}), "utf-8")


def no_text(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "chat_template.jinja").unlink()


def untied(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"tie_word_embeddings": False}), "utf-8")


OTHER: list[tuple[Callable[[Path], None], str]] = [
    (another_tokenizer, "has another tokenizer.json or chat_template.jinja than"),
    (another_template, "has another tokenizer.json or chat_template.jinja than"),
    (another_shape, "is another model than"),
]


@pytest.mark.parametrize(("change", "message"), OTHER, ids=lambda value: getattr(value, "__name__", ""))
def test_a_build_of_another_model_is_refused(
    checkpoint: Path, copy: Path, change: Callable[[Path], None], message: str
) -> None:
    change(copy)
    with pytest.raises(CheckpointError) as caught:
        wiring.find_checkpoints(str(checkpoint), ["w4a8"], {"w4a8": str(copy)})
    assert f"w4a8={copy} {message} {checkpoint}" in caught.value.message
    assert "--model" in caught.value.hint


@pytest.mark.parametrize("change", [no_text, untied])
def test_what_quantising_tools_change_is_no_other_model(
    checkpoint: Path, copy: Path, change: Callable[[Path], None]
) -> None:
    change(copy)
    assert wiring.find_checkpoints(str(checkpoint), ["w4a8"], {"w4a8": str(copy)}) is not None
