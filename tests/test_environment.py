"""Environment variables: read in one module, listed on one page, refused where they cannot be."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_eval import environment
from agent_eval.environment import EXTERNAL, FOR_CHILDREN, LENT, READ, SET
from tests.environment_page import PAGE, page

SOURCE = Path(environment.__file__).parent
ACCESS = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv", "expandvars"}
"""Names of the standard library that reach the environment."""


def reads(source: str) -> list[str]:
    """Return how a module reaches the environment, whatever it calls its imports."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Constant(value=str(name)) if name in ACCESS:
                found.append(name)
            case ast.ImportFrom(module="os" | "os.path" | "posix" | "posixpath", names=names):
                found += [alias.name for alias in names if alias.name in {*ACCESS, "*"}]
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.environ['A']",
        "import os\nos.environ.get('A')",
        "import os\nos.environ.pop('A', None)",
        "import os\n'A' in os.environ",
        "import os\nos.environ.setdefault('A', '1')",
        "import os\nos.getenv('A')",
        "import os as system\nsystem.environ['A']",
        "import os\nwhere = os.environ\nwhere['A']",
        "import os\nread = os.getenv\nread('A')",
        "from os import environ",
        "from os import environ as where",
        "from os import getenv",
        "from os import *",
        "import os\ngetattr(os, 'environ')",
        "import os\nos.putenv('A', '1')",
        "import os\nos.path.expandvars('$A')",
        "import subprocess, os\nsubprocess.run(['a'], env={**os.environ, 'A': '1'})",
        "import os\ndef child():\n    return dict(os.environ)",
    ],
)
def test_each_way_to_reach_the_environment_is_found(source: str) -> None:
    assert reads(source)


@pytest.mark.parametrize("source", ["environment.kernels()", "from os import path", "import os\nos.getpid()"])
def test_what_does_not_reach_the_environment_is_not_found(source: str) -> None:
    assert reads(source) == []


def test_one_module_reaches_the_environment_and_no_other() -> None:
    readers = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if reads(file.read_text("utf-8"))}
    assert readers == {"environment.py"}


def test_no_compiled_source_reaches_the_environment() -> None:
    native = [file for kind in ("*.c", "*.cpp", "*.h") for file in SOURCE.rglob(kind)]
    assert [file.name for file in native if re.search(r"\w*getenv|\benviron\b", file.read_text("utf-8"))] == []


def test_every_variable_that_the_module_names_is_in_a_table() -> None:
    source = (SOURCE / "environment.py").read_text("utf-8")
    asked = set(re.findall(r"os\.environ\.get\(\s*\"([A-Z_]+)\"", source))
    assert asked == {variable.name for variable in READ} | {"OMP_NUM_THREADS", "OMP_WAIT_POLICY"}
    whole = ("set_defaults", "for_child", "lent_to_vllm", "a copy of it")  # what else the environment is named for
    assert len(re.findall(r"os\.environ", source)) == len(re.findall(r"os\.environ\.get\(", source)) + len(whole)
    tables = (READ, SET, LENT, FOR_CHILDREN, EXTERNAL)
    names = [variable.name for table in tables for variable in table]
    assert len(names) == len(set(names))
    assert all([v.name for v in table] == sorted(v.name for v in table) for table in tables)


def test_the_page_lists_the_variables_as_they_are() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it anew: python -m tests.environment_page"


def answer(expression: str, **variables: str) -> str:
    """Evaluate an expression over the module in a process that has just these variables; return it, or its error."""
    code = (
        "from agent_eval import environment as e\n"
        "from agent_eval.errors import OperatorError\n"
        f"try: print({expression})\n"
        "except OperatorError as error: print(f'error: {error}')"
    )
    command = [sys.executable, "-c", code]
    bare = {"PATH": os.environ["PATH"], "HOME": "/home/somebody", **variables}
    run = subprocess.run(command, env=bare, capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.mark.parametrize(
    ("expression", "variables", "expected"),
    [
        ("e.adb_server_port()", {}, "5037"),
        ("e.adb_server_port()", {"ANDROID_ADB_SERVER_PORT": "5038"}, "5038"),
        ("e.cache_folder()", {}, "/home/somebody/.cache/agent-eval"),
        ("e.cache_folder()", {"XDG_CACHE_HOME": "/big"}, "/big/agent-eval"),
        ("e.cache_folder()", {"XDG_CACHE_HOME": "relative"}, "/home/somebody/.cache/agent-eval"),
        ("e.cache_folder()", {"XDG_CACHE_HOME": "/big", "AGENT_EVAL_CACHE": "/own"}, "/own"),
        ("e.llama_library()", {}, "None"),
        ("e.llama_library()", {"AGENT_EVAL_LLAMA": "/etc/hostname"}, "/etc/hostname"),
        ("e.kernels()", {}, "None"),
        *(("e.kernels()", {"AGENT_EVAL_KERNELS": choice}, choice) for choice in environment.KERNEL_CHOICES),
        ("e.vllm_switches()", {}, "{}"),
        ("e.vllm_switches()", {"AGENT_EVAL_VLLM": ""}, "{}"),
        (
            "e.vllm_switches()",
            {"AGENT_EVAL_VLLM": " compile, no-aot-shim,"},
            "{'compile': True, 'aot-shim': False}",
        ),
        ("e.threads()", {}, "None"),
        ("e.threads()", {"OMP_NUM_THREADS": "3"}, "3"),
        ("e.threads()", {"OMP_NUM_THREADS": "3,2"}, "3"),
    ],
)
def test_a_variable_is_read_and_has_a_default(expression: str, variables: dict[str, str], expected: str) -> None:
    assert answer(expression, **variables) == expected


@pytest.mark.parametrize(
    ("expression", "name", "value"),
    [
        ("e.adb_server_port()", "ANDROID_ADB_SERVER_PORT", "70000"),
        ("e.adb_server_port()", "ANDROID_ADB_SERVER_PORT", "five"),
        ("e.cache_folder()", "AGENT_EVAL_CACHE", ""),
        ("e.cache_folder()", "AGENT_EVAL_CACHE", "/etc/hostname"),
        ("e.llama_library()", "AGENT_EVAL_LLAMA", "/no/such/libllama.so"),
        ("e.kernels()", "AGENT_EVAL_KERNELS", "AVX2"),
        ("e.kernels()", "AGENT_EVAL_KERNELS", ""),
        ("e.vllm_switches()", "AGENT_EVAL_VLLM", "fast"),
        ("e.vllm_switches()", "AGENT_EVAL_VLLM", "no-"),
        ("e.threads()", "OMP_NUM_THREADS", "0"),
        ("e.threads()", "OMP_NUM_THREADS", "all"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(expression: str, name: str, value: str) -> None:
    told = answer(expression, **{name: value})
    assert told.startswith("error: ")
    assert name in told
    assert repr(value) in told
    assert "expected" in told
    assert "hint: " in told


def test_defaults_are_for_this_process_and_its_children_unless_the_person_has_set_them() -> None:
    expression = (
        "e.set_defaults({'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'PASSIVE'}), "
        "sorted(e.for_child({'HOME': '/elsewhere'}).items())"
    )
    told = answer(f"__import__('json').dumps([{expression}])", OMP_NUM_THREADS="7")
    held, child = json.loads(told)
    assert held == {"OMP_NUM_THREADS": "7", "OMP_WAIT_POLICY": "PASSIVE"}
    assert {("HOME", "/elsewhere"), ("OMP_NUM_THREADS", "7"), ("OMP_WAIT_POLICY", "PASSIVE")} <= set(map(tuple, child))


def test_a_switch_of_vllm_cannot_be_turned_both_ways() -> None:
    told = answer("e.vllm_switches()", AGENT_EVAL_VLLM="compile,no-compile")
    assert told.startswith("error: ")
    assert "'no-compile'" in told


LENT_THEN_READ = """
import json, os
from agent_eval import environment
before = dict(os.environ)
try:
    with environment.lent_to_vllm():
        during = dict(os.environ)
        os.environ |= {"LD_PRELOAD": "/lib/libgomp.so", "VLLM_PLUGINS": "changed", "HOME": "/elsewhere"}
        del os.environ["PATH"]
        raise KeyError
except KeyError:
    pass
print(json.dumps([before == dict(os.environ), before == environment.for_child({}), during]))
"""


def test_what_a_library_exports_while_it_is_lent_the_environment_reaches_no_child() -> None:
    mine = {"VLLM_CPU_KVCACHE_SPACE": "4", "VLLM_LOGGING_LEVEL": "DEBUG", "VLLM_PLUGINS": "other"}
    bare = {"PATH": os.environ["PATH"], "HOME": "/home/somebody", **mine}
    run = subprocess.run([sys.executable, "-c", LENT_THEN_READ], env=bare, capture_output=True, text=True, check=True)
    same, child_same, during = json.loads(run.stdout)
    assert (same, child_same) == (True, True)
    assert "VLLM_CPU_KVCACHE_SPACE" not in during
    assert (during["VLLM_LOGGING_LEVEL"], during["VLLM_PLUGINS"]) == ("DEBUG", "agent_eval")
    assert {variable.name for variable in LENT} - {"VLLM_CPU_KVCACHE_SPACE"} <= during.keys()
