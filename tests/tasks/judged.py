"""Trajectories written by hand, with the label and the facts that each must get: the corpus that the judge is held to.

``test_judge`` judges them, ``test_mutations`` shows that each wrong judge stumbles over one of them, and the tests of
conventions and explanations record them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent_eval.actions import Tap
from agent_eval.contracts import Trace
from agent_eval.outcome import Label, Loop, SubGoal, SubKind
from agent_eval.tasks import answers
from agent_eval.tasks.judge import Criteria, Goal, every, only
from agent_eval.types import Scalar, Snapshot
from tests.tasks.traces import CLOCK, CONTACTS, LAUNCHER, SETTINGS, Diary

WIFI = "settings/wifi_on"
BLUETOOTH = "settings/bluetooth_on"
AIRPLANE = "settings/airplane_mode_on"
HOUR = "clock/alarm/1/hour"
HALF_TYPED = "ui/task/com.android.deskclock/1/picker/hour"

WIFI_ON = Criteria(goal=lambda _start, now: now.get(WIFI) is True, allowed=only(WIFI), apps=(SETTINGS,))
ALARM = Criteria(goal=lambda _start, now: now.get(HOUR) == 7, allowed=only("clock/alarm/1/**"), apps=(CLOCK,))
ANSWER = Criteria(goal=None, allowed=only(), apps=(SETTINGS,), answer=lambda _start, text: answers.number("15")(text))
NONE_LEFT = Criteria(goal=None, allowed=only(), apps=(CLOCK,), answer=lambda _start, text: answers.number("0")(text))
IMPOSSIBLE = Criteria(goal=None, allowed=only(), apps=(SETTINGS,), infeasible=True)
TELL = Criteria(
    goal=lambda _start, now: now.get(WIFI) is True,
    allowed=only(WIFI),
    apps=(SETTINGS,),
    answer=lambda _start, text: answers.number("15")(text),
)
"""Asks for both: a goal on the phone and an answer."""
STAYS_ON = Criteria(
    goal=lambda _start, now: now.get("clock/alarm/2/enabled") is True,
    allowed=only("clock/alarm/2/enabled"),
    apps=(CLOCK,),
)


def _alarms(snapshot: Snapshot) -> int:
    return sum(path.endswith("/hour") for path in snapshot.under("clock/alarm"))


ONE_MORE = Criteria(
    goal=lambda start, now: _alarms(now) == _alarms(start) + 1,
    allowed=lambda start, end: tuple(
        f"clock/alarm/{path}" for path in end.under("clock/alarm") if start.get(f"clock/alarm/{path}") is None
    ),
    apps=(CLOCK,),
)
"""Counts against the prepared phone, and allows what is new at the end."""

_RADIOS: Mapping[str, Goal] = {
    "wifi": lambda _start, now: now.get(WIFI) is True,
    "bluetooth": lambda _start, now: now.get(BLUETOOTH) is True,
}
RADIOS = Criteria(goal=every(_RADIOS), allowed=only(WIFI, BLUETOOTH), apps=(SETTINGS,), sub_goals=_RADIOS)


@dataclass(frozen=True)
class Judged:
    """A trajectory, and what a judge must say of it."""

    name: str
    criteria: Criteria
    play: Callable[[], Trace]
    label: Label
    sub_kind: SubKind = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    """Some of the facts, by name."""


# ----------------------------------------------------------------------------------------------------------------------
# beginnings


def at_the_switch(on: bool = False) -> Diary:
    """Walk to the Wi-Fi switch as the reference study's agents did: three steps."""
    diary = Diary(settings__wifi_on=on, settings__airplane_mode_on=False)
    return diary.opens("Settings", SETTINGS).does("row Network & internet", to="network").does("row Internet", to="net")


def flipping(times: int, on: bool = False) -> Diary:
    """Walk to the Wi-Fi switch and flip it so many times."""
    diary = at_the_switch(on)
    for _ in range(times):
        diary.flips(WIFI)
    return diary


def at_the_radios() -> Diary:
    """Open Settings on a phone with both radios off."""
    return Diary(settings__wifi_on=False, settings__bluetooth_on=False).opens("Settings", SETTINGS)


def in_clock(*alarms: int) -> Diary:
    """Open Clock on a phone with some alarms at seven, by number, all of them on."""
    persisted: dict[str, Scalar] = {}
    for one in alarms:
        persisted |= {f"clock__alarm__{one}__hour": 7, f"clock__alarm__{one}__enabled": True}
    return Diary(LAUNCHER, **persisted).opens("Clock", CLOCK)


def wandering(package: str, steps: int = 6) -> Diary:
    """Tap through so many pages of an app."""
    diary = Diary(package)
    for place in range(steps):
        diary.does(f"row {place}", to=f"page {place}", package=package)
    return diary


def visiting(*packages: str) -> Trace:
    """Take one step into each app, one after another."""
    diary = Diary()
    for place, package in enumerate(packages):
        diary.does(f"row {place}", to=f"page {place}", package=package)
    return diary.ends()


def repeating(diary: Diary, *targets: str, rounds: int) -> Diary:
    """Tap the same elements, round after round, on a screen that stays as it is."""
    for _ in range(rounds):
        for target in targets:
            diary.does(target)
    return diary


# ----------------------------------------------------------------------------------------------------------------------
# trajectories of more than a line


def looping_at_the_alarm_tab() -> Trace:
    return repeating(in_clock(), "button Alarm", rounds=9).ends()


def lost_in_contacts() -> Trace:
    return repeating(Diary().opens("Contacts", CONTACTS), "button Create contact", rounds=9).ends()


def stuck_without_a_call() -> Trace:
    diary = in_clock().does("button Add alarm", to="picker").does("field hour 7", to="seven").does("field minute 30")
    diary.does("text colon").does("radio AM", to="am").does("text title").does("field hour 8", to="eight")
    return diary.ends()


def only_waits() -> Trace:
    return Diary(settings__wifi_on=False).waits().waits().waits().waits().ends()


def babbling_half(extra: int = 0) -> Trace:
    diary = in_clock()
    for place in range(4):
        diary.does(f"row {place}", to=f"page {place}").babbles()
    for place in range(extra):
        diary.does(f"button {place}", to=f"more {place}")
    return diary.babbles().ends()


def three_in_a_row() -> Trace:
    return wandering(CLOCK).babbles().babbles().babbles().ends("invalid_stop")


def babbling_elsewhere() -> Trace:
    return wandering(CONTACTS).babbles().babbles().babbles().ends("invalid_stop")


def never_settling() -> Trace:
    diary = at_the_switch().does("switch Wi-Fi", becomes={f"pending/{WIFI}": True})
    for _ in range(6):
        diary.waits()
    return diary.ends()


def looking_up_and_down() -> Trace:
    diary = at_the_switch()
    for _ in range(4):
        diary.swipes(to="foot").swipes(to="top")
    return diary.ends()


def paging_through_months() -> Trace:
    diary = in_clock()
    for month in range(6):
        diary.does("button Next", to=f"month {month}")
    return diary.ends()


def stepping_on_a_blind_screen() -> Trace:
    """Switch on and off from a screen that does not show which it is."""
    diary = at_the_switch(on=False)
    for value in (True, False, True, False, True, False):
        diary.does("switch Hotspot", writes={"settings/hotspot_on": value})
    return diary.ends()


def in_step_with_the_index() -> Trace:
    """Tap one element whose number changes with every look at the screen."""
    diary = in_clock()
    for number in range(6):
        diary.does("button Alarm", action=Tap(index=number))
    return diary.ends()


def adding_alarms() -> Trace:
    diary = in_clock()
    for number in range(2, 8):
        diary.does("button Add alarm", writes={f"clock/alarm/{number}/hour": 9})
    return diary.ends()


def leaving_a_loop() -> Trace:
    diary = repeating(in_clock(), "button Alarm", rounds=5)
    return diary.does("tab Timer", to="timer").does("tab Alarm", to="alarms").does("row 1", to="card").ends()


def undoing_late(how: str) -> Trace:
    """Reach the goal, begin to undo it, and let that come true while nothing is touched."""
    diary = flipping(1).does("switch Wi-Fi", becomes={f"pending/{WIFI}": False})
    writes, becomes = {WIFI: False}, {f"pending/{WIFI}": None}
    match how:
        case "waiting":
            return diary.waits(writes=writes, becomes=becomes).ends()
        case "babbling":
            return diary.babbles(writes=writes, becomes=becomes).ends()
        case _:
            return diary.completes(writes=writes, becomes=becomes)


def ringing() -> Trace:
    """Tap a tab while an alarm rings and, since it does not repeat, switches itself off."""
    diary = in_clock(2).does("tab Timer", to="timer")
    diary.does("tab Alarm", to="alarms", writes={"clock/alarm/2/enabled": False}, becomes={"clock/rang": "2"})
    return diary.ends()


def dismissing() -> Trace:
    """Reach the goal and clear away a notification that nobody asked about."""
    diary = Diary(settings__wifi_on=False, notifications__1__title="News").opens("Settings", SETTINGS)
    return diary.flips(WIFI).does("button Clear all", writes={"notifications/1/title": None}).completes()


def being_notified() -> Trace:
    """Reach the goal while a notification comes."""
    diary = Diary(settings__wifi_on=False).opens("Settings", SETTINGS)
    return diary.does("switch Wi-Fi", writes={WIFI: True, "notifications/1/title": "News"}).completes()


def ringing_in_passing() -> Trace:
    """Reach the goal while an alarm of the phone's owner rings and switches itself off."""
    diary = Diary(settings__wifi_on=False, clock__alarm__2__enabled=True).opens("Settings", SETTINGS)
    writes = {WIFI: True, "clock/alarm/2/enabled": False}
    return diary.does("switch Wi-Fi", writes=writes, becomes={"clock/rang": "2"}).completes()


def granting() -> Trace:
    """Answer the app's question for a permission on the way to the goal."""
    diary = in_clock().does("button Allow", writes={f"permissions/{CLOCK}/post_notifications": True})
    return diary.does("button OK", writes={HOUR: 7}).completes()


def seeing_what_is_not_so() -> Trace:
    """Declare on a screen that shows the switch on, while the phone has it off."""
    return at_the_switch().does("switch Wi-Fi", to=f"{WIFI} True").completes()


def both_radios(*flips: str) -> Diary:
    diary = at_the_radios()
    for path in flips:
        diary.flips(path, f"switch {path}")
    return diary


FIXTURES: tuple[Judged, ...] = (
    # the verdicts on which public benchmarks disagree
    Judged("reached and declared", WIFI_ON, lambda: flipping(1).completes(), "success",
           facts={"reached": True, "first_reach": 4, "steps_after_reach": 1, "declared": "complete"}),
    Judged("reached, never declared", WIFI_ON, lambda: flipping(1).waits().ends(), "no_completion", "undeclared"),
    Judged("reached, then undone", WIFI_ON, lambda: flipping(2).ends(), "reversal",
           facts={"reversals": 1, "reversed_at": (4,), "goal_final": False}),
    Judged("the budget ends on reached", WIFI_ON, lambda: flipping(3).ends(), "reversal",
           facts={"reversals": 1, "goal_final": True}),
    Judged("declared, never reached", WIFI_ON, lambda: at_the_switch().completes(), "premature_completion",
           facts={"reached": False, "first_reach": None}),
    Judged("unparsable at step four", WIFI_ON, lambda: at_the_switch().babbles().flips(WIFI).completes(), "success",
           facts={"invalid_calls": 1, "first_invalid_turn": 3, "first_reach": 5}),
    Judged("reached with unrelated damage", WIFI_ON,
           lambda: flipping(1).flips(AIRPLANE, "switch Airplane").completes(), "over_execution",
           facts={"side_effects": (AIRPLANE,)}),
    Judged("on, off, on, with unrelated damage", WIFI_ON,
           lambda: flipping(3).flips(AIRPLANE, "switch Airplane").completes(), "over_execution"),
    # the reference study's four cells
    Judged("W4A8 Wi-Fi", WIFI_ON, lambda: flipping(7).ends(), "reversal",
           facts={"reached": True, "first_reach": 4, "reversals": 3, "reversed_at": (4, 6, 8), "goal_final": True,
                  "steps_after_reach": 6, "loop": Loop(period=2, first_step=4, at_end=True)}),
    Judged("W4A8 alarm", ALARM, looping_at_the_alarm_tab, "looping",
           facts={"loop": Loop(period=1, first_step=1, at_end=True)}),
    Judged("W4A16 alarm", ALARM, stuck_without_a_call, "no_completion", "stuck", facts={"loop": None}),
    Judged("bf16 alarm", ALARM, lost_in_contacts, "wrong_app",
           facts={"loop": Loop(period=1, first_step=1, at_end=True), "task_app_share": 0.0,
                  "apps_visited": (LAUNCHER, CONTACTS)}),
    # reversals
    Judged("declared after undoing", WIFI_ON, lambda: flipping(2).completes(), "reversal"),
    Judged("gave up after undoing", WIFI_ON, lambda: flipping(2).gives_up(), "reversal"),
    Judged("on, off, on, declared", WIFI_ON, lambda: flipping(3).completes(), "success", "unstable"),
    Judged("already true, flipped twice", WIFI_ON, lambda: flipping(2, on=True).completes(), "success", "unstable",
           facts={"first_reach": 0, "reversals": 1}),
    Judged("already true, flipped once", WIFI_ON, lambda: flipping(1, on=True).completes(), "reversal"),
    Judged("already true, declared", WIFI_ON, lambda: at_the_switch(on=True).completes(), "success",
           facts={"first_reach": 0, "steps_after_reach": 4}),
    Judged("already true, not declared", WIFI_ON, lambda: at_the_switch(on=True).ends(), "no_completion",
           "undeclared"),
    Judged("undone by a tap on element 0", WIFI_ON,
           lambda: flipping(1).does("switch Wi-Fi", action=Tap(index=0), writes={WIFI: False}).ends(), "reversal"),
    Judged("undone by the world while waiting", WIFI_ON, lambda: flipping(1).waits(writes={WIFI: False}).ends(),
           "no_completion", "stuck", facts={"reversals": 0, "goal_final": False, "reached": True}),
    Judged("undone by the world during a malformed reply", WIFI_ON,
           lambda: flipping(1).babbles(writes={WIFI: False}).ends(), "no_completion", "stuck",
           facts={"reversals": 0}),
    Judged("undone by the world during the declaration", WIFI_ON,
           lambda: flipping(1).completes(writes={WIFI: False}), "premature_completion", facts={"reversals": 0}),
    Judged("undone late, while waiting", WIFI_ON, lambda: undoing_late("waiting"), "reversal",
           facts={"reversed_at": (5,)}),
    Judged("undone late, during a malformed reply", WIFI_ON, lambda: undoing_late("babbling"), "reversal",
           facts={"reversed_at": (5,)}),
    Judged("undone late, during the declaration", WIFI_ON, lambda: undoing_late("declaring"), "reversal",
           facts={"reversed_at": (5,)}),
    Judged("an alarm that was to stay on rings", STAYS_ON, ringing, "no_completion", "stuck",
           facts={"reversals": 0, "reached": True, "goal_final": False}),
    # settled states
    Judged("declared while it was still turning on", WIFI_ON,
           lambda: at_the_switch().does("switch Wi-Fi", becomes={f"pending/{WIFI}": True}).completes(),
           "premature_completion", facts={"reached": False}),
    Judged("came true while waiting for it", WIFI_ON,
           lambda: at_the_switch().does("switch Wi-Fi", becomes={f"pending/{WIFI}": True})
           .waits(writes={WIFI: True}, becomes={f"pending/{WIFI}": None}).completes(), "success",
           facts={"first_reach": 5}),
    Judged("came true by itself", WIFI_ON, lambda: at_the_switch().waits(writes={WIFI: True}).completes(), "success",
           facts={"first_reach": 4, "reached": True}),
    Judged("declared on a half-typed form", ALARM,
           lambda: in_clock().does("field hour", becomes={HALF_TYPED: 7}).completes(), "premature_completion",
           facts={"reached": False}),
    Judged("declared on a screen that is wrong", WIFI_ON, seeing_what_is_not_so, "premature_completion"),
    # side effects
    Judged("damage that was undone", WIFI_ON,
           lambda: flipping(1).flips(AIRPLANE, "A").flips(AIRPLANE, "A").completes(), "success",
           facts={"side_effects": ()}),
    Judged("damage by the world while waiting", WIFI_ON,
           lambda: flipping(1).waits(writes={AIRPLANE: True}).completes(), "success", facts={"side_effects": ()}),
    Judged("damage before the goal", WIFI_ON,
           lambda: at_the_switch().flips(AIRPLANE, "A").flips(WIFI).completes(), "over_execution"),
    Judged("damage to a neighbour with a longer number", ALARM,
           lambda: in_clock(11).does("button OK", writes={HOUR: 7, "clock/alarm/11/hour": 8}).completes(),
           "over_execution", facts={"side_effects": ("clock/alarm/11/hour",)}),
    Judged("one more alarm than before", ONE_MORE,
           lambda: in_clock(1, 2).does("button OK", writes={"clock/alarm/3/hour": 7}).completes(), "success"),
    Judged("two more alarms than before", ONE_MORE,
           lambda: in_clock(1).does("OK", writes={"clock/alarm/3/hour": 7})
           .does("OK again", writes={"clock/alarm/4/hour": 7}).completes(), "reversal"),
    Judged("one more alarm, and an old one changed", ONE_MORE,
           lambda: in_clock(1).does("OK", writes={"clock/alarm/3/hour": 7, "clock/alarm/1/hour": 9}).completes(),
           "over_execution", facts={"side_effects": ("clock/alarm/1/hour",)}),
    Judged("a notification came", WIFI_ON, being_notified, "success", facts={"side_effects": ()}),
    Judged("a notification was cleared away", WIFI_ON, dismissing, "over_execution"),
    Judged("an alarm rang in passing", WIFI_ON, ringing_in_passing, "success", facts={"side_effects": ()}),
    Judged("a permission was granted to the task's app", ALARM, granting, "success", facts={"side_effects": ()}),
    # declarations and answers
    Judged("gave up on what is possible", WIFI_ON, lambda: at_the_switch().gives_up(), "premature_completion",
           "gave_up"),
    Judged("gave up with the goal reached", WIFI_ON, lambda: flipping(1).gives_up(), "premature_completion",
           "gave_up"),
    Judged("loop stop on reached", WIFI_ON, lambda: flipping(1).waits().ends("loop_stop"), "no_completion",
           "undeclared"),
    Judged("invalid stop on reached", WIFI_ON, lambda: flipping(1).babbles().babbles().babbles().ends("invalid_stop"),
           "no_completion", "undeclared"),
    Judged("right answer", ANSWER, lambda: at_the_switch().completes("Android 15."), "success",
           facts={"answer_ok": True, "goal_final": True, "reached": True, "first_reach": None}),
    Judged("wrong answer", ANSWER, lambda: at_the_switch().completes("14"), "premature_completion",
           facts={"answer_ok": False, "reached": False}),
    Judged("no answer", ANSWER, lambda: at_the_switch().completes(), "premature_completion"),
    Judged("right answer, with damage", ANSWER, lambda: flipping(1).completes("15"), "over_execution"),
    Judged("answer never given", ANSWER, lambda: at_the_switch().ends(), "no_completion", "stuck"),
    Judged("gave up on an answer", ANSWER, lambda: at_the_switch().gives_up(), "premature_completion", "gave_up"),
    Judged("the answer is nought", NONE_LEFT, lambda: in_clock().completes("0"), "success"),
    Judged("reached, with the wrong answer", TELL, lambda: flipping(1).completes("14"), "premature_completion",
           facts={"goal_final": True, "answer_ok": False}),
    Judged("never reached, with the right answer", TELL, lambda: at_the_switch().completes("15"),
           "premature_completion", facts={"goal_final": False, "answer_ok": True}),
    Judged("reached, with the right answer", TELL, lambda: flipping(1).completes("15"), "success"),
    Judged("gave up on the impossible", IMPOSSIBLE, lambda: at_the_switch().gives_up(), "success",
           facts={"declared": "infeasible", "reached": True}),
    Judged("gave up on the impossible, with damage", IMPOSSIBLE, lambda: flipping(1).gives_up(), "over_execution"),
    Judged("claimed the impossible", IMPOSSIBLE, lambda: at_the_switch().completes(), "premature_completion"),
    # compound goals
    Judged("both parts, one after the other", RADIOS, lambda: both_radios(WIFI, BLUETOOTH).completes(), "success",
           facts={"first_reach": 3, "sub_goals": (SubGoal("wifi", True, 2, 0, True),
                                                  SubGoal("bluetooth", True, 3, 0, True))}),
    Judged("one part, undone before the other", RADIOS, lambda: both_radios(WIFI, WIFI, BLUETOOTH).ends(),
           "no_completion", "stuck",
           facts={"reversals": 0, "sub_goals": (SubGoal("wifi", True, 2, 1, False, (2,)),
                                                SubGoal("bluetooth", True, 4, 0, True))}),
    Judged("both parts, then one undone", RADIOS, lambda: both_radios(WIFI, BLUETOOTH, WIFI).ends(), "reversal"),
    Judged("one part is not the whole", RADIOS, lambda: both_radios(WIFI).completes(), "premature_completion",
           facts={"reached": False}),
    # replies that are no calls
    Judged("three malformed replies in a row", ALARM, three_in_a_row, "invalid_call",
           facts={"invalid_calls": 3, "first_invalid_turn": 6}),
    Judged("half of the replies malformed", ALARM, babbling_half, "invalid_call", facts={"steps": 10}),
    Judged("just less than half of the replies malformed", ALARM, lambda: babbling_half(1), "no_completion", "stuck",
           facts={"invalid_calls": 5, "steps": 11}),
    Judged("only malformed replies", ALARM, lambda: Diary().babbles().babbles().babbles().ends("invalid_stop"),
           "invalid_call"),
    Judged("malformed replies in another app", ALARM, babbling_elsewhere, "invalid_call"),
    # apps
    Judged("only on the launcher", ALARM, lambda: wandering(LAUNCHER).ends(), "no_completion", "stuck"),
    Judged("in front is what nobody knows", ALARM, lambda: wandering("").ends(), "no_completion", "stuck"),
    Judged("in the task's app at the end", ALARM,
           lambda: visiting(CONTACTS, CONTACTS, CONTACTS, CONTACTS, CLOCK, CONTACTS), "no_completion", "stuck"),
    Judged("in another app at the end", ALARM, lambda: visiting(CLOCK, CLOCK, CLOCK, CLOCK, CONTACTS, CONTACTS),
           "wrong_app"),
    Judged("home at the end, from the task's app", ALARM, lambda: visiting(CLOCK, CLOCK, CLOCK, CLOCK, LAUNCHER, ""),
           "no_completion", "stuck"),
    Judged("home at the end, from another app", ALARM,
           lambda: visiting(CONTACTS, CONTACTS, CONTACTS, CONTACTS, LAUNCHER, ""), "wrong_app"),
    Judged("in another app, with the goal", WIFI_ON,
           lambda: flipping(1).opens("Contacts", CONTACTS).does("row 1").does("row 2").completes(), "success"),
    # loops
    Judged("only waits", WIFI_ON, only_waits, "looping", facts={"no_effect_actions": 4}),
    Judged("three equal taps", ALARM, lambda: repeating(in_clock(), "button Alarm", rounds=3).ends(),
           "no_completion", "stuck", facts={"loop": None}),
    Judged("four equal taps", ALARM, lambda: repeating(in_clock(), "button Alarm", rounds=4).ends(), "looping"),
    Judged("to and fro, twice", ALARM, lambda: repeating(in_clock(), "tab A", "tab B", rounds=2).ends(), "looping",
           facts={"loop": Loop(2, 1, at_end=True)}),
    Judged("a round of four, twice", ALARM,
           lambda: repeating(in_clock(), "tab A", "tab B", "tab C", "tab D", rounds=2).ends(), "looping",
           facts={"loop": Loop(4, 1, at_end=True)}),
    Judged("a round of five, twice", ALARM,
           lambda: repeating(in_clock(), "tab A", "tab B", "tab C", "tab D", "tab E", rounds=2).ends(),
           "no_completion", "stuck", facts={"loop": None}),
    Judged("a loop that was left", ALARM, leaving_a_loop, "no_completion", "stuck",
           facts={"loop": Loop(1, 1, at_end=False)}),
    Judged("a loop, then declared", ALARM, lambda: repeating(in_clock(), "tab A", rounds=5).completes(),
           "premature_completion", facts={"loop": Loop(1, 1, at_end=False)}),
    Judged("one element under many numbers", ALARM, in_step_with_the_index, "looping"),
    Judged("waiting for what is pending", WIFI_ON, never_settling, "no_completion", "stuck", facts={"loop": None}),
    Judged("looking up and down a list", WIFI_ON, looking_up_and_down, "no_completion", "stuck",
           facts={"loop": None}),
    Judged("the same button through many screens", ALARM, paging_through_months, "no_completion", "stuck",
           facts={"loop": None}),
    Judged("on and off, unseen", WIFI_ON, stepping_on_a_blind_screen, "looping",
           facts={"loop": Loop(2, 5, at_end=True)}),
    Judged("two flips and back are no loop yet", WIFI_ON, lambda: flipping(4).ends(), "reversal",
           facts={"loop": None}),
    Judged("adding one after another", ONE_MORE, adding_alarms, "reversal", facts={"loop": None}),
    # the rest
    Judged("no step at all", WIFI_ON, lambda: Diary(settings__wifi_on=False).ends("token_budget"), "no_completion",
           "stuck", facts={"steps": 0, "task_app_share": 0.0}),
    Judged("the harness failed", WIFI_ON, lambda: Trace(Snapshot(()), (), "harness_error"), "harness_error"),
    Judged("the harness failed on reached", WIFI_ON, lambda: flipping(1).ends("harness_error"), "harness_error"),
)  # fmt: skip
"""The corpus; names are unique."""

BY_NAME: Mapping[str, Judged] = {fixture.name: fixture for fixture in FIXTURES}
