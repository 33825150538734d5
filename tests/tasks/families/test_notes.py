from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.actions import Action, LongPress
from agent_eval.device_sim import Phone
from agent_eval.outcome import Label
from agent_eval.tasks import TASKS, answers
from agent_eval.tasks.families.notes_expert import ROOT, notes_of
from agent_eval.tasks.task import LANGUAGES, TaskInstance
from agent_eval.types import Observation, Snapshot
from tests.tasks.families.playing import Stage, Step, facts, hold, launch, tap, told, write

NEW = "Create a new file or folder"
UP = tap("Navigate up")
DELETE = (tap("Delete", "button"), tap("Delete", "button"))


def draw(task: str, fits: Callable[[TaskInstance], bool] = lambda _instance: True) -> TaskInstance:
    return next(instance for seed in range(200) if fits(instance := TASKS[task].draw(seed)))


def named(ending: str) -> Callable[[TaskInstance], bool]:
    return lambda instance: str(instance.parameters["name"]).endswith(ending)


def beside(instance: TaskInstance) -> str:
    """Return the name of a note that stands beside the one that is meant."""
    paths = [path for path in instance.setup.state if path.startswith(f"{ROOT}/") and path.count("/") == 3]
    return next(path.split("/")[3] for path in paths if path.split("/")[3] != instance.parameters["name"])


def twin(instance: TaskInstance) -> str:
    """Return the folder that holds another note of the same name."""
    paths = [path for path in instance.setup.state if path.startswith(f"{ROOT}/") and path.count("/") == 4]
    assert paths[0].split("/")[4] == instance.parameters["name"]
    return paths[0].split("/")[3]


def prepared(instance: TaskInstance) -> Snapshot:
    return Phone(instance.setup).snapshot()


def create(name: str, text: str) -> tuple[Step, ...]:
    return tap(NEW), write("Name", name), tap("OK"), write("Text", text), tap("Save")


# ----------------------------------------------------------------------------------------------------------------------
# a new note

OPEN = launch("Notes")
WRONG_NOTES: dict[str, tuple[Callable[[str, str, TaskInstance], tuple[Step, ...]], Label]] = {
    "does not save it": (lambda name, text, _: (OPEN, *create(name, text)[:-1]), "premature_completion"),
    "leaves it empty": (lambda name, _, __: (OPEN, *create(name, "")[:3]), "premature_completion"),
    "gives it another name": (lambda _, text, it: (OPEN, *create(f"{beside(it)}2", text)), "premature_completion"),
    "changes one letter": (lambda name, text, _: (OPEN, *create(name, text[:-1])), "premature_completion"),
    "overwrites a look-alike": (
        lambda _, text, it: (OPEN, tap(beside(it), "row"), write("Text", text), tap("Save")),
        "premature_completion",
    ),
    "overwrites the note of that name in a folder": (
        lambda name, text, it: (OPEN, tap(twin(it), "row"), tap(name, "row"), write("Text", text), tap("Save")),
        "premature_completion",
    ),
    "writes a second one": (
        lambda name, text, _: (OPEN, *create(name, text), UP, *create(f"1{name}", text)),
        "over_execution",
    ),
}


@pytest.mark.parametrize("what", WRONG_NOTES)
def test_the_note_is_not_as_asked_if_an_agent(stage: Stage, what: str) -> None:
    instance = draw("NoteCreate", named(".md"))
    way, label = WRONG_NOTES[what]
    record = stage.play(instance, *way(str(instance.parameters["name"]), str(instance.parameters["text"]), instance))
    assert record.outcome.label == label, told(record)


def test_the_ending_of_a_new_note_must_be_the_one_that_was_asked_for(stage: Stage) -> None:
    instance = draw("NoteCreate", named(".txt"))
    name, text = str(instance.parameters["name"]), str(instance.parameters["text"])
    record = stage.play(instance, OPEN, *create(name, text))
    assert record.outcome.label == "premature_completion", told(record)
    assert facts(record).side_effects == (f"{ROOT}/{name}.md",)
    chosen = (tap(NEW), write("Name", name), write("Extension", ".txt"), *create(name, text)[2:])
    assert stage.play(instance, OPEN, *chosen).outcome.label == "success"


def test_a_new_note_may_be_in_a_folder(stage: Stage) -> None:
    instance = draw("NoteCreate", named(".md"))
    name, text = str(instance.parameters["name"]), str(instance.parameters["text"])
    folders = {path.split("/")[3] for path in notes_of(prepared(instance)) if path.count("/") == 4}
    other = min(folders - {twin(instance)})
    record = stage.play(instance, OPEN, tap(other, "row"), *create(name, text))
    assert record.outcome.label == "success", told(record)


ASTRAY: dict[str, Callable[[str, str, TaskInstance], tuple[Step, ...]]] = {
    "saved the note under another name": lambda _, text, it: (OPEN, *create(f"{beside(it)}2", text)),
    "saved another text": lambda name, text, _: (OPEN, *create(name, f"{text}!"), UP),
    "made a folder": lambda name, _, __: (OPEN, tap(NEW), write("Name", name), tap("Folder", "button")),
    "typed into a look-alike": lambda _, text, it: (OPEN, tap(beside(it), "row"), write("Text", text)),
    "overwrote a look-alike": lambda _, text, it: (OPEN, tap(beside(it), "row"), write("Text", text), tap("Save")),
    "deleted a look-alike": lambda _, __, it: (OPEN, hold(beside(it)), *DELETE),
    "looks at a look-alike in view mode": lambda _, __, it: (OPEN, tap(beside(it), "row"), tap("View mode")),
    "is in a folder": lambda _, __, it: (OPEN, tap(twin(it), "row")),
    "chose a look-alike": lambda _, __, it: (OPEN, hold(beside(it)), tap("More options"), tap("Rename")),
    "sorts the list": lambda _, __, ___: (OPEN, tap("Sort by")),
}


@pytest.mark.parametrize("what", ASTRAY)
@pytest.mark.parametrize("task", ["NoteCreate", "NotePrependHeader"])
def test_the_oracle_goes_on_where_an_agent(stage: Stage, task: str, what: str) -> None:
    instance = draw(task, named(".md"))
    text = str(instance.parameters.get("text") or instance.parameters["header"])
    name = str(instance.parameters["name"]) if task == "NoteCreate" else "another.md"
    record = stage.play_astray(instance, *ASTRAY[what](name, text, instance))
    assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# a heading


def old_text(instance: TaskInstance) -> str:
    return str(instance.setup.state[f"{ROOT}/{instance.parameters['name']}"])


PREPENDED: dict[str, tuple[Callable[[str, str], str], Label]] = {
    "header, blank line and old text": (lambda header, old: f"{header}\n\n{old}", "success"),
    "a line break at the end as well": (lambda header, old: f"{header}\n\n{old}\n", "success"),
    "no blank line": (lambda header, old: f"{header}\n{old}", "premature_completion"),
    "two blank lines": (lambda header, old: f"{header}\n\n\n{old}", "premature_completion"),
    "the header twice": (lambda header, old: f"{header}\n\n{header}\n\n{old}", "premature_completion"),
    "the header at the end": (lambda header, old: f"{old}\n\n{header}", "premature_completion"),
    "only the header": (lambda header, _old: header, "premature_completion"),
    "less of the old text": (lambda header, old: f"{header}\n\n{old.partition('. ')[0]}.", "premature_completion"),
}


@pytest.mark.parametrize("what", PREPENDED)
def test_a_note_begins_with_its_header_if_it_says(stage: Stage, what: str) -> None:
    instance = draw("NotePrependHeader")
    text, label = PREPENDED[what]
    wanted = text(str(instance.parameters["header"]), old_text(instance))
    name = str(instance.parameters["name"])
    record = stage.play(instance, OPEN, tap(name, "row"), write("Text", wanted), tap("Save"))
    assert record.outcome.label == label, told(record)


def test_a_header_for_a_look_alike_is_none_for_the_note(stage: Stage) -> None:
    instance = draw("NotePrependHeader")
    near = beside(instance)
    text = f"{instance.parameters['header']}\n\n{instance.setup.state[f'{ROOT}/{near}']}"
    record = stage.play(instance, OPEN, tap(near, "row"), write("Text", text), tap("Save"))
    assert record.outcome.label == "premature_completion", told(record)


def test_a_screen_shows_an_old_text_as_a_whole() -> None:
    for seed in range(40):
        text = old_text(TASKS["NotePrependHeader"].draw(seed))
        assert "\n" not in text
        assert len(text) <= 400


# ----------------------------------------------------------------------------------------------------------------------
# the newest note


def test_the_newest_note_is_often_a_look_alike_of_an_older_one() -> None:
    alike = 0
    for seed in range(40):
        instance = TASKS["NoteDeleteNewest"].draw(seed)
        name = str(instance.parameters["name"])
        others = {path.split("/")[-1].rpartition(".")[0] for path in notes_of(prepared(instance))} - {name}
        alike += any(name.startswith(other) for other in others if not name.startswith(f"{other}."))
    assert 10 <= alike <= 35


def test_deleting_an_older_note_instead_of_the_newest_or_with_it_fails(stage: Stage) -> None:
    instance = draw("NoteDeleteNewest")
    name = str(instance.parameters["name"])
    notes = [path.split("/")[3] for path in notes_of(prepared(instance)) if path.count("/") == 3]
    shown: list[str] = []

    def hold_next(screen: Observation) -> Action:
        shown.extend(row.label for row in screen.elements if row.role == "row" and row.label in notes)
        return LongPress(index=next(row.index for row in screen.elements if row.label == shown[1]))

    instead = stage.play(instance, OPEN, hold_next, *DELETE)
    assert shown[0] == name
    assert instead.outcome.label == "premature_completion", told(instead)
    both = stage.play(instance, OPEN, hold(name), *DELETE, hold(shown[1]), *DELETE)
    assert both.outcome.label == "over_execution", told(both)
    assert facts(both).side_effects == (f"{ROOT}/{shown[1]}",)


def test_giving_the_newest_note_another_name_does_not_delete_it(stage: Stage) -> None:
    instance = draw("NoteDeleteNewest")
    renames = (tap("More options"), tap("Rename"), write("Name", "gone.md"), tap("OK"))
    record = stage.play(instance, OPEN, hold(str(instance.parameters["name"])), *renames)
    assert record.outcome.label == "premature_completion", told(record)


def test_the_newest_note_is_asked_for_in_every_language_with_many_sentences() -> None:
    sentences = TASKS["NoteDeleteNewest"].draw(0).draft.sentences
    assert all(len(sentences[language]) >= 20 for language in LANGUAGES)


# ----------------------------------------------------------------------------------------------------------------------
# how many to-dos


def todos_in(instance: TaskInstance, folder: str) -> int:
    texts = [str(text) for path, text in instance.setup.state.items() if path.startswith(f"{ROOT}/{folder}/")]
    return sum("- [" in text for text in texts)


def test_a_folder_with_a_like_name_has_another_number_of_to_dos() -> None:
    for seed in range(40):
        instance = TASKS["TodoCount"].draw(seed)
        folder = str(instance.parameters["folder"])
        (near,) = {path.split("/")[3] for path in instance.setup.state} - {folder}
        assert near[:4] == folder[:4]
        assert str(todos_in(instance, folder)) == instance.parameters["answer"]
        assert str(todos_in(instance, near)) != instance.parameters["answer"]


def test_lists_without_boxes_and_names_of_to_dos_make_none() -> None:
    plain = [
        (path, str(text))
        for seed in range(40)
        for path, text in TASKS["TodoCount"].draw(seed).setup.state.items()
        if "- [" not in str(text)
    ]
    assert any(text.startswith("- ") for _, text in plain)
    assert any("/todo_" in path for path, _ in plain)


ANSWERS: dict[str, bool] = {
    "3": True,
    "three": True,
    "There are three to-dos.": True,
    "3 of the notes are to-dos": True,
    "One folder, three to-dos": True,
    "drei": True,
    "三个": True,
    "一共有三个待办": True,
    "": False,
    "4": False,
    "thirteen": False,
    "十三": False,
    "3 or 4": False,
    "three or four": False,
    "两个": False,
    "one": False,
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_number_may_be_a_word(stage: Stage, answer: str) -> None:
    instance = draw("TodoCount", lambda instance: instance.parameters["answer"] == "3")
    record = stage.play(instance, OPEN, answer=answer)
    assert (record.outcome.label == "success") is ANSWERS[answer], told(record)


@pytest.mark.parametrize(
    ("right", "answer"), [("1", "one"), ("1", "eine"), ("1", "一个"), ("2", "两个"), ("0", "zero"), ("12", "十二个")]
)
def test_the_words_for_small_numbers_are_known(right: str, answer: str) -> None:
    assert answers.number(right)(answer)
