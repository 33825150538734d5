from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.system import System
from agent_eval.device_sim.shell.table import COMMANDS, FAMILIES
from tests.device_sim.shell.transcripts import Exchange, transcript

SETUP = (
    "mkdir -p /sdcard/t/d; cd /sdcard/t; printf 'b 2\\na 10\\nb 2\\n' > f; printf 'one\\ntwo\\nthree\\n' > g; "
    "touch -d 2025-01-01 old; "
)


@pytest.mark.parametrize("said", transcript("toybox"), ids=lambda said: said.line[:60])
def test_toybox_answers_as_on_a_phone(system: System, said: Exchange) -> None:
    system.run(SETUP)
    assert system.run(f"cd /sdcard/t; {said.line}").output.decode().rstrip("\n") == said.output


def test_ps_lists_what_runs_with_the_columns_that_clients_read(system: System) -> None:
    system.phone.open_app("com.android.camera2")
    rows = [line.split() for line in system.run("ps -A").stdout.decode().splitlines()]
    assert all(len(row) >= 9 for row in rows)
    names = [row[-1] for row in rows]
    assert {"init", "system_server", "com.android.camera2", "sh", "ps"} <= set(names)
    pid = rows[names.index("com.android.camera2")][1]
    assert system.run("pidof com.android.camera2").stdout.decode().strip() == pid
    assert system.run(f"ps -p {pid} -o USER,NAME").stdout.decode().split()[-1] == "com.android.camera2"
    assert f" pid={pid} " in system.run("dumpsys activity top").stdout.decode()
    assert {line.split()[0] for line in system.run("ps -u shell").stdout.decode().splitlines()[1:]} == {"shell"}
    assert system.run("ps -ef").stdout.decode().splitlines()[0].split()[-1] == "CMD"


def test_every_app_has_a_process_number_of_its_own(system: System) -> None:
    from agent_eval.device_sim.shell.packages import pid_of

    numbers = [pid_of(system.phone, package.name) for package in system.packages]
    assert len(set(numbers)) == len(numbers)
    assert not set(numbers) & {
        process.pid for process in System(Phone()).processes() if process.user != "u0_a60"
    } - set(numbers)


def test_no_command_is_in_two_families() -> None:
    names = [name for family in FAMILIES for name in family]
    assert len(names) == len(set(names)) == len(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_answers_without_arguments_and_to_a_call_for_help(name: str) -> None:
    system = System(Phone())
    for line in (name, f"{name} --help", f"{name} -h", f"{name} nonsense -Z", f"{name} ''", f"{name} -"):
        result = system.run(line, b"input\n", limit_s=3)
        assert 0 <= result.code <= 255
        if line.endswith("--help") and COMMANDS[name].usage and COMMANDS[name].toybox:
            assert result.stdout.startswith(b"usage: ")
    assert name not in system.unknown


_PHONE = Phone()
_ARGUMENTS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "-a",
                "-n",
                "-l",
                "-r",
                "-c",
                "--",
                "-",
                "/sdcard",
                "/",
                "1",
                "0",
                "-1",
                "99999999999",
                "*",
                "{}",
                ";",
                "list",
                "set",
                "get",
                "start",
                "com.android.settings",
                "--uri",
                "content://sms",
                "--where",
                "a='",
                "-S",
                "volume",
                "--set",
                "-d",
                "@",
                "s/a/b/",
                "%",
                "%s",
                "..",
                "../../etc",
                "ü😀",
            ]
        ),
        st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=6),
    ),
    max_size=5,
)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(sorted(COMMANDS)), _ARGUMENTS)
def test_no_arguments_make_a_command_raise(name: str, arguments: list[str]) -> None:
    import shlex

    result = System(_PHONE).run(shlex.join([name, *arguments]), b"a b\n\xff\n", limit_s=2)
    assert 0 <= result.code <= 255
