"""What a fresh phone holds: the draw of a whole phone from one seed.

Knows no screens. A setup with an unknown path or an unfit value is refused before anything changes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.schema import FILES, PERMISSION, Fields, Kind, Schema
from agent_eval.device_sim.screen import App, Draw, last_id_path
from agent_eval.device_sim.ui import DEFAULT_DENSITY
from agent_eval.errors import TaskFault
from agent_eval.types import PhoneSetup, Scalar, Skin

TIMEOUTS = (15, 30, 60, 120, 300, 600)
"""Choices of the screen timeout in seconds (Settings res/values/arrays.xml, screen_timeout_values)."""


DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
"""Names of weekdays in an alarm's repeat rule, in the order of AOSP's clock."""


def schema_of(apps: Iterable[App]) -> Schema:
    """Return all persisted paths of a phone with these apps."""
    paths: dict[str, Kind] = {}
    records: dict[str, Fields] = {}
    for app in apps:
        paths.update(app.paths)
        records.update(app.records)
        paths.update({f"permissions/{app.package}/{name}": PERMISSION for name in app.permissions})
    return Schema(paths, records)


@dataclass
class Profile:
    """A phone as it leaves the factory of one seed."""

    state: dict[str, Scalar]
    """Persisted paths."""
    world: dict[str, Scalar] = field(default_factory=dict)
    """What the phone knows beside them: nearby networks, the order of icons, the battery."""
    epoch_ms: int = 0


def draw(setup: PhoneSetup, apps: Iterable[App], schema: Schema) -> Profile:
    """Draw a phone from a setup: the seed decides what ``setup.state`` leaves open.

    Settings, alarms, people and their messages come from one stream, in this order; every other app draws its own part.

    Raises:
        TaskFault: a path or value of the setup does not exist on this phone.
    """
    for path, value in setup.state.items():
        schema.check(path, value)
    for prefix in setup.without:
        if prefix not in schema.records and not prefix.startswith(f"{FILES}/"):
            raise TaskFault(
                f"this phone keeps no records below {prefix!r}",
                hint=f"it keeps {', '.join(sorted(schema.records))}, and {FILES}/<folder>",
            )
    _check_skin(setup.skin)
    rng = random.Random(f"phone {setup.seed}")
    state, world = _settings(rng)
    alarms = _alarms(rng)
    people = rng.sample(_PEOPLE, rng.randint(6, 14))
    numbers = [f"+1555{rng.randrange(10**7):07d}" for _ in people]
    talk = [(rng.randrange(len(people)), rng.choice(_SENTENCES), rng.random() < 0.4) for _ in range(rng.randint(3, 8))]
    icons = [app.package for app in apps if app.home_row]
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
    if setup.skin.wording:
        world["skin/wording"] = setup.skin.wording
        world["skin/ascii_hyphen"] = setup.skin.wording == "ascii"
    world.update({f"skin/{name}": value for name, value in _drawn_by(setup.skin).items()})
    now = datetime.fromtimestamp(start, UTC)
    for app in apps:
        state.update({f"permissions/{app.package}/{name}": "granted" for name in app.permissions})
        if app.draw is not None:
            app.draw(Draw(setup.seed, app.package, state, world, now))
    for path in [path for path in state if any(_lies_below(path, prefix) for prefix in setup.without)]:
        del state[path]
    numbered = _complete_records(state, schema)
    _override(state, world, setup.state, schema)
    _drop_filled_folders(state)
    numbered |= {(record.prefix, record.number) for path in setup.state if (record := schema.record_of(path))}
    for prefix, number in sorted(numbered):
        last = last_id_path(prefix)
        world[last] = max(int(world.get(last, 0)), number)
    return Profile(state=state, world=world, epoch_ms=int(start) * 1000)


def _drop_filled_folders(state: dict[str, Scalar]) -> None:
    """Forget that a folder is empty where somebody else put something into it."""
    files = [path for path in state if path.startswith(f"{FILES}/")]
    for folder in [path for path in files if path.endswith("/")]:
        if any(path != folder and path.startswith(folder) for path in files):
            del state[folder]


def _lies_below(path: str, prefix: str) -> bool:
    return path.startswith(prefix.rstrip("/") + "/")


def _check_skin(skin: Skin) -> None:
    if skin.locale not in LOCALES:
        raise TaskFault(f"this phone does not speak {skin.locale!r}", hint=f"the locales are {', '.join(LOCALES)}")
    if not 0.85 <= skin.font_scale <= 2.0:
        raise TaskFault(f"a font scale of {skin.font_scale} does not exist", hint="0.85 to 2 are possible")
    if not 240 <= skin.density <= 560:
        raise TaskFault(f"a density of {skin.density} does not exist on this screen", hint="240 to 560 are possible")


def _drawn_by(skin: Skin) -> dict[str, Scalar]:
    """Return what differs from the default skin, as the phone keeps it."""
    found: dict[str, Scalar] = {}
    if skin.locale != "en":
        found["locale"] = skin.locale
    if skin.font_scale != 1.0:
        found["font_percent"] = round(skin.font_scale * 100)
    if skin.density != DEFAULT_DENSITY:
        found["density"] = skin.density
    if skin.row_order:
        found["row_order"] = skin.row_order
    return found


def _complete_records(state: dict[str, Scalar], schema: Schema) -> set[tuple[str, int]]:
    """Give every drawn record the fields that its drawing left out; return prefix and number of each."""
    numbered = {(record.prefix, record.number) for path in state if (record := schema.record_of(path))}
    for prefix, number in sorted(numbered):
        start = f"{prefix}/{number}/"
        for name, kind in schema.records[prefix].items():
            if start + name not in state:
                state[start + name] = kind.start
    return numbered


def _override(state: dict[str, Scalar], world: dict[str, Scalar], wanted: Mapping[str, Scalar], schema: Schema) -> None:
    for path, value in wanted.items():
        record = schema.record_of(path)
        if record:
            for name, start in schema.fresh_record(record.prefix, record.number).items():
                state.setdefault(name, start)
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
