"""The guide to a new app is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guides" / "adding-an-app.md"


def test_the_app_of_the_guide_works_as_the_guide_says() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {"__name__": "water"}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec", dont_inherit=True), names)  # noqa: S102 - our own text
    assert names["phone"].snapshot()["water/glasses"] in range(8)
