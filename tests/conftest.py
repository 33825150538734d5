"""Property tests draw the same examples every time, so that a failing run is not a matter of luck.

``HYPOTHESIS_PROFILE=explore`` draws new ones: for looking for trouble, not for deciding whether a change may land.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
