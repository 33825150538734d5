"""Compiles the kernels of ``spark_backend`` into one shared library, for wheels, editable installs and developers.

Sources are found by name in ``kernels/native``; the ending of a name says for which instruction set a file is compiled
(``FLAGS``). Objects are kept in ``build/kernels`` under a digest of everything that went into them, so that an edit
compiles one file. Knows nothing of what the kernels compute. Without a compiler the package is built without the
library: everything runs through torch, and a run's report says so.

Run ``python hatch_build.py`` (or ``make kernels``) after an edit.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
NATIVE = ROOT / "src/agent_eval/spark_backend/kernels/native"
LIBRARY = ROOT / "src/agent_eval/spark_backend/kernels/_kernels.so"
OBJECTS = ROOT / "build/kernels"

COMMON = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-ffp-contract=off",  # no fused multiply-add but where it is written: the int8 products are exact by contract
    "-fno-math-errno",
    "-fno-exceptions",
    "-fno-rtti",
    "-fvisibility-inlines-hidden",
    "-Wall",
    "-Wextra",
    "-Wno-uninitialized",  # GCC 12 takes the placeholders in its own intrinsics for mistakes
    "-Wno-maybe-uninitialized",
    "-Werror=return-type",
)
AVX2 = ("-mavx2", "-mfma", "-mf16c", "-mbmi2")
AVX512 = (*AVX2, "-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni", "-mprefer-vector-width=512")
FLAGS = {
    "_avx2": AVX2,
    "_avx512": AVX512,
    "_avx512bf16": (*AVX512, "-mavx512bf16"),
    "_amx": (*AVX512, "-mavx512bf16", "-mamx-tile", "-mamx-int8", "-mamx-bf16"),
}
"""Ending of a source's name to the flags that it needs beyond the architecture's least; x86-64 only."""


class NoCompiler(Exception):
    """No C++ compiler was found."""


def compiler() -> list[str]:
    """Return the command of the C++ compiler: ``$CXX``, else the first of the usual names."""
    wanted = os.environ.get("CXX")
    if wanted:
        return wanted.split()
    for name in ("g++", "clang++", "c++"):
        if found := shutil.which(name):
            return [found]
    raise NoCompiler("no C++ compiler: neither CXX is set nor is there a g++, clang++ or c++")


def sources() -> list[tuple[Path, tuple[str, ...]]]:
    """Return the sources for this architecture, each with its flags."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    chosen = []
    for file in sorted(NATIVE.glob("*.cpp")):
        ending = next((ending for ending in FLAGS if file.stem.endswith(ending)), None)
        if ending is None or x86:
            chosen.append((file, FLAGS[ending] if ending else ()))
    return chosen


def build(library: Path = LIBRARY) -> None:
    """Compile and link the library; the old one stays until the new one is whole.

    Raises:
        NoCompiler: there is none.
        subprocess.CalledProcessError: it refused a file; its messages are on standard error.
    """
    command = compiler()
    version = subprocess.run([*command, "--version"], check=True, capture_output=True).stdout
    headers = b"".join(file.read_bytes() for file in sorted(NATIVE.glob("*.h")))
    OBJECTS.mkdir(parents=True, exist_ok=True)

    def compiled(source: tuple[Path, tuple[str, ...]]) -> Path:
        file, flags = source
        said = " ".join((*command, *COMMON, *flags)).encode()
        digest = hashlib.sha256(b"\0".join((version, said, headers, file.read_bytes()))).hexdigest()[:16]
        target = OBJECTS / f"{file.stem}-{digest}.o"
        if not target.exists():
            with _whole(target) as part:
                subprocess.run([*command, *COMMON, *flags, "-c", str(file), "-o", str(part)], check=True)
        return target

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        objects = list(workers.map(compiled, sources()))
    static = ["-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL", "-Wl,--no-undefined"]
    linked = ["-shared", "-pthread", *(static if sys.platform == "linux" else [])]
    with _whole(library) as part:
        subprocess.run([*command, *linked, *map(str, objects), "-o", str(part)], check=True)
        part.chmod(0o755)


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """Offer a file to write that takes the target's name when it is complete: others may be using the old one."""
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program, where nothing is needed but a compiler
    pass
else:

    class KernelsHook(BuildHookInterface[Any]):
        """Builds the library into the package before a wheel is made of it, and tags the wheel with its platform."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  the interface's
            """Compile, or say why there is no library and go on without one."""
            if self.target_name != "wheel":
                return
            try:
                build()
            except (NoCompiler, OSError, subprocess.CalledProcessError) as error:
                LIBRARY.unlink(missing_ok=True)  # one of another machine or of older sources is worse than none
                self.app.display_warning(f"the kernels are not built, torch will compute: {error}")
                return
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


if __name__ == "__main__":
    build()
