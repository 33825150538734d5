"""A mobly test as its users write them; run as ``python mobly_errand.py -c config.yml``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from mobly import asserts, base_test, test_runner
from mobly.controllers import android_device
from mobly.controllers.android_device_lib import adb

LOG_S = 10.0


class Errand(base_test.BaseTestClass):  # type: ignore[misc]  # mobly ships no types
    """Drives one phone."""

    def setup_class(self) -> None:
        """Take the phone of the configuration."""
        (self.phone,) = self.register_controller(android_device)

    def test_the_phone_is_ready(self) -> None:
        asserts.assert_in(self.phone.serial, android_device.list_adb_devices())
        asserts.assert_true(self.phone.is_boot_completed(), "it has not booted")
        asserts.assert_false(self.phone.is_adb_root, "a user build has no root")
        asserts.assert_equal(self.phone.adb.current_user_id, 0)

    def test_the_build_is_known_by_its_properties(self) -> None:
        build: dict[str, Any] = self.phone.build_info
        asserts.assert_equal(build["build_type"], "user")
        asserts.assert_greater_equal(int(build["build_version_sdk"]), 33)
        model = self.phone.adb.getprop("ro.product.model")
        asserts.assert_equal(self.phone.adb.getprops(["ro.product.model"]), {"ro.product.model": model})

    def test_commands_tell_of_failures(self) -> None:
        asserts.assert_equal(self.phone.adb.shell("echo hi").strip(), b"hi")
        asserts.assert_true(self.phone.adb.has_shell_command("ls"), "no ls")
        asserts.assert_false(self.phone.adb.has_shell_command("nothing-of-the-kind"), "more than there is")
        try:
            self.phone.adb.shell("echo out; echo err >&2; exit 4")
        except adb.AdbError as failed:
            asserts.assert_equal((failed.ret_code, failed.stdout, failed.stderr), (4, b"out\n", b"err\n"))
        else:
            asserts.fail("the failure was not heard of")

    def test_the_log_is_gathered(self) -> None:
        self.phone.adb.shell("log -t errand said-by-an-errand")
        gathered = Path(self.phone.services.logcat.adb_logcat_file_path)
        deadline = time.monotonic() + LOG_S
        while "said-by-an-errand" not in gathered.read_text():
            asserts.assert_less(time.monotonic(), deadline, "the log does not say it")
            time.sleep(0.05)  # another program writes the file

    def test_a_picture_is_taken(self) -> None:
        picture = Path(self.phone.take_screenshot(self.current_test_info.output_path))
        asserts.assert_equal(picture.read_bytes()[:4], b"\x89PNG")

    def test_a_port_is_forwarded(self) -> None:
        port = int(self.phone.adb.forward(["tcp:0", "tcp:9008"]))
        asserts.assert_in(f"{self.phone.serial} tcp:{port} tcp:9008", self.phone.adb.forward("--list").decode())
        self.phone.adb.forward(["--remove", f"tcp:{port}"])
        asserts.assert_not_in(f"tcp:{port} ", self.phone.adb.forward("--list").decode())

    def test_the_phone_is_changed(self) -> None:
        self.phone.adb.shell("svc wifi disable")
        self.phone.adb.shell("am start -n com.android.settings/.Settings")


if __name__ == "__main__":
    test_runner.main()
