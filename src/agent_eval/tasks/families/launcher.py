"""What is asked of the launcher, the notification shade and quick settings."""

from __future__ import annotations

from agent_eval.tasks.task import Template

TEMPLATES: tuple[Template, ...] = ()
