"""A look inside: a local page that shows a phone's screen, elements and events, and touches it."""

from agent_eval.device_sim.view.server import ViewServer, start_view
from agent_eval.device_sim.view.viewable import PhoneView, Viewable

__all__ = ["PhoneView", "ViewServer", "Viewable", "start_view"]
