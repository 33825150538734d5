"""What is asked of the Browser."""

from __future__ import annotations

from agent_eval.tasks.task import Template

TEMPLATES: tuple[Template, ...] = ()
