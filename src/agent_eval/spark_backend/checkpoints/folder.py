"""The files of a checkpoint folder, and what a folder is that is none. Opens no weights.

A checkpoint is ``config.json``, ``model.safetensors`` (or shards beside ``model.safetensors.index.json``),
``tokenizer.json`` and ``chat_template.jinja``; optionally ``card.json`` with its name and kind. Weights are read from
safetensors only: unpickling a ``.bin`` or ``.pt`` file runs whatever code its author put there. Nothing that lies in a
folder is ever executed.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

from agent_eval.errors import CheckpointError

CONFIG_NAME = "config.json"
WEIGHTS_NAME = "model.safetensors"
INDEX_NAME = "model.safetensors.index.json"
TOKENIZER_NAME = "tokenizer.json"
TEMPLATE_NAME = "chat_template.jinja"
CARD_NAME = "card.json"
GGUF_NAME = "model.gguf"
"""Weights of a folder that `agent-eval build` wrote for q4_k_m; only llama.cpp's builds read them."""

WHAT_IT_HOLDS = (
    f"a checkpoint folder holds {CONFIG_NAME}, {WEIGHTS_NAME} (or shards), {TOKENIZER_NAME} and {TEMPLATE_NAME}"
)

MAX_JSON_BYTES = 64 * 2**20
"""Most bytes of a JSON file that describes a model; the largest known index has a few MiB."""

_ADAPTER_NAME = "adapter_config.json"  # written by peft
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def weight_files(folder: Path) -> list[Path]:
    """Return the weight files of a checkpoint folder; each is there.

    Raises:
        CheckpointError: there are none, a shard is missing, or the folder is something else.
    """
    single, index = folder / WEIGHTS_NAME, folder / INDEX_NAME
    if single.is_file():
        return [single]
    if not index.is_file():
        raise not_there(folder, f"{WEIGHTS_NAME} and no {INDEX_NAME}")
    named = read_json(index).get("weight_map")
    if not isinstance(named, dict) or not all(isinstance(name, str) for name in named.values()) or not named:
        raise CheckpointError(
            f"{index}: weight_map is {_shown(named)}, expected an object from tensor names to file names",
            hint="download the file again",
        )
    names = sorted(set(named.values()))
    for name in names:
        if not name.endswith(".safetensors") or PurePath(name).name != name or "\\" in name or "\0" in name:
            raise CheckpointError(
                f"{index} names the shard {name!r}, expected the name of a .safetensors file beside it",
                hint="download the file again; weights are read from the checkpoint's own folder only",
            )
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(
            f"{index} names the shard {missing[0]!r}, which is not in {folder} "
            f"({len(missing)} of {len(names)} are missing)",
            hint="download the missing shard" if len(missing) == 1 else "download the missing shards",
        )
    return [folder / name for name in names]


def not_there(folder: Path, names: str) -> CheckpointError:
    """Return the error for a folder in which something is missing: what the folder is instead, where that is known.

    Args:
        folder: The folder, or what was taken for one.
        names: What is missing, as it follows ``no``.
    """
    if folder.suffix == ".gguf" and folder.is_file():
        return _gguf(folder.name, folder)
    if not folder.is_dir():
        return CheckpointError(f"{folder} is no folder", hint=WHAT_IT_HOLDS)
    if (folder / _ADAPTER_NAME).is_file():
        base = _base_of_adapter(folder / _ADAPTER_NAME)
        return CheckpointError(
            f"{folder} is a LoRA adapter ({_ADAPTER_NAME}), expected a whole model",
            hint=f"merge it into its base model{base} (peft: merge_and_unload, then save_pretrained), and pass the "
            "merged folder",
        )
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles and not any(folder.glob("*.safetensors")):
        return CheckpointError(
            f"{folder} holds its weights as a pickle ({pickles[0]}), expected {WEIGHTS_NAME}; "
            "a pickle is never loaded, because reading it runs the code inside",
            hint="download the safetensors files of this checkpoint, or convert them where you trust the source",
        )
    ggufs = sorted(path.name for path in folder.glob("*.gguf"))
    if ggufs:
        return _gguf(ggufs[0], folder)
    inner = sorted(path.parent for path in folder.glob(f"*/{CONFIG_NAME}"))
    return CheckpointError(
        f"no {names} in {folder}", hint=f"pass the folder inside: {inner[0]}" if inner else WHAT_IT_HOLDS
    )


def _gguf(name: str, where: Path) -> CheckpointError:
    return CheckpointError(
        f"{where} holds its weights as GGUF ({name}), expected {WEIGHTS_NAME}",
        hint="pass the folder of the safetensors checkpoint; the build q4_k_m makes a GGUF of it by itself",
    )


def _base_of_adapter(path: Path) -> str:
    try:
        base = read_json(path).get("base_model_name_or_path")
    except CheckpointError:
        return ""
    return f", {base}," if isinstance(base, str) and 0 < len(base) <= 200 else ""


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises:
        CheckpointError: it cannot be read, or holds something else.
    """
    try:
        size = path.stat().st_size
        if size > MAX_JSON_BYTES:
            raise CheckpointError(
                f"{path} has {size} bytes, expected at most {MAX_JSON_BYTES}", hint="is this the right file?"
            )
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        # ValueError: no UTF-8, no JSON, or a number of thousands of digits; RecursionError: thousands of brackets
        raise CheckpointError(
            f"{path} cannot be read as JSON: {error}", hint="download the file again; it may be cut off"
        ) from None
    if not isinstance(data, dict):
        raise CheckpointError(
            f"{path} holds a {type(data).__name__}, expected a JSON object", hint="download the file again"
        )
    return data


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
