"""What is asked of several apps at once."""

from __future__ import annotations

from agent_eval.tasks.task import Template

TEMPLATES: tuple[Template, ...] = ()
