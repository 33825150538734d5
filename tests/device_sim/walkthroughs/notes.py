"""Solutions in Notes, some of which go on in Messages."""

from __future__ import annotations

from agent_eval.device_sim import Phone
from agent_eval.types import PhoneSetup, Scalar
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.people import NUMBER
from tests.device_sim.walkthroughs.walk import Record, Script, Walk, record

_ROOT = "files/Documents/Notes"
BREAD = "# Rye bread\n\nServes 8\n\n- 500 g rye flour\n- 10 g salt\n\nBake for 50 minutes."
CREW = "# Harbour crew meeting\n\nAttendees: Ada, Ben, Carla, Hugo, Ines\n\nNext date in 3 weeks"


def file(name: str, text: str = "") -> dict[str, Scalar]:
    """Return the path of a note."""
    return {f"{_ROOT}/{name}": text}


SMALL = {
    **file("aa_one.md", "First line"),
    **file("aa_two.md", "Second line\nThird line"),
    **file("aa_three.md", "Last"),
}


# ----------------------------------------------------------------------------------------------------------------------
# reading


def read_note(hand: Hand, name: str) -> list[str]:
    """Open a note and return its lines, as the view mode shows them; the last line of the screen is read too."""
    hand.tap(name, role="row")
    hand.tap("View mode")
    return [row.label for row in hand.all_rows("text")][1:]


def amount_of(name: str, ingredient: str) -> Script:
    """Read how much of an ingredient a recipe needs."""

    def script(hand: Hand) -> str:
        hand.open("Notes")
        line = next(line for line in read_note(hand, name) if line.endswith(ingredient))
        return line.removeprefix("- ").removesuffix(f" {ingredient}")

    return script


def count_people(name: str) -> Script:
    """Count who took part in a meeting."""

    def script(hand: Hand) -> str:
        hand.open("Notes")
        line = next(line for line in read_note(hand, name) if line.startswith("Attendees: "))
        return str(len(line.split(",")))

    return script


def is_todo(name: str) -> Script:
    """Tell whether a note is a to-do: the list says so below its name."""

    def script(hand: Hand) -> str:
        hand.open("Notes")
        return str(hand.reach(name).value.startswith("To-do"))

    return script


def count_todos(folder: str) -> Script:
    """Count the to-dos of a folder."""

    def script(hand: Hand) -> str:
        hand.open("Notes")
        hand.tap(folder, value="Folder")
        return str(sum(row.value.startswith("To-do") for row in hand.all_rows("row")))

    return script


# ----------------------------------------------------------------------------------------------------------------------
# writing


def create(name: str, text: str) -> Script:
    """Create a note."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        hand.tap("Create a new file or folder")
        hand.type(name, into="Name")
        hand.tap("OK")
        hand.type(text, into="Text")
        hand.tap("Save")

    return script


def create_pasted(name: str) -> Script:
    """Create a note from the clipboard, which typing its name must leave alone."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        hand.tap("Create a new file or folder")
        hand.set_text(name, into="Name")
        hand.tap("OK")
        hand.tap("Paste")
        hand.tap("Save")

    return script


def create_and_send(name: str, text: str, number: str) -> Script:
    """Create a note and send its content."""

    def script(hand: Hand) -> None:
        create(name, text)(hand)
        hand.tap("Share")
        hand.tap("Messages")
        hand.type(number, into="Type names or phone numbers")
        hand.tap("Send SMS")

    return script


def rewrite(name: str, text: str) -> Script:
    """Replace the whole text of a note."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        hand.tap(name, role="row")
        hand.type(text, into="Text")
        hand.tap("Save")

    return script


def prepend(name: str, header: str, *, gap: str = "\n", rename: str = "") -> Script:
    """Put a header above what a note says, and give the note another name if there is one."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        lines = read_note(hand, name)
        hand.tap("Edit mode")
        hand.type(header + gap + "\n".join(lines), into="Text")
        hand.tap("Save")
        if rename:
            hand.press("back")
            hand.press("back")
            choose(hand, name)
            hand.tap("Rename")
            hand.type(rename, into="Name")
            hand.tap("OK")

    return script


def merge(names: tuple[str, ...], target: str) -> Script:
    """Write what several notes say into a new one, a blank line between them."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        parts = []
        for name in names:
            parts.append("\n".join(read_note(hand, name)))
            hand.press("back")
        create(target, "\n\n".join(parts))(hand)

    return script


def make_folder(name: str) -> Script:
    """Create a folder."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        hand.tap("Create a new file or folder")
        hand.type(name, into="Name")
        hand.tap("Folder", role="button")

    return script


# ----------------------------------------------------------------------------------------------------------------------
# chosen notes


def choose(hand: Hand, name: str) -> None:
    """Choose a note and open the menu of what can be done with it."""
    hand.hold(name)
    hand.tap("More options")


def delete(name: str) -> Script:
    """Delete a note."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        hand.hold(name)
        hand.tap("Delete")
        hand.tap("Delete")

    return script


def delete_newest(hand: Hand) -> None:
    """Delete the note at the top of the list by date."""
    hand.open("Notes")
    newest = next(row for row in hand.rows("row") if not row.value.startswith("Folder"))
    hand.hold(newest.label)
    hand.tap("Delete")
    hand.tap("Delete")


def delete_all(hand: Hand) -> None:
    """Delete everything."""
    hand.open("Notes")
    hand.hold(hand.rows("row")[0].label)
    hand.tap("Select all")
    hand.tap("Delete")
    hand.tap("Delete")


def move(name: str, source: str, target: str) -> Script:
    """Move a note from one folder to another."""

    def script(hand: Hand) -> None:
        hand.open("Notes")
        hand.tap(source, value="Folder")
        choose(hand, name)
        hand.tap("Move to\u2026")
        hand.tap(target, value="Folder")
        hand.tap("Select this folder")

    return script


def walks() -> list[Walk]:
    """Return the solutions."""
    harbour = {
        **file("Harbour/ropes.md", "- [ ] Check the ropes\n- [x] Order a net"),
        **file("Harbour/lamps.md", "- [x] Oil"),
        **file("Harbour/about.md", "The harbour opens at six."),
        **file("Harbour/old/ropes.md", "- [ ] Not here"),
    }
    title, header = "Minutes of the crew", "# Crew"
    gapped = {**file(f"{title}.md", "Ada speaks first.\nBen goes last.")}
    merged = "First line\n\nSecond line\nThird line\n\nLast"
    recipe = {**file("Rye bread.md", BREAD), **file("Rye bread old.md", BREAD.replace("500", "450"))}

    def sent(body: str) -> tuple[Record, ...]:
        return (record("messages", address=NUMBER, body=body, sent=True),)

    drawn = Phone(PhoneSetup(1)).snapshot().under(_ROOT)
    return [
        Walk("46", 6, create("aa_list", "Nails\nGlue"), sets=file("aa_list.md", "Nails\nGlue")),
        Walk("47", 6, prepend(f"{title}.md", header), state=gapped,
             sets=file(f"{title}.md", f"{header}\nAda speaks first.\nBen goes last.")),
        Walk("48", 4, delete_newest, state=file("zz_latest.md", "Just now"), gone=(f"{_ROOT}/zz_latest.md",)),
        Walk("49", 2, count_todos("Harbour"), state=harbour, answer="2"),
        Walk("60", 10, create_and_send("aa_list", "Nails\nGlue", NUMBER), sets=file("aa_list.md", "Nails\nGlue"),
             adds=sent("Nails\nGlue")),
        Walk("MarkorAddNoteHeader", 13, prepend("aa_one.md", header, gap="\n\n", rename="aa_uno.md"), state=SMALL,
             gone=(f"{_ROOT}/aa_one.md",), sets=file("aa_uno.md", f"{header}\n\nFirst line")),
        Walk("MarkorChangeNoteContent", 4, rewrite("aa_two.md", "Nothing else"), state=SMALL,
             sets=file("aa_two.md", "Nothing else")),
        Walk("MarkorCreateFolder", 4, make_folder("Ferries"), sets=file("Ferries/")),
        Walk("MarkorCreateNote", 6, create("aa_list", "Nails\nGlue"), seed=2, sets=file("aa_list.md", "Nails\nGlue")),
        Walk("MarkorCreateNoteAndSms", 10, create_and_send("aa_list", "Nails", NUMBER), seed=2,
             sets=file("aa_list.md", "Nails"), adds=sent("Nails")),
        Walk("MarkorCreateNoteFromClipboard", 6, create_pasted("aa_list"), clipboard="Two nails\nGlue",
             sets=file("aa_list.md", "Two nails\nGlue")),
        Walk("MarkorDeleteAllNotes", 5, delete_all, sets={f"{_ROOT}/": ""},
             gone=tuple(f"{_ROOT}/{name}" for name in drawn)),
        Walk("MarkorDeleteNewestNote", 4, delete_newest, seed=2, state=file("mm_latest.md", "Just now"),
             gone=(f"{_ROOT}/mm_latest.md",)),
        Walk("MarkorDeleteNote", 4, delete("aa_two.md"), state=SMALL, gone=(f"{_ROOT}/aa_two.md",)),
        Walk("MarkorEditNote", 6, prepend("aa_two.md", header), state=SMALL,
             sets=file("aa_two.md", f"{header}\nSecond line\nThird line")),
        Walk("MarkorMergeNotes", 16, merge(("aa_one.md", "aa_two.md", "aa_three.md"), "aa_all"), state=SMALL,
             sets=file("aa_all.md", merged)),
        Walk("MarkorMoveNote", 7, move("lamps.md", "Harbour", "Quay"),
             state={**harbour, **file("Quay/lists.md", "A list")}, gone=(f"{_ROOT}/Harbour/lamps.md",),
             sets=file("Quay/lamps.md", "- [x] Oil")),
        Walk("NotesIsTodo", 1, is_todo("aa_task.md"), "yes", state=file("aa_task.md", "- [ ] Paint"), answer="True"),
        Walk("NotesIsTodo", 1, is_todo("aa_text.md"), "no", state=file("aa_text.md", "Paint"), answer="False"),
        Walk("NotesMeetingAttendeeCount", 3, count_people("Harbour crew meeting.md"),
             state=file("Harbour crew meeting.md", CREW), answer="5"),
        Walk("NotesRecipeIngredientCount", 3, amount_of("Rye bread.md", "rye flour"), state=recipe, answer="500 g"),
        Walk("NotesTodoItemCount", 2, count_todos("Harbour"), seed=2, state=harbour, answer="2"),
    ]  # fmt: skip
