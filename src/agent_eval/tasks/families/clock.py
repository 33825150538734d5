"""What is asked of Clock: the alarms, the timer and the stopwatch, in the order in which they are listed."""

from __future__ import annotations

from agent_eval.tasks.families import alarms, timers
from agent_eval.tasks.families.alarms import time_key
from agent_eval.tasks.task import Template

__all__ = ["TEMPLATES", "time_key"]

TEMPLATES: tuple[Template, ...] = (
    alarms.ALARM_CREATE,
    alarms.ALARM_CREATE_LABEL_DAYS,
    alarms.ALARM_TOGGLE,
    alarms.ALARM_ALREADY,
    alarms.ALARM_DELETE,
    timers.TIMER_CREATE,
    timers.STOPWATCH_RUN,
    alarms.ALARM_VIBRATES,
)
