from __future__ import annotations

import struct

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.log_book import KEPT, START, LogBook, Mark
from agent_eval.device_sim.shell.system import System
from agent_eval.types import PhoneSetup


@pytest.fixture
def phone() -> Phone:
    return Phone(PhoneSetup(seed=1))


def texts(book: LogBook, mark: Mark = START) -> list[str]:
    return [line.text for line in book.since(mark)]


def test_lines_of_one_moment_are_read_once_each_by_whoever_follows(phone: Phone) -> None:
    book = LogBook(phone)
    mark = book.mark
    book.note("I", "tag", "first")
    assert texts(book, mark=mark) == ["first"]
    mark = book.mark
    book.note("I", "tag", "second")  # the clock has not moved
    assert texts(book, mark=mark) == ["second"]
    assert texts(book, mark=book.mark) == []


def test_what_is_noted_right_after_a_clear_is_kept(phone: Phone) -> None:
    book = LogBook(phone)
    book.note("I", "tag", "before")
    book.clear()
    book.note("I", "tag", "after")
    assert texts(book) == ["after"]


def test_the_chatter_of_a_second_comes_once(phone: Phone) -> None:
    book = LogBook(phone)
    phone.advance(3)
    book.clear()
    mark = book.mark
    phone.advance(2)
    assert len(texts(book, mark=mark)) == len(texts(book)) == 2
    assert texts(book, mark=book.mark) == []


def test_a_slow_reader_misses_only_what_the_buffer_dropped(phone: Phone) -> None:
    book = LogBook(phone)
    mark = book.mark
    for number in range(KEPT + 5):
        book.note("I", "tag", str(number))
    assert texts(book, mark=mark) == [str(number) for number in range(5, KEPT + 5)]


def test_a_follower_shows_what_was_logged_while_the_clock_stood_still(phone: Phone) -> None:
    system = System(phone)
    system.run("logcat -c")
    session = system.open_session("logcat -v raw")
    session.take()
    system.run("log -t peer said")
    assert session.wake_ms is not None
    phone.advance((session.wake_ms - phone.clock.now_ms) / 1000)
    session.resume()
    assert b"said\n" in b"".join(part for _, part in session.take())
    session.hang_up()


def test_the_binary_form_is_that_of_liblog(phone: Phone) -> None:
    system = System(phone)
    system.run("logcat -c; log -p w -t peer said")
    content = system.run("logcat -B -d").stdout
    length, head, pid, thread, seconds, nanoseconds, _, uid = struct.unpack_from("<HHi5I", content)
    assert len(content) == head + length
    assert content[head:] == b"\x05peer\0said\0"
    assert pid == thread > 0
    assert uid == 1000
    assert seconds * 1000 + nanoseconds // 1_000_000 == phone.clock.now_ms


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("", "03-07 02:24:00.000 {pid:>5} {pid:>5} W peer    : said"),
        ("-v time", "03-07 02:24:00.000 W/peer    ({pid:>5}): said"),
        ("-v threadtime,year", "2025-03-07 02:24:00.000 {pid:>5} {pid:>5} W peer    : said"),
        ("-v year", "2025-03-07 02:24:00.000 {pid:>5} {pid:>5} W peer    : said"),
        ("-v time,usec,zone", "03-07 02:24:00.000000 +0000 W/peer    ({pid:>5}): said"),
        ("-v epoch", "     1741314240.000 {pid:>5} {pid:>5} W peer    : said"),
        ("-v brief,color", "W/peer    ({pid:>5}): said"),
        ("-b main,crash -v raw", "said"),
        ("-t '03-07 02:24:00.000' -v raw", "said"),
        ("-t '2025-03-07 02:24:00.000' -v raw", "said"),
        ("-t 1741314240.000 -v raw", "said"),
        ("-t '03-07 02:24:00.001'", ""),
        ("-b crash", ""),
        ("-b crash peer:V", ""),
        ("-b events -v raw", ""),
    ],
)
def test_the_time_of_a_line_takes_the_form_asked_for(phone: Phone, options: str, line: str) -> None:
    system = System(phone)
    system.run("logcat -c; log -p w -t peer said")
    output = system.run(f"logcat -d {options}").stdout.decode()
    pid = system.memory.log.since()[-1].pid
    assert output.removeprefix("--------- beginning of main\n").rstrip("\n") == line.format(pid=pid)
