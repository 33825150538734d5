"""A made-up checkpoint with a training, a curve and scores, and its card, kept in ``tests/golden``.

To write the card anew: ``python -m tests.reports.card_builders`` from the root.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_eval.reports.model_card import Anatomy, model_card
from agent_eval.reports.score_record import ScoreRecord
from agent_eval.reports.scores import Played, TaskKind, scores_of
from tests.reports.builders import manifest, run

GOLDEN = Path(__file__).parent.parent / "golden" / "model_card.md"

ANATOMY = Anatomy(
    name="nano",
    config={
        "hidden_size": 192,
        "intermediate_size": 512,
        "num_hidden_layers": 4,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 8192,
        "sliding_window": 256,
        "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
        "tie_word_embeddings": True,
    },
    parameters=2_070_720,
    weight_bytes=4_145_104,
    tokens=2560,
    digest="0123456789abcdef" * 4,
)

TRAINING: Mapping[str, Any] = {
    "seed": 0,
    "steps": 5000,
    "plan": {
        "seed": 0, "steps": 5000, "rounds": 10, "drill_share": 0.03, "noise": {"episodes": 0.5, "moves": 0.12},
        "play_from": 3, "rollouts": 960, "repeats": 2, "study_episodes": 384, "validation_episodes": 128,
        "validation_instances": 1,
    },
    "recipe": {"steps": 5000, "tokens_per_step": 4096, "matrix_lr": 0.005, "other_lr": 0.003, "decay_share": 0.45},
    "precision": "bfloat16 with float32 weights",
    "tokens": 21_000_000,
    "decisions": 260_000,
    "data_sha256": "d" * 64,
    "parameters": 2_070_720,
    "skinned": 0.3,
    "held_out_tasks": ["BluetoothSetAlready", "NoteThenSms"],
    "held_out_skins": ["small-screen", "vendor"],
    "validation_loss": 0.02,
    "validation_token_accuracy": 0.9934,
    "validation_solved": {"WifiSet": [1, 1], "AlarmToggle": [0, 1]},
    "trained_minutes": 75.4,
    "machine": "Example CPU 3000",
    "device": "cpu",
    "threads": 2,
    "torch": "2.13.0+cpu",
    "code_revision": "0123456789ab",
    "prompt_digest": "00112233445566aa",
}  # fmt: skip

CURVE: tuple[Mapping[str, Any], ...] = tuple(
    {
        "step": step,
        "steps": 5000,
        "loss": 2.5 * 200 / (step + 200),
        "accuracy": 1 - 100 / (step + 200),
        "tokens": 4100 * step,
        "decisions": 52 * step,
        "seconds": 0.9 * step,
        "held_out_loss": 0.1 if step > 500 else None,
        "held_out_accuracy": 1 - 60 / step if step > 500 else None,
        "solved": step // 100 if step > 500 else None,
        "played": 56 if step > 500 else None,
    }
    for step in range(50, 5001, 50)
)

KINDS = {f"Task{number:02d}": TaskKind(1 + number % 3, already_true=number == 0) for number in range(12)}


def played(letters: Mapping[str, str], skin: str = "default", split: str = "evaluation") -> Played:
    """Return a run with these labels, of as many tasks as there are letters."""
    tasks = max(map(len, letters.values()))
    return Played(manifest(tuple(letters), tasks, skin=skin, split=split), run(letters))


def scores() -> ScoreRecord:
    """Return the scores of four conditions, one of them under two skins."""
    conditions = {
        "in distribution": [played({"bf16": "SSSSSSSSSSSN", "w4a8": "SSSSSSSSSSRN"}, split="training")],
        "unseen parameters": [played({"bf16": "SSSSSSSSSDLW", "w4a8": "USSSSSSSSDPE"})],
        "unseen layout": [
            played({"bf16": "SSSSDD", "w4a8": "SSSSDS"}, "small-screen"),
            played({"bf16": "SSS.WW", "w4a8": "RSSSWW"}, "vendor"),
        ],
        "unseen template": [played({"bf16": "PWN", "w4a8": "PWN"})],
    }
    return scores_of(conditions, KINDS, plan_seed=0)


def card() -> str:
    """Return the card of all of it."""
    return model_card(ANATOMY, TRAINING, CURVE, scores())


if __name__ == "__main__":
    GOLDEN.write_text(card(), encoding="utf-8")
