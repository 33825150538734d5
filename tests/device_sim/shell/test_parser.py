from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim.shell.parser import (
    Group,
    If,
    Item,
    Parameter,
    Pipeline,
    Script,
    ShellSyntaxError,
    Simple,
    Substitution,
    Text,
    parse,
    parse_line,
)


def outcome(text: str) -> Script | str:
    """Return the tree of a text, or the words with which it is refused."""
    try:
        return parse(text)
    except ShellSyntaxError as error:
        return error.message or ""


def words_of(line: str) -> list[str]:
    """Return the words of a line of one command, all of whose parts are plain text."""
    (item,) = parse(line).items
    (command,) = item.first.commands
    assert isinstance(command, Simple)
    return ["".join(part.text for part in word if isinstance(part, Text)) for word in command.words]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("echo a  b", ["echo", "a", "b"]),
        ("echo 'a  b' \"c d\" e\\ f", ["echo", "a  b", "c d", "e f"]),
        ("echo ''", ["echo", ""]),
        ("echo 'it'\\''s'", ["echo", "it's"]),
        ("echo a#b # c", ["echo", "a#b"]),
        ("echo a\\\nb", ["echo", "ab"]),
        ('echo "a\\"b" "\\$x" "\\a"', ["echo", 'a"b', "$x", "\\a"]),
        ("echo $'a\\tb\\x41\\''", ["echo", "a\tbA'"]),
        ("echo $ a$ {a}", ["echo", "$", "a$", "{a}"]),
        ("echo if then", ["echo", "if", "then"]),
    ],
)
def test_lines_are_split_into_words(line: str, words: list[str]) -> None:
    assert words_of(line) == words


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=12)))
def test_what_is_quoted_comes_back_as_it_was(arguments: list[str]) -> None:
    assert words_of(shlex.join(["echo", *arguments])) == ["echo", *arguments]


@given(st.text(max_size=60))
def test_any_text_parses_or_is_refused_with_words(text: str) -> None:
    assert isinstance(outcome(text), Script | str)


@settings(max_examples=300)
@given(st.text(alphabet=" \n\t;&|()<>'\"\\$`{}!#=ab01-*?", max_size=40))
def test_any_mix_of_operators_parses_or_is_refused_with_words(text: str) -> None:
    assert outcome(text)
    assert outcome(text) == outcome(text)


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "if",
                "then",
                "else",
                "fi",
                "for",
                "in",
                "do",
                "done",
                "while",
                "case",
                "esac",
                ";;",
                ";",
                "&&",
                "||",
                "|",
                "(",
                ")",
                "{",
                "}",
                "!",
                "$(",
                "`",
                "a",
                "b=",
                "<<E",
                "E",
                ">",
                "2>&1",
                "\n",
                "$((1))",
                "${a}",
            ]
        ),
        max_size=14,
    )
)
def test_any_order_of_reserved_words_parses_or_is_refused_with_words(tokens: list[str]) -> None:
    assert outcome(" ".join(tokens))


@pytest.mark.parametrize(
    ("line", "message", "incomplete"),
    [
        (")", "syntax error: unexpected ')'", False),
        ("echo a;;", "syntax error: unexpected ';;'", False),
        ("&& ||", "syntax error: unexpected '&&'", False),
        ("; a", "syntax error: unexpected ';'", False),
        ("fi", "syntax error: unexpected 'fi'", False),
        ("if true; do", "syntax error: unexpected 'do'", False),
        ("echo a (b)", "syntax error: unexpected '('", False),
        ("( )", "syntax error: unexpected ')'", False),
        ("echo >", "syntax error: unexpected EOF", True),
        ("echo > > a", "syntax error: unexpected '>'", False),
        ("(", "syntax error: unmatched '('", True),
        ("if true", "syntax error: unmatched 'if'", True),
        ("while true; do", "syntax error: unmatched 'while'", True),
        ("echo $(ls", "syntax error: unmatched '$('", True),
        ("echo a &&", "syntax error: unexpected EOF", True),
        ("echo 'a", "no closing quote", True),
        ('echo "a', "no closing quote", True),
        ("echo `a", "no closing quote", True),
        ("echo ${a!}", "${a!}: bad substitution", False),
        ("((((((((((((((((((((((((((((((", "syntax error: nested too deeply", False),
    ],
)
def test_a_torn_line_is_refused_in_mkshs_words(line: str, message: str, incomplete: bool) -> None:
    with pytest.raises(ShellSyntaxError) as caught:
        parse(line)
    assert caught.value.message == message
    assert caught.value.incomplete == incomplete


@pytest.mark.parametrize("opener", ["$(", "${a:-", '"$(', "$((", "(", "{ ", "if ", "a() { "])
def test_deep_nesting_is_refused_before_it_hurts(opener: str) -> None:
    with pytest.raises(ShellSyntaxError):
        parse("echo " * (opener[0] in '$"') + opener * 500)


def test_a_script_is_parsed_line_by_line() -> None:
    text = "echo a\necho b\n)"
    first = parse_line(text)
    second = parse_line(text, first.end)
    assert [item.first.commands[0] for item in first.script.items] == [
        Simple(((Text("echo", False),), (Text("a", False),)))
    ]
    assert second.end == len("echo a\necho b\n")
    with pytest.raises(ShellSyntaxError):
        parse_line(text, second.end)


def test_here_documents_are_taken_from_the_lines_that_follow() -> None:
    script = parse("cat <<A <<-'B'; echo c\none $x\nA\n\ttwo $x\n\tB\necho d")
    assert len(script.items) == 3
    cat = script.items[0].first.commands[0]
    assert isinstance(cat, Simple)
    first, second = cat.redirections
    assert first.target == (Text("one ", True), Parameter("x", True), Text("\n", True))
    assert second.target == (Text("two $x\n", True),)


def test_a_here_document_without_its_mark_is_incomplete_until_the_text_ends() -> None:
    with pytest.raises(ShellSyntaxError) as caught:
        parse_line("cat <<A\none\n", ended=False)
    assert caught.value.incomplete
    assert parse_line("cat <<A\none\n").script.items


def test_structure_is_kept() -> None:
    (item,) = parse("! a | b && { c; } || (d) &").items
    assert item.background
    assert item.first.negated
    assert [operator for operator, _ in item.rest] == ["&&", "||"]
    assert len(item.first.commands) == 2
    groups = [pipeline.commands[0] for _, pipeline in item.rest]
    assert [group.subshell for group in groups if isinstance(group, Group)] == [False, True]


def test_substitutions_are_parsed_inside_quotes() -> None:
    (item,) = parse('echo "a $(b | c) `d`"').items
    command = item.first.commands[0]
    assert isinstance(command, Simple)
    kinds = [type(part) for part in command.words[1]]
    assert kinds == [Text, Substitution, Text, Substitution]


def test_branches_of_an_if_are_kept_in_order() -> None:
    (item,) = parse("if a; then b; elif c; then d; else e; fi > f").items
    command = item.first.commands[0]
    assert isinstance(command, If)
    assert len(command.branches) == 2
    assert command.otherwise == Script((Item(Pipeline((Simple(((Text("e", False),),)),), False), (), False),))
    assert len(command.redirections) == 1
