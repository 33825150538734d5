"""Every test of the kernels leaves the process with the variant and the threads that it found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_eval.spark_backend.kernels import library


@pytest.fixture(autouse=True)
def _the_library_is_left_as_it_was() -> Iterator[None]:
    if not library.available():
        yield
        return
    loaded = library.load()
    isa, threads = loaded.isa, loaded.threads
    yield
    loaded.use(isa)
    loaded.set_threads(threads)
