"""Settings, "Network & internet": Wi-Fi, the SIM, the hotspot, VPN and DNS (network_provider_internet.xml)."""

from __future__ import annotations

from agent_eval.device_sim.apps.settings.page import (
    ID,
    Tap,
    among,
    app_title,
    ask,
    choices,
    confirm,
    fact,
    flip_among,
    head_switch,
    heading,
    keep_names,
    link,
    listed_apps,
    names,
    note,
    on_off,
    page,
    sub,
    toggle,
)
from agent_eval.device_sim.apps.settings.state import NETWORK_TYPES
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    CHECK,
    cancel_and_ok,
    category,
    choice,
    column,
    dialog,
    edit_text,
    image,
    label,
    opener,
    preference,
    row,
    setter,
)

CARRIER = "T-Mobile"


def network(ui: Ui) -> View:
    """Build "Network & internet" (network_provider_internet.xml)."""
    on = ui.flag("settings/wifi_on")
    internet_summary = ui.words("settings/wifi_network") or ui.say("Networks available")
    return page(
        ui,
        "Network & internet",
        link(ui, "Internet", "settings/internet", internet_summary if on else ui.say("Off"), icon="wifi"),
        link(ui, "Calls & SMS", "settings/calls", CARRIER, icon="call"),
        link(ui, "SIMs", "settings/sims", CARRIER, icon="sim"),
        toggle(ui, "Airplane mode", "airplane_mode_on", icon="airplane"),
        link(ui, "Hotspot & tethering", "settings/tethering", on_off(ui, "hotspot_on"), icon="hotspot"),
        link(ui, "Data Saver", "settings/data_saver", on_off(ui, "data_saver"), icon="data"),
        link(ui, "VPN", "settings/vpns", _vpn_summary(ui), icon="vpn"),
        link(ui, "Private DNS", "settings/private_dns", _dns_summary(ui), icon="dns"),
        link(ui, "Adaptive connectivity", "settings/adaptive_connectivity", icon="data"),
    )


# ----------------------------------------------------------------------------------------------------------------------
# Wi-Fi


def internet(ui: Ui) -> View:
    """Build "Internet" (network_provider_settings.xml): the switch, the networks in reach, and what follows them."""
    on = ui.flag("settings/wifi_on")
    connected = ui.words("settings/wifi_network")
    kind = ui.words("settings/network_type")
    mobile = kind if ui.flag("settings/mobile_data_on") else ui.say("Mobile data is off")
    rows = [
        category(CARRIER),
        preference(
            CARRIER,
            ui.say("Airplane mode is on") if ui.flag("settings/airplane_mode_on") else mobile,
            icon="sim",
            on_tap=opener(ui, "settings/sim"),
        ),
        preference(ui.wifi, checked=on, on_tap=lambda: ui.toggle("settings/wifi_on")),
    ]
    if on:
        if connected:
            rows.append(
                preference(
                    connected,
                    ui.say("Connected"),
                    icon="wifi",
                    on_tap=opener(ui, "settings/wifi_details", ssid=connected),
                )
            )
        rows += [
            preference(ssid, _reach_summary(ui, ssid), icon="wifi", on_tap=_joiner(ui, ssid))
            for ssid in in_reach(ui)
            if ssid != connected
        ]
        rows.append(link(ui, "Add network", "settings/add_network", icon="add"))
    saved = len(names(ui, "wifi/saved"))
    rows += [
        link(
            ui,
            "Network preferences",
            "settings/network_preferences",
            ui.say("{wifi} turns back on automatically", wifi=ui.wifi)
            if ui.flag("settings/wifi_auto_on")
            else ui.say("{wifi} doesn\u2019t turn back on automatically", wifi=ui.wifi),
        ),
        link(ui, "Saved networks", "settings/saved", ui.say("{count} networks", count=saved)),
        link(ui, "Non-carrier data usage", "settings/data_usage", ui.say("{amount} used", amount="1.21 GB")),
    ]
    return page(ui, "Internet", *rows)


def _reach_summary(ui: Ui, ssid: str) -> str:
    if ssid in names(ui, "wifi/failed"):
        return ui.say("Check password and try again")
    return ui.say("Saved") if ssid in names(ui, "wifi/saved") else ""


def in_reach(ui: Ui) -> list[str]:
    """Return the networks in reach: those that the phone's seed drew, then those that a task added."""
    added = [ui.words(f"wifi/access_point/{number}/ssid") for number in ui.ids("wifi/access_point")]
    return list(dict.fromkeys([*names(ui, "wifi/nearby"), *(ssid for ssid in added if ssid)]))


def password_of(ui: Ui, ssid: str) -> str | None:
    """Return the password of a network in reach; an open one has an empty one, an unknown one None."""
    for number in ui.ids("wifi/access_point"):
        if ui.words(f"wifi/access_point/{number}/ssid") == ssid:
            return ui.words(f"wifi/access_point/{number}/password")
    if ssid in names(ui, "wifi/open"):
        return ""
    known = ui.host.world.get(f"wifi/password/{ssid}")
    return None if known is None else str(known)


def _joiner(ui: Ui, ssid: str) -> Tap:
    if ssid in names(ui, "wifi/saved") or password_of(ui, ssid) == "":
        return lambda: connect(ui, ssid)
    return opener(ui, "settings/wifi_password", ssid=ssid)


def connect(ui: Ui, ssid: str) -> None:
    """Join a network and remember it."""
    ui.put("settings/wifi_network", ssid)
    keep_names(ui, "wifi/saved", list(dict.fromkeys([*names(ui, "wifi/saved"), ssid])))
    keep_names(ui, "wifi/failed", [name for name in names(ui, "wifi/failed") if name != ssid])


def try_password(ui: Ui, ssid: str, password: str) -> None:
    """Join a network if the password is its own; otherwise say so in the list."""
    known = password_of(ui, ssid)
    if known is not None and password == known:
        connect(ui, ssid)
        return
    keep_names(ui, "wifi/failed", list(dict.fromkeys([*names(ui, "wifi/failed"), ssid])))
    ui.host.show_toast(ui.say("Couldn\u2019t connect to {ssid}", ssid=ssid))


def wifi_password(ui: Ui) -> View:
    """Build the dialog that asks for a network's password; WPA wants eight characters."""
    ssid = str(ui.var("ssid"))
    shown = bool(ui.var("show", False))
    typed = ui.typed("password")

    def ok() -> None:
        ui.close()
        try_password(ui, ssid, typed)

    return dialog(
        label(ui.say("Password"), size=BODY, ink="soft"),
        edit_text(
            ui, Field("password", max_length=63), id=f"{ID}password", password=not shown, hint=ui.say("Password")
        ),
        choice(ui.say("Show password"), shown, setter(ui, "show", not shown), id=f"{ID}show_password", cls=CHECK),
        title=ssid,
        buttons=cancel_and_ok(ui, ok, ok="Connect", enabled=len(typed) >= 8),
    )


def add_network(ui: Ui) -> View:
    """Build "Add network": the name and the security of a network that does not show itself (wifi_dialog.xml)."""
    ssid, password = ui.typed("ssid").strip(), ui.typed("password")
    secured = bool(ui.var("secured", False))

    def save() -> None:
        ui.close()
        if password_of(ui, ssid) is None:
            keep_names(ui, "wifi/saved", list(dict.fromkeys([*names(ui, "wifi/saved"), ssid])))
            ui.host.show_toast(ui.say("{ssid} is saved but not in range", ssid=ssid))
        elif secured:
            try_password(ui, ssid, password)
        elif password_of(ui, ssid) == "":
            connect(ui, ssid)
        else:
            try_password(ui, ssid, "")

    parts = [
        edit_text(ui, Field("ssid", max_length=32), id=f"{ID}ssid", hint=ui.say("Enter the SSID")),
        label(ui.say("Security"), size=BODY, ink="soft"),
        choice(ui.say("None"), not secured, setter(ui, "secured", False), id=f"{ID}security_none"),
        choice("WPA2-Personal", secured, setter(ui, "secured", True), id=f"{ID}security_wpa"),
    ]
    if secured:
        field = Field("password", max_length=63)
        parts.append(edit_text(ui, field, id=f"{ID}password", password=True, hint=ui.say("Password")))
    complete = bool(ssid) and (not secured or len(password) >= 8)
    return dialog(*parts, title=ui.say("Add network"), buttons=cancel_and_ok(ui, save, ok="Save", enabled=complete))


def wifi_details(ui: Ui) -> View:
    """Build the page of the connected network, with the button that forgets it."""
    ssid = str(ui.var("ssid"))
    here = ssid == ui.words("settings/wifi_network") and ui.flag("settings/wifi_on")
    header = column(
        image("wifi", size=dp(40), align=CENTER),
        label(ssid, id=f"{ID}entity_header_title", size=dp(20), align=CENTER),
        label(
            ui.say("Connected") if here else ui.say("Saved"),
            id=f"{ID}entity_header_summary",
            ink="soft",
            align=CENTER,
        ),
        pad=(0, dp(8), 0, dp(8)),
        gap=dp(4),
    )
    forget_button = row(
        column(
            image("delete", align=CENTER),
            label(ui.say("Forget"), size=BODY, align=CENTER),
            on_tap=lambda: _forget(ui, ssid),
            width=dp(120),
            desc="",
            id=f"{ID}button1",
            pad=(0, dp(12), 0, dp(12)),
        ),
        pad=(dp(24), 0, dp(24), 0),
    )
    automatic = f"wifi/auto/{ssid}"
    joins = bool(ui.host.world.get(automatic, True))
    return page(
        ui,
        "Network details",
        header,
        forget_button,
        fact(ui, "Signal strength", ui.say("Excellent")),
        fact(ui, "Frequency", "5 GHz"),
        fact(ui, "Security", _security(ui, ssid)),
        preference(ui.say("Auto-connect"), checked=joins, on_tap=lambda: ui.keep(automatic, not joins)),
        fact(ui, "Privacy", ui.say("Randomized MAC")),
        fact(ui, "IP address", "192.168.1.40" if here else ui.say("Unavailable")),
    )


def _security(ui: Ui, ssid: str) -> str:
    return ui.say("None") if password_of(ui, ssid) == "" else "WPA2-Personal"


def _forget(ui: Ui, ssid: str) -> None:
    if ui.words("settings/wifi_network") == ssid:
        ui.put("settings/wifi_network", "")
    keep_names(ui, "wifi/saved", [name for name in names(ui, "wifi/saved") if name != ssid])
    ui.close()


def saved_networks(ui: Ui) -> View:
    """Build the list of remembered networks."""
    rows = [
        preference(name, icon="wifi", on_tap=opener(ui, "settings/saved_network", ssid=name))
        for name in sorted(names(ui, "wifi/saved"))
    ]
    return page(ui, "Saved networks", *(rows or [fact(ui, "No saved networks")]))


def saved_network(ui: Ui) -> View:
    """Build the page of a remembered network, with the button that forgets it."""
    ssid = str(ui.var("ssid"))
    forget = preference(ui.say("Forget"), icon="delete", on_tap=lambda: _forget(ui, ssid))
    return page(
        ui,
        ssid,
        forget,
        fact(ui, "Privacy", ui.say("Randomized MAC")),
        fact(ui, "Security", _security(ui, ssid)),
        named=True,
    )


def network_preferences(ui: Ui) -> View:
    """Build "Network preferences" (wifi_configure_settings.xml)."""
    return page(
        ui,
        "Network preferences",
        preference(
            ui.say("Turn on {wifi} automatically", wifi=ui.wifi),
            ui.say("Near saved networks you use often"),
            checked=ui.flag("settings/wifi_auto_on"),
            on_tap=lambda: ui.toggle("settings/wifi_auto_on"),
        ),
        toggle(ui, "Notify for public networks", "wifi_notify_open"),
        fact(ui, "Install certificates"),
        fact(ui, "MAC address", "02:15:b2:00:40:1f"),
    )


def data_usage(ui: Ui) -> View:
    """Build the page that says how much data went through which network."""
    ssid = ui.words("settings/wifi_network")
    rows = [preference(ssid, "1.21 GB")] if ssid else []
    shares = zip(listed_apps(ui)[:5], (640, 310, 160, 72, 28), strict=False)
    return page(
        ui,
        "Non-carrier data usage",
        *rows,
        heading(ui, "Apps"),
        *[preference(app_title(ui, package), f"{size} MB", icon="apps") for package, size in shares],
    )


# ----------------------------------------------------------------------------------------------------------------------
# the SIM


def calls(ui: Ui) -> View:
    """Build "Calls & SMS" (network_provider_calls_sms.xml)."""
    return page(
        ui,
        "Calls & SMS",
        heading(ui, "Calls"),
        preference(CARRIER, ui.say("Preferred for calls"), icon="sim", on_tap=opener(ui, "settings/sim")),
        preference(
            ui.say("{wifi} calling", wifi=ui.wifi),
            checked=ui.flag("settings/wifi_calling"),
            on_tap=lambda: ui.toggle("settings/wifi_calling"),
        ),
        heading(ui, "SMS"),
        preference(CARRIER, ui.say("Preferred for SMS"), icon="sim", on_tap=opener(ui, "settings/sim")),
    )


def sims(ui: Ui) -> View:
    """Build "SIMs" (network_provider_sims_list.xml)."""
    return page(
        ui,
        "SIMs",
        preference(CARRIER, ui.say("Active"), icon="sim", on_tap=opener(ui, "settings/sim")),
        link(ui, "Add SIM", "settings/add_sim", icon="add"),
    )


def add_sim(ui: Ui) -> View:
    """Build the page that a second SIM would be added on; this phone has one slot."""
    return page(ui, "Add SIM", note(ui, "Insert a SIM card or scan the QR code of your carrier to add a SIM."))


def sim(ui: Ui) -> View:
    """Build the page of the SIM (mobile_network_settings.xml)."""
    return page(
        ui,
        CARRIER,
        toggle(ui, "Mobile data", "mobile_data_on", ui.say("Access data using mobile network")),
        toggle(ui, "Roaming", "roaming_on", ui.say("Connect to data services when roaming")),
        link(ui, "App data usage", "settings/data_usage", ui.say("{amount} used", amount="1.21 GB")),
        link(ui, "Preferred network type", "settings/network_type", ui.words("settings/network_type")),
        fact(ui, "Phone number", "+1 555 010 0199"),
        named=True,
    )


def network_type(ui: Ui) -> View:
    """Build the radio list of network types."""
    return page(ui, "Preferred network type", *choices(ui, "network_type", NETWORK_TYPES))


# ----------------------------------------------------------------------------------------------------------------------
# hotspot, data saver


def tethering(ui: Ui) -> View:
    """Build "Hotspot & tethering" (tether_prefs.xml)."""
    return page(
        ui,
        "Hotspot & tethering",
        preference(
            ui.say("{wifi} hotspot", wifi=ui.wifi),
            on_off(ui, "hotspot_on"),
            icon="hotspot",
            on_tap=opener(ui, "settings/hotspot"),
        ),
        preference(ui.say("USB tethering"), ui.say("No USB device is connected"), enabled=False),
        toggle(
            ui,
            "Bluetooth tethering",
            "bluetooth_tethering",
            ui.say("Share phone\u2019s internet connection via Bluetooth"),
        ),
    )


def hotspot(ui: Ui) -> View:
    """Build the page of the hotspot (wifi_tether_settings.xml)."""
    name, password = ui.words("settings/hotspot_name"), ui.words("settings/hotspot_password")
    return page(
        ui,
        ui.say("{wifi} hotspot", wifi=ui.wifi),
        preference(
            ui.say("Use {wifi} hotspot", wifi=ui.wifi),
            checked=ui.flag("settings/hotspot_on"),
            on_tap=lambda: ui.toggle("settings/hotspot_on"),
        ),
        link(ui, "Hotspot name", "settings/hotspot_text", name, name="hotspot_name", **{"text/value": name}),
        fact(ui, "Security", "WPA2-Personal"),
        link(
            ui,
            "Hotspot password",
            "settings/hotspot_text",
            password,
            name="hotspot_password",
            **{"text/value": password},
        ),
        toggle(ui, "Turn off hotspot automatically", "hotspot_auto_off", ui.say("When no devices are connected")),
        named=True,
    )


def hotspot_text(ui: Ui) -> View:
    """Build the dialog that changes the hotspot's name or password."""
    name, text = str(ui.var("name")), ui.typed("value").strip()
    is_password = name == "hotspot_password"

    def ok() -> None:
        ui.put(f"settings/{name}", text)
        ui.close()

    return dialog(
        edit_text(ui, Field("value", max_length=63 if is_password else 32), id="android:id/edit"),
        title=ui.say("Hotspot password") if is_password else ui.say("Hotspot name"),
        buttons=cancel_and_ok(ui, ok, enabled=len(text) >= (8 if is_password else 1)),
    )


def data_saver(ui: Ui) -> View:
    """Build "Data Saver"."""
    count = len(among(ui, "unrestricted_apps"))
    return page(
        ui,
        "Data Saver",
        head_switch(ui, "Use Data Saver", "data_saver"),
        link(
            ui,
            "Unrestricted data",
            "settings/unrestricted",
            ui.say("1 app allowed") if count == 1 else ui.say("{count} apps allowed", count=count),
        ),
    )


def unrestricted(ui: Ui) -> View:
    """Build the list of apps that may use data while Data Saver is on."""
    allowed = among(ui, "unrestricted_apps")
    return page(
        ui,
        "Unrestricted data",
        *[
            preference(
                app_title(ui, package),
                icon="apps",
                checked=package in allowed,
                on_tap=flip_among(ui, "unrestricted_apps", package),
            )
            for package in listed_apps(ui)
        ],
    )


# ----------------------------------------------------------------------------------------------------------------------
# VPN, DNS, adaptive connectivity


def _vpn_summary(ui: Ui) -> str:
    for number in ui.ids("settings/vpn"):
        if ui.flag(f"settings/vpn/{number}/connected"):
            return ui.words(f"settings/vpn/{number}/name")
    return ui.say("None")


def vpns(ui: Ui) -> View:
    """Build "VPN" (vpn_settings2.xml): the profiles, and the button that adds one."""
    rows = []
    for number in ui.ids("settings/vpn"):
        path = f"settings/vpn/{number}"
        state = ui.say("Connected") if ui.flag(f"{path}/connected") else ui.say("Not connected")
        rows.append(
            preference(ui.words(f"{path}/name"), state, icon="vpn", on_tap=opener(ui, "settings/vpn", id=number))
        )
    return page(
        ui, "VPN", *(rows or [note(ui, "No VPNs added")]), link(ui, "Add VPN profile", "settings/vpn_edit", icon="add")
    )


def vpn(ui: Ui) -> View:
    """Build the page of one VPN profile."""
    number = int(ui.var("id"))
    path = f"settings/vpn/{number}"

    def switch_to() -> None:
        after = not ui.flag(f"{path}/connected")
        for other in ui.ids("settings/vpn"):
            if ui.flag(f"settings/vpn/{other}/connected") and other != number:
                ui.put(f"settings/vpn/{other}/connected", False)
        ui.put(f"{path}/connected", after)

    return page(
        ui,
        ui.words(f"{path}/name"),
        preference(ui.say("Connected"), checked=ui.flag(f"{path}/connected"), on_tap=switch_to),
        fact(ui, "Server address", ui.words(f"{path}/server")),
        fact(ui, "Username", ui.words(f"{path}/user")),
        link(ui, "Forget", "settings/vpn_forget", icon="delete", id=number),
        named=True,
    )


def vpn_forget(ui: Ui) -> View:
    """Build the dialog that asks before a profile is forgotten."""
    number = int(ui.var("id"))
    return confirm(ui, "Forget this VPN profile?", "Forget", lambda: ui.remove(f"settings/vpn/{number}"), close=2)


def vpn_edit(ui: Ui) -> View:
    """Build the dialog that adds a profile (vpn_dialog.xml)."""
    texts = {name: ui.typed(name).strip() for name in ("name", "server", "user")}

    def save() -> None:
        ui.close()
        ui.add("settings/vpn", **texts)

    hints = (("name", "Name"), ("server", "Server address"), ("user", "Username"))
    return dialog(
        *[edit_text(ui, Field(name, max_length=60), id=f"{ID}{name}", hint=ui.say(hint)) for name, hint in hints],
        title=ui.say("Add VPN profile"),
        buttons=cancel_and_ok(ui, save, ok="Save", enabled=bool(texts["name"] and texts["server"])),
    )


def _dns_summary(ui: Ui) -> str:
    mode = ui.words("settings/private_dns")
    if mode == "hostname":
        return ui.words("settings/private_dns_host")
    return ui.say("Automatic") if mode == "automatic" else ui.say("Off")


def private_dns(ui: Ui) -> View:
    """Build the dialog that chooses who translates names (private_dns_mode_dialog.xml)."""
    mode = str(ui.var("mode", ui.words("settings/private_dns")))
    host = ui.typed("host", ui.words("settings/private_dns_host")).strip()

    def save() -> None:
        ui.close()
        ui.put("settings/private_dns", mode)
        if mode == "hostname":
            ui.put("settings/private_dns_host", host)

    modes = (("off", "Off"), ("automatic", "Automatic"), ("hostname", "Private DNS provider hostname"))
    parts = [
        choice(ui.say(text), mode == name, setter(ui, "mode", name), id=f"{ID}private_dns_mode_{name}", width=MATCH)
        for name, text in modes
    ]
    if mode == "hostname":
        parts.append(
            edit_text(
                ui,
                Field("host", max_length=120),
                initial=ui.words("settings/private_dns_host"),
                id=f"{ID}private_dns_mode_provider_hostname",
                hint=ui.say("Enter hostname of DNS provider"),
            )
        )
    return dialog(
        *parts,
        title=ui.say("Select Private DNS Mode"),
        buttons=cancel_and_ok(ui, save, ok="Save", enabled=mode != "hostname" or "." in host),
    )


def adaptive_connectivity(ui: Ui) -> View:
    """Build "Adaptive connectivity" (adaptive_connectivity_settings.xml)."""
    return page(
        ui,
        "Adaptive connectivity",
        head_switch(ui, "Use adaptive connectivity", "adaptive_connectivity"),
        note(ui, "Extends battery life and improves device performance by managing your network connections"),
    )


SCREENS = {
    "settings/network": sub(network),
    "settings/internet": sub(internet),
    "settings/wifi_password": ask(wifi_password),
    "settings/add_network": ask(add_network),
    "settings/wifi_details": sub(wifi_details),
    "settings/saved": sub(saved_networks),
    "settings/saved_network": sub(saved_network),
    "settings/network_preferences": sub(network_preferences),
    "settings/data_usage": sub(data_usage),
    "settings/calls": sub(calls),
    "settings/sims": sub(sims),
    "settings/add_sim": sub(add_sim),
    "settings/sim": sub(sim),
    "settings/network_type": sub(network_type),
    "settings/tethering": sub(tethering),
    "settings/hotspot": sub(hotspot),
    "settings/hotspot_text": ask(hotspot_text),
    "settings/data_saver": sub(data_saver),
    "settings/unrestricted": sub(unrestricted),
    "settings/vpns": sub(vpns),
    "settings/vpn": sub(vpn),
    "settings/vpn_forget": ask(vpn_forget),
    "settings/vpn_edit": ask(vpn_edit),
    "settings/private_dns": ask(private_dns),
    "settings/adaptive_connectivity": sub(adaptive_connectivity),
}
