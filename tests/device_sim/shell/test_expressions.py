from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_eval.device_sim.shell.expressions import BadExpression, Expression
from agent_eval.device_sim.shell.wildcards import Run, ends, matches, tokens


@pytest.mark.parametrize(
    ("pattern", "extended", "text", "found"),
    [
        ("a.c", False, "xabcx", "abc"),
        ("a\\+", False, "baaa", "aaa"),
        ("a+", False, "aa+", "a+"),
        ("a+", True, "baaa", "aaa"),
        ("a\\|b", False, "xb", "b"),
        ("a|b", False, "a|b", "a|b"),
        ("a|b", True, "xb", "b"),
        ("^a", False, "ba", None),
        ("a^", False, "a^", "a^"),
        ("*a", False, "*a", "*a"),
        ("a\\{2,3\\}", False, "aaaa", "aaa"),
        ("a{2}", True, "aaa", "aa"),
        ("a{x", True, "a{x", "a{x"),
        ("[[:digit:]]\\+", False, "ab123", "123"),
        ("[]a]*", False, "]a]b", "]a]"),
        ("[^a]", False, "ab", "b"),
        ("\\(a\\)b", False, "ab", "ab"),
        ("(a)b", False, "(a)b", "(a)b"),
        ("\\.", False, "a.b", "."),
        ("\\<a\\>", False, "ba a", "a"),
        ("$", False, "a", ""),
        ("a**b", False, "xaab", "aab"),
        ("a+?", True, "aa", "aa"),
        ("a$b", False, "a$b", "a$b"),
        ("a/b-c_d", False, "a/b-c_d", "a/b-c_d"),
    ],
)
def test_posix_patterns_find_what_grep_finds(pattern: str, extended: bool, text: str, found: str | None) -> None:
    match = Expression(pattern, extended=extended).search(text)
    assert (text[match.start : match.end] if match else None) == found


@pytest.mark.parametrize("pattern", ["a\\(", "[a", "\\(a\\)\\1", "a\\", "[[:nope:]]", "x" * 1001])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(BadExpression):
        Expression(pattern)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab.*+?()|[]^$\\{}1,", max_size=10), st.text(alphabet="ab", max_size=8), st.booleans())
def test_any_pattern_is_searched_or_refused(pattern: str, text: str, extended: bool) -> None:
    try:
        match = Expression(pattern, extended=extended).search(text)
    except BadExpression:
        return
    assert match is None or 0 <= match.start <= match.end <= len(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab.*", max_size=8), st.text(alphabet="ab", max_size=8))
def test_simple_patterns_agree_with_python(pattern: str, text: str) -> None:
    assume("**" not in pattern)
    wanted = re.search(re.sub(r"^\*", r"\\*", pattern), text)
    found = Expression(pattern).search(text)
    assert (None if wanted is None else wanted.span()) == (None if found is None else (found.start, found.end))


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){12}$", "a*a*a*a*a*a*a*a*$", "(a?){30}a{30}$", "(((a*)*)*)*b"]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    text = "a" * 3000 + "!"
    with contextlib.suppress(BadExpression):
        Expression(pattern, extended=True).search(text)


@pytest.mark.parametrize(
    ("pattern", "name", "holds"),
    [
        ("*", "", True), ("*.txt", "a.txt", True), ("*.txt", "a.text", False), ("?", "ab", False),
        ("[a-c]x", "bx", True),
        ("[!a]", "a", False), ("[^a]", "b", True), ("[]]", "]", True), ("[a", "[a", True), ("\\*", "*", True),
        ("a*b*c", "aXbYc", True), ("[[:upper:]]*", "Ab", True),
    ],
)  # fmt: skip
def test_wildcards_match_whole_names(pattern: str, name: str, holds: bool) -> None:
    assert matches(tokens((Run(pattern, False),)), name) == holds


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=8))
def test_wildcards_agree_with_their_regular_expression(pattern: str, name: str) -> None:
    wanted = re.fullmatch("".join({"*": ".*", "?": "."}.get(letter, letter) for letter in pattern), name)
    assert matches(tokens((Run(pattern, False),)), name) == (wanted is not None)


def test_quoted_wildcards_are_letters() -> None:
    assert not matches(tokens([Run("*", True)]), "a")
    assert matches(tokens([Run("*", True), Run("*", False)]), "*abc")


def test_many_stars_take_no_time() -> None:
    assert ends(tokens([Run("*a" * 40 + "b", False)]), "a" * 2000) == []
