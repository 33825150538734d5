"""Settings, "Sound & vibration" and "Notifications": what the phone lets be heard and seen (sound_settings.xml)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from agent_eval.device_sim.apps.settings.page import (
    ID,
    among,
    app_title,
    choices,
    flip_among,
    head_switch,
    heading,
    link,
    listed_apps,
    note,
    on_off,
    page,
    sub,
    toggle,
)
from agent_eval.device_sim.apps.settings.state import ALARM_SOUNDS, NOTIFICATION_SOUNDS, RINGTONES
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import MIDDLE, TITLE, column, frame, image, label, preference, row, seek_bar


def sound(ui: Ui) -> View:
    """Build "Sound & vibration" (sound_settings.xml)."""

    def volume(title: str, name: str, most: int, icon: str) -> View:
        path = f"settings/{name}"
        return row(
            frame(image(icon, id="android:id/icon", align=MIDDLE), id=f"{ID}icon_frame", width=dp(56), align=MIDDLE),
            column(
                label(ui.say(title), id="android:id/title", size=TITLE),
                seek_bar(ui.number(path), most, lambda value: ui.put(path, value), desc=ui.say(title)),
                weight=1,
                align=MIDDLE,
            ),
            height=dp(88),
            pad=(dp(24), dp(4), dp(16), dp(4)),
        )

    return page(
        ui,
        "Sound & vibration",
        volume("Media volume", "volume_media", 15, "note"),
        volume("Ring & notification volume", "volume_ring", 7, "bell"),
        volume("Alarm volume", "volume_alarm", 7, "alarm"),
        link(ui, "Do Not Disturb", "settings/dnd", on_off(ui, "do_not_disturb")),
        link(ui, "Phone ringtone", "settings/ringtone", ui.words("settings/ringtone")),
        link(ui, "Default notification sound", "settings/notification_sound", ui.words("settings/notification_sound")),
        link(ui, "Default alarm sound", "settings/alarm_sound", ui.words("settings/alarm_sound")),
        toggle(ui, "Vibrate for calls", "vibrate_on_ring"),
        link(ui, "Vibration & haptics", "settings/vibration"),
        toggle(ui, "Screen locking sound", "lock_screen_sounds"),
        toggle(ui, "Charging sounds and vibration", "charging_sounds"),
        toggle(ui, "Tap & click sounds", "touch_sounds"),
    )


def _sounds(title: str, name: str, sounds: tuple[str, ...]) -> Callable[[Ui], View]:
    def build(ui: Ui) -> View:
        return page(ui, title, *choices(ui, name, sounds))

    build.__doc__ = f'Build "{title}".'
    return build


def vibration(ui: Ui) -> View:
    """Build "Vibration & haptics" (accessibility_vibration_settings.xml)."""
    return page(
        ui,
        "Vibration & haptics",
        toggle(ui, "Vibrate for calls", "vibrate_on_ring"),
        toggle(ui, "Touch feedback", "touch_vibration"),
    )


def do_not_disturb(ui: Ui) -> View:
    """Build "Do Not Disturb" (zen_mode_settings.xml)."""
    return page(
        ui,
        "Do Not Disturb",
        head_switch(ui, "Use Do Not Disturb", "do_not_disturb"),
        heading(ui, "What can interrupt Do Not Disturb"),
        toggle(ui, "Calls", "dnd_calls", ui.say("From starred contacts")),
        toggle(ui, "Alarms", "dnd_alarms"),
        note(ui, "Notifications stay in the shade, without a sound and without appearing on top"),
    )


# ----------------------------------------------------------------------------------------------------------------------
# notifications


def notifications(ui: Ui) -> View:
    """Build "Notifications" (configure_notification_settings.xml)."""
    return page(
        ui,
        "Notifications",
        link(ui, "App settings", "settings/notifying_apps", ui.say("Control notifications from individual apps")),
        link(
            ui,
            "Notification history",
            "settings/notification_history",
            ui.say("Show recent and snoozed notifications"),
        ),
        link(ui, "Conversations", "settings/priority_conversations", ui.say("No priority conversations")),
        link(ui, "Bubbles", "settings/bubbles", on_off(ui, "bubbles")),
        link(ui, "Device & app notifications", "settings/notifying_apps"),
        link(ui, "Notifications on lock screen", "settings/lock_screen"),
        link(ui, "Do Not Disturb", "settings/dnd", on_off(ui, "do_not_disturb")),
        toggle(ui, "Notification dot on app icon", "notification_dots"),
    )


def notifying_apps(ui: Ui) -> View:
    """Build the list of apps with a switch each for their notifications."""
    muted = among(ui, "muted_apps")
    return page(
        ui,
        "App notifications",
        *[
            preference(
                app_title(ui, package),
                icon="apps",
                checked=package not in muted,
                on_tap=flip_among(ui, "muted_apps", package),
            )
            for package in listed_apps(ui)
        ],
    )


def notification_history(ui: Ui) -> View:
    """Build "Notification history": the switch, and what is in the shade while it is on."""
    rows = [head_switch(ui, "Use notification history", "notification_history")]
    if ui.flag("settings/notification_history"):
        for number in sorted(ui.ids("notifications"), reverse=True):
            path = f"notifications/{number}"
            at = datetime.fromtimestamp(ui.number(f"{path}/posted"), UTC)
            when = ui.time_of_day(at.hour, at.minute)
            title = f"{app_title(ui, ui.words(f'{path}/package'))} \u00b7 {when}"
            rows.append(preference(ui.words(f"{path}/title"), title))
    else:
        rows.append(note(ui, "Turn on notification history to see recent notifications and snoozed notifications"))
    return page(ui, "Notification history", *rows)


def priority_conversations(ui: Ui) -> View:
    """Build "Conversations"."""
    return page(ui, "Conversations", note(ui, "No priority conversations"))


def bubbles(ui: Ui) -> View:
    """Build "Bubbles"."""
    return page(
        ui,
        "Bubbles",
        head_switch(ui, "Allow apps to show bubbles", "bubbles"),
        note(ui, "Some conversations appear as floating icons on top of other apps"),
    )


SCREENS = {
    "settings/sound": sub(sound),
    "settings/ringtone": sub(_sounds("Phone ringtone", "ringtone", RINGTONES)),
    "settings/notification_sound": sub(
        _sounds("Default notification sound", "notification_sound", NOTIFICATION_SOUNDS)
    ),
    "settings/alarm_sound": sub(_sounds("Default alarm sound", "alarm_sound", ALARM_SOUNDS)),
    "settings/vibration": sub(vibration),
    "settings/dnd": sub(do_not_disturb),
    "settings/notifications": sub(notifications),
    "settings/notifying_apps": sub(notifying_apps),
    "settings/notification_history": sub(notification_history),
    "settings/priority_conversations": sub(priority_conversations),
    "settings/bubbles": sub(bubbles),
}
