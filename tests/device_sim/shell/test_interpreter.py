from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.system import System
from tests.device_sim.shell.transcripts import Exchange, transcript

SHELL = "/system/bin/sh"
NO_NUL = st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00")


@pytest.mark.parametrize("said", transcript("mksh"), ids=lambda said: said.line[:60])
def test_command_lines_are_run_as_mksh_runs_them(system: System, said: Exchange) -> None:
    assert system.run(said.line).output.decode().rstrip("\n") == said.output


@pytest.mark.parametrize(
    ("line", "code"),
    [("exit 4", 4), ("exit 300", 44), ("false", 1), ("nosuch", 127), ("(exit 5)", 5), (")", 1),
     ("set -e; false; true", 1),
     ("/sdcard", 126), ("true\nfalse", 1), ("false\n", 1), ("", 0), ("sh -c 'exit 9'", 9), ("kill $$; echo no", 143)],
)  # fmt: skip
def test_the_exit_status_is_that_of_the_last_command(system: System, line: str, code: int) -> None:
    assert system.run(line).code == code


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(NO_NUL, max_size=8), min_size=1, max_size=4))
def test_quoted_arguments_arrive_as_they_are(arguments: list[str]) -> None:
    system = System(_PHONE)
    line = " ".join(["printf", shlex.quote("%s\\n"), *map(shlex.quote, arguments)])
    assert system.run(line).stdout.decode() == "".join(argument + "\n" for argument in arguments)


_PHONE = Phone()


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="echo ab$x(){}`'\";&|<>\n*?#!=0129-/", max_size=30))
def test_no_line_raises(line: str) -> None:
    System(_PHONE).run(line, limit_s=5)


def test_loops_without_end_are_killed(system: System) -> None:
    assert system.run("while true; do :; done").code == 137
    assert system.run("f() { f; }; f").code == 1
    assert system.run("sh /sdcard/loop", b"").code == 127
    system.run("echo 'sh /sdcard/loop' > /sdcard/loop")
    assert b"nested too deeply" in system.run("sh /sdcard/loop").stderr


@pytest.mark.parametrize(
    "line",
    [
        "x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do x=$x$x; done",
        "for i in " + "a " * 3000 + "; do for j in 1 2 3 4 5 6 7 8 9; do true; done; done",
        "for i in 1 2 3 4 5 6 7 8; do sleep 100 & done; true",
        "yes | cat > /dev/null",
        ":(){ :|:& };:",
    ],
)
def test_what_grows_without_end_is_stopped(system: System, line: str) -> None:
    system.run(line, limit_s=10)
    assert system.run("echo alive").output == b"alive\n"


def test_commands_that_do_not_exist_are_counted(system: System) -> None:
    system.run("frobnicate; frobnicate -x; ls | nosuch")
    assert system.unknown == {"frobnicate": 2, "nosuch": 1}
    assert system.phone.events.gaps == {"shell: frobnicate": 2, "shell: nosuch": 1}


def test_a_writer_ends_when_its_reader_does(system: System) -> None:
    before = system.phone.clock.now_ms
    assert system.run("logcat | head -n 400 | wc -l").stdout == b"400\n"
    assert system.phone.clock.now_ms - before < 500_000


def test_the_order_of_both_outputs_is_kept(system: System) -> None:
    result = system.run("echo a; echo b >&2; echo c")
    assert result.output == b"a\nb\nc\n"
    assert result.stdout == b"a\nc\n"
    assert result.stderr == b"b\n"
