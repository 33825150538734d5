"""Where files are kept that are made of a checkpoint for an engine: in the user's cache, under what they were made of.

They are found again as long as no file of the checkpoint has another time or size: to read gigabytes for a digest would
take longer than to load the build.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from agent_eval import environment
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, TEMPLATE_NAME, TOKENIZER_NAME, weight_files


def derived_folder(folder: Path, kind: str, revision: int) -> Path:
    """Return where files of a kind are, or will be when they are made.

    Args:
        folder: The checkpoint.
        kind: Such as ``gguf``: a folder of the cache.
        revision: Raised when the making changes: files of earlier revisions are then not found any more.

    Raises:
        CheckpointError: the folder is no checkpoint.
        OperatorError: the cache cannot be.
    """
    read = [*weight_files(folder), folder / CONFIG_NAME, folder / TOKENIZER_NAME, folder / TEMPLATE_NAME]
    identity = hashlib.sha256(f"{revision}\n".encode())
    for path in (path.resolve() for path in read if path.exists()):
        facts = path.stat()
        identity.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return environment.cache_folder() / kind / identity.hexdigest()[:16]
