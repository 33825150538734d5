"""The installed apps, by package. An app is added by writing its module and naming it here."""

from agent_eval.device_sim.apps import (
    calculator,
    camera,
    contacts,
    deskclock,
    launcher,
    messages,
    settings,
    systemui,
)
from agent_eval.device_sim.screen import App

APPS: dict[str, App] = {
    module.APP.package: module.APP
    for module in (launcher, systemui, settings, deskclock, contacts, messages, camera, calculator)
}

__all__ = ["APPS"]
