from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.session import ShellSession
from agent_eval.device_sim.shell.system import System
from agent_eval.device_sim.streams import Progress, silent
from agent_eval.types import PhoneSetup


class Listener:
    """A service that says nothing."""

    def __init__(self) -> None:
        self.notify: Callable[[], object] = silent

    def receive(self, data: bytes) -> None: ...
    def end_of_input(self) -> None: ...
    def hang_up(self) -> None: ...
    def poll(self) -> Progress:
        return Progress(over=True)


START = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008"


def code(session: ShellSession) -> int | None:
    return session.code


def text(session: ShellSession) -> str:
    return b"".join(data for _, data in session.take()).decode()


def test_a_command_that_needs_nothing_is_over_at_once(system: System) -> None:
    session = system.open_session("echo a; echo b >&2; exit 3")
    assert code(session) == 3
    assert session.take() == [(1, b"a\n"), (2, b"b\n")]
    assert session.take() == []


def test_a_sleep_waits_for_the_phones_clock_and_takes_none_of_its_own(system: System) -> None:
    before = system.phone.clock.now_ms
    session = system.open_session("sleep 5; echo done")
    assert code(session) is None
    assert session.wake_ms == before + 5000
    assert system.phone.clock.now_ms == before
    session.resume()
    assert code(session) is None  # too early
    system.phone.advance(5)
    session.resume()
    assert code(session) == 0
    assert text(session) == "done\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_input_may_come_in_any_pieces(system: System, size: int) -> None:
    data = b"echo eins\nfor i in 1 2\ndo echo $i\ndone\ncat <<E\nzwei\nE\nread x\ndrei\necho $x\nexit 7\n"
    session = system.open_session("")
    for start in range(0, len(data), size):
        assert code(session) is None
        session.feed(data[start : start + size])
    assert code(session) == 7
    assert text(session) == "eins\n1\n2\nzwei\ndrei\n"


def test_a_shell_without_a_terminal_prints_neither_prompt_nor_echo(system: System) -> None:
    session = system.open_session("")
    session.feed(b"nosuch\n")
    assert session.take() == [(2, b"/system/bin/sh: nosuch: inaccessible or not found\n")]
    session.close_input()
    assert code(session) == 127


def test_a_terminal_prompts_echoes_and_edits(system: System) -> None:
    session = system.open_session("", tty=True)
    assert text(session) == "sim:/ $ "
    session.feed(b"ecX\x7fho hi\r")
    assert text(session) == "ecX\b \bho hi\r\nhi\r\nsim:/ $ "
    session.feed(b"false\rcd /sdcard\r")
    assert text(session).endswith("1|sim:/ $ cd /sdcard\r\nsim:/sdcard $ ")
    session.feed("\u00fc\u00fc\x7f\x15".encode())
    session.feed(b"if true\rthen echo y\rfi\r")
    assert "> then echo y\r\n> fi\r\ny\r\n" in text(session)
    session.feed(b"exit 3\r")
    assert code(session) == 3


def test_control_c_ends_the_command_and_not_the_shell(system: System) -> None:
    session = system.open_session("", tty=True)
    session.feed(b"sleep 100\r")
    waits = [session.wake_ms is not None]
    session.feed(b"\x03")
    waits.append(session.wake_ms is not None)
    assert waits == [True, False]
    assert text(session).endswith("^C\r\n130|sim:/ $ ")
    session.feed(b"sleep 50 | cat\r\x03echo still here\r")
    assert "still here\r\n" in text(session)
    assert code(session) is None


def test_control_d_ends_one_reader_and_then_the_shell(system: System) -> None:
    session = system.open_session("", tty=True)
    session.feed(b"cat\rline\r\x04")
    assert text(session).endswith("cat\r\nline\r\nline\r\nsim:/ $ ")
    assert code(session) is None
    session.feed(b"\x04")
    assert code(session) == 0


def test_a_terminal_gives_a_single_command_its_line_ends(system: System) -> None:
    session = system.open_session("echo a; nosuch", tty=True)
    assert session.take() == [(1, b"a\r\n"), (1, b"/system/bin/sh: nosuch: inaccessible or not found\r\n")]


def test_pipes_pass_on_what_is_there_while_more_is_to_come(system: System) -> None:
    session = system.open_session("cat | cat")
    session.feed(b"one\n")
    assert text(session) == "one\n"
    session.feed(b"two\n")
    assert text(session) == "two\n"
    session.close_input()
    assert code(session) == 0


def test_hanging_up_ends_what_runs(system: System) -> None:
    session = system.open_session("sleep 100; echo no")
    session.hang_up()
    assert code(session) == 129
    assert session.take() == []
    assert session.wake_ms is None
    assert not any(process.name == "sleep" for process in system.processes())


def test_a_process_of_another_session_can_be_killed_and_its_owner_is_told(system: System) -> None:
    told: list[str] = []
    session = system.open_session("sleep 100; echo $?")
    session.notify = lambda: told.append("woken")
    (pid,) = [process.pid for process in system.processes() if process.name == "sleep"]
    assert system.run(f"kill {pid}; echo $?").output == b"0\n"
    assert told == ["woken"]
    assert code(session) == 0
    assert text(session) == "143\n"
    assert system.run(f"kill {pid}").output == f"/system/bin/sh: kill: {pid}: No such process\n".encode()


def test_background_jobs_run_on_and_can_be_killed_and_waited_for(system: System) -> None:
    result = system.run("sleep 3 & echo $!; wait; date +%s")
    pid, end = result.output.decode().split()
    assert int(pid) > 22000
    assert int(end) == (system.phone.boot_ms // 1000) + 3
    assert system.run("sleep 100 & kill $!; wait; echo over").output == b"over\n"
    assert system.phone.clock.now_ms == system.phone.boot_ms + 3000


def test_a_job_that_holds_the_output_keeps_the_session_open(system: System) -> None:
    session = system.open_session("sleep 10 &")
    assert code(session) is None
    system.phone.advance(10)
    session.resume()
    assert code(session) == 0


def test_a_job_with_its_output_elsewhere_outlives_the_session(system: System) -> None:
    session = system.open_session("(sleep 2; echo late > /sdcard/late) > /dev/null 2>&1 &")
    assert code(session) == 0
    assert system.wake_ms == system.phone.clock.now_ms + 2000
    assert system.run("cat /sdcard/late").code == 1
    system.phone.advance(2)
    system.resume()
    assert system.run("cat /sdcard/late").output == b"late\n"
    assert system.wake_ms is None


def test_a_run_lets_time_pass_and_ends_what_never_ends(system: System) -> None:
    before = system.phone.clock.now_ms
    assert system.run("sleep 2.5").code == 0
    assert system.phone.clock.now_ms - before == 2500
    assert system.run("cat", b"given").output == b"given"
    assert system.run("uiautomator events").code == 129
    assert system.run("sleep 1000", limit_s=10).code == 129


def test_the_uiautomator2_server_listens_until_it_is_hung_up(system: System) -> None:
    system.provide("uiautomator2", Listener)
    session = system.open_session(START)
    assert code(session) is None
    assert text(session) == "[server] INFO: [UiAutomator2Server] Starting Server\n"
    assert isinstance(system.ports[9008](), Listener)
    assert "app_process" in system.run("ps -A").stdout.decode()
    second = system.run(START)
    assert "already registered" in second.output.decode()
    assert second.code == 1
    assert 9008 in system.ports
    session.hang_up()
    assert system.ports == {}
    assert "app_process" not in system.run("ps -A").stdout.decode()


def test_the_uiautomator2_server_frees_its_port_when_killed(system: System) -> None:
    system.provide("uiautomator2", Listener)
    for kill in ("kill -9 $(pidof app_process)", "pkill -f com.wetest.uia2.Main"):
        session = system.open_session(START)
        assert system.ports
        system.run(kill)
        assert system.ports == {}
        assert code(session) is not None
    session = system.open_session(START)
    system.stop_listening(9008)
    assert system.ports == {}
    assert code(session) == 137


def test_the_server_is_refused_where_none_was_provided(system: System) -> None:
    result = system.run(START)
    assert result.code == 134
    assert system.ports == {}


def test_a_reset_phone_remembers_nothing_of_what_the_shell_did(system: System) -> None:
    from agent_eval.types import PhoneSetup

    system.run("settings put system custom 1; setprop debug.x 1; echo a > /data/local/tmp/a; dumpsys battery set ac 1")
    system.phone.reset(PhoneSetup(seed=1))
    said = system.run("settings get system custom; getprop debug.x; cat /data/local/tmp/a; dumpsys battery | grep AC")
    assert said.output.decode().splitlines() == [
        "null", "", "cat: /data/local/tmp/a: No such file or directory", "  AC powered: false",
    ]  # fmt: skip
    assert system.run("cat /proc/version").code == 0


def test_a_restart_ends_what_runs_and_keeps_what_is_persisted(system: System) -> None:
    told: list[str] = []
    system.on_restart = lambda: told.append("restarted")
    session = system.open_session("sleep 100")
    system.phone.open_app("com.android.settings")
    system.run("echo a > /sdcard/kept")
    system.run("svc power reboot; echo no")
    assert told == ["restarted"]
    assert code(session) == 137
    assert system.phone.front.screen == "launcher/home"
    assert system.phone.recents == ()
    assert system.run("cat /sdcard/kept").output == b"a\n"


def test_a_flood_of_input_that_nobody_reads_ends_the_session(system: System) -> None:
    session = system.open_session("sleep 100")
    for _ in range(5):
        session.feed(bytes(16 << 20))
    assert code(session) == 137


def test_equal_phones_answer_equal_lines_equally() -> None:
    from agent_eval.device_sim import Phone

    lines = [
        "ps -A",
        "logcat -d",
        "sleep 3; logcat -d | tail -n 3",
        "dumpsys activity",
        "mktemp",
        "ls -lR /sdcard",
        "echo $$",
    ]
    one, two = System(Phone()), System(Phone())
    assert [one.run(line) for line in lines] == [two.run(line) for line in lines]


def test_a_restarted_phone_shows_its_launcher_and_remembers_what_was_saved() -> None:
    phone = Phone(PhoneSetup(seed=1))
    system = System(phone)
    told: list[str] = []
    system.on_restart = lambda: told.append("restarted")
    phone.open_app("com.android.settings")
    phone.put("settings/wifi_on", False)
    phone.advance(10)
    left = system.open_session("sleep 100")
    system.run("reboot")
    assert told == ["restarted"]
    assert left.code is not None
    assert phone.front.package == "com.android.launcher3"
    assert phone.recents == ()
    assert phone.state["settings/wifi_on"] is False
    assert phone.boot_ms == phone.clock.now_ms


def test_an_app_that_was_stopped_and_started_has_another_process() -> None:
    system = System(Phone(PhoneSetup(seed=1)))

    def pid() -> str:
        system.run("am start -n com.android.settings/.Settings")
        found = system.run("pidof com.android.settings").output.decode().strip()
        assert f"pid={found}" in system.run("dumpsys activity top").output.decode()
        return found

    first = pid()
    assert pid() == first
    system.run("am force-stop com.android.settings")
    assert system.run("pidof com.android.settings").code == 1
    assert pid() != first
