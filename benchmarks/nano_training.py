"""What training the embedded model costs, and how soon it learns to look things up.

    python benchmarks/nano_training.py speed [--passes 3]
    python benchmarks/nano_training.py drills [--rates 0.002:0.0008,0.005:0.003] [--tokens 500000]

``speed``: tokens per second of whole optimisation steps on demonstrations, by threads and precision, in interleaved
passes. ``drills``: a model learns from drills alone, once for each pair of rates (matrices:others); after every hundred
thousand tokens, the share of held-out numbers, and of other tokens of replies, that it gets right.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np
import torch
from tokenizers import Tokenizer

from agent_eval.curriculum import lesson_weights
from agent_eval.lessons import Order, Workshop, skeleton, study
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.shape import nano_config, nano_start
from agent_eval.spark_backend.nano.trainer import Batches, Recipe, Trainer
from agent_eval.spark_backend.nano.vocabulary import train_tokenizer
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.training import VOCABULARY, TrainingPlan

PLAN = TrainingPlan()
HELD_OUT = 9_999
"""Number of the chunk that is not learned from."""


def prepared() -> tuple[Tokenizer, Workshop]:
    """Train the tokenizer as a training does, and open what makes samples."""
    studied = study(PLAN.noise, PLAN.seed, PLAN.study_episodes)
    tokenizer = train_tokenizer(studied.texts, skeleton(), studied.phrases, VOCABULARY)
    return tokenizer, Workshop(tokenizer.to_str(), studied.labels, PLAN.noise)


def trainer_of(tokenizer: Tokenizer, recipe: Recipe) -> Trainer:
    """Return a trainer at the structured start."""
    return Trainer(nano_config(tokenizer), recipe, PLAN.seed, nano_start(tokenizer))


def batches_of(chunks: Iterator[list[Sample]], tokens: int) -> Iterator[list[Sample]]:
    """Yield batches until the chunks are used up."""
    batches = Batches(tokens, random.Random(0))
    for chunk in chunks:
        batches.add(chunk)
        while batches.ready():
            yield batches.take()


def speed(passes: int) -> None:
    """Print tokens per second by threads."""
    tokenizer, workshop = prepared()
    chunks = [workshop.chunk(Order(PLAN.seed, number, lesson_weights())) for number in range(3)]
    recipes = {threads: Recipe(steps=1000, threads=threads) for threads in (1, 2)}
    found: dict[int, list[float]] = {threads: [] for threads in recipes}
    for number in range(passes + 1):
        for threads, recipe in recipes.items():
            trainer = trainer_of(tokenizer, recipe)
            began, tokens = time.perf_counter(), 0
            for batch in batches_of(iter(chunks), recipe.tokens_per_step):
                tokens += trainer.step(batch).tokens
            if number:  # the first pass warms up
                found[threads].append(tokens / (time.perf_counter() - began))
    for threads, values in found.items():
        shown = f"{median(values):,.0f} [{min(values):,.0f}, {max(values):,.0f}]"
        print(f"{threads} threads, {trainer.precision}: {shown} tokens/s, {passes} passes")


def drills(rates: Sequence[tuple[float, float]], most: int) -> None:
    """Print how soon numbers and other tokens of replies are right."""
    tokenizer, workshop = prepared()
    names = {number: name for name, number in tokenizer.get_vocab().items()}
    held_out = workshop.chunk(Order(PLAN.seed, HELD_OUT, None))
    for matrices, others in rates:
        trainer = trainer_of(tokenizer, Recipe(steps=10**6, matrix_lr=matrices, other_lr=others))
        chunks = (workshop.chunk(Order(PLAN.seed, number, None)) for number in range(HELD_OUT))
        tokens, due = 0, 0
        print(f"matrices {matrices:g}, others {others:g}")
        for batch in batches_of(chunks, trainer.recipe.tokens_per_step):
            if tokens >= due:
                due += 100_000
                numbers, rest = _right(trainer, held_out, names)
                print(f"  {tokens:9,d} tokens  numbers {numbers:.3f}  others {rest:.3f}", flush=True)
            if tokens >= most:
                break
            tokens += trainer.step(batch).tokens


@torch.no_grad()
def _right(trainer: Trainer, samples: Sequence[Sample], names: dict[int, str]) -> tuple[float, float]:
    """Return the share of numbers of elements, and of other taught tokens, that are predicted."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for sample in samples:
        ids = torch.from_numpy(sample.ids.astype(np.int64))[None].to(trainer.device)
        predicted = trainer.model.logits(trainer.model(ids)[0].float()).argmax(-1).tolist()
        for position in np.nonzero(sample.targets != IGNORED)[0]:
            number = names[int(sample.ids[position])].endswith("index</arg_key><arg_value>")
            right[number].append(predicted[position] == sample.targets[position])
    return float(np.mean(right[True])), float(np.mean(right[False]))


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "drills"))
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--rates", default="0.002:0.0008,0.005:0.003")
    parser.add_argument("--tokens", type=int, default=500_000)
    options = parser.parse_args()
    machine = probe_machine()
    print(f"{machine.cpu_model}, torch {torch.__version__}")
    if options.what == "speed":
        speed(options.passes)
    else:
        pairs = [pair.split(":") for pair in options.rates.split(",")]
        drills([(float(matrices), float(others)) for matrices, others in pairs], options.tokens)


if __name__ == "__main__":
    main()
