from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.apk import Manifest, read_manifest
from agent_eval.device_sim.shell.apk_writer import write_apk
from agent_eval.device_sim.shell.system import System
from agent_eval.types import PhoneSetup

PARTS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
MANIFESTS = st.builds(
    Manifest,
    package=st.lists(PARTS, min_size=2, max_size=5).map(".".join),
    version_code=st.integers(0, 2**31 - 1),
    version_name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20).filter(str.isprintable),
)


@given(MANIFESTS)
def test_an_apk_says_what_was_written_into_it(manifest: Manifest) -> None:
    content = write_apk(manifest)
    assert read_manifest(content) == manifest
    assert write_apk(manifest) == content


def test_every_installed_package_has_an_apk_where_pm_says() -> None:
    system = System(Phone(PhoneSetup(seed=1)))
    for package in system.packages:
        path = system.run(f"pm path {package.name}").stdout.decode().strip().removeprefix("package:")
        found = read_manifest(system.files.read(path))
        if package.name == "android":  # the one name without a dot, which nobody may install
            assert found is None
            continue
        assert found == Manifest(package.name, package.version_code, package.version_name)


def test_an_apk_taken_from_a_phone_can_be_installed_on_it() -> None:
    system = System(Phone(PhoneSetup(seed=1)))
    system.run("cp $(pm path org.tasks | cut -d: -f2) /data/local/tmp/tasks.apk; pm uninstall org.tasks")
    assert b"org.tasks" not in system.run("pm list packages").stdout
    assert system.run("pm install /data/local/tmp/tasks.apk").stdout == b"Success\n"
    assert b"package:org.tasks\n" in system.run("pm list packages").stdout
    system.run("monkey -p org.tasks -c android.intent.category.LAUNCHER 1")
    assert system.phone.snapshot()["ui/package"] == "org.tasks"
