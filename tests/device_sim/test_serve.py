from __future__ import annotations

import gc
import threading
import urllib.request
from pathlib import Path

from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.types import PhoneSetup


def test_a_served_phone_can_be_looked_into_and_leaves_nothing_behind() -> None:
    gc.collect()
    before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    with ServedPhone(Phone(PhoneSetup(seed=1))) as phone:
        address = phone.look_inside()
        with urllib.request.urlopen(address + "tree.xml") as answer:  # noqa: S310 - a page of this process
            assert b"<node" in answer.read()
        assert phone.connections == 0
    assert phone.failures == ()
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
