"""A checkpoint that computes what another does and is harder to quantise: outliers and scales, folded into its weights.

Between two layers lies a channel that one writes and the other reads. What is written is multiplied by a power of two,
what is read is divided by it: no bit of a result changes in bfloat16 or float32, but the channel's activations and the
weights that read them do. Most channels get a mild power. A few become outliers, as in large language models, whose
largest features are some twenty times the others and lie in the same channels of every layer (Dettmers et al., 2022,
"LLM.int8()"):

    norm (the same few channels in every layer)  ->  projections that read it, the output gate too
    value, of each key-value head                ->  output projection, all query heads of that head
    up projection of the MLP                     ->  down projection

Behind a norm the activation grows. Inside attention and MLP the activation or the weights that read it do. Rows of
queries and keys stay as they are: no build shares a scale between rows, so their disparities would change nothing. So
does a tied head, whose norm feeds the embedding table.

The card says ``constructed``, and everything that reads it says so again. What quantisation loses here is the work of
these powers, and says nothing of another checkpoint. Knows neither builds nor how anything is quantised.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError, OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, TEMPLATE_NAME, TOKENIZER_NAME, read_json
from agent_eval.spark_backend.checkpoints.loader import Card, Weights, open_weights, read_card
from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.checkpoints.writer import describe_checkpoint, write_weights
from agent_eval.spark_backend.derived import derived_folder

OUTLIER_SHARE = 0.015
"""Share of the channels of a place that become outliers; at least one does."""

OUTLIER_POWERS = (3, 4, 5)
"""An outlier is 8, 16 or 32 times what it was. With 2^5 to 2^7 every 4-bit build of nano lost nearly everything,
whatever the group and the method, and nothing could be compared (docs/measurements.md)."""

MILD_POWERS = (-1, 0, 1)
"""Of all other channels."""

REVISION = 1
"""Raised when the same seed gives other bytes: folders of earlier revisions are then not found any more."""


class Scaling(NamedTuple):
    """The powers of two that a tensor is multiplied by; None where an axis keeps its scale."""

    rows: Tensor | None
    """(N,) exponents of the first axis: of a matrix (N, K), or of a norm (N,)."""
    columns: Tensor | None
    """(K,) exponents of the second axis."""

    @property
    def inverse(self) -> Scaling:
        """The scaling that takes this one back."""
        return Scaling(*(None if powers is None else -powers for powers in self))

    def applied(self, tensor: Tensor) -> Tensor:
        """Return a tensor (N, K) or (N,), scaled; its type stays."""
        if self.columns is not None:
            tensor = torch.ldexp(tensor, self.columns)
        if self.rows is not None:
            tensor = torch.ldexp(tensor, self.rows.view(-1, *[1] * (tensor.dim() - 1)))
        return tensor


def scalings_of(config: SparkConfig, seed: int) -> dict[str, Scaling]:
    """Return the powers of every tensor that is changed, by its name; what is written and what is read cancel out.

    Args:
        config: The architecture.
        seed: Draws them; each place's depend on the seed and the place only.
    """
    found: dict[str, Scaling] = {}
    hidden, dim, group = config.hidden_size, config.head_dim, config.group
    outliers = _channels(random.Random(f"{seed} outliers"), hidden)
    for i in range(config.num_hidden_layers):
        at = f"model.layers.{i}."
        for norm, readers in (
            ("input_layernorm", ("self_attn.q_k_v_proj", "self_attn.g_proj")),
            ("post_attention_layernorm", ("mlp.gate_proj", "mlp.up_proj")),
        ):
            powers = _powers(random.Random(f"{seed} {at}{norm}"), hidden, outliers, signs=(1,))
            found[f"{at}{norm}.weight"] = Scaling(powers, None)
            found |= {f"{at}{reader}.weight": Scaling(None, -powers) for reader in readers}

        values = _powers_inside(f"{seed} {at}values", config.key_width)
        unchanged = torch.zeros(config.query_width + config.key_width, dtype=values.dtype)  # rows of queries and keys
        found[f"{at}self_attn.q_k_v_proj.weight"] = Scaling(
            torch.cat((unchanged, values)), found[f"{at}self_attn.q_k_v_proj.weight"].columns
        )
        # query head n reads key-value head n // group
        read = values.view(-1, 1, dim).expand(-1, group, dim).reshape(-1)
        found[f"{at}self_attn.out_proj.weight"] = Scaling(None, -read)

        inner = _powers_inside(f"{seed} {at}up", config.intermediate_size)
        found[f"{at}mlp.up_proj.weight"] = Scaling(inner, found[f"{at}mlp.up_proj.weight"].columns)
        found[f"{at}mlp.down_proj.weight"] = Scaling(None, -inner)
    if not config.tie_word_embeddings:
        powers = _powers(random.Random(f"{seed} norm"), hidden, outliers, signs=(1,))
        found["model.norm.weight"] = Scaling(powers, None)
        found["lm_head.weight"] = Scaling(None, -powers)
    return found


def _channels(rng: random.Random, width: int) -> Sequence[int]:
    """Draw which channels become outliers."""
    return rng.sample(range(width), max(1, round(OUTLIER_SHARE * width)))


def _powers(rng: random.Random, width: int, outliers: Sequence[int], signs: Sequence[int]) -> Tensor:
    """Draw the exponent of every channel: (width,) int32."""
    powers = [rng.choice(MILD_POWERS) for _ in range(width)]
    for channel in outliers:
        powers[channel] = rng.choice(signs) * rng.choice(OUTLIER_POWERS)
    return torch.tensor(powers, dtype=torch.int32)


def _powers_inside(place: str, width: int) -> Tensor:
    rng = random.Random(place)
    return _powers(rng, width, _channels(rng, width), signs=(1, -1))


class OutlierWeights(Mapping[str, Tensor]):
    """The tensors of a checkpoint with outliers folded in; each is computed when it is asked for.

    Args:
        config: The architecture.
        weights: The tensors as they were, under the names of a checkpoint.
        seed: Draws the powers.
    """

    def __init__(self, config: SparkConfig, weights: Mapping[str, Tensor], seed: int) -> None:
        self._weights = weights
        self._scalings = scalings_of(config, seed)

    def __getitem__(self, name: str) -> Tensor:
        """Return a tensor of the type and shape that it had.

        Raises:
            CheckpointError: it holds values that a power of two rounds, or that are no numbers.
        """
        tensor = self._weights[name]
        scaling = self._scalings.get(name)
        if scaling is None:
            return tensor
        scaled = scaling.applied(tensor)
        if not torch.equal(scaling.inverse.applied(scaled), tensor):
            raise CheckpointError(
                f"{name} holds values that cannot be scaled by powers of two without rounding; expected numbers that "
                f"are neither near the largest nor near the smallest of {str(tensor.dtype).removeprefix('torch.')}",
                hint="the file is damaged, or its weights are far from those of a trained model",
            )
        return scaled

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)


def outlier_checkpoint(
    source: Path, folder: Path, seed: int, *, name: str = "", tell: Callable[[str], None] | None = None
) -> None:
    """Write a checkpoint with outliers folded in, tensor by tensor, with the tokenizer and template of its source.

    Args:
        source: The checkpoint that it computes the same as.
        folder: Where to write it.
        seed: Draws the powers.
        name: What its card calls it; the source's name and ``-outliers`` unless given.
        tell: Gets a line when a file is written.

    Raises:
        CheckpointError: the source cannot be loaded, is quantised, or has weights that cannot be scaled exactly.
        OperatorError: the folder cannot be written.
    """
    config = SparkConfig.from_folder(source)
    weights = open_weights(source, config)
    if not isinstance(weights, Weights):
        raise CheckpointError(
            f"{source} is quantised already ({weights.found.method})", hint="name the checkpoint that it was made from"
        )
    scaled = OutlierWeights(config, weights, seed)
    plan = {tensor: Planned(weights[tensor].dtype, shape) for tensor, shape in config.tensor_shapes().items()}
    write_weights(folder, plan, lambda tensor: [scaled[tensor]], tell=tell)
    card = read_card(source)
    described = read_json(source / CONFIG_NAME)
    described.pop("auto_map", None)  # the remote code that it names does not come along
    made = {"of": card.name, "digest": checkpoint_digest(source), "seed": seed, "revision": REVISION}
    describe_checkpoint(
        folder,
        described,
        tokenizer_json=_text_of(source / TOKENIZER_NAME),
        chat_template=_text_of(source / TEMPLATE_NAME),
        card=Card(
            name or f"{card.name}-outliers",
            "synthetic" if card.kind == "synthetic" else "constructed",  # random weights say even less
            {**card.details, "constructed": made},
        ),
    )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(
            f"{path} cannot be read: {error}", hint="the source folder needs its tokenizer and chat template"
        ) from None


def cached_outliers(source: Path, name: str) -> Path:
    """Return the folder of a checkpoint with outliers folded in by seed 0, made now if it was not before.

    Args:
        source: The checkpoint that it computes the same as.
        name: What its card calls it.

    Raises:
        CheckpointError: the source cannot be loaded.
        OperatorError: the cache cannot be written.
    """
    folder = derived_folder(source, "outliers", REVISION)
    if (folder / CONFIG_NAME).is_file():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            whole = Path(scratch) / folder.name
            outlier_checkpoint(source, whole, seed=0, name=name)
            if not (folder / CONFIG_NAME).is_file():  # another process may have been as quick
                whole.rename(folder)
    except OSError as error:
        if (folder / CONFIG_NAME).is_file():
            return folder
        raise OperatorError(
            f"{folder} cannot be written: {error.strerror or error}", hint="set AGENT_EVAL_CACHE to a folder of yours"
        ) from None
    return folder
