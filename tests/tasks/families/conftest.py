"""What the tests of every family play on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tasks.families.playing import Stage


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A phone and hands on it."""
    made = Stage()
    yield made
    made.device.close()
