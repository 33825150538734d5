"""Settings, "Display", "Wallpaper & style" and "Accessibility": how the screen looks (display_settings.xml)."""

from __future__ import annotations

from agent_eval.device_sim.apps.settings.page import (
    choices,
    fact,
    head_switch,
    heading,
    link,
    note,
    on_off,
    page,
    percent,
    slider,
    sub,
    toggle,
)
from agent_eval.device_sim.apps.settings.state import (
    APP_GRIDS,
    DENSITIES,
    FONT_PERCENTS,
    SCREEN_SAVERS,
    WALLPAPERS,
)
from agent_eval.device_sim.profile import TIMEOUTS
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import label, opener, preference
from agent_eval.types import Scalar

_LOCK_CONTENT: dict[Scalar, str] = {
    "all": "Show all notification content",
    "sensitive": "Show sensitive content only when unlocked",
    "none": "Don\u2019t show notifications at all",
}


def display(ui: Ui) -> View:
    """Build "Display" (display_settings.xml)."""
    dark = ui.flag("settings/dark_theme")
    return page(
        ui,
        "Display",
        heading(ui, "Brightness"),
        preference(
            ui.say("Brightness level"),
            percent(ui.number("settings/brightness"), 255),
            on_tap=opener(ui, "systemui/brightness"),
        ),
        toggle(ui, "Adaptive brightness", "adaptive_brightness"),
        heading(ui, "Lock display"),
        link(ui, "Lock screen", "settings/lock_screen", ui.say(_LOCK_CONTENT[ui.words("settings/lock_content")])),
        link(
            ui,
            "Screen timeout",
            "settings/screen_timeout",
            timeout_name(ui, ui.number("settings/screen_timeout_s")),
        ),
        heading(ui, "Appearance"),
        toggle(
            ui,
            "Dark theme",
            "dark_theme",
            ui.say("Will never turn off automatically") if dark else ui.say("Will never turn on automatically"),
        ),
        link(ui, "Font size", "settings/font_size", font_name(ui)),
        link(ui, "Display size", "settings/display_size", size_name(ui)),
        heading(ui, "Other display controls"),
        link(ui, "Auto-rotate screen", "settings/auto_rotate", on_off(ui, "auto_rotate")),
        link(ui, "Screen saver", "settings/screen_saver", ui.say(ui.words("settings/screen_saver"))),
    )


def timeout_name(ui: Ui, seconds: int) -> str:
    """Name a screen timeout as Settings does."""
    if seconds < 60:
        return ui.say("{count} seconds", count=seconds)
    return ui.say("1 minute") if seconds == 60 else ui.say("{count} minutes", count=seconds // 60)


def font_name(ui: Ui) -> str:
    """Name the size of text."""
    value = ui.number("settings/font_percent")
    return {85: ui.say("Small"), 100: ui.say("Default"), 115: ui.say("Large"), 130: ui.say("Largest")}.get(
        value, f"{value}%"
    )


def size_name(ui: Ui) -> str:
    """Name the size of everything else."""
    words = ("Small", "Default", "Large", "Larger", "Largest")
    names = {dots: ui.say(word) for dots, word in zip(DENSITIES, words, strict=True)}
    return names.get(ui.number("settings/density"), ui.say("Custom"))


def screen_timeout(ui: Ui) -> View:
    """Build the radio list of screen timeouts."""
    options: dict[Scalar, str] = {seconds: timeout_name(ui, seconds) for seconds in TIMEOUTS}
    return page(ui, "Screen timeout", *choices(ui, "screen_timeout_s", options))


def lock_screen(ui: Ui) -> View:
    """Build "Lock screen" (security_lockscreen_settings.xml)."""
    return page(
        ui,
        "Lock screen",
        heading(ui, "What to show"),
        *choices(ui, "lock_content", _LOCK_CONTENT),
        heading(ui, "When to show"),
        toggle(ui, "Double-tap to check phone", "gesture/double_tap_wake"),
        toggle(ui, "Lift to check phone", "gesture/lift_to_wake"),
    )


def font_size(ui: Ui) -> View:
    """Build "Font size": a sample and the slider (accessibility_text_reading_options.xml)."""
    return page(
        ui,
        "Font size",
        _sample(ui),
        slider(ui, "Font size", "font_percent", FONT_PERCENTS),
        preference(f"{ui.number('settings/font_percent')}%", font_name(ui)),
        note(ui, "Make text on screen smaller or larger"),
    )


def display_size(ui: Ui) -> View:
    """Build "Display size": a sample and the slider."""
    return page(
        ui,
        "Display size",
        _sample(ui),
        slider(ui, "Display size", "density", DENSITIES),
        fact(ui, "Display size", size_name(ui)),
        note(ui, "Make everything on your screen smaller or larger"),
    )


def _sample(ui: Ui) -> View:
    return label(ui.say("Sample text"), id="com.android.settings:id/preview", size=dp(18), pad=(dp(24),) * 4)


def auto_rotate(ui: Ui) -> View:
    """Build "Auto-rotate screen"."""
    return page(
        ui,
        "Auto-rotate screen",
        head_switch(ui, "Use auto-rotate", "auto_rotate"),
        note(ui, "When you move your phone between portrait and landscape, the screen turns with it"),
    )


def screen_saver(ui: Ui) -> View:
    """Build "Screen saver" (dream_fragment_overview.xml)."""
    options: dict[Scalar, str] = dict(zip(SCREEN_SAVERS, SCREEN_SAVERS, strict=True))
    return page(ui, "Screen saver", *choices(ui, "screen_saver", options))


def night_light(ui: Ui) -> View:
    """Build "Night Light" (night_display_settings.xml)."""
    return page(
        ui,
        "Night Light",
        head_switch(ui, "Use Night Light", "night_light"),
        note(ui, "Night Light tints your screen amber, which makes it easier to look at in dim light"),
    )


# ----------------------------------------------------------------------------------------------------------------------
# wallpaper


def wallpaper(ui: Ui) -> View:
    """Build "Wallpaper & style"."""
    return page(
        ui,
        "Wallpaper & style",
        link(ui, "Change wallpaper", "settings/wallpapers", ui.words("settings/wallpaper")),
        toggle(ui, "Themed icons", "themed_icons", on_off(ui, "themed_icons")),
        link(ui, "App grid", "settings/app_grid", ui.words("settings/app_grid")),
    )


def wallpapers(ui: Ui) -> View:
    """Build the list of wallpapers."""
    return page(ui, "Change wallpaper", *choices(ui, "wallpaper", WALLPAPERS))


def app_grid(ui: Ui) -> View:
    """Build the choice of how many icons the home page has side by side."""
    return page(ui, "App grid", *choices(ui, "app_grid", APP_GRIDS))


# ----------------------------------------------------------------------------------------------------------------------
# accessibility


def accessibility(ui: Ui) -> View:
    """Build "Accessibility" (accessibility_settings.xml)."""
    return page(
        ui,
        "Accessibility",
        link(ui, "TalkBack", "settings/talkback", on_off(ui, "accessibility/talkback")),
        link(ui, "Display size and text", "settings/text_reading"),
        link(ui, "Color and motion", "settings/color_motion"),
        link(ui, "Magnification", "settings/magnification", on_off(ui, "accessibility/magnification")),
        toggle(ui, "Live Caption", "accessibility/live_caption", ui.say("Caption media that is playing")),
    )


def talkback(ui: Ui) -> View:
    """Build "TalkBack"; the phone keeps the switch and does not speak."""
    return page(
        ui,
        "TalkBack",
        head_switch(ui, "Use TalkBack", "accessibility/talkback"),
        note(ui, "Hear descriptions of what is on your screen"),
    )


def text_reading(ui: Ui) -> View:
    """Build "Display size and text" (accessibility_text_reading_options.xml)."""
    return page(
        ui,
        "Display size and text",
        link(ui, "Font size", "settings/font_size", font_name(ui)),
        link(ui, "Display size", "settings/display_size", size_name(ui)),
        toggle(ui, "Bold text", "accessibility/bold_text"),
    )


def color_motion(ui: Ui) -> View:
    """Build "Color and motion" (accessibility_color_and_motion.xml)."""
    return page(
        ui,
        "Color and motion",
        toggle(ui, "Color correction", "accessibility/color_correction"),
        toggle(ui, "Color inversion", "accessibility/color_inversion"),
        toggle(ui, "Dark theme", "dark_theme"),
        link(ui, "Night Light", "settings/night_light", on_off(ui, "night_light")),
        toggle(ui, "Remove animations", "accessibility/remove_animations", ui.say("Reduce movement on the screen")),
    )


def magnification(ui: Ui) -> View:
    """Build "Magnification" (accessibility_magnification_service_settings.xml)."""
    return page(
        ui,
        "Magnification",
        toggle(ui, "Magnification shortcut", "accessibility/magnification"),
        toggle(ui, "Magnify typing", "magnify_typing", ui.say("Magnifier follows text as you type")),
    )


SCREENS = {
    "settings/display": sub(display),
    "settings/screen_timeout": sub(screen_timeout),
    "settings/lock_screen": sub(lock_screen),
    "settings/font_size": sub(font_size),
    "settings/display_size": sub(display_size),
    "settings/auto_rotate": sub(auto_rotate),
    "settings/screen_saver": sub(screen_saver),
    "settings/night_light": sub(night_light),
    "settings/wallpaper": sub(wallpaper),
    "settings/wallpapers": sub(wallpapers),
    "settings/app_grid": sub(app_grid),
    "settings/accessibility": sub(accessibility),
    "settings/talkback": sub(talkback),
    "settings/text_reading": sub(text_reading),
    "settings/color_motion": sub(color_motion),
    "settings/magnification": sub(magnification),
}
