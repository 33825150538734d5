"""Ids of a model hub: the real client against a hub on this machine, and against what it kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.errors import AgentEvalError, CheckpointError, OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.hub import HubId, fetch, parse_hub_id
from tests.spark_backend.checkpoints.hub_server import COMMIT, REPOSITORY, serve_hub

NOWHERE = "http://127.0.0.1:9"  # the port of the discard service: nothing listens
TINY = HubId(REPOSITORY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("XHToken/Spark-X2.5-1.7B", HubId("XHToken/Spark-X2.5-1.7B", "main")),
        ("XHToken/Spark-X2.5-1.7B@v1.0", HubId("XHToken/Spark-X2.5-1.7B", "v1.0")),
        (f"a/b@{COMMIT}", HubId("a/b", COMMIT)),
        ("a/b@refs/pr/3", HubId("a/b", "refs/pr/3")),
        *((text, None) for text in ("nano", "", "a/b/c", "/a/b", "./a", "../a", "a/..", "a/b@", "a b/c", "~/x")),
        *((text, None) for text in ("a--b/c", "a/b..c", "a/b@-x", "a\n/b", "ä/b", "a/b\n")),
    ],
)
def test_an_id_is_owner_and_name_with_a_revision(text: str, expected: HubId | None) -> None:
    assert parse_hub_id(text) == expected


@pytest.mark.parametrize("text", ["a/b", "a/b@v1"])
def test_an_id_is_written_as_it_was_given(text: str) -> None:
    assert str(parse_hub_id(text)) == text


def test_a_checkpoint_is_fetched_and_pinned_to_its_commit(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint) as hub:
        found = fetch(TINY, cache=tmp_path, endpoint=hub.endpoint)
    assert found.commit == COMMIT
    assert checkpoint_digest(found.folder) == checkpoint_digest(checkpoint)
    assert SparkConfig.from_folder(found.folder) == SparkConfig.from_folder(checkpoint)


def test_code_pickles_and_inner_folders_are_not_fetched(checkpoint: Path, tmp_path: Path) -> None:
    data = ("onnx/config.json", "old/model.safetensors")
    extra = dict.fromkeys(("modeling_spark.py", "pytorch_model.bin", "README.md", "logo.png", *data), b"x")
    with serve_hub(checkpoint, extra=extra) as hub:
        found = fetch(TINY, cache=tmp_path, endpoint=hub.endpoint)
        assert set(hub.fetched) == {path.name for path in checkpoint.iterdir()}
    assert {path.name for path in found.folder.rglob("*")} == {path.name for path in checkpoint.iterdir()}


@pytest.mark.parametrize("revision", ["main", "v1", COMMIT])
def test_a_revision_is_a_branch_a_tag_or_a_commit(checkpoint: Path, tmp_path: Path, revision: str) -> None:
    with serve_hub(checkpoint) as hub:
        assert fetch(HubId(REPOSITORY, revision), cache=tmp_path, endpoint=hub.endpoint).commit == COMMIT


def test_nothing_is_fetched_twice(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint) as hub:
        first = fetch(TINY, cache=tmp_path, endpoint=hub.endpoint)
        fetched = list(hub.fetched)
        assert fetch(TINY, cache=tmp_path, endpoint=hub.endpoint) == first
        assert hub.fetched == fetched


def test_what_was_fetched_is_found_without_a_network(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint) as hub:
        first = fetch(TINY, cache=tmp_path, endpoint=hub.endpoint)
    assert fetch(TINY, cache=tmp_path, endpoint=NOWHERE) == first
    assert fetch(HubId(REPOSITORY, COMMIT), cache=tmp_path, endpoint=NOWHERE) == first


def refused(model: HubId, cache: Path, endpoint: str) -> AgentEvalError:
    with pytest.raises(OperatorError) as caught:
        fetch(model, cache=cache, endpoint=endpoint)
    assert caught.value.hint
    return caught.value


def test_an_id_that_the_hub_lacks_is_named(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint) as hub:
        error = refused(HubId("XHToken/Spork"), tmp_path, hub.endpoint)
    assert isinstance(error, CheckpointError)
    assert "there is no model 'XHToken/Spork' on the hub, and no folder of that name" in error.message


def test_a_revision_that_the_repository_lacks_is_named(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint) as hub:
        assert f"{REPOSITORY} has no revision 'v9'" in refused(HubId(REPOSITORY, "v9"), tmp_path, hub.endpoint).message


def test_a_model_behind_terms_says_what_to_do(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint, gated=True) as hub:
        error = refused(TINY, tmp_path, hub.endpoint)
    assert f"does not let this account read {REPOSITORY}" in error.message
    assert "accept its terms" in error.hint


def test_a_hub_that_does_not_answer_is_told_from_a_model_that_is_not_there(tmp_path: Path) -> None:
    error = refused(TINY, tmp_path, NOWHERE)
    assert f"{REPOSITORY} was not downloaded before, and cannot be now" in error.message
    assert "refused" in error.message
    assert "pass a folder" in error.hint


def test_an_interrupted_download_is_not_taken_for_a_checkpoint(checkpoint: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoint) as hub:
        found = fetch(TINY, cache=tmp_path, endpoint=hub.endpoint)
    (found.folder / "model.safetensors").unlink()
    assert "was interrupted before" in refused(TINY, tmp_path, NOWHERE).message


def test_an_id_that_the_client_refuses_is_named(tmp_path: Path) -> None:
    assert "is no id of the hub" in refused(HubId("a/b."), tmp_path, NOWHERE).message
