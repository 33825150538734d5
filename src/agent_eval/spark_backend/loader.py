"""Checkpoint folders: what is in one, reading it with every tensor checked, writing it. Knows no model code.

A folder holds ``config.json``, ``model.safetensors`` (or shards beside ``model.safetensors.index.json``),
``tokenizer.json`` and ``chat_template.jinja``; optionally ``card.json`` with the checkpoint's name and kind. Weights
are read from safetensors only: unpickling a ``.bin`` or ``.pt`` file runs whatever code its author put there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.chat import TEMPLATE_NAME
from agent_eval.spark_backend.config import CONFIG_NAME, SparkConfig
from agent_eval.spark_backend.tokenizer import TOKENIZER_NAME

WEIGHTS_NAME = "model.safetensors"
INDEX_NAME = "model.safetensors.index.json"
CARD_NAME = "card.json"

CheckpointKind = Literal["embedded", "published", "synthetic"]

_DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32}
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class Card:
    """What a checkpoint says about itself."""

    name: str
    kind: CheckpointKind = "published"
    details: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else ``card.json`` holds, such as a training manifest."""


def read_card(folder: Path) -> Card:
    """Return the card of a checkpoint folder; one without a card counts as published under the folder's name.

    Raises:
        CheckpointError: the card cannot be read, or its kind is unknown.
    """
    path = folder / CARD_NAME
    if not path.exists():
        return Card(name=folder.resolve().name)
    data = _read_json(path)
    kind = data.pop("kind", "published")
    if kind not in get_args(CheckpointKind):
        raise CheckpointError(
            f"{path}: kind is {kind!r}, expected one of: {', '.join(get_args(CheckpointKind))}",
            hint="correct the card or remove it; without a card a checkpoint counts as published",
        )
    return Card(name=str(data.pop("name", folder.resolve().name)), kind=kind, details=data)


def checkpoint_kind(folder: Path) -> CheckpointKind:
    """Return the kind that a checkpoint's card states, ``published`` without a card."""
    return read_card(folder).kind


class Weights(Mapping[str, Tensor]):
    """The tensors of a checkpoint, checked against its config when opened, read when asked for."""

    def __init__(self, folder: Path, config: SparkConfig) -> None:
        self._files = _weight_files(folder)
        self._where = _check_tensors(self._files, config)

    def __getitem__(self, name: str) -> Tensor:
        path = self._where[name]
        try:
            with safe_open(path, framework="pt") as file:
                return file.get_tensor(name)  # type: ignore[no-any-return]
        except (SafetensorError, OSError) as error:
            raise _unreadable(path, error) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)


def checkpoint_digest(folder: Path) -> str:
    """Return the SHA-256 over config, weights, tokenizer and template: equal digests, equal behaviour.

    Raises:
        CheckpointError: one of the files is missing.
    """
    paths = [folder / CONFIG_NAME, folder / TOKENIZER_NAME, folder / TEMPLATE_NAME]
    if (folder / INDEX_NAME).exists():
        paths.append(folder / INDEX_NAME)
    digest = hashlib.sha256()
    for path in sorted({*paths, *_weight_files(folder)}):
        try:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror}", hint=_WHAT_A_FOLDER_HOLDS) from None
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()


def save_checkpoint(
    folder: Path,
    config: SparkConfig,
    state: Mapping[str, Tensor],
    *,
    tokenizer_json: str,
    chat_template: str,
    card: Card | None = None,
    dtype: torch.dtype = torch.bfloat16,
) -> None:
    """Write a checkpoint folder.

    Args:
        folder: Made if it is not there; files of the same names are replaced.
        config: The architecture.
        state: Tensors under checkpoint names, such as ``Spark.checkpoint_state()`` returns.
        tokenizer_json: Contents of ``tokenizer.json``.
        chat_template: Contents of ``chat_template.jinja``.
        card: Contents of ``card.json``; none is written without it.
        dtype: Type that the weights are stored in.

    Raises:
        CheckpointError: the tensors are not those of the config.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    _check_shapes(shapes, config, "the state to save")
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: state[name].detach().to("cpu", dtype).contiguous().clone() for name in config.tensor_shapes()}
    save_file(tensors, folder / WEIGHTS_NAME, metadata={"format": "pt"})
    _write_json(folder / CONFIG_NAME, config.to_dict())
    (folder / TOKENIZER_NAME).write_text(tokenizer_json, encoding="utf-8")
    (folder / TEMPLATE_NAME).write_text(chat_template, encoding="utf-8")
    if card is not None:
        _write_json(folder / CARD_NAME, {"name": card.name, "kind": card.kind, **card.details})


SYNTHETIC_TEMPLATE = """\
{%- for message in messages %}
{{- '<|start|>' + message.role + ' ' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>' + call.function.name + (call.function.arguments | tojson) + '</tool_call>' }}
{%- endfor %}
{{- '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant ' + ('<think>' if enable_thinking else '</think>') }}{%- endif %}
"""


def synthetic_checkpoint(folder: Path, config: SparkConfig, seed: int, dtype: torch.dtype = torch.bfloat16) -> None:
    """Write a complete checkpoint with random weights and a tokenizer of bytes: for tests and for measuring speed.

    Args:
        folder: Where to write it.
        config: The architecture; its vocabulary must have room for 256 bytes and eight special tokens.
        seed: Draws the weights.
        dtype: Type that the weights are stored in.
    """
    from agent_eval.spark_backend.model import initial_weights

    specials = ["<|start|>", "<|end|>", "<pad>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<unk>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    room = len(specials) + len(alphabet)
    if config.vocab_size < room:
        raise CheckpointError(
            f"a synthetic checkpoint needs a vocabulary of at least {room} tokens, got vocab_size={config.vocab_size}",
            hint="raise vocab_size",
        )
    tokens = [*specials, *alphabet, *(f"<unused{i}>" for i in range(config.vocab_size - room))]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in specials])
    generator = torch.Generator().manual_seed(seed)
    save_checkpoint(
        folder,
        config,
        initial_weights(config, generator),
        tokenizer_json=tokenizer.to_str(),
        chat_template=SYNTHETIC_TEMPLATE,
        card=Card(name=folder.name, kind="synthetic", details={"seed": seed}),
        dtype=dtype,
    )


_WHAT_A_FOLDER_HOLDS = (
    f"a checkpoint folder holds {CONFIG_NAME}, {WEIGHTS_NAME} (or shards), {TOKENIZER_NAME} and {TEMPLATE_NAME}"
)


def _weight_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is no folder", hint=_WHAT_A_FOLDER_HOLDS)
    single, index = folder / WEIGHTS_NAME, folder / INDEX_NAME
    if single.exists():
        return [single]
    if index.exists():
        named = _read_json(index).get("weight_map")
        if not isinstance(named, dict) or not all(isinstance(name, str) for name in named.values()) or not named:
            raise CheckpointError(
                f"{index}: weight_map is {named!r}, expected an object from tensor names to file names",
                hint="download the file again",
            )
        shards = [folder / name for name in sorted(set(named.values()))]
        for shard in shards:
            if shard.parent != folder or not shard.exists():
                raise CheckpointError(
                    f"{index} names the shard {shard.name!r}, which is not in {folder}",
                    hint="download the missing shard",
                )
        return shards
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise CheckpointError(
            f"{folder} holds its weights as a pickle ({pickles[0]}), expected {WEIGHTS_NAME}; "
            "a pickle is never loaded, because reading it runs the code inside",
            hint="download the safetensors files of this checkpoint, or convert them where you trust the source",
        )
    raise CheckpointError(f"no {WEIGHTS_NAME} and no {INDEX_NAME} in {folder}", hint=_WHAT_A_FOLDER_HOLDS)


def _check_tensors(files: list[Path], config: SparkConfig) -> dict[str, Path]:
    where: dict[str, Path] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    with ExitStack() as stack:
        for path in files:
            try:
                file = stack.enter_context(safe_open(path, framework="pt"))
                for name in file.keys():  # noqa: SIM118  a safetensors file is no mapping
                    if name.startswith("lm_head.") and config.tie_word_embeddings:
                        continue  # some exporters store the tied head a second time; the embedding decides
                    part = file.get_slice(name)
                    if part.get_dtype() not in _DTYPES:
                        raise CheckpointError(
                            f"tensor {name} in {path.name} is of type {part.get_dtype()}, "
                            f"expected one of: {', '.join(_DTYPES)}",
                            hint="pass the unquantised checkpoint; the builds quantise it themselves",
                        )
                    where[name] = path
                    shapes[name] = tuple(part.get_shape())
            except (SafetensorError, OSError) as error:
                raise _unreadable(path, error) from None
    _check_shapes(shapes, config, ", ".join(path.name for path in files))
    return where


def _check_shapes(found: Mapping[str, tuple[int, ...]], config: SparkConfig, where: str) -> None:
    expected = config.tensor_shapes()
    for name, shape in expected.items():
        if name not in found:
            raise CheckpointError(
                f"tensor {name} is missing from {where}, expected shape {list(shape)}",
                hint="download every weight file; config.json and the weights must be of one checkpoint",
            )
        if found[name] != shape:
            raise CheckpointError(
                f"tensor {name} in {where} has shape {list(found[name])}, expected {list(shape)}",
                hint="config.json and the weights must be of one checkpoint",
            )
    extra = sorted(name for name in found if name not in expected)
    if extra:
        raise CheckpointError(
            f"tensor {extra[0]} in {where} is not part of this architecture ({len(extra)} such), expected "
            f"{len(expected)} tensors",
            hint="config.json and the weights must be of one checkpoint; num_hidden_layers may be too low",
        )


def _unreadable(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"{path} cannot be read as safetensors: {error}",
        hint="the file is cut off or damaged; download it again and compare its size",
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}", hint="download the file again") from None
    if not isinstance(data, dict):
        raise CheckpointError(f"{path} holds a {type(data).__name__}, expected a JSON object", hint="download it again")
    return data


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
