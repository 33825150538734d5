"""The screen as the ``framebuffer:`` service sends it: thirteen numbers, then pixels of four bytes.

AOSP packages/modules/adb, daemon/framebuffer_service.cpp; version 1 has no colour space.
"""

from __future__ import annotations

import struct

from agent_eval.device_sim.phone import Phone

_HEADER = struct.Struct("<13I")
_VERSION, _BITS = 1, 32
_CHANNELS = (0, 8, 16, 8, 8, 8, 24, 8)
"""Bit offset and length of red, blue, green and alpha, in this order."""


def picture(phone: Phone) -> bytes:
    """Return the header and the pixels of what a phone shows."""
    image = phone.screenshot().convert("RGBA")
    pixels = image.tobytes()
    return _HEADER.pack(_VERSION, _BITS, len(pixels), image.width, image.height, *_CHANNELS) + pixels
