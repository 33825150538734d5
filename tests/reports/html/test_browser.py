"""The page in a real browser: what a person sees and can do, with keys alone, and what hostile text cannot do."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.html import html_page
from agent_eval.reports.html.payload import payload_of
from agent_eval.reports.layout import visible
from tests.reports.html.runs import HOSTILE, PARTING, hostile, large, ordinary, parting
from tests.reports.html.test_page import advice

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: `make test` installs it")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: `apt-get install chromium`"),
]

WIDE, NARROW = (1280, 900), (390, 844)
Scheme = Literal["light", "dark"]
RUNS: dict[str, Callable[[], tuple[RunManifest, tuple[EpisodeRecord, ...]]]] = {
    "ordinary": ordinary,
    "parting": parting,
    "hostile": hostile,
    "large": lambda: large(300),
}


def settle(page: Any) -> None:
    """Let the page deal with what has happened to it: it does so before a timer that is set now."""
    page.evaluate("new Promise(done => setTimeout(() => setTimeout(done, 0), 10))")


@dataclass
class Opened:
    """A page in the browser, with everything that went wrong and everything that it asked for."""

    page: Any
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, fragment: str) -> Any:
        """Go to a place of the page, as somebody who follows a link does."""
        self.page.evaluate("fragment => { location.hash = fragment }", fragment)
        settle(self.page)
        return self.page

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)
            settle(self.page)

    @property
    def at(self) -> str:
        """The fragment of the address."""
        return str(self.page.evaluate("decodeURIComponent(location.hash)"))

    @property
    def view(self) -> str:
        shown = self.page.evaluate("document.querySelector('main > section:not([hidden])').id")
        return str(shown).removeprefix("view-")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox does not start as root
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=root)
        yield started
        started.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, build in RUNS.items():
        made[name] = folder / f"{name}.html"
        text = HOSTILE[1] if name == "hostile" else "Because of 12 pairs."
        made[name].write_text(html_page(*build(), run=name, advice=advice(text)), "utf-8")
    return made


Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    contexts: list[Any] = []
    opened: list[Opened] = []

    def open_one(run: str, fragment: str = "", *, size: tuple[int, int] = WIDE, scheme: Scheme = "light") -> Opened:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        made = Opened(page, files[run].as_uri())
        opened.append(made)
        page.on("console", lambda message: made.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: made.complaints.append(str(error)))
        page.on("request", lambda request: made.requests.append(request.url))
        page.goto(made.address + fragment)
        settle(page)
        return made

    yield open_one
    for each in opened:  # whatever a test is about: the page is quiet, and asks for nothing but itself
        assert each.complaints == []
        assert {url.partition("#")[0] for url in each.requests} == {each.address}
        assert each.page.evaluate("window.canary") is None
    for context in contexts:
        context.close()


VIEWS = {
    "summary": "#summary",
    "list": "#episodes",
    "episode": "#episode=w4a8/Third/0&step=2",
    "beside": "#compare=w4a8/Third/0",
}


# ----------------------------------------------------------------------------------------------------------------------
# for everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_and_nothing_is_cut_off(
    open_page: Open, view: str, size: tuple[int, int], scheme: Scheme
) -> None:
    opened = open_page("parting", VIEWS[view], size=size, scheme=scheme)
    for details in opened.page.query_selector_all("main > section:not([hidden]) details"):
        details.evaluate("each => { each.open = true }")
    found = axe.Axe().run(opened.page).response
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []
    assert len(found["passes"]) > 15
    assert opened.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_summary_with_everything_in_it(open_page: Open, scheme: Scheme) -> None:
    opened = open_page("ordinary", "#summary", scheme=scheme)
    opened.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert [each["id"] for each in axe.Axe().run(opened.page).response["violations"]] == []
    opened.keys("?")
    assert [each["id"] for each in axe.Axe().run(opened.page).response["violations"]] == []


def test_everything_can_be_reached_with_the_tab_key(open_page: Open) -> None:
    opened = open_page("parting", "#episodes")
    reached = []
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.append(opened.page.evaluate("(document.activeElement.id || document.activeElement.textContent).trim()"))
    for name in ("skip", "to-summary", "to-episodes", "theme", "keys", "filter-text", "filter-build", "filter-task",
                 "filter-label", "filter-against", "Clear", "episode", "Same/0 with bf16"):  # fmt: skip
        assert name in reached


# ----------------------------------------------------------------------------------------------------------------------
# the summary


def test_the_plots_are_drawn_and_follow_the_theme(open_page: Open) -> None:
    opened = open_page("ordinary")
    page = opened.page
    plots = page.evaluate("RUN.plots.map(plot => plot.id)")
    assert len(plots) == 4
    for plot in plots:
        assert page.query_selector(f"#{plot} svg.main-svg")
    assert len(page.query_selector_all(".sankey-link")) == sum(
        len(plot["figure"]["data"][0]["link"]["value"])
        for plot in page.evaluate("RUN.plots")
        if "migration" in plot["id"]
    )
    letters = "getComputedStyle(document.querySelector('#plot-rates .xtick text')).fill"
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(letters), page.evaluate(ground)
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: light"
    assert (page.evaluate(letters), page.evaluate(ground)) == light
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: dark"
    dark = page.evaluate(letters), page.evaluate(ground)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    page.reload()
    assert page.inner_text("#theme") == "Theme: dark"


def test_a_count_leads_to_its_episodes(open_page: Open) -> None:
    opened = open_page("ordinary")
    opened.page.click("a[href='#episodes&build=w4a8&label=success']")
    assert opened.page.inner_text("#count") == "5 of 36 episodes"
    assert opened.page.input_value("#filter-label") == "success"


def test_the_summary_can_be_read_without_scripts(browser: Any, files: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files["ordinary"].as_uri())
    assert "9/12 75 % [47, 91]" in page.text_content("#view-summary")
    assert "Scripts are off" in page.inner_text("main")
    context.close()


# ----------------------------------------------------------------------------------------------------------------------
# the list


def names(page: Any) -> list[str]:
    """Return the episodes that the list shows, in its order."""
    links = page.evaluate("[...document.querySelectorAll('#list th a')].map(link => link.getAttribute('href'))")
    return [str(link).removeprefix("#episode=") for link in links]


def test_the_filter_shows_what_it_says(open_page: Open) -> None:
    opened = open_page("ordinary", "#episodes")
    page, everything = opened.page, payload_of(*ordinary())["episodes"]
    assert page.inner_text("#count") == "36 episodes"
    tests: list[tuple[str, str, Callable[[Any], bool]]] = [
        ("#filter-build", "w4a8", lambda each: each["build"] == "w4a8"),
        ("#filter-task", "Task03", lambda each: each["task"] == "Task03"),
        ("#filter-label", "looping", lambda each: each["label"] == "looping"),
        ("#filter-against", "lost", lambda each: each["against"] == "lost"),
        ("#filter-against", "gained", lambda each: each["against"] == "gained"),
        ("#filter-against", "both failed", lambda each: each["against"] == "both failed"),
    ]
    for selector, value, holds in tests:
        page.select_option(selector, value)
        expected = [each["id"] for each in everything if holds(each)]
        assert names(page) == expected
        assert expected
        assert page.inner_text("#count") == f"{len(expected)} of 36 episodes"
        page.click("#filter button[type=reset]")
        assert page.inner_text("#count") == "36 episodes"
    page.select_option("#filter-build", "w4a8")
    page.select_option("#filter-against", "lost")
    assert names(page) == [each["id"] for each in everything if each["build"] == "w4a8" and each["against"] == "lost"]
    assert opened.at == "#episodes&build=w4a8&against=lost"
    opened.page.reload()
    assert page.inner_text("#count") == f"{len(names(page))} of 36 episodes"
    assert page.input_value("#filter-against") == "lost"


def test_free_text_finds_words_in_screens_and_replies(open_page: Open) -> None:
    opened = open_page("parting", "#episodes")
    page = opened.page
    page.fill("#filter-text", "ROW 7")
    assert names(page) == ["w4a8/Third/0"]
    page.fill("#filter-text", "hello bye")
    assert names(page) == ["w4a8/NoCall/0"]
    page.fill("#filter-text", "do longer")
    assert names(page) == ["bf16/Longer/0", "w4a8/Longer/0"]
    page.fill("#filter-text", "nothing like it")
    assert page.inner_text("#count") == "0 of 14 episodes"
    page.select_option("#filter-against", "same actions")
    page.fill("#filter-text", "")
    assert names(page) == ["w4a8/Same/0"]


def test_a_column_sorts_both_ways(open_page: Open) -> None:
    opened = open_page("parting", "#episodes")
    page = opened.page
    counts = "[...document.querySelectorAll('#list tbody tr')].map(row => parseInt(row.cells[5].textContent))"
    page.click("#list th[data-key=steps] button")
    assert page.evaluate(counts) == sorted(page.evaluate(counts))
    assert page.get_attribute("#list th[data-key=steps]", "aria-sort") == "ascending"
    page.click("#list th[data-key=steps] button")
    assert page.evaluate(counts) == sorted(page.evaluate(counts), reverse=True)
    assert page.get_attribute("#list th[data-key=steps]", "aria-sort") == "descending"


def test_many_episodes_come_in_parts_and_all_are_found(open_page: Open) -> None:
    opened = open_page("large", "#episodes")
    page = opened.page
    assert page.inner_text("#count") == "600 episodes"
    assert len(names(page)) == 250
    assert page.inner_text("#more") == "Show 250 more of 350"
    page.click("#more")
    page.click("#more")
    assert len(names(page)) == 600
    assert not page.is_visible("#more")
    page.fill("#filter-text", "WifiSet/299")
    assert names(page) == ["bf16/WifiSet/299", "w4a8/WifiSet/299"]


# ----------------------------------------------------------------------------------------------------------------------
# episodes


def lines(page: Any, selector: str) -> list[str]:
    """Return lines of a screen, without what is said to those who cannot see which one is marked."""
    found = page.evaluate(
        "at => [...document.querySelectorAll(at)].map(line => [...line.childNodes]"
        ".filter(node => node.className !== 'unseen').map(node => node.textContent).join(''))",
        selector,
    )
    return [str(line) for line in found]


def test_an_address_leads_to_its_step_which_shows_all_of_it(open_page: Open) -> None:
    opened = open_page("parting", "#episode=w4a8/Third/0&step=3")
    page = opened.page
    assert opened.view == "episode"
    assert page.inner_text("#view-episode h1") == "w4a8/Third/0"
    assert page.inner_text("#step h3").startswith("Step 3 of 5")
    assert page.inner_text("#view-episode .told") == "Task: Do it."
    assert lines(page, "#view-episode .screen li") == [
        "App: Settings",
        "[0] Up (button)",
        "[7] Row 7 (row)",
        "(scrolls)",
    ]
    assert lines(page, "#view-episode .screen .hit") == ["[7] Row 7 (row)"]
    assert page.inner_text("#view-episode .reply") == "tap(7)"
    step = page.inner_text("#step")
    for words in ("tap parsed as native", "index\n7", "switch Wi-Fi", "did not hold after this step",
                  "settings/wifi_on\tfalse\ttrue", "11 generated, 40 a second",
                  "prompt 200, of which 50 computed in 50.0 ms"):  # fmt: skip
        assert words in step
    assert "w4a8 took 5 steps of 8." in page.inner_text("#view-episode")


def test_an_episode_is_told_in_the_sentences_of_explain(open_page: Open) -> None:
    from agent_eval.reports.explain import explain

    opened = open_page("ordinary", "#episode=w4a8/Task01/0&step=4")
    (record,) = (each for each in ordinary()[1] if each.episode == "w4a8/Task01/0")
    story, said = explain(record), opened.page.inner_text("#view-episode")
    for sentence in (*story.setting, *story.beginning, *story.ending, *story.facts, *story.steps[3].notes):
        assert sentence in said
    for rule in story.rules:
        assert rule.why in said
    assert "Why the label is reversal" in said


def test_an_episode_that_is_not_there_is_said_not_to_be(open_page: Open) -> None:
    opened = open_page("parting", "#episode=w4a8/None/9")
    assert opened.page.inner_text("#view-episode") == "No such episode in this run: w4a8/None/9"
    opened.go("#compare=%ZZ")
    assert "No such episode" in opened.page.inner_text("#view-compare")
    opened.go("#episode=w4a8/Third/0&step=99")
    assert opened.page.inner_text("#step h3").startswith("Step 5 of 5")
    opened.go("#nonsense")
    assert opened.view == "summary"


@pytest.mark.parametrize("task", PARTING)
def test_the_first_difference_is_marked_where_it_is(open_page: Open, task: str) -> None:
    one, other, first = PARTING[task]
    opened = open_page("parting", f"#compare=w4a8/{task}/0&row=1")
    page = opened.page
    rows = page.query_selector_all("#view-compare .rows li")
    assert len(rows) == max(len(one), len(other))
    marked = [place for place, row in enumerate(rows) if "first difference" in row.inner_text()]
    if first is None:
        assert marked == []
        assert "the same actions throughout" in page.inner_text("#view-compare")
        return
    assert marked == [first]
    assert all("same" in row.inner_text() for row in rows[:first])
    page.click("#to-difference")
    assert opened.at == f"#compare=w4a8/{task}/0&with=bf16&row={first + 1}"
    assert page.inner_text("#h-both") == f"Step {first + 1}: the first difference"
    opened.keys("k", "d")
    assert opened.at.endswith(f"&row={first + 1}")
    sides = page.query_selector_all("#both .side")
    assert [side.query_selector("h3 .build").inner_text() for side in sides] == ["bf16", "w4a8"]
    for side, indices in zip(sides, (one, other), strict=True):
        if first < len(indices):
            assert f"[{indices[first]}] Row {indices[first]} (row)" in side.inner_text()
        else:
            assert "The episode had ended" in side.inner_text()


def test_side_by_side_opens_at_the_first_difference(open_page: Open) -> None:
    opened = open_page("parting", "#compare=w4a8/Third/0")
    assert opened.page.inner_text("#h-both") == "Step 3: the first difference"
    assert lines(opened.page, "#both .only") == ["[3] Row 3 (row)", "[7] Row 7 (row)"]


def test_behind_a_detour_the_same_actions_stand_side_by_side_again(open_page: Open) -> None:
    opened = open_page("parting", "#compare=w4a8/Detour/0&row=5")
    page = opened.page
    rows = [row.inner_text().split("\n") for row in page.query_selector_all("#view-compare .rows li")]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "3 · 5", "4 · 6", "5 · 7"]
    assert [row[1] for row in rows] == ["same", "first difference", "alone", "alone", *["same, same phone"] * 3]
    assert all("no such step" in " ".join(row) for row in rows[2:4])
    assert page.inner_text("#h-both") == "Step 3 · 5, the same action"
    assert [each.inner_text() for each in page.query_selector_all("#both h3:first-child")][:1] == ["bf16 step 3"]
    opened.keys("k")
    assert "It takes no such step here" in page.inner_text("#both .side:first-child")
    opened.keys("j", "c")
    assert opened.at == "#episode=w4a8/Detour/0&step=5"


def longest_common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of the longest common subsequence, by its definition."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest_common(one[1:], other[1:])
    return max(longest_common(one[1:], other), longest_common(one, other[1:]))


def test_rows_hold_every_step_once_and_as_many_meet_as_can(open_page: Open) -> None:
    page, rng = open_page("parting").page, random.Random("rows")
    for _ in range(200):
        one, other = ([rng.randrange(4) for _ in range(rng.randrange(9))] for _ in range(2))
        rows = page.evaluate(
            "both => { const [left, right] = both.map(all => ({ steps: all.map(action => ({ action, target: 0 })) }));"
            " return alignedRows(left, right, firstDifference(left, right)) }",
            [one, other],
        )
        for side, steps in enumerate((one, other)):
            assert [row[side] for row in rows if row[side] is not None] == list(range(len(steps)))
        assert [None, None] not in rows
        first = next((i for i, row in enumerate(rows) if None in row or one[row[0]] != other[row[1]]), len(rows))
        met = [row for row in rows[first + 1 :] if None not in row and one[row[0]] == other[row[1]]]
        assert len(met) == longest_common(one[first + 1 :], other[first + 1 :])


# ----------------------------------------------------------------------------------------------------------------------
# keys


def test_a_person_gets_everywhere_with_keys(open_page: Open) -> None:
    opened = open_page("parting")
    page = opened.page
    opened.keys("e")
    assert opened.view == "episodes"
    opened.keys("j", "j", "j", "k", "ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#episode=bf16/First/0"
    opened.keys("j", "Enter")
    assert opened.at == "#episode=w4a8/First/0"
    opened.keys("j")
    assert opened.at == "#episode=w4a8/First/0&step=2"
    opened.keys("ArrowRight", "j", "j", "j")
    assert opened.at == "#episode=w4a8/First/0&step=3"
    opened.keys("k", "ArrowLeft", "k")
    assert opened.at == "#episode=w4a8/First/0"
    opened.keys("n")
    assert opened.at == "#episode=bf16/Third/0"
    opened.keys("n")
    assert opened.at == "#episode=w4a8/Third/0"
    opened.keys("p", "p")
    assert opened.at == "#episode=w4a8/First/0"
    opened.keys("n", "n", "c")
    assert opened.at == "#compare=w4a8/Third/0&with=bf16"
    opened.keys("j", "j", "j")
    assert opened.at.endswith("&row=5")
    opened.keys("d")
    assert opened.at.endswith("&row=3")
    opened.keys("c")
    assert opened.at == "#episode=w4a8/Third/0&step=3"
    opened.keys("Escape")
    assert opened.view == "episodes"
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#episode=w4a8/Third/0"
    opened.keys("Escape")
    assert opened.view == "summary"


def test_the_slash_leads_to_the_filter_and_escape_out_of_it(open_page: Open) -> None:
    opened = open_page("parting", "#episode=bf16/Same/0")
    page = opened.page
    opened.keys("/")
    assert opened.view == "episodes"
    assert page.evaluate("document.activeElement.id") == "filter-text"
    page.keyboard.type("jkse?/")
    assert page.input_value("#filter-text") == "jkse?/"
    assert opened.view == "episodes"
    page.fill("#filter-text", "third")
    opened.keys("Escape")
    assert page.evaluate("document.activeElement.id") != "filter-text"
    opened.keys("j", "Enter", "n")
    assert opened.at == "#episode=w4a8/Third/0"
    opened.keys("n")
    assert opened.at == "#episode=w4a8/Third/0"
    opened.keys("Escape")
    assert opened.at == "#episodes&text=third"
    assert names(page) == ["bf16/Third/0", "w4a8/Third/0"]


def test_help_opens_closes_and_can_turn_the_keys_off(open_page: Open) -> None:
    opened = open_page("parting")
    page = opened.page
    opened.keys("?")
    assert page.is_visible("#help")
    opened.keys("e", "j")
    assert opened.view == "summary"
    opened.keys("Escape")
    assert not page.is_visible("#help")
    assert opened.view == "summary"
    page.click("#keys")
    page.uncheck("#keys-on")
    opened.keys("Escape", "e", "?")
    assert opened.view == "summary"
    assert not page.is_visible("#help")
    page.click("#keys")
    page.check("#keys-on")
    opened.keys("Escape", "e")
    assert opened.view == "episodes"


def test_the_browser_s_own_keys_stay_its_own(open_page: Open) -> None:
    opened = open_page("parting", "#episodes")
    opened.keys("Control+e", "Alt+s")
    assert opened.view == "episodes"


# ----------------------------------------------------------------------------------------------------------------------
# hostile text: that no script ran and nothing was asked for is checked when the page closes


def written(text: str) -> str:
    """Return how a text stands on the page where line breaks are kept."""
    return "\n".join(visible(line) for line in text.split("\n"))


FORBIDDEN = (
    "img, iframe, object, embed, link[rel=stylesheet], base, svg script, main script, [onerror], [onload], [ping]"
)


def test_hostile_text_is_shown_as_it_is_written_and_does_nothing(open_page: Open) -> None:
    opened = open_page("hostile")
    page = opened.page
    whole = "\n".join(HOSTILE)
    builds = payload_of(*hostile())["builds"]
    for place, text in enumerate(HOSTILE):
        episode = f"{builds[place % len(builds)]}/Task {text}/0"
        page.evaluate("id => { location.hash = episodeLink(BY_ID.get(id)) }", episode)
        settle(page)
        view = page.text_content("#view-episode")
        assert page.text_content("#view-episode h1") == visible(episode)
        assert page.text_content("#view-episode .goal") == visible(f"{text} {whole}")
        assert page.text_content("#view-episode .reply") == written(whole)
        assert page.text_content("#step .call").startswith(visible(f"type_text{text}"))
        assert [line.text_content() for line in page.query_selector_all("#step .line")][1] == visible(text)
        results = [each.text_content() for each in page.query_selector_all("#step dl.facts dd")]
        assert results[:2] == [visible(text), visible(text)]
        assert visible(text) in view
        assert page.query_selector_all(FORBIDDEN) == []
        page.evaluate("id => { location.hash = '#compare=' + named(id) }", episode)
        settle(page)
        assert page.text_content("#view-compare .goal") == visible(f"{text} {whole}")
        assert page.query_selector_all(FORBIDDEN) == []
    links = page.evaluate("[...document.links].map(link => link.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    opened.go("#summary")
    assert visible(whole) in page.text_content("#view-summary")
    legend = [each.text_content() for each in page.query_selector_all("#plot-rates .legendtext")]
    assert legend == [visible(build) for build in builds]


def test_hostile_text_can_be_searched_for_and_chosen(open_page: Open) -> None:
    opened = open_page("hostile", "#episodes")
    page = opened.page
    whole = page.inner_text("#count")
    page.fill("#filter-text", "<script>window.canary")
    assert page.inner_text("#count") == whole
    page.fill("#filter-text", "")
    for text in HOSTILE[:6]:
        page.select_option("#filter-task", f"Task {text}")
        assert page.inner_text("#count").startswith("5 of ")
        assert page.query_selector_all(FORBIDDEN) == []


@pytest.mark.parametrize(
    "text", ["<img src=x onerror='window.canary=8'>", "javascript:window.canary=9", "%", "=&=&step=2"]
)
def test_a_hostile_address_does_nothing(open_page: Open, text: str) -> None:
    opened = open_page("hostile", f"#episode={text}")
    assert "No such episode" in opened.page.inner_text("#view-episode")
    for view in ("compare", "episodes&text", "episodes&build"):
        opened.go(f"#{view}={text}")
        assert opened.page.query_selector_all(FORBIDDEN) == []


def test_what_the_browser_reads_is_what_was_recorded(open_page: Open) -> None:
    opened = open_page("hostile")
    expected = payload_of(*hostile())
    assert opened.page.evaluate("RUN.texts") == expected["texts"]
    assert opened.page.evaluate("RUN.episodes.map(episode => episode.id)") == [
        each["id"] for each in expected["episodes"]
    ]
