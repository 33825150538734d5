"""Speed of the simulated phone, in this process and over adb.

    python benchmarks/device.py [--seconds 1] [--repeats 5] [--tcp]

In this process: one tap through uiautomator2's client plus one observation rendered for the agent, on four kinds of
way through the phone; a snapshot after each tap; a phone made anew; every task solved twice by its oracle. With --tcp,
the same phone behind the genuine adb. In this process time is that of the processor ("on one core"), over adb that on
the wall. Each figure is the best of several repeats with the worst beside it: what else runs on the machine only ever
makes a phone slower.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from agent_eval import demonstrations, wiring
from agent_eval.agent import UiautomatorDevice, adb
from agent_eval.agent.device import connect
from agent_eval.agent.prompt import screen_text
from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.tasks import TASKS
from agent_eval.types import Observation, PhoneSetup

SETTINGS, CLOCK = "com.android.settings", "com.android.deskclock"
STATE = {"settings/airplane_mode_on": False, "settings/wifi_on": True}


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    values: tuple[float, ...]
    goal: str = ""
    higher_is_better: bool = True

    @property
    def line(self) -> str:
        best, worst = max(self.values), min(self.values)
        if not self.higher_is_better:
            best, worst = worst, best
        goal = f"  (goal {self.goal})" if self.goal else ""
        return f"{self.name:50} {best:10,.1f} {self.unit:12} worst {worst:,.1f}{goal}"


class Bench:
    """A phone in this process, with the agent's hands on it."""

    def __init__(self, seed: int = 1) -> None:
        self.phone = Phone(PhoneSetup(seed=seed, state=STATE))
        self.client = SimDevice(self.phone)
        self.device = UiautomatorDevice(self.client)
        self.seen = self.device.observe()

    def tap(self, x: float, y: float) -> Observation:
        """One step: a tap through the client and the screen as the agent reads it."""
        self.client.click(x, y)
        self.seen = self.device.observe()
        screen_text(self.seen)
        return self.seen

    def tap_on(self, label: str) -> Observation:
        return self.tap(*next(e for e in self.seen.elements if e.label == label).bounds.center)

    def open(self, package: str, *labels: str) -> None:
        self.phone.open_app(package)
        self.seen = self.device.observe()
        for label in labels:
            self.tap_on(label)


def into_and_out_of_a_page() -> Iterator[Callable[[], object]]:
    """A page of Settings is opened and left again: every tap shows another screen."""
    bench = Bench()
    bench.open(SETTINGS)
    while True:
        yield lambda: bench.tap_on("Network & internet")
        yield lambda: bench.tap_on("Navigate up")


def a_switch_on_and_off() -> Iterator[Callable[[], object]]:
    """The same switch is flipped over and over: every tap changes the state and the status bar."""
    bench = Bench()
    bench.open(SETTINGS, "Network & internet")
    while True:
        yield lambda: bench.tap_on("Airplane mode")


def keys_of_the_keyboard() -> Iterator[Callable[[], object]]:
    """A letter is typed into the search of Settings and deleted again."""
    bench = Bench()
    bench.open(SETTINGS, "Search settings", "Search settings")
    assert bench.seen.keyboard_open
    while True:
        yield lambda: bench.tap(36, 820)
        yield lambda: bench.tap(690, 1030)


def anywhere() -> Iterator[Callable[[], object]]:
    """Any element of any screen is tapped; now and then another app is opened, outside the measured time."""
    bench, rng = Bench(), random.Random(1)
    packages = sorted(package for package, app in bench.phone.apps.items() if app.launchable and not app.hidden)
    for step in range(1 << 30):
        if step % 25 == 0:
            bench.open(rng.choice(packages))
        element = rng.choice(bench.seen.elements) if bench.seen.elements else None
        x, y = element.bounds.center if element is not None else (360, 640)
        yield lambda x=x, y=y: bench.tap(x, y)  # type: ignore[misc]


def per_second(
    steps: Iterator[Callable[[], object]],
    seconds: float,
    clock: Callable[[], float] = time.process_time,
    *,
    warm: int = 50,
) -> float:
    """Run prepared steps until so much time has gone by in them."""
    for _ in range(warm):
        next(steps)()
    done, spent = 0, 0.0
    while spent < seconds:
        batch = next(steps)
        begun = clock()
        batch()
        spent += clock() - begun
        done += 1
    return done / spent


def taps(seconds: float, repeats: int) -> list[Row]:
    ways = {
        "into a page and out again": into_and_out_of_a_page,
        "a switch on and off": a_switch_on_and_off,
        "keys of the keyboard": keys_of_the_keyboard,
        "anything, in all apps": anywhere,
    }
    return [
        Row(f"tap + observation: {name}", "per s", tuple(per_second(way(), seconds) for _ in range(repeats)), "2,000")
        for name, way in ways.items()
    ]


def snapshots(repeats: int) -> Row:
    """A snapshot after each of many taps, in microseconds."""

    def once() -> float:
        bench = Bench()
        bench.open(SETTINGS, "Network & internet")
        spent = 0.0
        for step in range(2000):
            if step % 2:
                bench.tap_on("Airplane mode")
            begun = time.process_time()
            bench.phone.snapshot()
            spent += time.process_time() - begun
        return spent / 2000 * 1e6

    return Row("snapshot", "us", tuple(once() for _ in range(repeats)), "50", higher_is_better=False)


def phones(repeats: int) -> Row:
    """A phone made anew, in milliseconds."""
    Phone(PhoneSetup(seed=0))

    def once() -> float:
        begun = time.process_time()
        for seed in range(100):
            Phone(PhoneSetup(seed=seed))
        return (time.process_time() - begun) * 10

    return Row("new phone", "ms", tuple(once() for _ in range(repeats)), "5", higher_is_better=False)


def oracles() -> list[Row]:
    """Every task solved twice by its oracle, in seconds."""
    device, phone = wiring.open_sim()
    spent, calls = [], 0
    begun = time.process_time()
    for name in sorted(TASKS):
        for seed in range(2):
            started = time.process_time()
            instance = TASKS[name].draw(seed)
            played = demonstrations.play(instance, device, phone, demonstrations.Noise.none())
            calls += len(played.expert)
            spent.append((time.process_time() - started) * 1000)
    whole = time.process_time() - begun
    name = f"oracles of {len(TASKS)} tasks x 2, {calls} calls"
    return [
        Row(name, "s", (whole,), "5 for 60", higher_is_better=False),
        Row("one oracle's episode, median", "ms", (median(spent),), higher_is_better=False),
    ]


def over_tcp(seconds: float, repeats: int) -> list[Row]:
    """The same phone behind the genuine adb, through the clients as they are and without their own rests."""
    rows: list[Row] = []
    with ServedPhone(Phone(PhoneSetup(seed=0))) as phone, adb.private_server() as port:
        serial = adb.attach(port, phone.port)
        for how, server in (("quick client", adb.QuickClient(port)), ("clients untouched", adb.client(port))):
            client = connect(serial, server)
            device = UiautomatorDevice(client)
            for name, call in calls_over_adb(client, device).items():
                values = tuple(
                    per_second(itertools.repeat(call), seconds, time.perf_counter, warm=5) for _ in range(repeats)
                )
                goal = "300" if name == "deviceInfo" and how == "quick client" else ""
                rows.append(Row(f"over adb, {how}: {name}", "per s", values, goal))
            client.stop_uiautomator()
    return rows


def calls_over_adb(client: Any, device: UiautomatorDevice) -> dict[str, Callable[[], object]]:
    return {
        "deviceInfo": lambda: client.info,
        "dump of all windows": client.dump_hierarchy,
        "tap + observation": lambda: (client.click(360, 640), screen_text(device.observe())),
        "shell echo": lambda: client.shell("echo hi"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tcp", action="store_true", help="also over adb")
    options = parser.parse_args()

    probe = probe_machine()
    print(f"{probe.cpu_model}, {probe.physical_cores} cores; load {os.getloadavg()[0]:.1f}")
    print(f"best of {options.repeats} repeats of {options.seconds:g} s")
    rows = [*taps(options.seconds, options.repeats), snapshots(options.repeats), phones(options.repeats), *oracles()]
    if options.tcp:
        rows += over_tcp(options.seconds, options.repeats)
    for row in rows:
        print(row.line)


if __name__ == "__main__":
    main()
