"""Settings: the pages of AOSP's com.android.settings that a person changes a phone with, one module per area.

Structure and labels follow res/xml of platform/packages/apps/Settings. Knows other apps only as entries of lists.
"""

from agent_eval.device_sim.apps.settings.app import APP
from agent_eval.device_sim.apps.settings.home import HOME_ROWS, SEARCHABLE
from agent_eval.device_sim.apps.settings.network import connect
from agent_eval.device_sim.apps.settings.page import PACKAGE, page, percent

__all__ = ["APP", "HOME_ROWS", "PACKAGE", "SEARCHABLE", "connect", "page", "percent"]
