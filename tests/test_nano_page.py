"""The page about the embedded model, and the card beside its weights, say what its files say."""

from __future__ import annotations

from agent_eval.scoring import MODEL_CARD, SCORES, card_text
from tests.nano_page import CHECKPOINT, PAGE, page


def test_the_page_says_what_the_files_of_the_checkpoint_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it anew: python -m tests.nano_page"


def test_the_card_beside_scored_weights_is_theirs() -> None:
    scored = (CHECKPOINT / SCORES).exists()
    assert (CHECKPOINT / MODEL_CARD).exists() == scored
    if scored:
        assert (CHECKPOINT / MODEL_CARD).read_text("utf-8") == card_text(CHECKPOINT)
