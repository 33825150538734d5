"""What is asked of an agent, and how it is judged."""

from agent_eval.tasks.adb_phone import AdbPhone, playable
from agent_eval.tasks.judge import Criteria, judge
from agent_eval.tasks.loops import find_loop, should_stop
from agent_eval.tasks.split import SPLITS, Split
from agent_eval.tasks.suites import SUITES, TASKS, suite_digest
from agent_eval.tasks.task import TaskInstance, Template

__all__ = [
    "SPLITS",
    "SUITES",
    "TASKS",
    "AdbPhone",
    "Criteria",
    "Split",
    "TaskInstance",
    "Template",
    "find_loop",
    "judge",
    "playable",
    "should_stop",
    "suite_digest",
]
