"""What is asked of an agent, and how it is judged."""

from agent_eval.tasks.adb_phone import AdbPhone, playable
from agent_eval.tasks.judge import Criteria, judge
from agent_eval.tasks.loops import find_loop, should_stop
from agent_eval.tasks.split import SPLITS, Split
from agent_eval.tasks.suites import SUITES, TASKS, Suite, find_task, suite_digest
from agent_eval.tasks.task import LANGUAGES, Language, TaskInstance, Template
from agent_eval.tasks.variants import Variant

__all__ = [
    "LANGUAGES",
    "SPLITS",
    "SUITES",
    "TASKS",
    "AdbPhone",
    "Criteria",
    "Language",
    "Split",
    "Suite",
    "TaskInstance",
    "Template",
    "Variant",
    "find_loop",
    "find_task",
    "judge",
    "playable",
    "should_stop",
    "suite_digest",
]
