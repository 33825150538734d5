"""What can go wrong on the phone, by name and number; see ``docs/concepts/faults.md``."""

from agent_eval.device_sim.faults.catalogue import FAULTS, Faults, fault_name
from agent_eval.device_sim.faults.fault import Fault, Toggle

__all__ = ["FAULTS", "Fault", "Faults", "Toggle", "fault_name"]
