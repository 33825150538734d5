"""The small tokenizer of the embedded model, trained on the project's own texts.

A number is the same token wherever it stands in a value (in a goal's ``7:30``, in a call), a label is the same tokens
in a goal and on a screen, and the skeleton of a call is one token: what the model must copy, it can copy. The number in
brackets that begins a line is one token, and so is what the phone itself calls its pages and buttons: most of what a
model reads is screens, and what is read in fewer tokens is learned from in less time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL_TOKENS = (
    "<|end|>",
    "<|pad|>",
    "<|System|>",
    "<|User|>",
    "<|Tool|>",
    "<|Bot|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
)
END, PAD = SPECIAL_TOKENS[:2]

CHAT_TEMPLATE = """\
{%- for message in messages -%}
{%- if message.role == 'user' -%}<|User|>{{ message.content }}
{%- elif message.role == 'tool' -%}<|Tool|>{{ message.content }}
{%- elif message.role == 'assistant' -%}<|Bot|><think>
{%- if message.reasoning_content %} {{ message.reasoning_content }}{% endif -%}
</think>{{ message.content }}
{%- for call in message.tool_calls or [] -%}
<tool_call>{{ call.function.name }}
{%- for key, value in call.function.arguments.items() -%}
<arg_key>{{ key }}</arg_key><arg_value>{{ value if value is string else value | tojson }}</arg_value>
{%- endfor -%}
</tool_call>
{%- endfor -%}
<|end|>
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|Bot|><think>
{%- if enable_thinking is defined and not enable_thinking -%}</think>{%- endif -%}
{%- endif -%}
"""
"""Spark's call syntax with fewer tokens around it. The system prompt and the tools are left out: the model was trained
on exactly these, so that they carry no information for it."""

TURN_STARTS = ("<|User|>", "<|Tool|>", "<|Bot|>", "\nApp:")
"""Tokens from which on what was read before is no line of a screen any more."""
LINE_STARTS = {f"\n[{number}]": str(number) for number in range(60)}
"""The token that begins a line of a screen, and the one that calls it; as many as a screen shows (agent.prompt)."""

_ROLE = r" \([a-z]+(?:, [a-z]+)*\)"  # the end of a line of the screen: role with states
_WORD = r"[A-Za-z&'/-]+"
_SPLIT = pre_tokenizers.Split(Regex(rf"{_ROLE}| ?{_WORD}|\s|[^\sA-Za-z&'/-]"), "isolated")
_FREQUENT = 10
"""Times that something must stand in the texts to become a token."""
_FIRST_PIECE = re.compile(rf"\u0120({_WORD})")
_SPACE = "\u0120"
"""How a byte-level vocabulary writes a space."""


def train_tokenizer(texts: Sequence[str], skeleton: Iterable[str], phrases: Iterable[str], size: int) -> Tokenizer:
    """Train a byte-level BPE.

    Args:
        texts: Screens, goals and thoughts of the training split.
        skeleton: Texts that become one token each, such as ``<tool_call>tap<arg_key>index</arg_key><arg_value>``.
        phrases: Texts of several words that become one token each where they stand as words, such as `` Add alarm``.
        size: Tokens in all, special ones included; fewer if there is not enough to learn.
    """
    numbers = [f"{number:02d}" for number in range(100)] + [str(number) for number in range(10)]
    pieces = dict.fromkeys([*skeleton, "</arg_value></tool_call>", *_roles(texts), *numbers, *LINE_STARTS])
    # one word is a token by itself where it is frequent; added as well, it would be two tokens of one text
    words = [text for text in dict.fromkeys(phrases) if len(_SPLIT.pre_tokenize_str(text)) > 1]
    tokenizer = Tokenizer(_paired_with_spaces(texts, size - len(pieces) - len(words)))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([_SPLIT, _bytes()])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in SPECIAL_TOKENS])
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in pieces])
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False, single_word=True) for text in words])
    return tokenizer


def with_and_without_space(tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """Return the ids of each piece of a word that may stand behind a space, with it and without it."""
    vocabulary = tokenizer.get_vocab()
    spaced = ((text, _FIRST_PIECE.fullmatch(text)) for text in sorted(vocabulary))
    return [(vocabulary[text], vocabulary[found[1]]) for text, found in spaced if found and found[1] in vocabulary]


def _paired_with_spaces(texts: Sequence[str], size: int) -> models.BPE:
    """Train a BPE that cuts a word into the same pieces whether a space stands before it or not.

    Merges are learned from words alone. What a word may begin with can then be joined to a space, after all else.
    """
    words = pre_tokenizers.Split(Regex(rf"{_ROLE}|\s"), "removed")
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    least = {letter for letter in alphabet if re.fullmatch(_WORD, letter)}
    room = size
    while True:  # the more is learned, the more pieces want a second form
        learner = Tokenizer(models.BPE(byte_fallback=False))
        learner.pre_tokenizer = pre_tokenizers.Sequence([words, _SPLIT, _bytes()])
        trainer = trainers.BpeTrainer(
            vocab_size=room,
            special_tokens=list(SPECIAL_TOKENS),
            initial_alphabet=alphabet,
            min_frequency=_FREQUENT,
            show_progress=False,
        )
        learner.train_from_iterator(texts, trainer)
        firsts = sorted(least | _first_pieces(learner, texts))
        if learner.get_vocab_size() + len(firsts) <= size:
            break
        room = min(room, learner.get_vocab_size()) - 64
    model = json.loads(learner.to_str())["model"]
    vocabulary: dict[str, int] = model["vocab"]
    for piece in firsts:
        vocabulary[_SPACE + piece] = len(vocabulary)
    merges = [tuple(merge) for merge in model["merges"]] + [(_SPACE, piece) for piece in firsts]
    return models.BPE(vocab=vocabulary, merges=merges, byte_fallback=False)


def _first_pieces(learner: Tokenizer, texts: Iterable[str]) -> set[str]:
    """Return what the words that stand behind a space begin with, where it is frequent."""
    words = Counter(word for text in texts for word in re.findall(rf" ({_WORD})", re.sub(_ROLE, "", text)))
    firsts: Counter[str] = Counter()
    for word, count in words.items():
        firsts[learner.encode(word).tokens[0]] += count
    return {piece for piece, count in firsts.items() if count > 1}


def _roles(texts: Iterable[str]) -> list[str]:
    """Return the frequent ends of a screen's lines."""
    found = Counter(end for text in texts for end in re.findall(rf"{_ROLE}$", text, re.MULTILINE))
    return sorted(end for end, count in found.items() if count >= _FREQUENT)


def _bytes() -> pre_tokenizers.ByteLevel:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
