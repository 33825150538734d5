"""Every environment variable that this program reads, sets or leaves to its libraries. Nothing else looks at them.

A setting that a person may have an opinion on is an option of a command. What is here belongs to the machine or to
other programs. The page ``docs/reference/environment.md`` is drawn from the tables.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from agent_eval.errors import OperatorError

KernelChoice = Literal["off", "generic", "avx2", "avx512", "avx512bf16", "amx"]
"""What ``AGENT_EVAL_KERNELS`` may say: no compiled kernels, or those that use no more than a set of instructions."""

KERNEL_CHOICES: tuple[KernelChoice, ...] = get_args(KernelChoice)

VllmSwitch = Literal["compile", "aot-shim", "release-memory", "fused-norms", "gate-sum"]
"""What ``AGENT_EVAL_VLLM`` may turn on, or off with ``no-`` before it; ``spark_backend/vllm/switches.py`` says what."""

VLLM_SWITCHES: tuple[VllmSwitch, ...] = get_args(VllmSwitch)

ADB_PORT = 5037
"""Where an adb server listens unless ``ANDROID_ADB_SERVER_PORT`` says otherwise."""

MOST_THREADS = 1024
"""More threads than that are a mistake."""


@dataclass(frozen=True)
class Variable:
    """One environment variable."""

    name: str
    reader: str
    """Who acts on it."""
    meaning: str
    default: str
    """What holds where it is not set."""


READ = (
    Variable(
        "AGENT_EVAL_CACHE",
        "agent-eval",
        "folder for what can be made again: converted weights of other engines, `nano-outliers`",
        "`$XDG_CACHE_HOME/agent-eval`",
    ),
    Variable(
        "AGENT_EVAL_KERNELS",
        "agent-eval",
        f"which compiled kernels may serve: {', '.join(f'`{choice}`' for choice in KERNEL_CHOICES)}; the choice is an "
        "upper bound, what the processor lacks is never taken",
        "the fastest that this processor runs",
    ),
    Variable(
        "AGENT_EVAL_LLAMA",
        "agent-eval",
        "path of a `libllama.so` built for this machine, in the place of the one in the package `xllamacpp`",
        "the package's",
    ),
    Variable(
        "AGENT_EVAL_VLLM",
        "agent-eval, also as a plugin of vLLM",
        f"how vLLM is used: {', '.join(f'`{switch}`' for switch in VLLM_SWITCHES)}, separated by commas; `no-` before "
        "a word turns it off",
        "`aot-shim,release-memory,gate-sum`",
    ),
    Variable("ANDROID_ADB_SERVER_PORT", "agent-eval, adb", "port of the adb server of this machine", str(ADB_PORT)),
    Variable("XDG_CACHE_HOME", "agent-eval", "folder of all caches of this user", "`~/.cache`"),
)
"""Variables that a function below reads."""

SET = (
    Variable(
        "OMP_NUM_THREADS",
        "agent-eval; libgomp, inside torch",
        "how many threads share one operation",
        "the cores that this process may keep busy",
    ),
    Variable(
        "OMP_WAIT_POLICY",
        "libgomp, inside torch",
        "whether a waiting thread spins (`ACTIVE`) or sleeps (`PASSIVE`); spinning starves the phone on a busy machine",
        "`PASSIVE`",
    ),
    Variable(
        "TORCH_CPP_LOG_LEVEL",
        "torch",
        "what its C++ parts report; as warnings, vLLM's report what they do as they should",
        "`ERROR` with `--engine vllm`",
    ),
)
"""Variables that are given their default before torch is loaded, where the person has not set them."""

FOR_CHILDREN = (
    Variable("ADB_MDNS", "adb", "whether it looks for phones on the network", "`0` for the server of `--device tcp`"),
    Variable("ANDROID_USER_HOME", "adb", "where it keeps its key", "an empty folder for the server of `--device tcp`"),
    Variable("HOME", "adb", "the same, for older versions", "an empty folder for the server of `--device tcp`"),
)
"""Variables that are set in a child process only."""

LENT = (
    Variable("VLLM_CPU_KVCACHE_SPACE", "vLLM", "would replace the budget of keys and values", "not set"),
    Variable("VLLM_CPU_OMP_THREADS_BIND", "vLLM", "whether it pins threads to cores", "`nobind`"),
    Variable("VLLM_ENABLE_V1_MULTIPROCESSING", "vLLM", "whether it computes in a process of its own", "`0`"),
    Variable("VLLM_LOGGING_LEVEL", "vLLM", "how much it says", "`ERROR`"),
    Variable("VLLM_NO_USAGE_STATS", "vLLM", "whether it reports its use to its authors", "`1`: it does not"),
    Variable("VLLM_PLUGINS", "vLLM", "which plugins it loads", "`agent_eval`"),
)
"""Variables that are set while vLLM is loaded and taken back with all that it exported, so that no child gets them."""

EXTERNAL = (
    Variable("COLUMNS", "rich", "width of what is printed", "the terminal's, or 80"),
    Variable(
        "GOMP_SPINCOUNT",
        "libgomp, inside torch",
        "how often a waiting thread looks before it sleeps",
        "0, by the wait policy",
    ),
    Variable("HF_ENDPOINT", "huggingface_hub", "the hub that `--model` ids are looked up in", "huggingface.co"),
    Variable("HF_HOME", "huggingface_hub", "where downloads and the token are kept", "`~/.cache/huggingface`"),
    Variable("HF_HUB_CACHE", "huggingface_hub", "where downloads are kept", "`$HF_HOME/hub`"),
    Variable(
        "HF_HUB_OFFLINE", "huggingface_hub", "`1`: nothing is asked of the network", "`0`; `1` while vLLM is loaded"
    ),
    Variable("HF_TOKEN", "huggingface_hub", "token for models that ask for one; never recorded", "none"),
    Variable("HTTPS_PROXY", "huggingface_hub", "the way to the network", "none"),
    Variable("MKL_NUM_THREADS", "MKL, inside torch", "threads of its matrix products", "`OMP_NUM_THREADS`"),
    Variable("NO_COLOR", "rich, argparse", "no colours", "colours on a terminal"),
    Variable("OPENBLAS_NUM_THREADS", "OpenBLAS, inside numpy", "threads of its matrix products", "all processors"),
    Variable("PATH", "the system", "where `adb`, `git` and compilers are found", "the system's"),
    Variable("TMPDIR", "Python", "where temporary folders are made", "`/tmp`"),
    Variable("VLLM_CACHE_ROOT", "vLLM", "where it keeps what it compiled", "`~/.cache/vllm`"),
)
"""Variables that only libraries and child processes read; named because they change what this program does."""


def adb_server_port() -> int:
    """Return where the person's adb server listens, by the variable that adb itself reads.

    Raises:
        OperatorError: it is no port.
    """
    text = os.environ.get("ANDROID_ADB_SERVER_PORT", str(ADB_PORT))
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 65535:
        raise OperatorError(
            f"ANDROID_ADB_SERVER_PORT is {text!r}; expected a port", hint="unset it, or set it to 1 to 65535"
        )
    return int(text)


def threads() -> int | None:
    """Return how many threads ``OMP_NUM_THREADS`` asks for; None where it is not set.

    Raises:
        OperatorError: it is no number from 1. A list, one number for each level of nesting, counts by its first.
    """
    text = os.environ.get("OMP_NUM_THREADS")
    if text is None:
        return None
    first = text.partition(",")[0].strip()
    if not first.isascii() or not first.isdigit() or not 0 < int(first) <= MOST_THREADS:
        raise OperatorError(
            f"OMP_NUM_THREADS is {text!r}; expected a number from 1 to {MOST_THREADS}",
            hint="unset it, or set it to the cores to use",
        )
    return int(first)


def wait_policy() -> str | None:
    """Return what ``OMP_WAIT_POLICY`` says; None where it is not set."""
    return os.environ.get("OMP_WAIT_POLICY")


def cache_folder() -> Path:
    """Return where things are kept that can be made again; the folder need not exist yet.

    Raises:
        OperatorError: ``AGENT_EVAL_CACHE`` is empty or a file.
    """
    named = os.environ.get("AGENT_EVAL_CACHE")
    if named is None:
        base = os.environ.get("XDG_CACHE_HOME", "")
        # the XDG base directory specification has relative paths ignored
        return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "agent-eval"
    folder = Path(named)
    if not named.strip() or (folder.exists() and not folder.is_dir()):
        raise OperatorError(
            f"AGENT_EVAL_CACHE is {named!r}; expected the path of a folder", hint="unset it, or name a folder"
        )
    return folder


def llama_library() -> Path | None:
    """Return the llama.cpp that a person built; None where the package's serves.

    Raises:
        OperatorError: there is no such file.
    """
    text = os.environ.get("AGENT_EVAL_LLAMA")
    if text is None:
        return None
    if not Path(text).is_file():
        raise OperatorError(
            f"AGENT_EVAL_LLAMA is {text!r}; expected the path of a shared library",
            hint="unset it for the llama.cpp of the package xllamacpp, or name a libllama.so",
        )
    return Path(text).resolve()


def kernels() -> KernelChoice | None:
    """Return which compiled kernels may serve; None where the fastest of this processor may.

    Raises:
        OperatorError: the choice does not exist.
    """
    text = os.environ.get("AGENT_EVAL_KERNELS")
    if text is None:
        return None
    for choice in KERNEL_CHOICES:
        if text == choice:
            return choice
    raise OperatorError(
        f"AGENT_EVAL_KERNELS is {text!r}; expected one of: {', '.join(KERNEL_CHOICES)}",
        hint="unset it for the fastest kernels of this processor",
    )


def vllm_switches() -> dict[VllmSwitch, bool]:
    """Return what ``AGENT_EVAL_VLLM`` turns on or off.

    Raises:
        OperatorError: a word is none of the switches, or one is turned both ways.
    """
    found: dict[VllmSwitch, bool] = {}
    for word in filter(None, (word.strip() for word in os.environ.get("AGENT_EVAL_VLLM", "").split(","))):
        on, name = not word.startswith("no-"), word.removeprefix("no-")
        switch = next((switch for switch in VLLM_SWITCHES if switch == name), None)
        if switch is None or found.setdefault(switch, on) != on:
            raise OperatorError(
                f"AGENT_EVAL_VLLM holds {word!r}; expected each of these at most once, or with no- before it: "
                f"{', '.join(VLLM_SWITCHES)}",
                hint="unset it, or separate the words by commas",
            )
    return found


@contextlib.contextmanager
def lent_to_vllm() -> Iterator[None]:
    """Set what vLLM reads while it is loaded, then put the whole environment back: what it exported goes too.

    It exports a dozen variables, among them ``LD_PRELOAD``, that would reach every child of this process, adb included.
    What the person has set of ``LENT`` stays, but for what would take the engine out of this process or its budget.
    """
    variables, before = os.environ, dict(os.environ)
    variables.pop("VLLM_CPU_KVCACHE_SPACE", None)
    variables |= {
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": before.get("VLLM_CPU_OMP_THREADS_BIND", "nobind"),
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_LOGGING_LEVEL": before.get("VLLM_LOGGING_LEVEL", "ERROR"),
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_PLUGINS": "agent_eval",
    }
    try:
        yield
    finally:
        for name in variables.keys() - before.keys():
            del variables[name]
        variables |= before


def set_defaults(values: Mapping[str, str]) -> dict[str, str]:
    """Give variables their value in this process and its children, where the person has not set them.

    Args:
        values: Name to value; the names are among ``SET``.

    Returns:
        Name to the value that holds now.
    """
    known = {variable.name for variable in SET}
    assert values.keys() <= known, f"not in the table: {values.keys() - known}"
    return {name: os.environ.setdefault(name, value) for name, value in values.items()}


def for_child(changes: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with changes, to start a child with.

    Args:
        changes: Name to value; the names are in one of the tables.
    """
    known = {variable.name for variable in (*READ, *SET, *FOR_CHILDREN, *EXTERNAL)}
    assert changes.keys() <= known, f"not in a table: {changes.keys() - known}"
    return {**os.environ, **changes}
