"""The decision-maker: what it reads, how it asks a model, how it understands the reply, and its hands on the device."""

from agent_eval.agent.device import UiautomatorDevice, app_name
from agent_eval.agent.parse import parse_reply
from agent_eval.agent.policy import ModelPolicy
from agent_eval.agent.prompt import SYSTEM_PROMPT, observation_text, tool_schemas
from agent_eval.agent.recorded import conversations
from agent_eval.agent.reference import NullAgent, RandomAgent, ScriptedAgent, Scripts
from agent_eval.agent.screen import read_screen

__all__ = [
    "SYSTEM_PROMPT",
    "ModelPolicy",
    "NullAgent",
    "RandomAgent",
    "ScriptedAgent",
    "Scripts",
    "UiautomatorDevice",
    "app_name",
    "conversations",
    "observation_text",
    "parse_reply",
    "read_screen",
    "tool_schemas",
]
