from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.device_sim.conftest import Finger

FOLDER = "/sdcard/DCIM/Camera"


def camera(make: Callable[..., Finger]) -> Finger:
    finger = make(camera__photos=0)
    finger.phone.open_app("com.android.camera2")
    return finger


def shots(finger: Finger) -> list[tuple[object, ...]]:
    found = finger.phone.snapshot().under("camera/shot")
    numbers = sorted({int(path.split("/")[0]) for path in found})
    return [tuple(found[f"{number}/{name}"] for name in ("kind", "lens", "seconds")) for number in numbers]


def files(finger: Finger) -> list[str]:
    return finger.phone.files.names(FOLDER) if finger.phone.files.is_folder(FOLDER) else []


def test_the_shutter_takes_a_photo(make: Callable[..., Finger]) -> None:
    finger = make(camera__photos=0)
    finger.phone.open_app("com.android.camera2")
    finger.tap(description="Show last photo")  # disabled while there is none
    assert finger.phone.front.screen == "camera/viewfinder"
    finger.tap(description="Shutter")
    finger.tap(description="Shutter")
    assert finger.phone.state["camera/photos"] == 2
    finger.tap(description="Show last photo")
    assert finger.sees(text="2 photos")


@pytest.mark.parametrize("lens", ["back", "front"])
def test_a_photo_is_one_record_and_one_file_of_the_lens_in_use(make: Callable[..., Finger], lens: str) -> None:
    finger = camera(make)
    before = files(finger)
    if lens == "front":
        finger.tap(description="Switch to front camera")
    finger.tap(description="Shutter")
    assert shots(finger) == [("photo", lens, 0)]
    (file,) = set(files(finger)) - set(before)
    assert file.startswith("IMG_")
    assert file.endswith(".jpg")
    assert f"{lens} camera".encode() in finger.phone.files.read(f"{FOLDER}/{file}")


def test_the_camera_opens_with_the_lens_that_was_used_last(make: Callable[..., Finger]) -> None:
    finger = camera(make)
    finger.tap(description="Switch to front camera")
    finger.phone.dismiss_task("com.android.camera2")
    finger.phone.open_app("com.android.camera2")
    finger.tap(description="Shutter")
    assert shots(finger) == [("photo", "front", 0)]


def test_two_photos_in_the_same_second_have_names_of_their_own(make: Callable[..., Finger]) -> None:
    finger = camera(make)
    before = files(finger)
    for _ in range(3):
        finger.tap(description="Shutter")
    assert len(set(files(finger)) - set(before)) == 3


def test_a_video_lasts_until_it_is_stopped(make: Callable[..., Finger]) -> None:
    finger = camera(make)
    finger.tap(text="Video")
    finger.tap(description="Start recording")
    assert finger.phone.snapshot()["camera/recording"] is True
    assert shots(finger) == []
    finger.phone.advance(75)
    assert finger.sees(text="01:15")
    finger.tap(description="Switch to front camera")  # disabled meanwhile
    finger.tap(text="Photo")
    finger.tap(description="Stop recording")
    assert finger.phone.state["camera/recording"] is False
    assert shots(finger) == [("video", "back", 75)]
    assert finger.phone.state["camera/photos"] == 0
    assert any(name.startswith("VID_") and name.endswith(".mp4") for name in files(finger))


def test_a_recording_can_be_stopped_from_the_notification_shade(make: Callable[..., Finger]) -> None:
    finger = camera(make)
    finger.tap(text="Video")
    finger.tap(description="Start recording")
    finger.phone.open_shade()
    finger.tap(text="Stop")
    assert finger.phone.state["camera/recording"] is False
    assert [kind for kind, _, _ in shots(finger)] == ["video"]


def test_the_viewer_turns_pages_and_deletes_after_asking(make: Callable[..., Finger]) -> None:
    finger = camera(make)
    finger.tap(description="Shutter")
    finger.phone.advance(5)
    finger.tap(description="Switch to front camera")
    finger.tap(description="Shutter")
    finger.tap(description="Show last photo")
    newest = finger.one(resourceId="com.android.camera2:id/media_name").view.text
    assert finger.sees(textContains="Front camera")
    finger.phone.swipe(600, 600, 100, 600)
    assert finger.sees(textContains="Back camera")
    finger.phone.swipe(100, 600, 600, 600)
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert newest in files(finger)
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert newest not in files(finger)
    assert shots(finger) == [("photo", "back", 0)]
    assert finger.sees(text="1 photos")


def test_without_the_permission_the_shutter_asks_first(make: Callable[..., Finger]) -> None:
    finger = camera(make)
    finger.phone.put("permissions/com.android.camera2/CAMERA", "ask")
    finger.tap(description="Shutter")
    assert shots(finger) == []
    finger.tap(text="While using the app")
    finger.tap(description="Shutter")
    assert len(shots(finger)) == 1
    finger.phone.put("settings/camera_access", False)
    finger.tap(description="Shutter")
    assert len(shots(finger)) == 1
    assert finger.phone.toast == "Camera access is off"
