"""What loading and running cost this machine: memory of a process, processor time, files in memory, bandwidth.

Anonymous memory is what counts (RssAnon in ``/proc/PID/status``): VmRSS and its peak VmHWM also hold mapped files,
which the system takes back when it needs the room. Linux keeps no peak of RssAnon, so the peak is sampled.

Only Linux tells most of this. Elsewhere it is None, never an error.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from agent_eval.spark_backend.torch_engine import TorchEngine

PROC = Path("/proc")
SAMPLE_S = 0.002
"""Between two looks at a process's memory: what a conversion takes and gives back is larger than what 2 ms can hide."""

FLOAT32 = 4
"""Bytes."""


class ProcessMemory(NamedTuple):
    """Memory of one process, bytes."""

    anonymous: int
    """RssAnon: its own."""
    mapped: int
    """RssFile: of files, shared with whoever else maps them."""


def memory_of(pid: int | None = None, proc: Path = PROC) -> ProcessMemory | None:
    """Return the memory of a process, this one by default; None where the system does not tell."""
    try:
        text = (proc / (str(pid) if pid is not None else "self") / "status").read_text(
            encoding="ascii", errors="replace"
        )
    except OSError:
        return None
    fields = {name: value.split() for name, _, value in (line.partition(":") for line in text.splitlines())}
    try:
        return ProcessMemory(int(fields["RssAnon"][0]) * 1024, int(fields["RssFile"][0]) * 1024)
    except (KeyError, IndexError, ValueError):  # a process that has just ended has no memory
        return None


class PeakMemory:
    """Watches this process's anonymous memory while a block runs.

    A thread looks every two milliseconds; operations of torch and of the kernels let it run. What is taken and given
    back faster than that is missed.
    """

    def __init__(self) -> None:
        self.peak: int | None = None
        """Most anonymous bytes seen; None where the system does not tell."""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self._look()

    def _look(self) -> None:
        now = memory_of()
        if now is not None:
            self.peak = max(self.peak or 0, now.anonymous)


def release_memory() -> None:
    """Give back what was freed: malloc keeps freed memory for later, which after a load is never."""
    gc.collect()
    if sys.platform.startswith("linux"):
        try:
            trim = ctypes.CDLL(None).malloc_trim
        except (OSError, AttributeError):  # a C library other than glibc
            return
        trim(ctypes.c_size_t(0))  # malloc_trim(3): keep nothing at the top of the heap


def forget_files(files: Iterable[Path]) -> float | None:
    """Make the system drop files from memory, as if the machine had just started; needs no privilege.

    Pages that any process maps, or that were written and are not on the disk yet, stay.

    Returns:
        The share of the files' pages that is still in memory, 0 for a cold start; None where the system cannot do it.
    """
    if not hasattr(os, "posix_fadvise"):
        return None
    resident = pages = 0
    for path in files:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fdatasync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)
        here, all_of_it = _resident_pages(path)
        resident, pages = resident + here, pages + all_of_it
    return resident / pages if pages else 0.0


def resident_share(files: Iterable[Path]) -> float:
    """Return the share of files' pages that is in memory; 0 where the system does not tell."""
    counts = [_resident_pages(path) for path in files]
    pages = sum(count.pages for count in counts)
    return sum(count.resident for count in counts) / pages if pages else 0.0


class _Pages(NamedTuple):
    resident: int
    pages: int


def _resident_pages(path: Path) -> _Pages:
    size = path.stat().st_size
    pages = -(-size // mmap.PAGESIZE)
    if not size or not sys.platform.startswith("linux"):
        return _Pages(0, pages)
    # mincore(2) fills one byte a page whose lowest bit says whether the page is in memory; the map itself reads nothing
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        view = (ctypes.c_char * size).from_buffer(mapped)
        found = (ctypes.c_ubyte * pages)()
        code = ctypes.CDLL(None, use_errno=True).mincore(ctypes.byref(view), ctypes.c_size_t(size), found)
        del view  # the map cannot be closed while something points into it
    return _Pages(sum(byte & 1 for byte in bytes(found)) if code == 0 else 0, pages)


class ProcessorTime(NamedTuple):
    """Processor time since the machine started, seconds of one core each."""

    busy: float
    """Of all processes, system included, and what a hypervisor took away."""
    stolen: float
    """What a hypervisor gave to other machines while this one wanted it."""


def processor_time(proc: Path = PROC) -> ProcessorTime | None:
    """Return how long the machine's processors have been busy; None where the system does not tell."""
    try:
        first = (proc / "stat").read_text(encoding="ascii").partition("\n")[0].split()
        # user nice system idle iowait irq softirq steal, in clock ticks (proc_stat(5)); guest time is part of user's
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(word) for word in first[1:9])
    except (OSError, ValueError):
        return None
    tick = os.sysconf("SC_CLK_TCK")
    return ProcessorTime((user + nice + system + irq + softirq + steal) / tick, steal / tick)


def own_processor_time() -> float:
    """Return how long this process has computed, on all its threads: seconds of one core."""
    times = os.times()
    return times.user + times.system


def head_alone(engine: TorchEngine) -> Callable[[], object]:
    """Return what computes the product over the vocabulary once, as for one token."""
    import torch

    model = engine.model
    hidden = torch.ones(1, model.config.hidden_size, dtype=model.activation)

    def product() -> object:
        with torch.inference_mode():
            return model.logits(hidden)

    return product


HEAD_REPEATS = 9
"""Products that are timed."""


def seconds_of(product: Callable[[], object]) -> float:
    """Return how long something takes once it has found its memory: the median of a few times."""
    product()
    seconds = []
    for _ in range(HEAD_REPEATS):
        began = perf_counter()
        product()
        seconds.append(perf_counter() - began)
    return median(seconds)


STREAM_BYTES = 512 * 2**20
"""What the bandwidth is measured over: many times any cache."""


class Bandwidth(NamedTuple):
    """How fast memory can be read."""

    bytes_per_s: float
    by: str
    """What read it: ``kernels`` or ``torch``."""


def streaming_bandwidth(threads: int, *, size: int = STREAM_BYTES, repeats: int = 3) -> Bandwidth:
    """Read memory once from front to back, on some threads, and return the best of a few tries.

    Decoding one token reads every weight once, so no build can be faster than this allows. The compiled library reads
    where it is there; torch does otherwise, and comes a little less close to what the memory gives.

    Args:
        threads: Threads that read, as many as a build computes on.
        size: Bytes to read.
        repeats: Tries.
    """
    from agent_eval.spark_backend.kernels import library

    if library.available():
        loaded = library.load()
        loaded.set_threads(threads)
        return Bandwidth(loaded.stream_read(size, repeats), "kernels")
    return Bandwidth(_read_with_torch(threads, size, repeats), "torch")


def _read_with_torch(threads: int, size: int, repeats: int) -> float:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        numbers = torch.ones(size // FLOAT32)
        seconds = []
        for _ in range(repeats + 1):  # the first finds pages and clocks cold
            began = perf_counter()
            numbers.sum()
            seconds.append(perf_counter() - began)
        return numbers.nbytes / min(seconds[1:])
    finally:
        torch.set_num_threads(before)
