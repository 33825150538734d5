"""The installed apps, by package. An app is added by writing its module and naming it here."""

from agent_eval.device_sim.apps import (
    activity_tracker,
    api_demos,
    browser,
    calculator,
    calendar,
    camera,
    contacts,
    deskclock,
    dialer,
    expenses,
    files_app,
    launcher,
    messages,
    music,
    notes,
    permission_controller,
    recipes,
    recorder,
    settings,
    systemui,
    tasks_app,
    u2_test_demo,
    videos,
)
from agent_eval.device_sim.screen import App

APPS: dict[str, App] = {
    module.APP.package: module.APP
    for module in (
        launcher,
        systemui,
        settings,
        deskclock,
        contacts,
        messages,
        camera,
        calculator,
        calendar,
        browser,
        dialer,
        files_app,
        notes,
        tasks_app,
        music,
        recipes,
        expenses,
        permission_controller,
        recorder,
        activity_tracker,
        videos,
        api_demos,
        u2_test_demo,
    )
}

__all__ = ["APPS"]
