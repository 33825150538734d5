"""What the system services remember beside the phone's own state: it is no part of snapshots and dies with a reset.

Settings that no page shows, properties that were set, what ``dumpsys battery`` pretends, the log. Knows no command.
"""

from __future__ import annotations

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell.log_book import LogBook
from agent_eval.device_sim.shell.packages import Packages

_SETTINGS: dict[tuple[str, str], str] = {
    ("global", "adb_enabled"): "1",
    ("global", "animator_duration_scale"): "1.0",
    ("global", "auto_time"): "1",
    ("global", "auto_time_zone"): "1",
    ("global", "bluetooth_disabled_profiles"): "0",
    ("global", "boot_count"): "1",
    ("global", "data_roaming"): "0",
    ("global", "development_settings_enabled"): "1",
    ("global", "device_provisioned"): "1",
    ("global", "heads_up_notifications_enabled"): "1",
    ("global", "mobile_data"): "1",
    ("global", "mode_ringer"): "2",
    ("global", "stay_on_while_plugged_in"): "0",
    ("global", "transition_animation_scale"): "1.0",
    ("global", "window_animation_scale"): "1.0",
    ("global", "zen_mode"): "0",
    ("secure", "accessibility_enabled"): "0",
    ("secure", "default_input_method"): f"{keyboard.PACKAGE}/.LatinIME",
    ("secure", "enabled_input_methods"): f"{keyboard.PACKAGE}/.LatinIME",
    ("secure", "install_non_market_apps"): "1",
    ("secure", "location_mode"): "3",
    ("secure", "lockscreen.disabled"): "1",
    ("secure", "navigation_mode"): "0",
    ("secure", "show_ime_with_hard_keyboard"): "0",
    ("secure", "user_setup_complete"): "1",
    ("system", "accelerometer_rotation"): "0",
    ("system", "font_scale"): "1.0",
    ("system", "haptic_feedback_enabled"): "1",
    ("system", "pointer_location"): "0",
    ("system", "show_touches"): "0",
    ("system", "sound_effects_enabled"): "1",
    ("system", "time_12_24"): "12",
    ("system", "user_rotation"): "0",
}


class Memory:
    """The memory of one phone's system services.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self.files = phone.files
        """Those of the phone at the time; another object after a reset."""
        self.physical = phone.display
        """The display before ``wm`` changed it."""
        self.settings = dict(_SETTINGS)
        """Settings that the phone's state does not hold, by namespace and key."""
        self.properties: dict[str, str] = {}
        """Properties that ``setprop`` set."""
        self.battery: dict[str, str] = {}
        """What ``dumpsys battery set`` pretends."""
        self.battery_level: int | None = None
        """The level before that."""
        self.packages = Packages(phone)
        self.log = LogBook(phone)
        self.enabled_input_methods = set(phone.input_methods)
        self.device_config: dict[tuple[str, str], str] = {}
        self.app_operations: dict[tuple[str, str], str] = {}
        self.install_sessions: dict[int, bytes] = {}
        self.carrier = "T-Mobile"
        self.random_reads = 0
