"""A snapshot: everything about a phone that two phones must share to be equal, by path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_eval.types import Scalar, Snapshot

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone


def snapshot_of(phone: Phone) -> Snapshot:
    """Return the state as it is now."""
    _ = phone.windows  # normalises scroll positions
    front, stacks, now_ms = phone.front, phone.stacks, phone.clock.now_ms
    now: dict[str, Scalar] = {
        "ui/package": front.package,
        "ui/activity": front.activity,
        "ui/screen": front.screen,
        "ui/stack": " > ".join(page.screen for page in stacks.pages),
        "ui/recents": ",".join(stacks.used),
        "ui/keyboard": phone.entry.layer or "",
        "ui/before_recents": stacks.before_recents,
        "ui/toast": phone.toast or "",
        "clock/now": now_ms // 1000,
        "clock/now_ms": now_ms % 1000,
        "clock/pending_timers": phone.clock.pending,
        "clipboard/text": phone.clipboard,
    }
    if phone.display.rotation:
        now["ui/rotation"] = phone.display.rotation
    for package, pages in stacks.tasks.items():
        for depth, page in enumerate(pages):
            start = f"ui/task/{package}/{depth}/{page.screen}"
            now[start] = True
            for name, value in page.vars.items():
                now[f"{start}/{name}"] = value
    if stacks.shade is not None:
        now["ui/shade"] = True
    transient = sorted([*phone.world.sorted_items(), *now.items()])  # no path of the world begins like those above
    return Snapshot(persisted=phone.state.sorted_items(), transient=tuple(transient))
