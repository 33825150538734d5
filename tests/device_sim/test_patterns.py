from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim.patterns import (
    MAX_NESTING,
    MAX_PATTERN,
    MAX_REPEAT,
    MAX_TEXT,
    Effort,
    PatternError,
    compile_pattern,
)

ATOMS = st.sampled_from(
    ["a", "b", "A", "1", "-", ".", "[ab]", "[^a]", "[a-c1]", "[^A-C]", r"\w", r"\W", r"\d", r"\s", r"\b", "^", "$",
     r"\.", r"\-", r"\A", r"\x61", r"[\d.]", "", r"[a\]-]"],
)  # fmt: skip
QUANTIFIERS = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{1,}"])
GROUPS = st.sampled_from(["(", "(?:", "(?i:", "(?=", "(?!", "(?s:"])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return (
        st.lists(inner, min_size=2, max_size=3).map("".join)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})")
        | st.tuples(GROUPS, inner).map(lambda pair: f"{pair[0]}{pair[1]})")
        | st.tuples(inner, QUANTIFIERS).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
    )


PATTERNS = st.recursive(ATOMS, _larger, max_leaves=8)
TEXTS = st.text("abcABC1 .-\n", max_size=8)


@settings(max_examples=600)
@given(PATTERNS, TEXTS)
def test_a_whole_match_is_what_a_backtracking_matcher_finds(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).matches(text) is (re.fullmatch(pattern, text) is not None)


@settings(max_examples=400)
@given(PATTERNS, TEXTS)
def test_the_first_match_begins_where_a_backtracking_matcher_finds_it(pattern: str, text: str) -> None:
    expected, found = re.search(pattern, text), compile_pattern(pattern).find(text)
    assert (found is None) is (expected is None)
    if found is not None and expected is not None:
        assert found.start == expected.start()
        assert found.start <= found.end <= len(text)


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("a*", "aaab", (0, 3)), ("a*?", "aaab", (0, 0)), ("a+?b", "caab", (1, 4)), ("a|ab", "ab", (0, 1)),
        ("(?<=c)a+", "acaa", (2, 4)), ("(?<!c)a", "caa", (2, 3)), ("x", "abc", None), ("", "abc", (0, 0)),
    ],
)  # fmt: skip
def test_of_matches_at_one_place_the_preferred_one_is_found(
    pattern: str, text: str, span: tuple[int, int] | None
) -> None:
    assert compile_pattern(pattern).find(text) == span


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("(?i)wi.fi", "Wi\u2011Fi", True), ("Wi.Fi", "Wi\nFi", False), ("(?s)Wi.Fi", "Wi\nFi", True),
        (r"\QWi-Fi (5)\E", "Wi-Fi (5)", True), (r"\Qa", "a", True), (r"a\Q\Eb", "ab", True),
        ("[a-z&&[^b]]+", "acd", True), ("[a-z&&[^b]]+", "abd", False), ("[a-c[x-z]]+", "axz", True),
        ("[^[a-c]]", "d", True), ("[]a]", "]", True), ("[a-]", "-", True), (r"[\w-]+", "a-b", True),
        (r"\p{Lu}\p{L}+", "\u00c4pfel", True), (r"\pN+", "12", True), (r"\P{Digit}", "x", True),
        (r"\p{Punct}", "!", True), (r"\p{IsAlphabetic}", "\u754c", True), (r"\u0041\x42\x{43}\t\0101", "ABC\tA", True),
        ("(?<name>a)b", "ab", True), ("(?i)a(?-i)b", "Ab", True), ("(?i)a(?-i)b", "AB", False),
        ("(?m)^b$", "b", True), ("a{2,3}", "aaa", True), ("a{2,3}", "aaaa", False), ("a{2,}", "aaaaa", True),
        ("(?!.*off).*", "turned on", True), ("(?!.*off).*", "turned off", False), (r"\d+ ?%", "82\u00a0%", False),
        (r"a\Bb", "ab", True), (r"a\B", "a", False),
        ("a$\n", "a\n", True), (r"a\Z\n", "a\n", True), (r"a\z", "a", True), (r"\h", "\u00a0", True),
    ],
)  # fmt: skip
def test_the_syntax_is_that_of_java(pattern: str, text: str, matches: bool) -> None:
    assert compile_pattern(pattern).matches(text) is matches


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a)", "[", "[a", "*a", "a**", "a{", "a{x}", "a{,3}", "a{3,2}", "\\", "(?z)", "(?<1>a)", "(?", "(?i",
     r"\y", r"\x1", r"\u12", r"\p{Nowhere", "[b-a]", "[&&]", "[\\", "x{2", r"\p", r"\c", "(?P<a>b)", r"\x{110000}"],
)  # fmt: skip
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert caught.value.reason == "syntax"


@pytest.mark.parametrize("pattern", [r"(a)\1", r"\k<a>", "a*+", "(?>a)", r"\G", r"\R", "(?x)a", r"\p{IsNowhere}"])
def test_what_needs_backtracking_is_said_to_be_left_out(pattern: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert caught.value.reason == "unsupported"


@pytest.mark.parametrize(
    "pattern",
    ["a" * (MAX_PATTERN + 1), "(" * (MAX_NESTING + 1) + ")" * (MAX_NESTING + 1), f"a{{{MAX_REPEAT + 1}}}",
     "((a{1000}){1000}){1000}", "(((){1000}){1000}){1000}", "a{99999999999999999999}", "[" * 100 + "a" + "]" * 100],
)  # fmt: skip
def test_what_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert caught.value.reason == "limit"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("(a+)+$", "a" * 3000 + "b"), ("(a|a)*b", "a" * 3000), ("(x+x+)+y", "x" * 3000), ("(.*)*x", "a" * 3000),
     ("(a?){30}a{30}", "a" * 29), ("(.*a){12}", "a" * 11), ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 500)],
)  # fmt: skip
def test_a_pattern_that_makes_others_hang_takes_steps_in_proportion_to_the_text(pattern: str, text: str) -> None:
    effort = Effort()
    before = effort.left
    assert compile_pattern(pattern).matches(text, effort) is False
    assert before - effort.left < 100 * (len(text) + 1)


def test_the_work_of_several_matches_is_bounded_together() -> None:
    effort, pattern = Effort(1000), compile_pattern("(a|b)*c")
    assert not any(pattern.matches("abababab", effort) for _ in range(10))
    with pytest.raises(PatternError) as caught:
        any(pattern.matches("abababab", effort) for _ in range(100))
    assert caught.value.reason == "limit"
    with pytest.raises(PatternError):
        compile_pattern("a*").matches("a" * (MAX_TEXT + 1))
    with pytest.raises(PatternError):
        compile_pattern("(?<=(a|b)*c)x").find("ab" * 9000)


@given(st.text(max_size=40) | st.text("()[]{}*+?|\\^$.-,&:<>=!abiQE0123x", max_size=40), st.text(max_size=20))
def test_no_pattern_raises_anything_else(pattern: str, text: str) -> None:
    try:
        compile_pattern(pattern).matches(text)
        compile_pattern(pattern, any_case=True, lines=True, dot_all=True).find(text)
    except PatternError:
        pass


# ----------------------------------------------------------------------------------------------------------------------
# groups

PIECES = st.sampled_from(["a", "b", ".", ".*", "[^b]*", "a+", "b?", ".*?", "(?:ab|c)", "^", "$", "-"])
GROUPED = st.recursive(
    st.lists(PIECES, max_size=3).map("".join),
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map("".join)
        | inner.map(lambda part: f"({part})")
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})")
        | inner.map(lambda part: f"(?P<n>{part})?" if "(?P" not in part and "a" in part else part)
    ),
    max_leaves=6,
).filter(lambda pattern: pattern.count("(?P") < 2)


@settings(max_examples=600)
@given(GROUPED, st.text("abc-", max_size=9))
def test_groups_lie_where_a_backtracking_matcher_finds_them(pattern: str, text: str) -> None:
    expected = re.search(pattern, text)
    found = compile_pattern(pattern.replace("(?P<", "(?<")).find_groups(text)
    assert (found is None) is (expected is None)
    if found is not None and expected is not None:
        spans = [expected.span(group) for group in range(expected.re.groups + 1)]
        assert [tuple(span) if span else (-1, -1) for span in found] == spans


def test_groups_are_found_on_a_line_as_long_as_a_dump() -> None:
    line = "".join(f'<node text="t{n}" bounds="[{n},0][{n},9]"/>' for n in range(700))
    pattern = compile_pattern('.*text="([^"]*)".*bounds="([^"]*)".*')
    found = pattern.find_groups(line, effort=Effort(2_000_000))
    assert found is not None
    assert [line[span.start : span.end] for span in found[1:] if span] == ["t699", "[699,0][699,9]"]


def test_groups_of_a_costly_pattern_are_refused_and_not_searched_for_ever() -> None:
    with pytest.raises(PatternError):
        compile_pattern("(a*)*(a*)*b").find_groups("a" * 5000, effort=Effort(20_000))
