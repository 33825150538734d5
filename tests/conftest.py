"""What holds for every test: the same examples each time, and no file outside of the folder of the tests.

Property tests draw the same examples, so that a failing run is not a matter of luck. ``HYPOTHESIS_PROFILE=explore``
draws new ones: for looking for trouble, not for deciding whether a change may land.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_collection_finish() -> None:
    """Keep what is there for good, libraries and tests, out of what every later collection of garbage goes through."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive() -> Iterator[None]:
    """Take SIGINT, as some tests send it: a shell starts what it runs in the background deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is made of checkpoints for other engines out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENT_EVAL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
