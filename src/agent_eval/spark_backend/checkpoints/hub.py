"""Checkpoints by their id on a model hub: an id to a folder of this machine, pinned to a commit. Opens no weights.

The hub's own client (``huggingface_hub``) downloads, keeps and finds again; its variables (``HF_HOME``, ``HF_TOKEN``,
``HF_HUB_OFFLINE``, ...) mean here what they mean everywhere. Only data is fetched: weights, JSON and the chat template,
never code.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from agent_eval.errors import CheckpointError, OperatorError

FETCHED = ("*.safetensors", "*.json", "*.jinja")
"""What is downloaded of a repository, from its top folder; ``auto_map`` code, pickles and pictures stay there."""

_HUB_ID = re.compile(
    r"(?P<repository>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>[A-Za-z0-9][\w./-]*))?", re.ASCII
)
_COMMIT = re.compile(r"[0-9a-f]{40}")


class HubId(NamedTuple):
    """A repository, at a revision."""

    repository: str
    """``OWNER/NAME``."""
    revision: str = "main"
    """Branch, tag or commit."""

    def __str__(self) -> str:
        return self.repository if self.revision == "main" else f"{self.repository}@{self.revision}"


class Snapshot(NamedTuple):
    """A repository's files at one commit, on this machine."""

    folder: Path
    commit: str
    """40 hexadecimal digits."""


def parse_hub_id(text: str) -> HubId | None:
    """Return the id that a text spells, ``OWNER/NAME`` or ``OWNER/NAME@REVISION``; None if it spells none."""
    match = _HUB_ID.fullmatch(text)
    if match is None or any(".." in part or "--" in part for part in match["repository"].split("/")):
        return None
    return HubId(match["repository"], match["revision"] or "main")


def fetch(model: HubId, *, cache: Path | None = None, endpoint: str | None = None) -> Snapshot:
    """Return the files of a checkpoint, downloading what this machine lacks.

    Without a network, what was downloaded before is found again.

    Args:
        model: The id.
        cache: Where downloads are kept; the client's own place if not given.
        endpoint: The hub's address; the client's own if not given.

    Raises:
        OperatorError: the client is not installed, or the hub does not answer.
        CheckpointError: there is no such repository or revision, it may not be read, or its download is incomplete.
    """
    try:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import (  # type: ignore[attr-defined]  # HTTPError: the network library's own
            GatedRepoError,
            HFValidationError,
            HTTPError,
            IncompleteSnapshotError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError:
        raise OperatorError(
            f"{str(model)!r} is the id of a model on a hub, and huggingface_hub is not installed, or too old",
            hint="pip install 'agent-eval[hub]', or pass a checkpoint folder",
        ) from None
    try:
        path = snapshot_download(
            model.repository,
            revision=model.revision,
            cache_dir=cache,
            endpoint=endpoint,
            allow_patterns=list(FETCHED),
            ignore_patterns=["*/*"],
        )
    except GatedRepoError:
        raise CheckpointError(
            f"the hub does not let this account read {model.repository}",
            hint="accept its terms on its page, then `hf auth login` or set HF_TOKEN",
        ) from None
    except RepositoryNotFoundError:
        raise CheckpointError(
            f"there is no model {model.repository!r} on the hub, and no folder of that name here",
            hint="check the spelling; for a private model `hf auth login` or set HF_TOKEN",
        ) from None
    except RevisionNotFoundError:
        raise CheckpointError(
            f"{model.repository} has no revision {model.revision!r}",
            hint="name a branch, a tag or a whole commit after the @, or leave it out",
        ) from None
    except HFValidationError as error:
        raise CheckpointError(f"{str(model)!r} is no id of the hub: {error}", hint="an id is OWNER/NAME") from None
    except IncompleteSnapshotError:
        raise CheckpointError(
            f"the download of {model} was interrupted before, and the hub does not answer now",
            hint="repeat the command when the network is there, or pass a checkpoint folder",
        ) from None
    except (OSError, HTTPError) as error:
        # OSError: no network and nothing kept (LocalEntryNotFoundError), a refusal of the hub, a disk without room
        raise OperatorError(
            f"{model} was not downloaded before, and cannot be now: {_reason(error)}",
            hint="HF_HUB_OFFLINE forbids the network"
            if constants.is_offline_mode()
            else "pass a folder that holds the checkpoint, or repeat the command when the hub answers",
        ) from None
    folder = Path(path)
    if not _COMMIT.fullmatch(folder.name):
        raise CheckpointError(
            f"{folder} is no snapshot of a commit", hint="empty the client's cache and repeat the command"
        )
    return Snapshot(folder, folder.name)


def _reason(error: Exception) -> str:
    cause = error.__cause__ or error
    return (str(cause).strip() or type(cause).__name__).splitlines()[0]
