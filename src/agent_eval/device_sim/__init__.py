"""A deterministic simulated Android phone; ``u2.device`` holds its in-process uiautomator2 face."""

from agent_eval.device_sim.phone import Phone

__all__ = ["Phone"]
