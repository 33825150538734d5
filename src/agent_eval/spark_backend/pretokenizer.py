r"""How Spark's tokenizer cuts a text before it merges bytes: four rules, one after the other. Knows no vocabulary.

Each rule cuts the pieces that the rules before have left; what a rule matches becomes a piece, and so does what lies
between two matches. These are the rules that llama.cpp has under the name ``spark2_5`` (src/llama-vocab.cpp, b10828 and
later). A published ``tokenizer.json`` brings them itself; they stand here for tokenizers that this project makes.
"""

from __future__ import annotations

from tokenizers import Regex
from tokenizers.pre_tokenizers import ByteLevel, PreTokenizer, Sequence, Split

_PUNCTUATION = r"!-/:-@\[-`{-~"  # of ASCII, by its four ranges
_IDEOGRAPHS, _HIRAGANA, _KATAKANA = r"\u4e00-\u9fa5", r"\u3040-\u309f", r"\u30a0-\u30ff"

_NUMBERS = r"\p{N}{1,3}"
_CJK = f"[{_IDEOGRAPHS}{_HIRAGANA}{_KATAKANA}]+"
_WORDS = "|".join(
    (
        f"[{_PUNCTUATION}][A-Za-z]+",  # .com, _name, 's
        r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",  # a word, with the space or other blank before it
        r" ?[\p{P}\p{S}]+",
        r"[\r\n]",  # each line break for itself: unlike the families that these rules come from
        r"\s+(?!\S)",  # blanks, but for the one that the next word takes
        r"\s+",
    )
)
_NUMERAL = r"\p{N}"  # after the rule of three: every digit is a token of its own

RULES = (_NUMBERS, _CJK, _WORDS, _NUMERAL)


def spark_pre_tokenizer() -> PreTokenizer:
    """Return the four rules, and behind them the spelling of bytes as characters."""
    cuts = [Split(Regex(rule), "isolated") for rule in RULES]
    return Sequence([*cuts, ByteLevel(add_prefix_space=False, use_regex=False)])
