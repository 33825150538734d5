"""Files of llama.cpp's builds that the tests of this folder share; the tests that need llama.cpp itself are peers'."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_eval.spark_backend.llama.convert import convert
from agent_eval.spark_backend.llama.mixture import MIXTURES

Gguf = Callable[[str], Path]


@pytest.fixture(scope="session")
def gguf(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Gguf:
    """Returns the file of a build of ``SMALL``, made when it is first asked for. Tests must not write to it."""
    folder = tmp_path_factory.mktemp("gguf")

    def made(build: str) -> Path:
        path = folder / f"{build}.gguf"
        if not path.exists():
            convert(checkpoint, MIXTURES[build], path)
        return path

    return made
