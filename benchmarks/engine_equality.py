"""Whether torch and vLLM say the same of the same prompts, and why not where they do not.

    python -m benchmarks.engine_equality --model nano --builds fp32,bf16 --episodes 16 --tokens 64

Needs vLLM's environment (`make vllm`), and runs at the root of a checkout, whose tests hold the twin that it measures
by. Prompts are the oracle's conversations on the project's tasks, as the checkpoint's template has them, and some of
random tokens. Each build is continued greedily by both engines. Of every first token at which they part it prints the
exact gap and what rounding alone moves logits by there; it ends with 1 if rounding does not explain one of them, or
not what an engine is off by over all tokens.

Then, for bf16, it attributes: how far each engine is from exact arithmetic, from the other engine, and from a twin that
rounds where it does, by layer and in the logits; and by place, what rounding there alone does to the logits, and how
much farther from an engine its twin is with that place turned round.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import torch
from torch import Tensor

from agent_eval import wiring
from agent_eval.spark_backend import launcher
from agent_eval.spark_backend.builds import compiled_kernels, load_build
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.quant.dense import has_bf16_units
from agent_eval.spark_backend.spark import stop_tokens
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.spark_backend.torch_engine import TorchEngine
from tests.spark_backend.vllm.divergence import (
    Divergence,
    Errors,
    Side,
    divergence,
    error,
    errors,
    first_difference,
    relative,
    root_mean_square,
)
from tests.spark_backend.vllm.rounding import EXACT, PLACES, VLLM, RoundingTwin, Rounds, torch_rounds
from tests.spark_backend.vllm.watched import (
    Episode,
    HasModel,
    episodes,
    random_prompts,
    streams_of_torch,
    streams_of_vllm,
    watch_torch,
    watch_vllm,
    weights_of,
)

ATTRIBUTED_TOKENS = 600
"""Of each prompt that is attributed: more than a window of the embedded model, and each is computed forty times."""

DENSE = {"fp32": "float32", "bf16": "bfloat16"}


@dataclass(frozen=True)
class Pair:
    """One build in both engines, and what explains them."""

    build: str
    torch: TorchEngine
    vllm: HasModel
    twin: RoundingTwin
    rounds: tuple[Rounds, Rounds]
    """Of torch and of vLLM."""


class Rows(NamedTuple):
    """The logits of one text in four ways, (tokens, V) each."""

    torch: Tensor
    vllm: Tensor
    twins: tuple[Tensor, Tensor]
    """Of torch and of vLLM."""
    exact: Tensor


@dataclass(frozen=True)
class Compared:
    """One prompt in both engines."""

    prompt: tuple[int, ...]
    ids: tuple[int, ...]
    """What torch said."""
    at: int | None
    """Where they part."""
    rows: Rows
    """Up to there, that token included."""

    @property
    def why(self) -> Divergence | None:
        """What there is to say of the token at which they part."""
        if self.at is None:
            return None
        mine, theirs = (twin[self.at] for twin in self.rows.twins)
        one, other = Side(self.rows.torch[self.at], mine), Side(self.rows.vllm[self.at], theirs)
        return divergence(self.rows.exact[self.at], one, other)

    def same_turn(self, stop: frozenset[int]) -> bool:
        """Whether they are the same up to where the turn ends."""
        end = next((at for at, token in enumerate(self.ids) if token in stop), len(self.ids))
        return self.at is None or self.at > end


def opened(folder: Path, build: str, context: int) -> Pair:
    """Load a build in both engines, each with one thread."""
    own = load_build(folder, build, threads=1, context=context).engine
    exact = build == "fp32"
    twin = RoundingTwin(
        own.model.config,
        weights_of(own.model),
        arithmetic=torch.float64 if exact else torch.float32,
        whole_inputs=build.startswith("w") and "a8" in build,
    )
    compiled = compiled_kernels() is not None
    # what the compiled kernels give is float32; torch's product, which serves the prompts of dense weights, rounds
    ours = torch_rounds(compiled=compiled, native=has_bf16_units() and build in DENSE)
    return Pair(build, own, vllm_engine(folder, build, context), twin, (EXACT, EXACT) if exact else (ours, VLLM))


def vllm_engine(folder: Path, build: str, context: int) -> HasModel:
    """Load a build in vLLM."""
    from agent_eval.spark_backend.vllm.engine import VllmEngine

    if build in DENSE:
        return VllmEngine(folder, dtype=DENSE[build], threads=1, context=context)  # type: ignore[arg-type]
    from agent_eval.spark_backend.families import EngineChoice, family_of

    family = family_of(build, EngineChoice("vllm"))
    family.prepare(folder, build, threads=1, tell=print)
    engine = family.open(folder, build, threads=1, context=context).engine
    assert isinstance(engine, VllmEngine)
    return engine


def compared(pair: Pair, episode: Episode, tokens: int) -> Iterator[Compared]:
    """Continue the prompts of an episode in both engines."""
    pair.torch.begin(episode.prefix)
    pair.vllm.begin(episode.prefix)
    for prompt in episode.prompts:
        one, other = watch_torch(pair.torch, prompt, tokens), watch_vllm(pair.vllm, prompt, tokens)
        at = first_difference(one.ids, other.ids)
        same = len(one.ids) if at is None else at + 1
        text, first = prompt + one.ids[: same - 1], len(prompt) - 1
        exact, mine, theirs = (
            pair.twin.compute(text, rounds, prompt=len(prompt)).logits[first:] for rounds in (EXACT, *pair.rounds)
        )
        yield Compared(prompt, one.ids, at, Rows(one.logits[:same], other.logits[:same], (mine, theirs), exact))


# ----------------------------------------------------------------------------------------------------------------------
# tables


def table(build: str, found: Sequence[Compared], stop: frozenset[int]) -> list[str]:
    """Return the lines that say how equal the engines are."""
    parted = [(one, one.why) for one in found if one.why is not None]
    gaps = [why.gap for _, why in parted]
    lengths = [len(one.prompt) for one in found]
    lines = [
        f"{build}: {len(found)} prompts of {min(lengths)} to {max(lengths)} tokens, "
        f"{sum(len(one.rows.exact) for one in found)} tokens compared",
        f"  {len(found) - len(parted)} prompts equal, {sum(one.same_turn(stop) for one in found)} up to the end of "
        f"the turn; {len(parted)} first divergences, exact gap median {median(gaps or [0]):.4f}, largest "
        f"{max(gaps, default=0):.4f} nats; {sum(not why.explained for _, why in parted)} unexplained; in "
        f"{sum(why.parts[1].gap == 0 for _, why in parted)} both tokens have one and the same logit in vLLM",
    ]
    for name, of in zip(("torch", "vLLM"), errors_of(found), strict=True):
        lines.append(f"  {name} is off by {of.found:.3g} nats, its twin by {of.expected:.3g}")
    if parted:
        lines.append("  prompt  token  exact gap  gap of torch, vLLM   error of torch (twin)   error of vLLM (twin)")
    for one, why in parted:
        mine, theirs = why.parts
        lines.append(
            f"  {len(one.prompt):6}  {one.at:5}  {why.gap:9.4f}   {mine.gap:.4f}  {theirs.gap:.4f}        "
            f"{mine.error:.4f} ({mine.expected:.4f})        {theirs.error:.4f} ({theirs.expected:.4f})"
            f"{'' if why.explained else '  UNEXPLAINED'}"
        )
    return lines


def errors_of(found: Sequence[Compared]) -> tuple[Errors, Errors]:
    """Return what torch and vLLM are off by, beside their twins."""
    exact, (mine, theirs) = [one.rows.exact for one in found], zip(*(one.rows.twins for one in found), strict=True)
    ours = errors([one.rows.torch for one in found], mine, exact)
    return ours, errors([one.rows.vllm for one in found], theirs, exact)


def sound(build: str, found: Sequence[Compared]) -> bool:
    """Tell whether all that differs is explained: in float32 nothing may."""
    explained = all(one.why is None or one.why.explained for one in found)
    return explained and (build == "fp32" or all(of.usual for of in errors_of(found)))


def layers(pair: Pair, prompts: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the lines that say, layer by layer, how far the residual streams are apart, in percent of them."""
    ours, theirs = pair.rounds
    found: list[list[list[float]]] = []
    for prompt in prompts:
        exact, like_ours, like_theirs = (pair.twin.compute(prompt, rounds).streams for rounds in (EXACT, ours, theirs))
        mine, vllms = streams_of_torch(pair.torch, prompt), streams_of_vllm(pair.vllm, prompt)
        pairs = [(mine, exact), (vllms, exact), (mine, vllms), (mine, like_ours), (vllms, like_theirs)]
        found.append([[100 * relative(a, b) for a, b in zip(one, other, strict=True)] for one, other in pairs])
    lines = ["  layer  torch-exact  vLLM-exact  torch-vLLM  torch-its twin  vLLM-its twin   (% of the stream, prompts)"]
    for layer in range(len(found[0][0])):
        means = [mean([of_prompt[column][layer] for of_prompt in found]) for column in range(5)]
        lines.append(f"  {layer + 1:5}  " + "  ".join(f"{value:11.3f}" for value in means))
    return lines


def logits(found: Sequence[Compared]) -> list[str]:
    """Return the lines that say how far apart logits are that torch, vLLM and their twins have for one text."""

    def apart(pick: Callable[[Rows], tuple[Tensor, Tensor]]) -> float:
        every = [(*pick(one.rows), one.rows.exact) for one in found]
        return root_mean_square([error(x - y + z, z) for rows in every for x, y, z in zip(*rows, strict=True)])

    whole = [(one.rows.vllm == one.rows.vllm.bfloat16()).float().mean() for one in found]
    return [
        "  a difference of contenders' logits differs, root mean square in nats: "
        f"torch and vLLM {apart(lambda rows: (rows.torch, rows.vllm)):.4f}, "
        f"torch and its twin {apart(lambda rows: (rows.torch, rows.twins[0])):.4f}, "
        f"vLLM and its twin {apart(lambda rows: (rows.vllm, rows.twins[1])):.4f}, "
        f"the twins {apart(lambda rows: rows.twins):.4f}",
        f"  {100 * float(torch.stack(whole).mean()):.1f} % of vLLM's logits are numbers of bfloat16",
    ]


def places(pair: Pair, prompts: Sequence[tuple[int, ...]]) -> list[str]:
    """Return the lines that say, place by place, what rounding there makes of the exact logits and of the distances.

    Distances are after the first two layers: in later ones, numbers that fell to the other side of a rounding drown
    everything.
    """
    ours, theirs = pair.rounds
    mine = [streams_of_torch(pair.torch, prompt)[:2] for prompt in prompts]
    vllms = [streams_of_vllm(pair.vllm, prompt)[:2] for prompt in prompts]
    exact = [pair.twin.compute(prompt).logits[-1] for prompt in prompts]

    def distance(streams: Sequence[Sequence[Tensor]], rounds: Rounds) -> str:
        every = [pair.twin.compute(prompt, rounds).streams for prompt in prompts]
        return "  ".join(
            f"{mean([100 * relative(a[at], b[at]) for a, b in zip(streams, every, strict=True)]):7.3f}"
            for at in range(min(2, len(every[0])))
        )

    def alone(rounds: Rounds) -> float:
        rounded = [pair.twin.compute(prompt, rounds).logits[-1] for prompt in prompts]
        return root_mean_square([error(a, b) for a, b in zip(rounded, exact, strict=True)])

    lines = [
        "  place    alone: off by, nats   vLLM from its twin without, % after layers 1, 2   torch from its twin with",
        f"  {'-':8} {'':18}    {distance(vllms, theirs):>24} {distance(mine, ours):>40}",
    ]
    for place in PLACES:
        without = distance(vllms, {name: when for name, when in theirs.items() if name != place})
        added = "has it" if place in ours else distance(mine, {**ours, place: "always"})
        lines.append(f"  {place:8} {alone({place: theirs[place]}):18.4f}    {without:>24} {added:>40}")
    return lines


def main() -> None:
    """Print the tables; end with 1 where something is unexplained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="nano", help="nano, or a folder")
    parser.add_argument("--builds", default="fp32,bf16", help="with commas between")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--random", type=int, default=8, help="prompts of random tokens")
    parser.add_argument("--tokens", type=int, default=64, help="that each prompt is continued by")
    parser.add_argument("--longest", type=int, default=2000, help="most tokens of a prompt")
    parser.add_argument("--attributed", type=int, default=8, help="prompts that bf16 is attributed on; 0 for none")
    asked = parser.parse_args()

    launcher.prepare()
    folder = wiring.find_checkpoint(asked.model)
    config = SparkConfig.from_folder(folder)
    stop = stop_tokens(config, SparkTokenizer.from_folder(folder))
    played = list(itertools.islice(episodes(folder, longest=asked.longest), asked.episodes))
    drawn = random_prompts(config.vocab_size, [40 + 90 * (at % 9) for at in range(asked.random)])
    played += [Episode((), (prompt,)) for prompt in drawn]
    all_sound = True
    for build in asked.builds.split(","):
        pair = opened(folder, build, asked.longest + asked.tokens)
        found = [one for episode in played for one in compared(pair, episode, asked.tokens)]
        print(*table(build, found, stop), sep="\n", flush=True)
        all_sound &= sound(build, found)
        if build == "bf16" and asked.attributed:
            some = found[:: max(1, len(found) // asked.attributed)][: asked.attributed]
            prompts = [one.prompt[:ATTRIBUTED_TOKENS] for one in some]
            print(*logits(found), *layers(pair, prompts), *places(pair, prompts), sep="\n", flush=True)
    sys.exit(0 if all_sound else 1)


if __name__ == "__main__":
    main()
