"""How conversations become samples: in pieces, in the same order, and with a digest of all that was read."""

from __future__ import annotations

import numpy as np
import pytest

from agent_eval.demonstrations import Noise
from agent_eval.lessons import OVERLAP, PHRASE_SHARE, PIECE, Order, Workshop, chained, pieces_of, skeleton, study
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.spark_backend.nano.vocabulary import train_tokenizer

NOISE = Noise(episodes=0.5, moves=0.2)


@pytest.mark.parametrize("length", [5, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - OVERLAP, 2 * PIECE, 3000])
def test_a_long_conversation_is_learned_in_pieces_each_token_once(length: int) -> None:
    tokens = np.arange(length, dtype=np.int32)
    pieces = pieces_of(Sample(tokens, tokens + 1))
    assert all(len(piece.ids) == len(piece.targets) <= PIECE for piece in pieces)
    taught = [token for piece in pieces for token in piece.targets[piece.targets != IGNORED]]
    assert taught == list(range(1, length + 1))
    for piece in pieces:
        assert all(target in (token + 1, IGNORED) for token, target in zip(piece.ids, piece.targets, strict=True))


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    studied = study(NOISE, 0, 12)
    return Workshop(train_tokenizer(studied.texts, skeleton(), studied.phrases, 900).to_str(), studied.labels, NOISE)


def test_a_chunk_follows_from_its_number_and_its_weights_alone(workshop: Workshop) -> None:
    order = Order(0, 3, {"WifiSet": 1.0, "TorchSet": 1.0})
    first, again, other = (workshop.chunk(each) for each in (order, order, order._replace(number=4)))
    assert chained("", first) == chained("", again)
    assert chained("", first) != chained("", other)


def test_a_chunk_without_weights_is_drills_only(workshop: Workshop) -> None:
    drilled = workshop.chunk(Order(0, 0, None))
    assert drilled
    assert max(len(sample.ids) for sample in drilled) <= PIECE


def test_the_digest_depends_on_the_order_and_on_what_came_before() -> None:
    one, two = (Sample(np.array([n], np.int32), np.array([n], np.int32)) for n in (1, 2))
    assert chained("", [one, two]) != chained("", [two, one])
    assert chained(chained("", [one]), [two]) != chained("", [two])


def test_what_is_studied_are_texts_of_the_phone_and_its_own_names() -> None:
    studied = study(NOISE, 0, 40)
    assert any("App: Settings" in text for text in studied.texts)
    assert not any(set(label) & {",", ":"} for label in studied.labels)
    assert " More options" in studied.phrases
    shown = "\n".join(studied.texts)
    assert all(shown.count(phrase) >= PHRASE_SHARE * 40 for phrase in studied.phrases)
