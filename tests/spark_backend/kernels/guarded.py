"""Runs every kind of product of one variant on memory that ends at a page nobody may touch: dies where one does.

A program of its own, since what it looks for kills the process.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from ctypes import byref

from agent_eval.spark_backend.kernels.library import Kind, SkWeight, load

_libc = ctypes.CDLL(None, use_errno=True)
_kept: list[mmap.mmap] = []


def guarded(size: int, fill: int = 1) -> int:
    """Return the address of ``size`` bytes right before a page without access."""
    pages = -(-size // mmap.PAGESIZE)
    region = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    region[: pages * mmap.PAGESIZE] = bytes([fill]) * (pages * mmap.PAGESIZE)
    _kept.append(region)
    start = ctypes.addressof(ctypes.c_char.from_buffer(region))
    end = start + pages * mmap.PAGESIZE
    if _libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(mmap.PAGESIZE), 0):
        sys.exit("no guard page")
    return end - size


def _last(rows: int) -> int:
    places = guarded(8)
    ctypes.memmove(places, (ctypes.c_int32 * 2)(rows - 1, 0), 8)
    return places


def main(isa: str) -> None:
    library = load(isa)
    library.set_threads(2)
    native = library.native
    for rows in (1, 16, 37):
        padded = -(-rows // 16) * 16
        for kind, width in ((Kind.F32, 77), (Kind.F32, 64), (Kind.BF16, 77), (Kind.BF16, 96), (Kind.BF16, 9)):
            data = guarded(rows * width * (4 if kind is Kind.F32 else 2))
            weight = SkWeight(kind, 32, rows, width, 0, 0, data, None, None)
            native.sk_multiply(byref(weight), guarded(2 * width * 4), 2, guarded(2 * padded * 4), padded, 0)
        for kind in (Kind.INT4, Kind.INT8):
            for activation in (8, 16):
                for width, group in ((32, 32), (160, 32), (256, 128)):
                    data = guarded(padded * width // (2 if kind is Kind.INT4 else 1))
                    scale, zero = (guarded(padded * (width // group) * 2) for _ in range(2))
                    x, out = guarded(5 * width * 4), guarded(5 * padded * 4)
                    for given in (None, zero):
                        weight = SkWeight(kind, activation, rows, width, group, 0, data, scale, given)
                        for blocked in (0, 1):
                            native.sk_multiply(byref(weight), x, 5, out, padded, blocked)
                        for of, size in ((Kind.F32, 4), (Kind.BF16, 2)):
                            many, result = guarded(21 * width * size), guarded(21 * rows * 4)
                            native.sk_multiply_rows(byref(weight), many, of, 21, width, result, rows)
                        native.sk_widen(byref(weight), 0, rows, guarded(rows * width * 4), 0)
                        native.sk_widen(byref(weight), 0, rows, guarded(rows * width * 2), 1)
                        native.sk_pick(byref(weight), _last(rows), 2, guarded(2 * width * 2))
                    native.sk_pack(kind, guarded(rows * width), rows, width, data)
                    native.sk_pack_scales(guarded(rows * (width // group) * 2), rows, width // group, scale)


if __name__ == "__main__":
    main(sys.argv[1])
