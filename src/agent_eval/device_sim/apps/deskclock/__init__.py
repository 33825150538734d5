"""Clock: alarms that ring, the clock face, a timer and a stopwatch (packages/apps/DeskClock). Knows no other app."""

from agent_eval.device_sim.apps.deskclock.app import APP
from agent_eval.device_sim.apps.deskclock.counting import TIMER_ENTRY
from agent_eval.device_sim.apps.deskclock.names import PACKAGE
from agent_eval.device_sim.apps.deskclock.ringing import next_ring_ms
from agent_eval.device_sim.apps.deskclock.world import CITIES

__all__ = ["APP", "CITIES", "PACKAGE", "TIMER_ENTRY", "next_ring_ms"]
