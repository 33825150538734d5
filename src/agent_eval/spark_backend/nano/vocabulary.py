"""The small tokenizer of the embedded model, trained on the project's own texts.

A number is the same token wherever it stands in a value (in a goal's ``7:30``, in a call), a label is the same tokens
in a goal and on a screen, and the skeleton of a call is one token: what the model must copy, it can copy. The number in
brackets that begins a line is one token, and so is what the phone itself calls its pages and buttons: most of what a
model reads is screens, and what is read in fewer tokens is learned from in less time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

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

LINE_STARTS = {f"\n[{number}]": str(number) for number in range(60)}
"""The token that begins a line of a screen, and the one that calls it; as many as a screen shows (agent.prompt)."""

_PRETOKENS = Regex(
    r" \([a-z]+(?:, [a-z]+)*\)"  # the end of a line of the screen: role with states
    r"| ?[A-Za-z&'/-]+"  # a word with the space before it
    r"|\s|[^\sA-Za-z&'/-]"
)


_SPLIT = pre_tokenizers.Split(_PRETOKENS, "isolated")


def train_tokenizer(texts: Iterable[str], skeleton: Iterable[str], phrases: Iterable[str], size: int) -> Tokenizer:
    """Train a byte-level BPE.

    Args:
        texts: Screens, goals and thoughts of the training split.
        skeleton: Texts that become one token each, such as ``<tool_call>tap<arg_key>index</arg_key><arg_value>``.
        phrases: Texts of several words that become one token each where they stand as words, such as `` Add alarm``.
        size: Tokens in all, special ones included.
    """
    tokenizer = Tokenizer(models.BPE(byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            _SPLIT,
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    whole = [*dict.fromkeys(skeleton), "</arg_value></tool_call>"]
    numbers = [f"{number:02d}" for number in range(100)] + [str(number) for number in range(10)]
    # one word is a token by itself where it is frequent; added as well, it would be two tokens of one text
    words = [text for text in dict.fromkeys(phrases) if len(_SPLIT.pre_tokenize_str(text)) > 1]
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(whole) - len(numbers) - len(LINE_STARTS) - len(words),
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=10,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    pieces = [*whole, *numbers, *LINE_STARTS]
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in pieces])
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False, single_word=True) for text in words])
    return tokenizer


def tokenizer_json(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the content of ``tokenizer.json``."""
    data: dict[str, Any] = json.loads(tokenizer.to_str())
    return data
