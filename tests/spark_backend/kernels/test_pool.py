"""The threads of the kernels: how many, where, and that they do no harm to other threads and processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.kernels.placement import placement
from tests.spark_backend.kernels.twins import random_weight

needs_library = pytest.mark.skipif(not library.available(), reason="the kernels are not built")

SIBLINGS = {
    "one thread to a core": ["0", "1", "2", "3"],
    "neighbours share a core": ["0-1", "0-1", "2-3", "2-3"],
    "halves share a core": ["0,2", "1,3", "0,2", "1,3"],
}


@pytest.mark.parametrize(
    ("machine", "allowed", "count", "expected"),
    [
        ("one thread to a core", [0, 1, 2, 3], 4, (0, 1, 2, 3)),
        ("one thread to a core", [0, 1, 2, 3], 3, None),  # a core is left over: the system places
        ("one thread to a core", [2, 3], 2, (2, 3)),
        ("one thread to a core", [2, 3], 3, None),
        ("neighbours share a core", [0, 1, 2, 3], 2, (0, 2)),
        ("neighbours share a core", [0, 1, 2, 3], 4, None),  # more threads than cores
        ("neighbours share a core", [1, 2, 3], 2, (1, 2)),
        ("neighbours share a core", [0, 1], 1, (0,)),
        ("halves share a core", [0, 1, 2, 3], 2, (0, 1)),
        ("halves share a core", [1, 2, 3], 2, (1, 2)),
    ],
)
def test_threads_that_take_all_cores_get_one_each(
    tmp_path: Path, machine: str, allowed: list[int], count: int, expected: tuple[int, ...] | None
) -> None:
    for processor, siblings in enumerate(SIBLINGS[machine]):
        file = tmp_path / f"sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list"
        file.parent.mkdir(parents=True)
        file.write_text(f"{siblings}\n")
    assert placement(count, tmp_path, allowed=allowed) == expected


def test_processors_of_an_unknown_machine_count_as_cores(tmp_path: Path) -> None:
    assert placement(2, tmp_path, allowed=[4, 7]) == (4, 7)


WORKER = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
from pathlib import Path
import torch
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.quant.rows import StackedRows
before = set(os.listdir("/proc/self/task"))
library.load().set_threads(int(sys.argv[2]))
PackedLinear.dense(StackedRows([torch.ones(64, 64)]), torch.float32)(torch.ones(1, 64))
for task in set(os.listdir("/proc/self/task")) - before | {str(os.getpid())}:
    status = Path(f"/proc/self/task/{task}/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list")))
"""


@needs_library
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
@pytest.mark.parametrize("threads", [1, 2])
def test_workers_with_masks_apart_never_share_a_processor(threads: int) -> None:
    for processor in sorted(os.sched_getaffinity(0))[:2]:
        command = [sys.executable, "-c", WORKER, str(processor), str(threads)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout.split() == [str(processor)] * threads


PINNED = """
import os, sys
from pathlib import Path
import torch
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.quant.rows import StackedRows
cores = sorted(os.sched_getaffinity(0))
before = set(os.listdir("/proc/self/task"))
library.load().set_threads(2, [cores[0], cores[-1]])
PackedLinear.dense(StackedRows([torch.ones(64, 64)]), torch.float32)(torch.ones(1, 64))
for task in set(os.listdir("/proc/self/task")) - before:
    status = Path(f"/proc/self/task/{task}/status").read_text()
    allowed = next(line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list"))
    assert allowed == str(cores[-1]), allowed
assert os.sched_getaffinity(0) == set(cores)
"""


@needs_library
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_threads_are_pinned_where_they_are_told_and_the_caller_is_not() -> None:
    subprocess.run([sys.executable, "-c", PINNED], check=True)


@needs_library
@pytest.mark.parametrize(("count", "cores"), [(0, None), (-1, None), (3, [0, 1])])
def test_threads_that_make_no_sense_are_refused(count: int, cores: list[int] | None) -> None:
    with pytest.raises(OperatorError, match=f"{count} kernel threads"):
        library.load().set_threads(count, cores)


@needs_library
def test_the_number_of_threads_may_change_at_any_time() -> None:
    loaded = library.load()
    layer = _layer()
    x = torch.randn(1, 128)
    loaded.set_threads(1)
    expected = layer(x)
    for count in (2, 5, 5, 1, 3, 2, 16, 1):
        loaded.set_threads(count)
        assert loaded.threads == count
        assert torch.equal(layer(x), expected)


@needs_library
def test_callers_from_several_threads_take_turns() -> None:
    library.load().set_threads(2)
    layer = _layer()
    inputs = torch.randn(8, 128)
    expected = [layer(row) for row in inputs]
    wrong: list[int] = []

    def call(i: int) -> None:
        for _ in range(50):
            if not torch.equal(layer(inputs[i]), expected[i]):
                wrong.append(i)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


FORKS = """
import os
import torch
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.quant.rows import StackedRows
torch.set_num_threads(1)
library.load().set_threads(3)
layer = PackedLinear.dense(StackedRows([torch.ones(64, 64)]), torch.float32)
assert layer(torch.ones(1, 64)).sum() == 64 * 64
child = os.fork()
right = layer(torch.ones(1, 64)).sum() == 64 * 64 and library.load().threads == 3
if child == 0:
    os._exit(0 if right else 1)
assert right
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_threads_of_its_own() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=60)


def _layer() -> PackedLinear:
    weight = random_weight(200, 128, bits=4, group=32, symmetric=True)
    return PackedLinear.grouped([weight], weight.shape, 8, 32, symmetric=True)
