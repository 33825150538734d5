"""The phone's adbd: real adb clients drive it over TCP."""

from agent_eval.device_sim.adb.announce import announce, serial
from agent_eval.device_sim.adb.pace import Pace, RealTime, VirtualTime
from agent_eval.device_sim.adb.server import AdbServer
from agent_eval.device_sim.adb.serving import Serving

__all__ = ["AdbServer", "Pace", "RealTime", "Serving", "VirtualTime", "announce", "serial"]
