"""What the phone says of itself when a connection begins: its names and the features of its adbd."""

from __future__ import annotations

from agent_eval.device_sim.adb.seams import PhoneSystem

FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir", "apex", "fixed_push_symlink_timestamp",
            "sendrecv_v2")  # fmt: skip
"""What a client may rely on. Without ``abb`` an install comes as ``exec:``; without compression and delayed
acknowledgement, transfers and flow control are the plain ones."""
_NAMES = ("ro.product.name", "ro.product.model", "ro.product.device")


def banner(system: PhoneSystem) -> str:
    """Return the text of the phone's CNXN packet; the word before the colons makes a server list it as ``device``."""
    names = "".join(f"{name}={_plain(system.getprop(name))};" for name in _NAMES)
    return f"device::{names}features={','.join(FEATURES)}"


def _plain(value: str) -> str:
    return value.replace(";", "_").replace("=", "_")
