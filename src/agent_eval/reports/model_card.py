"""The model card of the embedded model, as Markdown. Draws what its files say; reads none of them and computes nothing.

A figure that the files do not have is left out: cards of earlier trainings say less.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_eval.outcome import LABELS
from agent_eval.reports.score_record import BuildScores, ConditionScores, PairScores, ScoreRecord
from agent_eval.reports.summary import RATES, RateName
from agent_eval.types import Interval

WIDTH = 120
"""Columns of prose; tables are as wide as they are."""
MOST_CURVE_ROWS = 12

NEW_TO_THE_MODEL: Mapping[str, str] = {
    "in distribution": "the draw alone: sentences and parameters are of the split that it was taught",
    "unseen parameters": "sentences and parameters: none of them was in any lesson",
    "unseen layout": "the same, and the screens: a density or an order of rows that no lesson had",
    "unseen template": "the task itself: it was in no lesson in any form",
}
"""Name of a condition to what the model meets there for the first time."""

_BEHAVIOUR: tuple[RateName, ...] = (
    "reach", "recognition", "false_complete", "over_execution", "reversal", "false_toggle", "loop", "wrong_app",
)  # fmt: skip


@dataclass(frozen=True)
class Anatomy:
    """What a checkpoint folder is, by its files."""

    name: str
    config: Mapping[str, Any]
    """Contents of ``config.json``."""
    parameters: int
    """Number of weights."""
    weight_bytes: int
    """Of the files of weights."""
    tokens: int
    """In the tokenizer's vocabulary."""
    digest: str
    """SHA-256 over config, weights, tokenizer and template."""


def model_card(
    anatomy: Anatomy,
    training: Mapping[str, Any],
    curve: Sequence[Mapping[str, Any]],
    scores: ScoreRecord | None,
) -> str:
    """Return the card.

    Args:
        anatomy: Of the checkpoint.
        training: The training manifest of its ``card.json``.
        curve: The reports of its training, in order: the fields of ``training.Report``.
        scores: What it scored, if it was scored.
    """
    parts = [
        f"# {anatomy.name}: model card",
        _prose(
            f"{anatomy.name} is the language model that comes with agent-eval: an agent for this project's simulated "
            "phone. It reads the screen as a numbered list and replies with a short thought and one call of a tool."
        ),
        *_what_it_is(anatomy),
        *_what_it_is_not(anatomy.name),
        *_data(training),
        *_training(training),
        *_curve(curve),
        *(_scores(scores, anatomy.digest) if scores else ["## Scores", "It has not been scored."]),
        *_limits(anatomy),
        *_again(training),
    ]
    return "\n\n".join(parts) + "\n"


def success_table(scores: ScoreRecord) -> str:
    """Return success by condition, tier and build, with Wilson intervals and counts."""
    builds = _builds(scores)
    rows = []
    for condition in scores.conditions:
        by_build = {build.build: build for build in condition.builds}
        rows.append((condition.name, "all", *(_percent(by_build[name].success) for name in builds)))
        tiers = sorted({tier for build in condition.builds for tier in build.tiers})
        for tier in tiers if len(tiers) > 1 else ():
            rows.append(("", f"tier {tier}", *(_percent(by_build[name].tiers.get(tier)) for name in builds)))
    return _table(("condition", "tasks", *builds), rows)


# ----------------------------------------------------------------------------------------------------------------------
# sections


def _what_it_is(anatomy: Anatomy) -> Iterable[str]:
    config = anatomy.config
    kinds = [str(kind) for kind in config.get("layer_types", ())]
    full = kinds.count("full_attention")
    layers = f"{config['num_hidden_layers']} layers"
    if kinds:
        layers += f": {len(kinds) - full} that see the last {config['sliding_window']} tokens, {full} that sees all"
    head = "tied to the embedding" if config.get("tie_word_embeddings") else "of its own"
    yield "## What it is"
    yield _table(("", ""), [
        ("architecture", "Spark-X2.5's own, smaller (`Spark2_5ForCausalLM`)"),
        ("layers", layers),
        ("width", f"{config['hidden_size']}, MLP {config['intermediate_size']}, head {head}"),
        ("attention", f"{config['num_attention_heads']} heads of {config['head_dim']}, {config['num_key_value_heads']} "
                      "for keys and values, each gated"),
        ("weights", f"{anatomy.parameters:,} in bfloat16, {anatomy.weight_bytes:,} bytes"),
        ("tokenizer", f"{anatomy.tokens:,} tokens, trained on the texts of the phone"),
        ("context", f"{config['max_position_embeddings']:,} tokens"),
        ("digest", f"`{anatomy.digest[:16]}`"),
    ])  # fmt: skip


def _what_it_is_not(name: str) -> Iterable[str]:
    yield "## What it is not"
    yield _prose(
        f"It says nothing about Spark-X2.5-1.7B, nor about any other checkpoint: a measurement of {name} is a "
        f"measurement of {name}. It has the architecture of Spark-X2.5 and shares no weight, no token and no training "
        "text with it. The claim about another checkpoint is made by a run of that checkpoint. It is no chat model, "
        "and it drives no real phone."
    )
    yield "## What it is for"
    yield _prose(
        "With it the main job runs on a fresh machine without a download; builds, engines, judge, report and selector "
        "are tried from end to end; and what a quantisation changes can be seen where everything else is known. It is "
        "for nothing else: what it does well or badly is no reason to ship a build of another model."
    )


def _data(training: Mapping[str, Any]) -> Iterable[str]:
    plan = training.get("plan", {})
    noise = plan.get("noise", {})
    lines = [
        "All of it is made by this project's phone, tasks and oracle from seeds; nothing is of people or of the web."
    ]
    if "decisions" in training:
        lines.append(
            f"Demonstrations: the oracle plays tasks of the training split, and its reply at every screen is learned: "
            f"{training['decisions']:,} decisions in {training['tokens']:,} tokens, each screen made afresh."
        )
    if noise:
        lines.append(
            f"Noise: in {_whole(noise['episodes'])} of the demonstrations, {_whole(noise['moves'])} of the moves are "
            "wrong on purpose; what is learned at the screens behind them is the oracle's way back."
        )
    if plan.get("rollouts"):
        lines.append(
            f"What it did itself (DAgger): at the start of each of the {plan['rounds']} rounds from number "
            f"{plan['play_from'] + 1} on, the model plays {plan['rollouts']:,} instances of the training split in "
            f"bfloat16, and the oracle says what it should have done; each is learned from {_times(plan['repeats'])}. "
            "Tasks in which it made mistakes come more often in the round that follows."
        )
    if "drill_share" in plan:
        lines.append(
            f"Drills: made-up screens with one thing to do; the first {_whole(plan['drill_share'])} of the steps have "
            "nothing else, and some are strewn in afterwards."
        )
    if training.get("held_out_skins"):
        skinned = f"{_whole(training['skinned'])} of the lessons" if "skinned" in training else "a part of the lessons"
        lines.append(
            f"Skins: in {skinned} the phone has other text sizes, densities, words for Wi-Fi or orders of rows."
        )
    if plan:
        lines.append(
            "Splits: a hash puts each goal sentence and each parameter into one of three splits for good. Lessons are "
            "of `training`; `validation` is what the training was watched by; `evaluation` is what runs are drawn from."
        )
    for key, what in (("held_out_tasks", "Tasks"), ("held_out_skins", "Skins")):
        if training.get(key):
            names = ", ".join(f"`{name}`" for name in training[key])
            lines.append(f"{what} that no lesson had: {names}.")
    yield "## Data"
    yield "\n".join(_bullet(line) for line in lines)


def _training(training: Mapping[str, Any]) -> Iterable[str]:
    recipe = training.get("recipe", {})
    shown = {
        "seed": training.get("seed"),
        "steps": _number(training.get("steps")),
        "tokens a step": _number(recipe.get("tokens_per_step")),
        "tokens read": _number(training.get("tokens")),
        "decisions taught": _number(training.get("decisions")),
        "rates": _rates(recipe),
        "precision": training.get("precision"),
        "wall time": _duration(training.get("trained_minutes")),
        "machine": training.get("machine"),
        "device": f"{training['device']}, threads: {training['threads']}" if "device" in training else None,
        "torch": training.get("torch"),
        "revision of the source": training.get("code_revision"),
        "digest of the data": _digest(training.get("data_sha256")),
        "digest of the screens": _digest(training.get("prompt_digest")),
        "held-out token accuracy": training.get("validation_token_accuracy", training.get("held_out_token_accuracy")),
        "validation solved": _solved(training.get("validation_solved")),
    }  # fmt: skip
    yield "## Training"
    yield _table(("", ""), [(name, str(value)) for name, value in shown.items() if value is not None])


def _curve(curve: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if not curve:
        return
    last = len(curve) - 1
    rows = min(MOST_CURVE_ROWS, len(curve))
    places = [round(row * last / max(1, rows - 1)) for row in range(rows)]
    yield _prose(
        "Loss is the mean cross-entropy of a step's taught tokens in nats, accuracy the share of them predicted "
        "exactly; held out is the same share on demonstrations of the validation split, and solved is what it solved "
        "of that split when left to play. Both are measured after each round."
    )
    yield _table(
        ("step", "loss", "accuracy", "held out", "solved", "tokens", "minutes"),
        [
            (
                f"{report['step']:,}",
                f"{report['loss']:.3f}",
                f"{report['accuracy']:.4f}",
                "" if report["held_out_accuracy"] is None else f"{report['held_out_accuracy']:.4f}",
                f"{report['solved']}/{report['played']}" if report["played"] else "",
                f"{report['tokens'] / 1e6:.2f} M",
                f"{report['seconds'] / 60:.0f}",
            )
            for report in (curve[place] for place in places)
        ],
    )


def _scores(scores: ScoreRecord, digest: str) -> Iterable[str]:
    builds = _builds(scores)
    yield "## Scores"
    yield _prose(
        f"Of the weights `{digest[:16]}`, in bf16 and in the builds made of them: the training knew of no build but "
        "bf16. The instances were drawn after the weights had been written, from seeds "
        f"{scores.first_seed:,} on, which no lesson and no validation of training seed {scores.plan_seed} uses. "
        "Success is the label `success`: rightly declared, the goal on the phone, nothing else changed. Shares have "
        "Wilson 95 % intervals and counts."
    )
    yield _table(("condition", "new to the model", "split", "tasks", "skins", "instances each"), [
        (c.name, NEW_TO_THE_MODEL.get(c.name, ""), c.split, str(c.tasks), ", ".join(c.skins), str(c.instances))
        for c in scores.conditions
    ])  # fmt: skip
    if _skins_share_instances(scores):
        yield _prose(
            "The instances under an unseen layout are among those of unseen parameters: the two differ in the screens "
            "alone."
        )
    yield "### Success"
    yield success_table(scores)
    pairs = [(condition.name, pair) for condition in scores.conditions for pair in condition.pairs]
    if pairs:
        yield f"### Against {pairs[0][1].reference}, the same instances"
        yield _table(("condition", "build", "pairs", "lost", "gained", "points [95 %]", "p", "verdict"), [
            (name, pair.build, str(pair.pairs), str(pair.lost), str(pair.gained), _points(pair),
             f"{pair.p_value:.3f}" if pair.pairs else "-", pair.verdict)
            for name, pair in pairs
        ])  # fmt: skip
        yield _prose(
            f"Lost: {pairs[0][1].reference} passed and the build did not. Points: difference of success, Bonett-Price. "
            "p: exact McNemar, each by itself. No worse: by a margin of ten points, one-sided 95 %."
        )
    yield "### Behaviour"
    yield _table(("condition", "rate", *builds), list(_behaviour(scores.conditions, builds)))
    kinds = [f"{name.replace('_', ' ')}: {RATES[name].counts}, among {RATES[name].among}" for name in _BEHAVIOUR]
    yield _prose(
        f"{'; '.join(kinds)}; already true: passed without leaving the goal, among episodes of tasks whose goal holds "
        "at the start."
    )
    yield "### Labels"
    yield _table(("condition", "build", *(label.replace("_", " ") for label in LABELS)), [
        (condition.name, build.build, *(str(build.labels.get(label) or ".") for label in LABELS))
        for condition in scores.conditions for build in condition.builds
    ])  # fmt: skip
    yield "### Denominators"
    yield "\n".join(
        _bullet(f"{condition.name}: {'; '.join(map(_denominator, condition.builds))}.")
        for condition in scores.conditions
    )
    machine = scores.machine
    yield _prose(
        f"Played on {machine.cpu_model} ({machine.device_class}) with the source at revision "
        f"{scores.versions.get('revision', 'unknown')} and torch {scores.versions.get('torch', 'unknown')}; "
        f"{_duration(scores.seconds / 60)} in all."
    )


def _behaviour(conditions: Sequence[ConditionScores], builds: Sequence[str]) -> Iterable[tuple[str, ...]]:
    for condition in conditions:
        by_build = {build.build: build for build in condition.builds}
        shares = {name.replace("_", " "): [by_build[b].rates.get(name) for b in builds] for name in _BEHAVIOUR}
        shares["already true"] = [by_build[b].already_true for b in builds]
        counted = {name: each for name, each in shares.items() if any(each)}
        for place, (name, each) in enumerate(counted.items()):
            yield condition.name if place == 0 else "", name, *map(_percent, each)


def _limits(anatomy: Anatomy) -> Iterable[str]:
    context = anatomy.config["max_position_embeddings"]
    yield "## Limits"
    yield "\n".join(map(_bullet, (
        "English goals and English screens only. Other languages of the phone are not taught.",
        "This project's phone and its tasks only: their apps, their wordings, their ways.",
        "Scores are of greedy decoding, one reply at a time; it was never tried with another temperature.",
        f"It is small: it copies numbers and labels by attention and knows nothing of the world. Beyond {context:,} "
        "tokens of conversation an episode ends.",
        "Its screens are those of one version of the phone; on another a run warns that it does not fit.",
        "Instances of one task resemble each other; the intervals take them for independent and are a little too "
        "narrow.",
    )))  # fmt: skip


def _again(training: Mapping[str, Any]) -> Iterable[str]:
    minutes = _duration(training.get("trained_minutes"))
    options = [f"--seed {training['seed']}"] if training.get("seed") else []
    options += [f"--steps {training['steps']}"] if training.get("steps") else []
    yield "## Licence"
    yield "Apache-2.0, as all of agent-eval."
    yield "## How to make it again"
    yield "```\nmake nano\n```"
    yield _prose(
        "trains and scores into `build/nano`; a command that was broken off goes on when it is repeated. This one was "
        f"made with `{' '.join(['agent-eval train --out FOLDER', *options])}`{f' in {minutes}' if minutes else ''}. "
        "`agent-eval score FOLDER` plays the scores alone. One plan gives the same weights again on one machine with "
        "the same libraries; another processor rounds otherwise."
    )


# ----------------------------------------------------------------------------------------------------------------------
# the text of numbers


def _builds(scores: ScoreRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys(build.build for condition in scores.conditions for build in condition.builds))


def _skins_share_instances(scores: ScoreRecord) -> bool:
    return {"unseen parameters", "unseen layout"} <= {condition.name for condition in scores.conditions}


def _percent(share: Interval | None) -> str:
    if share is None:
        return "-"
    low, high = 100 * share.low, 100 * share.high
    return f"{100 * share.estimate:.0f} % [{low:.0f}, {high:.0f}] {round(share.estimate * share.n)}/{share.n}"


def _points(pair: PairScores) -> str:
    if pair.difference is None:
        return "-"
    estimate, low, high = (
        round(100 * value) for value in (pair.difference.estimate, pair.difference.low, pair.difference.high)
    )
    return f"{_signed(estimate)} [{_signed(low)}, {_signed(high)}]"


def _signed(points: int) -> str:
    return f"{points:+d}" if points else "0"


def _denominator(build: BuildScores) -> str:
    errors = f"harness errors left out: {build.harness_errors}" if build.harness_errors else "no harness error"
    return f"{build.build} {build.judged} judged of {build.recorded} recorded of {build.planned} planned, {errors}"


def _whole(share: float) -> str:
    return f"{100 * share:g} %"


def _number(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _digest(value: str | None) -> str | None:
    return f"`{value[:16]}`" if value else None


def _duration(minutes: float | None) -> str | None:
    if minutes is None:
        return None
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"


def _rates(recipe: Mapping[str, Any]) -> str | None:
    if "decay_share" not in recipe:
        return None
    return (
        f"Muon {recipe['matrix_lr']:g} on matrices, AdamW {recipe['other_lr']:g} on the rest, falling over the last "
        f"{_whole(recipe['decay_share'])}"
    )


def _solved(by_task: Mapping[str, Sequence[int]] | None) -> str | None:
    if not by_task:
        return None
    solved, played = (sum(tally[place] for tally in by_task.values()) for place in (0, 1))
    return f"{solved} of {played} instances played after the last round"


def _prose(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _bullet(text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
