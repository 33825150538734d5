"""The small tokenizer of the embedded model, trained on the project's own texts.

A number is the same token wherever it stands (in a screen's ``[7]``, in a goal's ``7:30``, in a call), a label is the
same tokens in a goal and on a screen, and the skeleton of a call is one token: what the model must copy, it can copy.
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

_PRETOKENS = Regex(
    r"\n\[|\]| \([a-z]+(?:, [a-z]+)*\)"  # the ends of a line of the screen: number, and role with states
    r"| ?[A-Za-z&'/-]+"  # a word with the space before it
    r"|\s|[^\sA-Za-z&'/-]"
)


def train_tokenizer(texts: Iterable[str], skeleton: Iterable[str], size: int) -> Tokenizer:
    """Train a byte-level BPE.

    Args:
        texts: Screens, goals and thoughts of the training split.
        skeleton: Texts that become one token each, such as ``<tool_call>tap<arg_key>index</arg_key><arg_value>``.
        size: Tokens in all, special ones included.
    """
    tokenizer = Tokenizer(models.BPE(byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(_PRETOKENS, "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    whole = [*dict.fromkeys(skeleton), "</arg_value></tool_call>"]
    numbers = [f"{number:02d}" for number in range(100)] + [str(number) for number in range(10)]
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(whole) - len(numbers),
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=10,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in [*whole, *numbers]])
    return tokenizer


def tokenizer_json(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the content of ``tokenizer.json``."""
    data: dict[str, Any] = json.loads(tokenizer.to_str())
    return data
