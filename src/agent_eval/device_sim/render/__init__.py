"""Screenshots: the laid-out views of a phone as a picture."""

from agent_eval.device_sim.render.icons import ICONS
from agent_eval.device_sim.render.painter import screenshot

__all__ = ["ICONS", "screenshot"]
