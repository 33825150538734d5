from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim.apps.files_app import APP, PACKAGE, size_text
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def opened(make: Make, files: dict[str, str], seed: int = 1) -> Finger:
    """Return Files on a phone with exactly these files, the last one the newest."""
    finger = make(seed)
    for path in list(finger.phone.state):
        if path.startswith("files/"):
            del finger.phone.state[path]
    for age, (path, text) in enumerate(files.items()):
        folder = f"/sdcard/{path.rpartition('/')[0]}"
        finger.phone.files.make_folder(folder, parents=True)
        finger.phone.files.write(f"/sdcard/{path}", text.encode(), mtime_s=1_700_000_000 + age)
    finger.phone.open_app(PACKAGE)
    return finger


def paths(finger: Finger) -> dict[str, Scalar]:
    return {
        path[6:]: value
        for path, value in finger.phone.state.items()
        if path.startswith("files/") and not path.endswith("/")
    }


def hold(finger: Finger, text: str) -> None:
    finger.phone.long_press(*finger.center(text=text))


def titles(finger: Finger) -> list[str]:
    return [node.view.text for node in finger.all(resourceId="android:id/title")]


TWO = {"Download/a.txt": "first", "Download/b.txt": "second", "DCIM/receipt.jpg": "JPEG", "Pictures/cat.png": "PNG"}


def test_a_file_is_deleted_after_a_question_and_its_neighbour_stays(make: Make) -> None:
    finger = opened(make, TWO)
    finger.path("Download")
    hold(finger, "a.txt")
    finger.tap(description="Delete")
    assert finger.sees(text="Delete “a.txt”?")
    finger.tap(text="Cancel")
    assert "Download/a.txt" in paths(finger)
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert set(paths(finger)) == set(TWO) - {"Download/a.txt"}
    assert not finger.sees(text="1 selected")


def test_a_file_is_moved_to_another_folder(make: Make) -> None:
    finger = opened(make, TWO)
    finger.path("Download")
    hold(finger, "a.txt")
    finger.tap(description="More options")
    finger.tap(text="Move to…")
    finger.path("Download", "Move here")  # disabled: the file is there already
    assert "Download/a.txt" in paths(finger)
    finger.tap(text="Internal storage  ›")
    finger.path("Pictures", "Move here")
    assert paths(finger)["Pictures/a.txt"] == "first"
    assert "Download/a.txt" not in paths(finger)
    assert titles(finger) == ["b.txt"]


def test_a_copy_keeps_its_name_in_another_folder_and_is_numbered_in_the_same(make: Make) -> None:
    finger = opened(make, TWO)
    finger.path("DCIM")
    for _ in range(2):
        hold(finger, "receipt.jpg")
        finger.tap(description="More options")
        finger.tap(text="Copy to…")
        finger.path("Download", "Copy here")
    found = paths(finger)
    assert found["DCIM/receipt.jpg"] == found["Download/receipt.jpg"] == found["Download/receipt (1).jpg"] == "JPEG"


def test_a_folder_is_not_copied_into_itself(make: Make) -> None:
    finger = opened(make, TWO)
    hold(finger, "Download")
    finger.tap(description="More options")
    finger.tap(text="Copy to…")
    finger.path("Download", "Copy here")
    assert set(paths(finger)) == set(TWO)


def test_a_file_is_renamed_but_not_over_another(make: Make) -> None:
    finger = opened(make, TWO)
    finger.path("Download")
    hold(finger, "a.txt")
    finger.tap(description="More options")
    finger.tap(text="Rename")
    for name in ("b.txt", "x/y.txt", ""):
        finger.tap(resourceId="android:id/text1")
        finger.phone.clear_text()
        finger.phone.type_text(name)
        finger.phone.key("back")
        finger.tap(text="OK")
        assert finger.sees(resourceId="android:id/message")
    finger.tap(resourceId="android:id/text1")
    finger.phone.clear_text()
    finger.phone.type_text("c.txt")
    finger.phone.key("back")
    finger.tap(text="OK")
    assert paths(finger)["Download/c.txt"] == "first"
    assert titles(finger) == ["b.txt", "c.txt"]


def test_a_folder_is_made_and_several_files_are_deleted_at_once(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(description="More options")
    finger.tap(text="New folder")
    finger.tap(resourceId="android:id/text1")
    finger.phone.type_text("Taxes")
    finger.phone.key("back")
    finger.tap(text="OK")
    assert finger.phone.files.is_folder("/sdcard/Taxes")
    finger.path("Download")
    hold(finger, "a.txt")
    finger.tap(description="Select all")
    finger.tap(description="Delete")
    assert finger.sees(text="Delete 2 items?")
    finger.tap(text="Delete")
    assert "Download/a.txt" not in paths(finger)
    assert finger.sees(text="No items")


def test_files_are_sorted_by_name_date_and_size(make: Make) -> None:
    finger = opened(make, {"Download/b.txt": "long text", "Download/a.txt": "x", "Download/c.txt": "middle"})
    finger.path("Download")
    orders = {}
    for label, key in (
        ("By date modified (newest first)", "date"),
        ("By size (largest first)", "size"),
        ("By name", "name"),
    ):
        finger.tap(description="More options")
        finger.tap(text="Sort by")
        finger.tap(text=label)
        orders[key] = titles(finger)
    assert orders == {
        "date": ["c.txt", "a.txt", "b.txt"],
        "size": ["b.txt", "c.txt", "a.txt"],
        "name": ["a.txt", "b.txt", "c.txt"],
    }


def test_the_search_finds_files_below_the_folder(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(description="Search")
    finger.tap(resourceId=f"{_ID}search_src_text")
    finger.phone.type_text("CAT")
    assert titles(finger) == ["cat.png"]


def test_back_goes_up_one_folder_and_then_home(make: Make) -> None:
    finger = opened(make, TWO)
    finger.path("Download")
    finger.phone.key("back")
    assert titles(finger) == ["DCIM", "Download", "Pictures"]
    finger.phone.key("back")
    assert finger.phone.front.package == "com.android.launcher3"


def test_the_info_of_a_file_says_size_and_place(make: Make) -> None:
    finger = opened(make, TWO)
    finger.path("Download")
    hold(finger, "a.txt")
    finger.tap(description="More options")
    finger.tap(text="Get info")
    assert {"a.txt", "5 B", "/storage/emulated/0/Download"} <= set(finger.texts)


def test_a_text_opens_in_notes_and_a_page_asks_which_app(make: Make) -> None:
    finger = opened(make, {**TWO, "Download/task.html": "<title>T</title>"})
    finger.path("Download", "a.txt")
    assert (finger.phone.front.package, finger.one(className="android.widget.EditText").view.text) == (
        "org.fossify.notes",
        "first",
    )
    finger.phone.open_app(PACKAGE)
    finger.path("task.html", "Open with Browser")
    assert finger.phone.front.package == "com.android.browser"


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (2_345_678, "2.35 MB")])
def test_sizes_are_written_as_android_writes_them(size: int, text: str) -> None:
    assert size_text(size) == text


def test_seeds_differ_and_drawn_files_are_older_than_the_phone(make: Make) -> None:
    first, second = make(1), make(2)
    assert paths(first) != paths(second)
    assert paths(first) == paths(make(1))
    now = first.phone.clock.now_ms // 1000
    times = [first.phone.files.mtime_s(f"/sdcard/{path}") for path in paths(first) if path.startswith("DCIM")]
    assert max(times) < now
    assert len(set(times)) > 5


def test_every_word_of_the_app_is_translated() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_reaches_every_screen() -> None:
    missed = set(APP.screens) - stroll(PACKAGE, "de", steps=600).screens
    assert missed <= {"files/open_with"}  # one file in forty, see above
