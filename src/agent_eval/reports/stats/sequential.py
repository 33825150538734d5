"""A test that may stop as soon as the pairs seen so far decide: Wald's, on discordant pairs.

A. Wald (1945), sequential probability ratio test. Under the null hypothesis a discordant pair is as likely lost as
gained; under the other, it is lost three times in four. The order of the pairs must be settled before the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from agent_eval.types import Verdict

LOST_IF_WORSE = 0.75
"""Share of discordant pairs that are lost if the build is worse by as much as should not be missed."""
ERROR = 0.05
"""Chance of either wrong verdict."""
_BOUND = math.log((1 - ERROR) / ERROR)
_LOST = math.log(LOST_IF_WORSE / 0.5)
_GAINED = math.log((1 - LOST_IF_WORSE) / 0.5)


@dataclass(frozen=True)
class SequentialVerdict:
    """Where a sequential test stands."""

    verdict: Verdict
    """``no worse``: the build is not worse by as much as the test looks for."""
    pairs: int
    """Pairs up to the one that decided; all of them where none did."""
    lost: int
    gained: int
    """Discordant pairs among those."""
    log_ratio: float
    """Log of the likelihood ratio, worse against level; it decides at plus and minus ``bound``."""
    bound: float = _BOUND

    @property
    def decided(self) -> bool:
        """Whether no further pair is needed."""
        return self.verdict != "insufficient evidence"


def sequential_test(pairs: Iterable[tuple[bool, bool]]) -> SequentialVerdict:
    """Test pairs in their order, and stop at the first that decides.

    Args:
        pairs: Whether the reference passed, and whether the build did.
    """
    seen = lost = gained = 0
    ratio = 0.0
    for reference, build in pairs:
        seen += 1
        lost += reference and not build
        gained += build and not reference
        ratio = lost * _LOST + gained * _GAINED
        if abs(ratio) >= _BOUND:
            break
    verdict: Verdict = "insufficient evidence"
    if ratio >= _BOUND:
        verdict = "worse"
    elif ratio <= -_BOUND:
        verdict = "no worse"
    return SequentialVerdict(verdict, seen, lost, gained, ratio)
