"""Which public report is held by which test, and ``docs/reference/failure-reports.md`` made of it.

This module writes the page when it is run. Knows no test inside.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "failure-reports.md"

File = Literal["test_judging", "test_calling", "test_reading", "test_touching"]


class Report(NamedTuple):
    """Reports of one symptom, and the test that shows the symptom and the right behaviour."""

    number: int
    """Its place in the survey that the reports were collected in."""
    reports: str
    """Repository and issue, or pull request; the docstring of the test begins with it."""
    file: File
    test: str

    @property
    def symptom(self) -> str:
        """What was reported, as the name of the test has it."""
        return self.test.removeprefix("test_").replace("_", " ")


TABLE: tuple[Report, ...] = (
    Report(
        1, "StaR 2509.13615, demo", "test_judging", "test_a_switch_that_was_on_already_is_turned_off_and_on_for_ever"
    ),
    Report(
        2,
        "google-research/android_world#315",
        "test_judging",
        "test_tasks_that_are_done_already_pass_an_agent_that_does_nothing",
    ),
    Report(
        3,
        "google-research/android_world#349, #373",
        "test_judging",
        "test_turning_wifi_off_cuts_the_agent_off_from_its_own_phone",
    ),
    Report(
        4,
        "google-research/android_world#198, #314",
        "test_reading",
        "test_the_tree_of_a_screen_is_missing_for_a_moment",
    ),
    Report(
        5,
        "google-research/android_world#59",
        "test_judging",
        "test_an_exception_in_the_judge_becomes_a_score_and_nobody_sees_it",
    ),
    Report(
        6,
        "droidrun/droidrun-android-world#1",
        "test_judging",
        "test_the_agent_says_that_it_succeeded_and_the_phone_says_no",
    ),
    Report(7, "droidrun/mobilerun#251", "test_calling", "test_a_screen_has_nothing_to_act_on"),
    Report(8, "droidrun/mobilerun#195", "test_calling", "test_a_tap_by_number_has_no_effect_and_is_repeated_for_ever"),
    Report(10, "droidrun/mobilerun#282", "test_reading", "test_there_is_an_active_window_and_then_none_and_then_one"),
    Report(11, "droidrun/mobilerun#13, #7", "test_judging", "test_steps_run_out_on_the_way_to_a_page_below_the_fold"),
    Report(12, "droidrun/mobilerun#164", "test_touching", "test_the_keyboard_pops_up_over_the_controls"),
    Report(13, "droidrun/mobilerun PR#411", "test_calling", "test_malformed_calls_are_retried_for_ever"),
    Report(14, "droidrun/mobilerun PR#338", "test_calling", "test_text_is_typed_without_naming_a_field"),
    Report(15, "droidrun/mobilerun-portal#6", "test_touching", "test_only_english_can_be_typed"),
    Report(
        16, "zai-org/Open-AutoGLM#61, #67, #69", "test_calling", "test_typing_tapping_and_typing_again_goes_on_for_ever"
    ),
    Report(18, "zai-org/Open-AutoGLM#282", "test_calling", "test_reasoning_never_comes_to_an_action"),
    Report(19, "zai-org/Open-AutoGLM#102, #222", "test_calling", "test_a_tap_has_no_effect_now_and_then"),
    Report(20, "AutoGLM-For-Android#9", "test_calling", "test_a_reply_is_empty"),
    Report(21, "autoglm.js#5", "test_touching", "test_the_input_method_is_another_one_after_the_run"),
    Report(24, "X-PLUG/MobileAgent#27", "test_touching", "test_no_keyboard_is_detected_and_nothing_can_be_typed"),
    Report(
        25, "X-PLUG/MobileAgent#180", "test_calling", "test_taps_land_beside_what_was_meant_and_the_agent_sees_success"
    ),
    Report(26, "MobileLLM/AutoDroid#26", "test_calling", "test_text_is_typed_where_nothing_has_the_focus"),
    Report(27, "AppAgentX#16", "test_judging", "test_one_action_and_then_the_task_is_said_to_be_complete"),
    Report(28, "TencentQQGYLab/AppAgent#19", "test_calling", "test_labels_hide_each_other_on_a_crowded_screen"),
    Report(29, "openatx/uiautomator2#895", "test_reading", "test_a_dump_holds_a_single_node"),
    Report(30, "openatx/uiautomator2#449, #930", "test_reading", "test_a_dump_does_not_match_the_screen"),
    Report(31, "openatx/uiautomator2#867", "test_reading", "test_a_dump_takes_seconds"),
    Report(
        32,
        "openatx/uiautomator2#1085, #1148, #200, #843",
        "test_judging",
        "test_an_agent_in_an_app_that_nobody_can_name_counts_as_in_the_wrong_app",
    ),
    Report(34, "openatx/uiautomator2#100", "test_touching", "test_chinese_cannot_be_typed"),
    Report(35, "openatx/uiautomator2#1093", "test_touching", "test_a_bar_gets_the_tap_on_what_lies_behind_it"),
    Report(
        36,
        "openatx/uiautomator2#420, #452, PR#977",
        "test_touching",
        "test_nobody_answers_the_dialog_that_asks_for_a_permission",
    ),
    Report(38, "senzhk/ADBKeyBoard#23, #39", "test_touching", "test_a_text_that_was_broadcast_is_lost"),
    Report(
        39, "agent-device#2589, PR#2602", "test_touching", "test_a_tap_on_a_control_under_the_keyboard_presses_a_key"
    ),
    Report(
        41, "agent-device#564, #1254", "test_reading", "test_the_screen_is_still_the_launcher_after_an_app_was_opened"
    ),
    Report(43, "auto-mobile#225", "test_touching", "test_a_swipe_scrolls_the_page_instead_of_the_list_in_it"),
    Report(45, "auto-mobile PR#1919, #7367", "test_reading", "test_an_agent_acts_on_a_list_that_is_still_moving"),
    Report(49, "mobile-mcp#104", "test_reading", "test_taps_land_at_the_top_left_of_what_was_meant"),
    Report(
        51,
        "appium/appium#12320",
        "test_touching",
        "test_an_agent_stands_before_a_permission_dialog_whose_buttons_have_other_words",
    ),
    Report(
        54,
        "browser-use PR#4027, PR#4033, PR#4039",
        "test_judging",
        "test_the_loop_detector_stops_an_agent_that_gets_on",
    ),
    Report(55, "wisp-science#1063", "test_judging", "test_the_same_call_on_a_phone_that_changed_is_taken_for_a_loop"),
    Report(
        56,
        "AutoControlGUI PR#254",
        "test_judging",
        "test_cycles_and_actions_without_effect_escape_a_detector_that_compares_neighbours",
    ),
    Report(58, "antirez/ds4#646", "test_judging", "test_the_agent_is_there_and_does_not_say_so"),
    Report(59, "MobileWorld#58", "test_judging", "test_the_same_configuration_gives_another_result_the_next_time"),
    Report(60, "claude-code-local#42", "test_judging", "test_calls_break_in_the_middle_of_a_long_episode"),
)
"""Every report, in the order of the survey."""

_INTRODUCTION = """\
# Failures that others have reported

Mobile agents and the tools around them fail in ways that people have described in public: in issues, pull requests and
papers. Each symptom below has one test in `tests/tasks/failure_reports/` that brings it about on the simulated phone
and shows what agent-eval makes of it: the agent reads what is the matter, the device refuses what it cannot do, or the
judge gives the label that the behaviour deserves. The docstring of the test says which.

The numbers are those of the survey that the reports were collected in; rows of it that concern neither the judge nor
the tools nor the phone have none here.

This page is made from the table of the tests: `python -m tests.tasks.failure_reports.table`.

"""


def page() -> str:
    """Return the page as the table has it."""
    heads = ("#", "report", "symptom", "test")
    rows = [(str(row.number), row.reports, row.symptom, f"`{row.file}.py::{row.test}`") for row in TABLE]
    lines = [heads, tuple("---" for _ in heads), *rows]
    return _INTRODUCTION + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
