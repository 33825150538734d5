"""Public reports about screens that are not what they seem: each symptom again, and the right behaviour."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.actions import Action, OpenApp, PressKey, Swipe, Tap, TaskComplete
from agent_eval.agent import UiautomatorDevice, misbehaving
from agent_eval.agent.policy import ModelPolicy
from agent_eval.agent.prompt import tool_schemas
from agent_eval.contracts import Device, Policy
from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.tasks import TaskInstance, find_task
from agent_eval.types import ActionResult, Observation, PhoneSetup, Sampling, Skin
from agent_eval.wiring import open_sim
from tests.fakes import TIMING, ScriptedModel, call
from tests.tasks import agents
from tests.tasks.scenes import CLOCK, Stage, expert, facts, follows, labelled, play, play_on, scene, told

TURN_OFF = {"settings/wifi_on": True}


def wifi_off(*faults: str, seed: int = 1) -> TaskInstance:
    """Make a task of turning Wi-Fi off under faults."""
    return scene(
        goal=lambda _start, now: now["settings/wifi_on"] is False,
        allowed=lambda _start, _now: ("settings/wifi_on", "settings/wifi_network"),
        state=TURN_OFF,
        faults=faults,
        seed=seed,
    )


WAY = ("Network & internet", "Internet")


def test_the_tree_of_a_screen_is_missing_for_a_moment() -> None:
    """google-research/android_world#198, #314: the dump is asked for again, and the record says so."""
    fired = 0
    for seed in range(6):
        instance = find_task("WifiSet+empty_dump").draw(seed)
        record = play(instance, expert(instance))
        assert record.outcome.label == "success", told(record)
        assert {fault.fault for fault in record.faults} <= {"empty_dump"}
        fired += len(record.faults)
    assert fired > 3


def test_the_tree_of_a_screen_never_comes() -> None:
    """google-research/android_world#198: then the device has failed and not the agent; no rate counts the episode."""

    class Blind(SimDevice):
        def plain_windows(self) -> None:
            """Hand out nothing but dumps."""

        def dump_hierarchy(self, *_arguments: object, **_options: object) -> str:
            return '<?xml version="1.0" encoding="UTF-8"?><hierarchy rotation="0" />'

    record = Stage(client=Blind).play(scene(), follows(OpenApp(app="Settings")))
    assert (record.outcome.label, record.outcome.facts, record.steps) == ("harness_error", None, ())
    assert "shows no window with content" in record.outcome.fault


def test_there_is_an_active_window_and_then_none_and_then_one() -> None:
    """droidrun/mobilerun#282: a model reads the same, turn by turn, as on a phone whose window is always there."""
    texts = [call("open_app", name="Settings"), *[call("swipe", direction="up"), call("swipe", direction="down")] * 5]
    shown = []
    flaps = 0
    for faults in ((), ("empty_dump",)):
        policy = ModelPolicy(ScriptedModel([*texts, call("give_up")]), tool_schemas(), Sampling())
        record = play(scene(faults=faults), policy)
        shown.append([step.prompt for step in record.steps])
        flaps = len(record.faults)
    assert shown[0] == shown[1]
    assert flaps > 2


def test_a_dump_holds_a_single_node() -> None:
    """openatx/uiautomator2#895: the model reads a screen without elements; one wait later it reads the whole."""
    seen = 0
    for seed in range(8):
        instance = wifi_off("partial_dump", seed=seed)
        policy = agents.waits_for_elements(agents.switches_by_the_screen("Wi-Fi", *WAY, wanted="off"))
        record = play(instance, policy)
        assert record.outcome.label == "success", told(record)
        waits = [step for step in record.steps if step.tool == "wait"]
        seen += len(waits)
        assert len(record.faults) >= len(waits)
    assert seen > 2


def test_a_dump_does_not_match_the_screen() -> None:
    """openatx/uiautomator2#449, #930: who taps again on what it shows undoes what was done; states tell."""
    labels = {}
    for seed in range(12):
        hasty = play(wifi_off("stale_tree", seed=seed), agents.switches_by_the_screen("Wi-Fi", *WAY, wanted="off"))
        patient = agents.Patient(agents.switches_by_the_screen("Wi-Fi", *WAY, wanted="off"))
        assert play(wifi_off("stale_tree", seed=seed), patient).outcome.label == "success"
        labels[seed] = facts(hasty).reversals
    assert max(labels.values()) >= 1


def test_a_dump_takes_seconds() -> None:
    """openatx/uiautomator2#867: what the device takes is no time of the model; only the whole episode has both."""

    class Slow:
        """A device that reads the screen fifty times over."""

        def __init__(self, device: Device) -> None:
            self._device = device

        def observe(self) -> Observation:
            return [self._device.observe() for _ in range(50)][-1]

        def perform(self, action: object) -> ActionResult:
            return self._device.perform(action)  # type: ignore[arg-type]

        def close(self) -> None:
            self._device.close()

    device, phone = open_sim()
    policy = ModelPolicy(
        ScriptedModel([call("open_app", name="Settings"), call("give_up")]), tool_schemas(), Sampling()
    )
    record = play_on(Slow(device), phone, scene(), policy)
    assert [step.timing for step in record.steps] == [TIMING, TIMING]
    assert record.wall_s > 0
    assert record.untimed() == play(scene(), policy).untimed()


def test_the_screen_is_still_the_launcher_after_an_app_was_opened() -> None:
    """agent-device#564, #1254: the model reads that nothing changed yet, and the launcher is nobody's wrong app."""
    stale = 0
    for seed in range(8):
        texts = [call("open_app", name="Clock"), call("wait"), call("wait"), call("give_up")]
        record = play(
            scene(faults=("stale_tree",), seed=seed, apps=(CLOCK,)),
            ModelPolicy(ScriptedModel(texts), tool_schemas(), Sampling()),
        )
        if "Opened Clock. The screen did not change." in record.steps[1].prompt:
            stale += 1
            assert record.steps[0].package == "com.android.launcher3"
        assert record.steps[-1].package == CLOCK
        assert not facts(record).in_wrong_app
    assert stale > 1


def test_an_agent_acts_on_a_list_that_is_still_moving() -> None:
    """auto-mobile PR#1919, #7367: the tap lands elsewhere, the next screen shows it, and only the state is judged."""
    blind, looking = [], []
    for seed in range(8):
        faults = ("list_shift", "stale_tree")
        way = (seen(label) for label in (*WAY, "Wi-Fi"))
        blind.append(play(wifi_off(*faults, seed=seed), follows(OpenApp(app="Settings"), *way, TaskComplete())))
        seeing = agents.Patient(homing("Wi-Fi", *WAY, wanted="off"))
        looking.append(play(wifi_off(*faults, seed=seed), seeing))
    assert "premature_completion" in {record.outcome.label for record in blind}
    assert {record.outcome.label for record in looking} == {"success"}, "\n".join(map(told, looking))
    assert any(fault.fault == "list_shift" for record in looking for fault in record.faults)


def seen(label: str) -> Callable[[Observation], Action]:
    """Tap the element of a label where there is one, and wait where there is none."""
    return lambda screen: misbehaving.tap_on(screen, label)


def homing(label: str, *way: str, wanted: str) -> Policy:
    """Follow the way to a switch from wherever it got lost."""
    inner = agents.switches_by_the_screen(label, *way, wanted=wanted)

    def first(screen: Observation, step: int) -> PressKey | None:
        lost = step > 0 and not any(one.label in (label, *way) and one.role != "text" for one in screen.elements)
        return PressKey(key="back") if lost else None

    return misbehaving.Spoiled(inner, first=first)


SIZES = [(240, 1.0), (320, 1.0), (400, 1.3), (480, 0.85)]


@pytest.mark.parametrize("rotation", [0, 1])
@pytest.mark.parametrize(("density", "font_scale"), SIZES)
def test_taps_land_at_the_top_left_of_what_was_meant(density: int, font_scale: float, rotation: int) -> None:
    """mobile-mcp#104: picture, tree and finger share one scale, on every density and either way up."""
    phone = Phone(PhoneSetup(seed=1, skin=Skin(density=density, font_scale=font_scale)))
    phone.rotate(rotation)
    client = SimDevice(phone)
    device = UiautomatorDevice(client)
    device.perform(OpenApp(app="Settings"))
    assert client.screenshot().size == client.window_size() == phone.display.bounds[2:]
    device.perform(Tap(index=reached(device, "Network & internet")))
    assert phone.front.screen == "settings/network"


def reached(device: Device, label: str) -> int:
    """Return the number of the element of a label, after scrolling down to it."""
    while not any(element.label == label for element in device.observe().elements):
        device.perform(Swipe(direction="up"))
    return labelled(device.observe(), label).index
