"""Lines that want to break the phone, or to keep it for themselves: each is answered or refused, in turns."""

from __future__ import annotations

import pytest

from agent_eval.device_sim.clock import LAST_S
from agent_eval.device_sim.shell.content import MOST_ROWS
from agent_eval.device_sim.shell.process import WORK_PER_TURN
from agent_eval.device_sim.shell.session import MOST_COMMANDS, ShellSession
from agent_eval.device_sim.shell.system import System

MEGABYTE = "x=$(yes | head -c 1000000 | tr -d '\\n'); "

REFUSED = [
    # inside one another without end
    ("eval in eval", "x='eval \"$x\"'; eval \"$x\"", "nested too deeply"),
    ("a script that reads itself", "echo '. /sdcard/a' > /sdcard/a; . /sdcard/a", "nested too deeply"),
    ("a function in itself", "f() { f; }; f", "nested too deeply"),
    ("braces in eval in braces", "f() { " + "{ " * 15 + "eval f; " + "}; " * 15 + "}; f", "nested too deeply"),
    ("env", "env " * 400 + "true", "nested too deeply"),
    ("timeout", "timeout 1 " * 400 + "true", "nested too deeply"),
    ("command", "command " * 1000 + "true", "nested too deeply"),
    ("xargs", "echo a | " + "xargs " * 400 + "true", "nested too deeply"),
    ("a substitution in a pipe", "f() { echo $(f) | cat; }; f", "nested too deeply"),
    ("tests of find", "find / " + "! " * 190 + "-name a", "too many tests"),
    # more than there is room for
    ("a separator of megabytes", MEGABYTE + 'seq -s "$x" 1000000', "too many numbers"),
    ("a text in place of each letter", MEGABYTE + "echo ${x//y/$x}", "argument too long"),
    ("arguments", MEGABYTE + "echo " + '"$x" ' * 100, "Argument list too long"),
    ("words", "echo $(yes | head -c 400000)", "Argument list too long"),
    ("variables", "for i in $(seq 9000); do eval v$i=1; done", "too many variables"),
    ("text in variables", MEGABYTE + 'for i in $(seq 60); do eval "v$i=\\$x"; done', "value too long"),
    ("xargs", "x=$(yes '{}' | head -c 900000); yes | head -c 900000 | tr -d '\\n' | xargs -I{} echo \"$x\"",
     "Argument list too long"),
    ("commands in one line", "true; " * 60_000, "too many words"),
    ("a text of command lines", MEGABYTE + 'for i in 1 2 3 4 5; do echo "# $x" >> /sdcard/a; done; . /sdcard/a',
     "text too long"),
    ("lines", "cat /dev/zero | tr '\\000' '\\n' | sort", "File too large"),
    ("bytes", "truncate -s 9M /sdcard/a; rev /sdcard/a", "File too large"),
    ("keys", "input keyevent " + "29 " * 2000, "Invalid arguments"),
    # more work than there is time for
    ("arithmetic that doubles", ";".join(f"{one}={two}+{two}" for one, two in zip("abcdef", "bcdefg", strict=True))
     + "; b=" + "+".join("c" * 300) + "; c=" + "+".join("d" * 300) + "; echo $((a))", "expression too long"),
    ("a pattern of case", MEGABYTE + "case $x in *y*y*y*y*y*y*y*n) echo y;; esac", "pattern too complex"),
    ("a pattern in braces", MEGABYTE + "echo ${x##*y*y*y*y*y*y*y*n}", "pattern too complex"),
    ("a pattern of find", "find / -path '" + "*?" * 40_000 + "'", "pattern too long"),
    ("a pattern of open brackets", "echo /sdcard/" + "[" * 30_000, "[[["),
    ("a pattern of grep", "yes " + "a" * 60 + " | head -c 900000 | grep -E '(a|aa)+$'", "pattern too complex"),
    ("patterns of grep", "yes | head -c 20000 > /sdcard/p; grep \"$(cat /sdcard/p)\" /sdcard/p", "too many patterns"),
    ("a name of mktemp", "mktemp " + "X" * 50_000 + "Y", "File name too long"),
    # digits that are none
    ("a descriptor", "echo hi >&²", ""),
    ("a group of sed", "echo a | sed 's/a/\\²/'", "²"),
    ("surrogates between letters", "echo b | tr ab '\ud7ff-\ue001'", ""),
    ("a word of nothing", "echo \"a '' b\" | xargs paste", "a: No such file"),
    # pipes of what has no value
    ("a loop over nothing", "for i in ${x:?nothing}; do :; done | cat", "nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "part"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_hostile_line_is_refused_and_the_shell_goes_on(system: System, line: str, part: str) -> None:
    assert part in system.run(line).output.decode(errors="replace")
    assert system.run("echo alive").output == b"alive\n"


def turns(session: ShellSession) -> int:
    """Let a session go on until it waits for something or is over; return how often."""
    count = 0
    while session.code is None and session.rests:
        session.resume()
        count += 1
    return count


def test_a_loop_without_end_works_in_turns_until_it_is_killed(system: System) -> None:
    session = system.open_session("while :; do :; done")
    assert session.code is None
    assert session.wake_ms == system.phone.clock.now_ms
    assert 5 < turns(session) <= 3 * MOST_COMMANDS // WORK_PER_TURN
    assert session.code == 137


def test_two_busy_shells_go_on_side_by_side(system: System) -> None:
    one, two = (system.open_session("for i in $(seq 3000); do echo $i > /sdcard/f; done; echo done") for _ in range(2))
    while one.code is None or two.code is None:
        one.resume()
        two.resume()
        assert one.rests == two.rests
    assert one.take() == two.take() == [(1, b"done\n")]


@pytest.mark.parametrize(
    "line",
    [
        "for i in 1 2 3; do screencap -p /sdcard/$i.png; done",
        "for i in $(seq 30); do dumpsys activity; done",
        "for i in $(seq 30); do content query --uri content://sms; done",
        "for i in 1 2 3 4 5 6 7 8; do cat /dev/zero; done",
        "truncate -s 60M /data/local/tmp/a; for i in $(seq 9); do echo x >> /data/local/tmp/a; done",
        'x=$(yes | head -c 20000); for i in $(seq 20); do : $x "$x"; done',
        "x='" + "true\n" * 5000 + '\'; eval "$x"',
    ],
)
def test_what_costs_much_is_done_in_several_turns(system: System, line: str) -> None:
    session = system.open_session(line)
    assert turns(session) >= 2
    assert session.code == 0


def test_lines_that_are_typed_ahead_share_one_turn(system: System) -> None:
    for tty in (True, False):
        session = system.open_session("", tty=tty)
        session.take()
        session.feed(b"for i in $(seq 90); do :; done\n" * 40)
        assert session.rests
        assert turns(session) >= 2
        session.hang_up()


def test_a_text_that_is_not_complete_is_read_again_in_turns(system: System) -> None:
    session = system.open_session("")
    session.feed(b"while true; do\n" + b"echo\n" * 600)
    assert session.rests
    assert turns(session) > 20
    session.hang_up()
    assert session.code is not None


def test_a_here_document_of_thousands_of_lines_is_taken_from_a_terminal_line_by_line(system: System) -> None:
    session = system.open_session("")
    session.feed(b"cat <<E | wc -l\n")
    for _ in range(2999):
        session.feed(b"line\n")
    session.feed(b"E\nexit\n")
    turns(session)
    assert session.take() == [(1, b"2999\n")]


def test_a_busy_shell_that_is_hung_up_on_does_no_more(system: System) -> None:
    session = system.open_session("while :; do echo x >> /sdcard/f; done")
    session.hang_up()
    assert session.code is not None
    assert not session.rests
    size = len(system.files.read("/sdcard/f"))
    system.run("true")
    assert len(system.files.read("/sdcard/f")) == size


def test_a_limit_ends_a_command_that_is_busy(system: System) -> None:
    assert system.run("timeout 0 sh -c 'while :; do :; done'").code == 124


def test_what_is_busy_in_background_is_done_before_the_next_line(system: System) -> None:
    system.run("(for i in $(seq 4000); do :; done; echo done > /sdcard/f) > /dev/null 2>&1 &")
    assert system.run("cat /sdcard/f").output == b"done\n"


def test_who_sleeps_beyond_the_end_of_time_is_hung_up_on(system: System) -> None:
    assert system.run("sleep 999999999d; echo woke", limit_s=1e15).output == b""
    assert system.phone.clock.now_ms == LAST_S * 1000
    assert b"2100" in system.run("date").output
    assert system.run("sleep 5; echo woke").output == b""
    assert system.phone.hierarchy_xml()


def test_a_message_of_any_date_can_be_looked_at(system: System) -> None:
    for date in ("0", "-5", "999999999999999", str(LAST_S * 1000)):
        system.run(f"content insert --uri content://sms --bind address:s:5550100 --bind date:l:{date}")
    system.run("touch -d @999999999999 /sdcard/Recordings/a.m4a; touch -d 0001-01-01 /sdcard/Download/b")
    for name in ("com.android.messaging", "com.dimowner.audiorecorder", "com.android.documentsui"):
        assert system.phone.open_app(name)
        assert "<node" in system.phone.hierarchy_xml()


def test_a_file_that_is_no_recording_does_not_break_the_recorder(system: System) -> None:
    for number, content in enumerate(("seconds ²", "seconds " + "9" * 5000, "seconds", "")):
        system.files.write(f"/sdcard/Recordings/{number}.m4a", content.encode())
    assert system.phone.open_app("com.dimowner.audiorecorder")
    assert "<node" in system.phone.hierarchy_xml()


def test_every_activity_that_a_client_starts_by_name_can_be_looked_at_or_is_refused(system: System) -> None:
    refused = 0
    for package, app in system.phone.apps.items():
        for activity in sorted({screen.activity for screen in app.screens.values()} | set(app.actions)):
            answer = system.run(f"am start -n {package}/{activity}").output
            refused += b"not exported" in answer
            assert "<node" in system.phone.hierarchy_xml()
            assert system.phone.screenshot()
            system.run(f"am force-stop {package}")
    assert refused >= 8


def test_a_table_takes_so_many_rows_only(system: System) -> None:
    insert = "content insert --uri content://com.android.contacts/raw_contacts --bind display_name:s:n"
    assert system.run(f"for i in $(seq {MOST_ROWS // 100}); do {insert}; done").output == b""
    for number in range(1, MOST_ROWS):
        for path, value in system.phone.schema.fresh_record("contacts", 10_000 + number).items():
            system.phone.state[path] = value
    assert b"SQLITE_FULL" in system.run(insert).output


def test_notifications_beyond_the_fiftieth_are_dropped(system: System) -> None:
    system.run("for i in $(seq 70); do cmd notification post t$i text; done")
    assert system.run("cmd notification list | grep -c systemui").output in (b"50\n", b"51\n", b"52\n", b"53\n")


def test_what_an_install_session_holds_is_bounded(system: System) -> None:
    system.run("truncate -s 150M /data/local/tmp/a.apk")
    for number, answer in ((1_000_000_001, b"Success"), (1_000_000_002, b"not enough space")):
        system.run("pm install-create")
        assert answer in system.run(f"pm install-write {number} base /data/local/tmp/a.apk").output


def test_no_command_shows_this_machine(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "seen")
    files = ("/proc/self/environ", "/proc/1/environ", "/etc/hostname", "/proc/self/root/etc/passwd", "/dev/fd/3",
             "/sdcard/../../../../../etc/passwd")  # fmt: skip
    lines = ("env", "set", "export", "getprop", "echo $SECRET_OF_THE_HOST", "ls /root /home /etc", "ls -l /proc/self")
    for line in (*lines, *(f"cat {file}" for file in files)):
        output = system.run(line).output
        assert b"SECRET" not in output.replace(line.encode(), b"")
        assert b"root:x:0" not in output
