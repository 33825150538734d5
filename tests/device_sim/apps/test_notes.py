from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.notes import APP, PACKAGE, ROOT, is_todo, ticked
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def opened(make: Make, notes: dict[str, str], seed: int = 1) -> Finger:
    """Return Notes on a phone with exactly these notes, the last one the newest."""
    finger = make(seed)
    files = finger.phone.files
    files.remove(ROOT, whole_tree=True)
    files.make_folder(ROOT, parents=True)
    for age, (path, text) in enumerate(notes.items()):
        files.make_folder(f"{ROOT}/{path}".rpartition("/")[0], parents=True)
        files.write(f"{ROOT}/{path}", text.encode(), mtime_s=1_700_000_000 + age)
    finger.phone.open_app(PACKAGE)
    return finger


def notes_of(finger: Finger) -> dict[str, str]:
    start = "files/Documents/Notes/"
    return {
        path[len(start) :]: str(value)
        for path, value in finger.phone.state.items()
        if path.startswith(start) and not path.endswith("/")
    }


def hold(finger: Finger, text: str) -> None:
    finger.phone.long_press(*finger.center(text=text))


def create(finger: Finger, name: str, ending: str = "") -> None:
    finger.tap(description="Create a new file or folder")
    finger.tap(resourceId=f"{_ID}new_file_dialog__name")
    finger.phone.type_text(name)
    if ending:
        finger.tap(resourceId=f"{_ID}new_file_dialog__ext")
        finger.phone.type_text(ending)
    finger.phone.key("back")


def write(finger: Finger, text: str) -> None:
    finger.tap(resourceId=f"{_ID}document__edit")
    finger.phone.type_text(text)


TWO = {"plan.md": "alpha", "list.md": "- [ ] milk\n- [x] bread", "Work/plan.md": "beta"}


def test_a_note_is_created_with_name_ending_and_lines(make: Make) -> None:
    finger = opened(make, {})
    create(finger, "shopping", ".txt")
    finger.tap(text="OK")
    write(finger, "milk")
    finger.phone.key("enter")
    finger.phone.type_text("bread")
    finger.tap(description="Save")
    assert notes_of(finger) == {"shopping.txt": "milk\nbread"}
    assert finger.phone.toast == "Saved"


def test_text_is_written_on_the_way_back_but_not_when_the_app_is_left(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(text="plan.md")
    write(finger, " and more")
    finger.phone.key("home")
    assert notes_of(finger)["plan.md"] == "alpha"
    finger.phone.open_app(PACKAGE)
    finger.phone.key("back")
    assert notes_of(finger)["plan.md"] == "alpha and more"
    assert finger.phone.front.screen == "notes/notes"


def test_a_header_goes_before_the_text(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(text="plan.md")
    finger.tap(description="Go to start")
    finger.phone.type_text("Title")
    finger.phone.key("enter")
    finger.phone.key("enter")
    finger.tap(description="Navigate up")
    assert notes_of(finger)["plan.md"] == "Title\n\nalpha"


def test_text_is_deleted_before_the_cursor(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(text="plan.md")
    finger.tap(description="Go to start")
    finger.phone.type_text("xy")
    finger.phone.key("delete")
    finger.tap(description="Go to end")
    finger.phone.key("delete")
    finger.tap(description="Save")
    assert notes_of(finger)["plan.md"] == "xalph"


def test_the_newest_note_is_first_unless_sorted_by_name_and_is_deleted_after_a_question(make: Make) -> None:
    finger = opened(make, {"a.md": "old", "b.md": "middle", "c.md": "new"})

    def names() -> list[str]:
        return [node.view.text for node in finger.all(resourceId=f"{_ID}note_title")]

    assert names() == ["c.md", "b.md", "a.md"]
    for order, expected in (("By name", "a.md"), ("By date (newest first)", "c.md")):
        finger.tap(description="Sort by")
        finger.tap(text=order)
        assert names()[0] == expected
    hold(finger, names()[0])
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert set(notes_of(finger)) == {"a.md", "b.md"}


def test_all_notes_are_deleted_by_choosing_all(make: Make) -> None:
    finger = opened(make, TWO)
    hold(finger, "plan.md")
    finger.tap(description="Select all")
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert notes_of(finger) == TWO
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert notes_of(finger) == {}
    assert finger.sees(text="Nothing here")


def test_a_note_moves_to_a_folder_made_on_the_way(make: Make) -> None:
    finger = opened(make, TWO)
    hold(finger, "list.md")
    finger.tap(description="More options")
    finger.tap(text="Move to…")
    finger.tap(description="New folder")
    finger.tap(resourceId="android:id/text1")
    finger.phone.type_text("Shop")
    finger.phone.key("back")
    finger.tap(text="OK")
    finger.path("Shop", "Select this folder")
    assert set(notes_of(finger)) == {"plan.md", "Shop/list.md", "Work/plan.md"}


def test_a_note_does_not_replace_one_of_its_name_by_moving(make: Make) -> None:
    finger = opened(make, TWO)
    hold(finger, "plan.md")
    finger.tap(description="More options")
    finger.tap(text="Move to…")
    finger.path("Work", "Select this folder")
    assert finger.phone.toast == "An item with this name already exists"
    assert notes_of(finger) == TWO


def test_a_folder_is_created(make: Make) -> None:
    finger = opened(make, TWO)
    create(finger, "Trips")
    finger.tap(text="Folder")
    assert finger.phone.files.is_folder(f"{ROOT}/Trips")
    create(finger, "Trips")
    finger.tap(text="Folder")
    assert finger.sees(text="An item with this name already exists")


def test_notes_are_merged_by_copy_and_paste(make: Make) -> None:
    finger = opened(make, {"a.md": "one", "b.md": "two"})
    create(finger, "both")
    finger.tap(text="OK")
    for name in ("a.md", "b.md"):
        finger.phone.key("back")
        finger.tap(text=name)
        finger.tap(description="Copy all")
        finger.phone.key("back")
        finger.tap(text="both.md")
        finger.tap(description="Paste")
        finger.tap(resourceId=f"{_ID}document__edit")
        finger.phone.key("enter")
        finger.phone.key("back")
    finger.tap(description="Save")
    assert notes_of(finger)["both.md"] == "one\ntwo\n"


def test_a_note_is_shared_as_a_text_message(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(text="plan.md")
    finger.tap(description="Share")
    finger.tap(text="Messages")
    assert finger.phone.front.package == "com.android.messaging"
    finger.tap(resourceId="com.android.messaging:id/recipient_text_view")
    finger.phone.type_text("+15550001234")
    finger.phone.key("back")
    finger.tap(resourceId="com.android.messaging:id/send_message_button")
    sent = [path for path, value in finger.phone.state.items() if path.endswith("/address") and value == "+15550001234"]
    assert len(sent) == 1
    assert finger.phone.state[sent[0].replace("address", "body")] == "alpha"


def test_items_are_ticked_in_the_view_and_counted_in_the_list(make: Make) -> None:
    finger = opened(make, TWO)
    assert finger.sees(textStartsWith="To-do, 1 of 2 done")
    finger.tap(text="list.md")
    finger.tap(description="View mode")
    assert [node.view.checked for node in finger.all(className="android.widget.CheckBox")] == [False, True]
    finger.tap(text="milk")
    assert notes_of(finger)["list.md"] == "- [x] milk\n- [x] bread"


def test_a_folder_says_how_many_todos_it_has(make: Make) -> None:
    finger = opened(make, {"Work/a.md": "- [ ] x", "Work/b.md": "plain", "Work/c.md": "text\n- [x] y"})
    hold(finger, "Work")
    finger.tap(description="More options")
    finger.tap(text="Info")
    texts = finger.texts
    assert texts[texts.index("To-dos") + 1] == "2"


def test_the_search_reads_what_notes_say(make: Make) -> None:
    finger = opened(make, TWO)
    finger.tap(description="Search")
    finger.tap(resourceId=f"{_ID}search_src_text")
    finger.phone.type_text("Beta")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}note_title")] == ["plan.md"]


@given(st.lists(st.sampled_from(("- [ ] a", "- [x] b", "c", "", "* [X] d")), min_size=1), st.data())
def test_ticking_twice_changes_nothing_and_once_changes_one_line(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    text = "\n".join(lines)
    once = ticked(text, number)
    changed = [place for place, (old, new) in enumerate(zip(lines, once.split("\n"), strict=True)) if old != new]
    assert changed == ([number] if is_todo(lines[number]) else [])
    assert ticked(once, number).lower() == text.lower()


def test_seeds_differ_and_have_meetings_recipes_and_todos(make: Make) -> None:
    assert notes_of(make(1)) != notes_of(make(2))
    for seed in range(1, 6):
        found = notes_of(make(seed))
        texts = "\n".join(found.values())
        assert "Attendees: " in texts
        assert "Serves " in texts
        assert sum(is_todo(text) for text in found.values()) >= 3
        assert "reimbursable" in found["my_expenses.txt"] or "private" in found["my_expenses.txt"]


def test_every_word_of_the_app_is_translated() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_reaches_every_screen() -> None:
    missed = set(APP.screens) - stroll(PACKAGE, "de", steps=600).screens
    assert missed <= {"notes/move", "notes/new_folder"}  # three touches deep, see above
