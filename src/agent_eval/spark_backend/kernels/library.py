"""The compiled library: loading, checking, choosing an instruction set, threads. Knows no layer, no build and no torch.

Nothing is loaded at import. ``load()`` loads once; the best variant that this processor runs, that agrees with the
library's own plain one and that ``AGENT_EVAL_KERNELS`` allows is put into use, and ``Library.note`` says what was
passed over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_uint64, c_void_p
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from agent_eval import environment
from agent_eval.errors import OperatorError, UnknownName
from agent_eval.spark_backend.kernels.placement import placement

FILE = Path(__file__).with_name("_kernels.so")
VERSION = 2
"""Of the library's functions and structures; ``sk_version`` in native/linear.cpp."""

PLAIN = "generic"
"""The variant that runs everywhere and that the others are checked against; what stands before it is for tests."""

ROWS = 16
"""Rows of a block of grouped weights (weights.h)."""

COLUMNS = 32
"""Every width and group of a grouped weight is a multiple of this."""


class Kind(IntEnum):
    """What the numbers of a weight are (weights.h)."""

    F32 = 0
    BF16 = 1
    INT4 = 2
    INT8 = 3


class SkWeight(ctypes.Structure):
    """``sk_weight`` of weights.h."""

    _fields_ = [
        ("kind", c_int32),
        ("activation", c_int32),
        ("rows", c_int32),
        ("cols", c_int32),
        ("group", c_int32),
        ("reserved", c_int32),
        ("data", c_void_p),
        ("scale", c_void_p),
        ("zero", c_void_p),
    ]
    kind: int
    activation: int
    rows: int
    cols: int
    group: int
    reserved: int
    data: int | None
    scale: int | None
    zero: int | None


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "sk_version": (c_int32, []),
    "sk_variant": (c_char_p, [c_int32]),
    "sk_runs": (c_int32, [c_char_p]),
    "sk_select": (c_int32, [c_char_p]),
    "sk_isa": (c_char_p, []),
    "sk_check": (c_int32, [c_char_p]),
    "sk_set_threads": (None, [c_int32, POINTER(c_int32)]),
    "sk_threads": (c_int32, []),
    "sk_pack": (None, [c_int32, c_void_p, c_int32, c_int32, c_void_p]),
    "sk_pack_scales": (None, [c_void_p, c_int32, c_int32, c_void_p]),
    "sk_multiply_rows": (
        c_int32,
        [POINTER(SkWeight), c_void_p, c_int32, c_int32, c_int64, c_void_p, c_int64],
    ),
    "sk_multiply": (None, [POINTER(SkWeight), c_void_p, c_int32, c_void_p, c_int64, c_int32]),
    "sk_widen": (None, [POINTER(SkWeight), c_int32, c_int32, c_void_p, c_int32]),
    "sk_pick": (None, [POINTER(SkWeight), c_void_p, c_int32, c_void_p]),
    "sk_read": (c_uint64, [c_void_p, c_int64]),
    "sk_stream_read": (c_double, [c_int64, c_int32]),
    "sk_decode_scratch": (c_int64, [c_void_p, c_int32]),
    "sk_decode": (c_char_p, [c_void_p, c_void_p]),
    "sk_argmax": (c_int64, [c_void_p, c_int64]),
    "sk_sample": (c_int64, [c_void_p, c_int64, c_double, c_double, c_double, c_void_p]),
    "sk_gelu": (None, [c_void_p, c_void_p, c_int64]),
    "sk_exp": (None, [c_void_p, c_void_p, c_int64]),
}
"""Results and arguments of every exported function."""


class Library:
    """The library. One variant at a time is in use, in the whole process.

    Args:
        native: The loaded shared library.
        most: The variant that may at most serve; the best by default.
    """

    def __init__(self, native: Any, most: str | None = None) -> None:
        self.native = native
        self.known = _names(native)
        """Every variant, best last."""
        self.note = ""
        """Which variants the self-check refused; empty if none."""
        native.sk_select(self._best(most or self.known[-1]).encode())

    @property
    def isa(self) -> str:
        """The variant in use, such as ``avx512``."""
        return str(self.native.sk_isa().decode())

    def use(self, isa: str) -> None:
        """Put a variant into use.

        Raises:
            UnknownName: the library has no variant of that name.
            OperatorError: this processor does not run it, or it computes something else than the plain one.
        """
        if isa not in self.known:
            raise UnknownName("instruction set of the kernels", isa, self.known)
        if not self.native.sk_runs(isa.encode()):
            raise OperatorError(
                f"this processor does not run the kernels for {isa!r}; it runs {', '.join(self.usable())}",
                hint="name one of these, or none and the best is taken",
            )
        if not self.native.sk_check(isa.encode()):
            raise OperatorError(
                f"the kernels for {isa!r} do not compute here what the plain ones do",
                hint="name another instruction set, or none and the best that is right is taken",
            )
        self.native.sk_select(isa.encode())

    def usable(self) -> list[str]:
        """Return the variants that this processor runs, best last."""
        return [name for name in self.known if self.native.sk_runs(name.encode())]

    def set_threads(self, count: int, cores: Sequence[int] | None = None) -> None:
        """Set the number of threads, the caller's included; nothing happens where it is so already.

        Args:
            count: At least 1.
            cores: Processor to pin each thread to; the caller's place is the first, and the caller is not pinned.
                By default, ``placement`` decides.
        """
        if cores is None:
            cores = placement(count)
        if count < 1 or (cores is not None and len(cores) < count):
            raise OperatorError(
                f"{count} kernel threads on processors {cores}, expected at least one thread and a processor for each",
                hint="pass as many processors as threads, or none",
            )
        self.native.sk_set_threads(count, (c_int32 * count)(*cores[:count]) if cores is not None else None)

    @property
    def threads(self) -> int:
        """How many threads work together, the caller's included."""
        return int(self.native.sk_threads())

    def stream_read(self, size: int = 512 * 2**20, passes: int = 5) -> float:
        """Measure how fast the threads read memory: bytes per second, the best pass over ``size`` bytes."""
        return float(self.native.sk_stream_read(size, passes))

    def _best(self, most: str) -> str:
        allowed = self.known[self.known.index(PLAIN) : self.known.index(most) + 1]
        refused = []
        for name in reversed([name for name in self.usable() if name in allowed]):
            if name == PLAIN or self.native.sk_check(name.encode()):
                break
            refused.append(name)
        if refused:
            self.note = f"self-check: {' and '.join(refused)} computed something else here, so {name} serves"
        return name


def available() -> bool:
    """Tell whether the kernels may serve: there is a library that can be loaded, and nobody has turned it off.

    Raises:
        OperatorError: ``AGENT_EVAL_KERNELS`` says what does not exist.
    """
    return environment.kernels() != "off" and opened(FILE) is not None


def load(isa: str | None = None) -> Library:
    """Return the library, loaded once; the best variant that ``AGENT_EVAL_KERNELS`` allows is put into use.

    Args:
        isa: A variant to put into use, for tests and benchmarks; by default, the one in use stays so.

    Raises:
        UnknownName: the library has no variant of that name.
        OperatorError: there is no library, or it cannot serve that variant here.
    """
    native = opened(FILE)
    if native is None:
        raise OperatorError(
            f"no kernel library of version {VERSION} at {FILE}",
            hint="run `make kernels` in a checkout, or leave the kernels off",
        )
    library = _library()
    if isa is not None:
        library.use(isa)
    return library


@contextmanager
def using(isa: str) -> Iterator[Library]:
    """Put a variant into use for a while: for tests and benchmarks.

    Raises:
        UnknownName: the library has no variant of that name.
        OperatorError: it cannot serve here.
    """
    library = load()
    before = library.isa
    library.use(isa)
    try:
        yield library
    finally:
        library.use(before)


@cache
def _library() -> Library:
    most = environment.kernels()
    return Library(opened(FILE), None if most == "off" else most)


@cache
def opened(file: Path) -> Any | None:
    """Load a shared library; None if it is absent, of another machine or of another version."""
    try:
        native = ctypes.CDLL(str(file))
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(native, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError):
        return None
    return native if native.sk_version() == VERSION else None


def _names(native: Any) -> list[str]:
    names: list[str] = []
    while (name := native.sk_variant(len(names))) is not None:
        names.append(name.decode())
    return names
