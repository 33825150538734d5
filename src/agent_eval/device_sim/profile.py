"""What a fresh phone holds: the persisted paths that exist, and the draw of a whole phone from one seed.

Knows no screens. A setup with an unknown path or an unfit value is refused before anything changes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent_eval.errors import TaskFault
from agent_eval.types import PhoneSetup, Scalar

TIMEOUTS = (15, 30, 60, 120, 300, 600)
"""Choices of the screen timeout in seconds (Settings res/values/arrays.xml, screen_timeout_values)."""


@dataclass(frozen=True)
class Kind:
    """The values that a persisted path may have."""

    type: type[bool] | type[int] | type[str]
    low: int = 0
    high: int = 0
    among: tuple[int | str, ...] = ()

    def problem(self, value: object) -> str:
        """Say what is wrong with a value, or return nothing."""
        if type(value) is not self.type:
            return f"expected {self.type.__name__}, got {type(value).__name__}"
        if self.among and value not in self.among:
            return f"expected one of {', '.join(map(str, self.among))}"
        if self.type is int and not self.among and not self.low <= int(str(value)) <= self.high:
            return f"expected {self.low} to {self.high}"
        return ""


YES_NO, TEXT = Kind(bool), Kind(str)

PATHS: dict[str, Kind] = {
    "about/android_version": TEXT,
    "about/model": TEXT,
    "battery/level": Kind(int, 1, 100),
    "camera/photos": Kind(int, 0, 100_000),
    "clock/stopwatch/state": Kind(str, among=("reset", "running", "paused")),
    "clock/timer/seconds": Kind(int, 0, 362_439),
    "clock/timer/state": Kind(str, among=("none", "set", "running", "paused", "expired")),
    "settings/adaptive_brightness": YES_NO,
    "settings/airplane_mode_on": YES_NO,
    "settings/battery_saver": YES_NO,
    "settings/bluetooth_on": YES_NO,
    "settings/brightness": Kind(int, 0, 255),
    "settings/dark_theme": YES_NO,
    "settings/data_saver": YES_NO,
    "settings/device_name": TEXT,
    "settings/screen_timeout_s": Kind(int, among=TIMEOUTS),
    "settings/vibrate_on_ring": YES_NO,
    "settings/volume_alarm": Kind(int, 0, 7),
    "settings/volume_media": Kind(int, 0, 15),
    "settings/volume_ring": Kind(int, 0, 7),
    "settings/wifi_network": TEXT,
    "settings/wifi_on": YES_NO,
}
"""Every path that always exists."""

RECORDS: dict[str, dict[str, Kind]] = {
    "clock/alarm": {
        "hour": Kind(int, 0, 23), "minute": Kind(int, 0, 59), "enabled": YES_NO, "label": TEXT, "days": TEXT,
        "vibrate": YES_NO,
    },
    "contacts": {"name": TEXT, "phone": TEXT},
    "messages": {"address": TEXT, "body": TEXT, "sent": YES_NO},
}  # fmt: skip
"""Paths of numbered records: ``<prefix>/<id>/<field>``; a record has all of its fields or does not exist."""

RECORD_DEFAULTS: dict[str, dict[str, Scalar]] = {
    "clock/alarm": {"hour": 8, "minute": 0, "enabled": True, "label": "", "days": "", "vibrate": False},
    "contacts": {"name": "", "phone": ""},
    "messages": {"address": "", "body": "", "sent": False},
}

DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")

_RECORD_PATH = re.compile(r"(.+)/([1-9][0-9]{0,5})/([a-z_]+)")


def record_of(path: str) -> tuple[str, int, str] | None:
    """Split the path of a record's field into prefix, id and field, or return None for any other path."""
    match = _RECORD_PATH.fullmatch(path)
    if match and match[3] in RECORDS.get(match[1], ()):
        return match[1], int(match[2]), match[3]
    return None


def check(path: str, value: object) -> None:
    """Refuse a persisted path that does not exist or a value that it cannot have.

    Raises:
        TaskFault: names the path, the value and what was expected.
    """
    record = record_of(path)
    kind = RECORDS[record[0]][record[2]] if record else PATHS.get(path)
    if kind is None:
        raise TaskFault(
            f"this phone has no persisted path {path!r} (value {value!r})",
            hint=f"the paths are {', '.join(PATHS)}, and "
            + ", ".join(f"{p}/<id>/{'|'.join(RECORDS[p])}" for p in RECORDS),
        )
    problem = kind.problem(value)
    if not problem and record and record[2] == "days":
        unknown = [day for day in str(value).split(",") if day and day not in DAYS]
        problem = f"expected names among {','.join(DAYS)} joined by commas" if unknown else ""
    if problem:
        raise TaskFault(f"{path!r} cannot be {value!r}: {problem}", hint="correct the value in PhoneSetup.state")


@dataclass
class Profile:
    """A phone as it leaves the factory of one seed."""

    state: dict[str, Scalar]
    """Persisted paths."""
    world: dict[str, Scalar] = field(default_factory=dict)
    """What the phone knows beside them: nearby networks, the order of icons, the battery."""
    epoch_ms: int = 0


def draw(setup: PhoneSetup, launchable: Iterable[str]) -> Profile:
    """Draw a phone from a setup: the seed decides what ``setup.state`` leaves open.

    Raises:
        TaskFault: a path or value of the setup does not exist on this phone.
    """
    for path, value in setup.state.items():
        check(path, value)
    rng = random.Random(f"phone {setup.seed}")
    state, world = _settings(rng)
    alarms = _alarms(rng)
    people = rng.sample(_PEOPLE, rng.randint(6, 14))
    numbers = [f"+1555{rng.randrange(10**7):07d}" for _ in people]
    talk = [(rng.randrange(len(people)), rng.choice(_SENTENCES), rng.random() < 0.4) for _ in range(rng.randint(3, 8))]
    icons = list(launchable)
    rng.shuffle(icons)
    world["launcher/order"] = ",".join(icons)
    start = datetime(2025, 1, 6, tzinfo=UTC).timestamp() + rng.randrange(365 * 24 * 60) * 60
    if setup.keep_alarms:
        state.update(alarms)
    for number, (name, phone) in enumerate(zip(people, numbers, strict=True), start=1):
        state.update({f"contacts/{number}/name": name, f"contacts/{number}/phone": phone})
    for number, (person, body, sent) in enumerate(talk, start=1):
        state.update({
            f"messages/{number}/address": numbers[person],
            f"messages/{number}/body": body,
            f"messages/{number}/sent": sent,
        })  # fmt: skip
    _override(state, world, setup.state)
    highest = max(
        (record[1] for path in state if (record := record_of(path)) and record[0] == "clock/alarm"), default=0
    )
    world["clock/last_alarm_id"] = highest  # ids are never reused, so that a deleted alarm cannot come back as another
    return Profile(state=state, world=world, epoch_ms=int(start) * 1000)


def _override(state: dict[str, Scalar], world: dict[str, Scalar], wanted: Mapping[str, Scalar]) -> None:
    for path, value in wanted.items():
        record = record_of(path)
        if record and f"{record[0]}/{record[1]}/{record[2]}" not in state:
            prefix, number, _ = record
            for name, default in RECORD_DEFAULTS[prefix].items():
                state.setdefault(f"{prefix}/{number}/{name}", default)
        if path == "battery/level":
            world[path] = value
        else:
            state[path] = value
    if state["settings/airplane_mode_on"]:
        for radio in ("wifi_on", "bluetooth_on"):
            world[f"radios/{radio}"] = state[f"settings/{radio}"]
            if f"settings/{radio}" not in wanted:
                state[f"settings/{radio}"] = False


def _settings(rng: random.Random) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    networks = rng.sample(_NETWORKS, rng.randint(4, 7))
    devices = rng.sample(_DEVICES, rng.randint(1, 3))
    model = rng.choice(_MODELS)
    state: dict[str, Scalar] = {
        "about/android_version": "15",
        "about/model": model,
        "camera/photos": rng.randrange(40),
        "clock/stopwatch/state": "reset",
        "clock/timer/seconds": 0,
        "clock/timer/state": "none",
        "settings/adaptive_brightness": rng.random() < 0.5,
        "settings/airplane_mode_on": False,
        "settings/battery_saver": rng.random() < 0.2,
        "settings/bluetooth_on": rng.random() < 0.5,
        "settings/brightness": rng.randrange(26, 243),
        "settings/dark_theme": rng.random() < 0.3,
        "settings/data_saver": rng.random() < 0.2,
        "settings/device_name": model,
        "settings/screen_timeout_s": rng.choice(TIMEOUTS),
        "settings/vibrate_on_ring": rng.random() < 0.5,
        "settings/volume_alarm": rng.randrange(1, 8),
        "settings/volume_media": rng.randrange(16),
        "settings/volume_ring": rng.randrange(8),
        "settings/wifi_network": networks[0],
        "settings/wifi_on": rng.random() < 0.6,
    }
    world: dict[str, Scalar] = {
        "battery/level": rng.randrange(21, 100),
        "bluetooth/paired": "|".join(devices),
        "skin/ascii_hyphen": rng.random() < 0.25,
        "wifi/nearby": "|".join(networks),
        "wifi/open": "|".join(name for name in networks[1:] if rng.random() < 0.3),
        "wifi/saved": networks[0],
        "about/build": f"AP4A.{rng.randrange(240000, 250000)}.{rng.randrange(1, 20):03d}",
        "about/serial": f"{rng.randrange(16**8):08X}",
        "storage/used": rng.randrange(12, 61),
        "screen/on": True,
    }
    return state, world


def _alarms(rng: random.Random) -> dict[str, Scalar]:
    state: dict[str, Scalar] = {}
    times = rng.sample(range(0, 24 * 60, 5), rng.randint(1, 4))
    for number, time in enumerate(sorted(times), start=1):
        label = rng.choice(_ALARM_LABELS) if rng.random() < 0.5 else ""
        fields: dict[str, Scalar] = {
            "hour": time // 60,
            "minute": time % 60,
            "enabled": rng.random() < 0.5,
            "label": label,
            "days": "Mon,Tue,Wed,Thu,Fri" if rng.random() < 0.3 else "",
            "vibrate": rng.random() < 0.5,
        }
        state.update({f"clock/alarm/{number}/{name}": value for name, value in fields.items()})
    return state


_NETWORKS = (
    "AndroidWifi", "HomeNet", "HomeNet-5G", "Cafe Guest", "Library", "Office-Main", "Office-Guest", "TP-Link_4F2A",
    "Fritz Box 7590", "Blue Sky", "Skyline", "Nest 21", "Riverside", "Linksys00412", "Train WiFi",
)  # fmt: skip
_DEVICES = ("Kitchen Speaker", "Car Audio", "Buds Pro", "Fitness Band", "Desk Keyboard", "Studio Headset")
_MODELS = ("Pixel 6a", "Pixel 7", "Pixel 8", "sdk_gphone64_x86_64", "Moto G54", "Nokia X30")
_ALARM_LABELS = ("Work", "Gym", "School run", "Medicine", "Standup", "Bins out", "Train")
_PEOPLE = (
    "Ada Novak", "Ben Okafor", "Carla Diaz", "Dmitri Petrov", "Elena Rossi", "Farid Rahman", "Grace Kim", "Hugo Martin",
    "Ines Costa", "Jonas Weber", "Kira Sato", "Liam Walsh", "Mara Lind", "Noor Haddad", "Oskar Berg", "Priya Nair",
    "Quinn Taylor", "Rosa Jimenez", "Samir Patel", "Tessa Young",
)  # fmt: skip
_SENTENCES = (
    "See you at six?", "Running ten minutes late.", "Can you call me back?", "Happy birthday!", "The parcel arrived.",
    "Lunch on Friday?", "Thanks for yesterday.", "Did you lock the door?", "Meeting moved to room 4.", "On my way.",
)  # fmt: skip
