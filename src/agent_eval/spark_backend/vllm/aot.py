"""Lets vLLM load on a CPU what it compiled before: gives a loaded function the one method that it lacks.

vLLM 0.32 calls ``finalize_loading`` on every compiled function that it loads. Its own backend's functions have it; what
inductor compiles for a CPU is a plain function without, so vLLM reports a failure and compiles again, at every start.
There is nothing to finalise in a plain function, so the missing method does nothing.

It acts only where it is needed: a function that has the method is left alone, and so is a vLLM that does not ask for
it. It says in the log when it acts.

What is loaded was compiled for the instructions of one processor, which neither vLLM nor torch looks at when they load.
A folder that several machines share would hand one what another cannot run, so the processor becomes part of the key.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from agent_eval.spark_backend.probe import probe_machine
from agent_eval.types import MachineProbe

if TYPE_CHECKING:
    from vllm.config import VllmConfig

METHOD = "finalize_loading"

KEY = "agent_eval_processor"
"""In ``additional_config``, which is part of the key that vLLM keeps compiled graphs under."""

logger = logging.getLogger(__name__)


def install() -> bool:
    """Have functions that torch loads get the method; a second call changes nothing.

    Returns:
        Whether it is in place: not on another device than a CPU, nor where vLLM can do without.
    """
    if installed():
        return True
    if not (_on_cpu() and asked_for()):
        return False
    torch.compiler.load_compiled_function = _completing(torch.compiler.load_compiled_function)
    return True


def uninstall() -> None:
    """Put back what torch had."""
    if installed():
        wrapper: Any = torch.compiler.load_compiled_function
        torch.compiler.load_compiled_function = wrapper.__wrapped__


def installed() -> bool:
    """Return whether it is in place."""
    return getattr(_loading(), "__module__", None) == __name__


def asked_for() -> bool:
    """Return whether this vLLM calls the method without looking whether it is there."""
    try:
        from vllm.compilation import decorators

        source = inspect.getsource(decorators._try_load_aot_compiled_fn)
    except (ImportError, AttributeError, OSError):  # another vLLM, or one without its sources
        return False
    return f".{METHOD}(" in source and _loading() is not None


def complete(loaded: Any) -> bool:
    """Give a loaded function the method if it lacks it.

    Args:
        loaded: What ``torch.compiler.load_compiled_function`` returned.

    Returns:
        Whether it was missing, and is there now.
    """
    function = getattr(getattr(loaded, "_artifacts", None), "compiled_fn", None)
    if function is None or hasattr(function, METHOD):
        return False
    try:
        setattr(function, METHOD, _nothing_to_finalize)
    except AttributeError:  # it takes no attributes: vLLM compiles again, as without us
        return False
    return True


def keep_apart(vllm_config: VllmConfig, machine: MachineProbe | None = None) -> None:
    """Have what is compiled on one processor not be loaded on another.

    Args:
        vllm_config: Of the model that is being made.
        machine: Where it is compiled; this machine by default.
    """
    if isinstance(vllm_config.additional_config, dict):
        here = machine or probe_machine()
        vllm_config.additional_config[KEY] = " ".join((here.arch, here.cpu_model, *here.cpu_flags))


def _on_cpu() -> bool:
    from vllm.platforms import current_platform

    return bool(current_platform.is_cpu())


def _loading() -> Callable[..., Any] | None:
    found: Callable[..., Any] | None = getattr(torch.compiler, "load_compiled_function", None)
    return found


def _completing(load: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(load, assigned=("__name__", "__doc__"))
    def load_compiled_function(*arguments: Any, **named: Any) -> Any:
        loaded = load(*arguments, **named)
        if complete(loaded):
            logger.info(
                "a compiled function was loaded that lacks %s, which vLLM calls: an empty one was added", METHOD
            )
        return loaded

    return load_compiled_function


def _nothing_to_finalize(vllm_config: object) -> None:
    """Stand in for what only vLLM's own backend has to do."""
