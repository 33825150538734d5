"""Other implementations of the architecture, each in an environment of its own: found by path, asked by a file.

A request is a JSON object; the driver of a peer reads it in the peer's environment and writes its answer as an npz, for
``python DRIVER_driver.py [OPTION] FOLDER REQUEST...`` from ``FOLDER/REQUEST.json`` to ``FOLDER/REQUEST.npz``.

``folder``, ``dtype``
    The checkpoint, and ``float32`` or ``bfloat16``.
``prompts``, ``new_tokens``
    Token ids, each prompt for itself, and how far to continue it greedily.
``read``
    Prompts whose own rows are wanted.
``together``
    Prompts of one length, computed in one pass.
``rotary``
    Bases and rotated widths of rotary embeddings.

Prompt ``i`` is answered by ``greedy_i`` (new_tokens,) and by ``steps_i`` (new_tokens, V), the log-probabilities that
each of these was chosen by; ``again_i`` is what a peer repeats from a cache of prefixes of its own. ``whole_i`` (T, V)
has the log-probabilities after every token of what is read. ``together_i`` is the last row (V,) or the continuation
(new_tokens,) of what was computed together, as the peer has it. ``frequencies_i`` (rotated / 2,) is what it multiplies
positions by, if it does not compute that as torch does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.peers.parity.cases import Tokens

Answer = dict[str, NDArray[np.float32]]

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Request:
    """What a peer is asked; see the module."""

    folder: str
    dtype: str
    prompts: tuple[Tokens, ...]
    new_tokens: int
    read: tuple[Tokens, ...]
    together: tuple[Tokens, ...]
    rotary: list[tuple[float, int]]


@dataclass(frozen=True)
class Peer:
    """One other implementation."""

    name: str
    driver: str
    """Names its environment, which lies beside this one, and the program that runs in it."""
    package: str
    """A package without which that environment is not the whole one."""
    limit_s: int
    """Seconds after which its answers are given up; several times what a busy machine takes."""
    options: tuple[str, ...] = ()
    """What the driver is told before the folder."""

    @property
    def environment(self) -> Path:
        """Where the peer is installed."""
        own = Path(sys.prefix)
        return own.with_name(f"{own.name}-{self.driver}")

    @property
    def installed(self) -> bool:
        """Whether it can be asked."""
        return any(self.environment.glob(f"lib/python*/site-packages/{self.package}"))

    def require(self) -> None:
        """Skip the test, and say how to run it, where the peer is not installed."""
        if not self.installed:
            pytest.skip(f"{self.name} is not installed beside {sys.prefix}: make parity-{self.driver}")

    def ask(self, requests: Mapping[str, Request], folder: Path) -> dict[str, Answer]:
        """Have one process of the peer answer requests, through files of their names."""
        folder.mkdir()
        for name, request in requests.items():
            (folder / f"{name}.json").write_text(json.dumps(asdict(request)), encoding="utf-8")
        done = subprocess.run(
            [self.environment / "bin" / "python", HERE / f"{self.driver}_driver.py", *self.options, folder, *requests],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.limit_s,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return {name: _loaded(folder / f"{name}.npz") for name in requests}


def _loaded(file: Path) -> Answer:
    with np.load(file) as arrays:
        return dict(arrays)


PEERS = {
    peer.name: peer
    for peer in (
        Peer("mlx", driver="mlx", package="mlx_lm", limit_s=600),
        Peer("vllm", driver="vllm", package="vllm_spark2_5_plugin", limit_s=600, options=("authors",)),
        Peer("own-in-vllm", driver="vllm", package="vllm", limit_s=600, options=("own",)),
    )
}
