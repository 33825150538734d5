"""What a build quantises, and what it weighs: told without loading it. Knows names and numbers, no tensors."""

from __future__ import annotations

from dataclasses import dataclass

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.quant.name import BuildName, DenseName

DENSE = 16
"""Weights of so many bits or more are not quantised."""

_GATE = "self_attn.g_proj.weight"
_EMBEDDING = "model.embedding.weight"


@dataclass(frozen=True)
class Stored:
    """How a run of weights lies in memory."""

    bits: int
    """Of a weight as the build's name says it; 16 and 32 are not quantised."""
    bits_per_weight: float
    """In memory, with scales and zeros: codes of 2 and 3 bits lie in 4."""

    def __str__(self) -> str:
        """Say it in a word."""
        return {16: "bfloat16", 32: "float32"}.get(self.bits, f"{self.bits}-bit")


BFLOAT16, FLOAT32 = Stored(16, 16.0), Stored(32, 32.0)


def grouped(bits: int, group: int, *, symmetric: bool) -> Stored:
    """Return how weights in groups lie in memory: one bfloat16 scale a group, and one zero where they have one."""
    return Stored(bits, (8 if bits == 8 else 4) + (16 if symmetric else 32) / group)


@dataclass(frozen=True)
class BuildDescription:
    """What a build is, for manifests and reports."""

    name: str
    layers: Stored
    """The projections of attention and MLP."""
    head: Stored
    embedding: Stored
    form: str
    """``symmetric`` or ``asymmetric``; empty where nothing is quantised."""
    group: int | None
    """Weights to a scale; None where nothing is quantised."""
    activations: str
    origin: str
    """Where the codes come from: the rounding, or the format of the folder; empty where nothing is quantised."""
    kernels: str
    """What computes."""
    size_bytes: int
    """All weights in memory, those that lie mapped in a file included."""
    head_cost: str = ""
    """Where the head trap is: what the head takes of every token on this machine, measured."""
    remarks: tuple[str, ...] = ()
    """What else the folder's author did that a reader must know."""

    @property
    def quantised(self) -> bool:
        """Whether anything is."""
        return self.layers.bits < DENSE

    @property
    def head_trap(self) -> bool:
        """The layers are quantised and the head is not: the largest matrix of the model is read in full every token."""
        return self.quantised and self.head.bits >= DENSE

    @property
    def bits_per_weight(self) -> float:
        """Bits in memory by weight of the projections, scales and zeros included."""
        return self.layers.bits_per_weight

    @property
    def notes(self) -> str:
        """All of it as a line for the record."""
        if not self.quantised:
            parts = [f"nothing quantised, weights and activations {self.layers}"]
        else:
            rounded = [
                "projections",
                *(["head"] if self.head == self.layers else []),
                *(["embedding"] if self.embedding == self.layers else []),
            ]
            kept = ["gate", "norms", *(["embedding"] if self.embedding.bits >= DENSE else [])]
            parts = [
                f"{_listed(rounded)} {self.layers}, {self.form}, groups of {self.group} "
                f"({self.bits_per_weight:g} bits a weight)",
                self.origin,
                f"{_listed(kept)} not quantised",
                f"activations {self.activations}",
            ]
        if self.head_trap:
            parts.append(f"HEAD TRAP: the head is {self.head}" + (f", {self.head_cost}" if self.head_cost else ""))
        parts.append(size(self.size_bytes))
        parts.append(self.kernels)
        return "; ".join((*parts, *self.remarks))


def size(count: int) -> str:
    """Return a number of bytes as a person reads it: megabytes below a gigabyte."""
    return f"{count / 1e9:.3g} GB" if count >= 1e9 else f"{count / 1e6:.3g} MB"


def describe(
    config: SparkConfig,
    name: BuildName,
    *,
    group: int | None,
    origin: str,
    kernels: str,
    embedding: Stored | None = None,
    head: Stored | None = None,
    remarks: tuple[str, ...] = (),
    head_cost: str = "",
) -> BuildDescription:
    """Return the description of a build.

    Args:
        config: The architecture.
        name: The build.
        group: Weights to a scale, once it is decided.
        origin: Where the codes come from.
        kernels: What computes.
        embedding: How the embedding table is stored, if not in bfloat16.
        head: How the head is stored, if not like the layers.
        remarks: What else a reader must know.
        head_cost: What a head that is not quantised costs.
    """
    if isinstance(name, DenseName):
        layers = BFLOAT16 if name.dtype == "bf16" else FLOAT32
        form, activations = "", str(layers)
    else:
        assert group is not None
        layers = grouped(name.bits, group, symmetric=name.symmetric)
        form = "symmetric" if name.symmetric else "asymmetric"
        activations = "8-bit per token, symmetric" if name.activation == 8 else "bfloat16"
    embedding = embedding or (layers if isinstance(name, DenseName) else BFLOAT16)
    head = head or layers
    bits = 0.0
    for tensor, shape in config.tensor_shapes().items():
        if tensor == _EMBEDDING:
            bits += embedding.bits_per_weight * shape[0] * shape[1]
        elif tensor == "lm_head.weight":
            bits += head.bits_per_weight * shape[0] * shape[1]
        elif len(shape) == 1 or tensor.endswith(_GATE):
            rows = shape[0] * (shape[1] if len(shape) == 2 else 1)
            bits += 32 * rows  # held in float32: nothing is slower for it
        else:
            bits += layers.bits_per_weight * shape[0] * shape[1]
    if config.tie_word_embeddings and head != embedding:  # the head is a matrix of its own
        bits += head.bits_per_weight * config.vocab_size * config.hidden_size
    return BuildDescription(
        name=str(name),
        layers=layers,
        head=head,
        embedding=embedding,
        form=form,
        group=group,
        activations=activations,
        origin=origin,
        kernels=kernels,
        size_bytes=round(bits / 8),
        head_cost=head_cost,
        remarks=remarks,
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
