"""The page as a file: whole, harmless, the same each time, in need of nothing. How it behaves is in test_browser."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.cli import main
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.html import PAGE_NAME, Advice, html_page
from agent_eval.reports.html.payload import payload_of
from agent_eval.reports.layout import visible
from agent_eval.types import Reason, Recommendation, Source
from tests.reports.builders import manifest, run
from tests.reports.html.runs import HOSTILE, hostile, large, ordinary, parting

ROOT = Path(__file__).parents[3]


def parsed(page: str) -> Any:
    return lxml.html.document_fromstring(page.encode(), parser=lxml.html.HTMLParser(encoding="utf-8", huge_tree=True))


def data_of(tree: Any) -> Any:
    (element,) = tree.xpath("//script[@type='application/json']")
    return json.loads(element.text)


def text_of(tree: Any, xpath: str) -> str:
    """Return the words of the one element that a path leads to, as they are read."""
    (element,) = tree.xpath(xpath)
    return " ".join(element.text_content().split())


def advice(text: str) -> tuple[Advice, ...]:
    reasons = (Reason(text, (Source("run", text, (), text),), text),)
    return (
        Advice("speed", Recommendation(text, conclusive=True, rule=text, reasons=reasons)),
        Advice("agentic", Recommendation(None, conclusive=False, rule="none", reasons=())),
        Advice("fidelity", Recommendation("bf16", conclusive=False, rule="few", reasons=reasons, pairs_needed=40)),
    )


def test_every_episode_is_in_the_page() -> None:
    for made_manifest, records in (ordinary(), parting(), hostile()):
        data = data_of(parsed(html_page(made_manifest, records)))
        assert {each["id"] for each in data["episodes"]} == {record.episode for record in records}
        expected = payload_of(made_manifest, records)
        assert {name: data[name] for name in expected} == expected


ATTRIBUTES_THAT_LOAD = (
    "src",
    "href",
    "srcset",
    "action",
    "data",
    "poster",
    "background",
    "ping",
    "formaction",
    "style",
)


@pytest.mark.parametrize("made", [ordinary(), hostile()], ids=["ordinary", "hostile"])
def test_nothing_in_the_page_leads_out_of_it(made: tuple[RunManifest, tuple[EpisodeRecord, ...]]) -> None:
    tree = parsed(html_page(*made, run=HOSTILE[0], advice=advice(HOSTILE[1])))
    loads = {
        element.get(name)
        for element in tree.iter("*")
        for name in ATTRIBUTES_THAT_LOAD
        if element.get(name) is not None
    }
    assert all(value.startswith("#") or value == "data:," for value in loads)
    assert not [name for element in tree.iter("*") for name in element.attrib if name.startswith("on")]
    assert {element.tag for element in tree.iter("*")}.isdisjoint({"img", "iframe", "object", "embed", "base"})
    assert len(tree.xpath("//script")) == 3
    styles = "".join(element.text or "" for element in tree.xpath("//style"))
    assert "url(" not in styles
    assert "@import" not in styles


def test_the_policy_allows_what_is_in_the_page_and_nothing_else() -> None:
    tree = parsed(html_page(*hostile()))
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    rules = dict(part.split(" ", 1) for part in policy.split("; "))

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [hashed(each.text) for each in tree.xpath("//script[not(@type)]")]
    assert set(rules["style-src"].split()) == {hashed(each.text or "") for each in tree.xpath("//style")}
    assert (rules["base-uri"], rules["form-action"], rules["img-src"]) == ("'none'", "'none'", "data:")
    assert "unsafe" not in policy


@settings(max_examples=20)
@given(st.text(min_size=1))
def test_any_text_is_shown_as_it_is_written(text: str) -> None:
    made_manifest, records = hostile((text,))
    tree = parsed(html_page(made_manifest, records, run=text, advice=advice(text)))
    assert len(tree.xpath("//script")) == 3
    shown = " ".join(visible(text).split())
    assert " ".join(tree.xpath("//title")[0].text.split()) == f"{shown} · agent-eval".strip()
    assert text_of(tree, "(//p[@class='pick'])[1]") == shown
    goals = {record.goal for record in records}
    assert goals <= set(data_of(tree)["texts"])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_as_they_are_written(text: str) -> None:
    tree = parsed(html_page(*hostile((text,)), run=text, advice=advice(text)))
    shown = " ".join(visible(text).split())
    assert text_of(tree, "(//p[@class='pick'])[1]") == shown
    assert text_of(tree, "//span[@class='run']") == shown
    assert shown in text_of(tree, "//section[@id='view-summary']")


def test_the_same_run_gives_the_same_bytes_in_any_process() -> None:
    program = (
        "import hashlib; from agent_eval.reports.html import html_page; from tests.reports.html.runs import ordinary\n"
        "print(hashlib.sha256(html_page(*ordinary(), run='r').encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert digests == {hashlib.sha256(html_page(*ordinary(), run="r").encode()).hexdigest() + "\n"}


def test_the_summary_has_counts_rates_with_both_counts_verdicts_and_links() -> None:
    tree = parsed(html_page(*ordinary()))
    outcomes = [[" ".join(cell.text_content().split()) for cell in row] for row in tree.xpath("(//table)[1]//tr")]
    assert outcomes[0] == ["label", "bf16", "w4a16", "w4a8"]
    assert ["success", "9", "9", "5"] in outcomes
    assert ["harness_error", "0", "0", "1"] in outcomes
    assert ["judged of recorded of planned", "12 / 12 / 12", "12 / 12 / 12", "11 / 12 / 12"] in outcomes
    summary = text_of(tree, "//section[@id='view-summary']")
    assert "9/12 75 % [47, 91]" in summary
    assert "5/11 45 % [21, 72]" in summary
    links = {link.get("href"): link.text_content() for link in tree.xpath("//section[@id='view-summary']//a")}
    assert links["#episodes&build=w4a8&label=success"] == "5"
    assert links["#episodes&build=w4a16&against=lost"] == "1"
    assert links["#compare=w4a16/Task04/0"] == "w4a16/Task04/0"
    assert "EngineFault: out of memory" in summary


def test_every_plot_has_a_name_and_a_table() -> None:
    tree = parsed(html_page(*ordinary()))
    plots = tree.xpath("//div[@class='plot']")
    assert [plot.get("id") for plot in plots] == ["plot-speed", "plot-rates", "plot-migration-1", "plot-migration-2"]
    assert all(plot.get("role") == "img" and "table" in plot.get("aria-label") for plot in plots)
    assert [plot["id"] for plot in data_of(tree)["plots"]] == [
        "plot-rates",
        "plot-speed",
        "plot-migration-1",
        "plot-migration-2",
    ]
    captions = [caption.text for caption in tree.xpath("//caption")]
    for words in (
        "Rates of each build",
        "Speed of each build",
        "Label with bf16 (rows) and with w4a8 (columns), pairs",
    ):
        assert words in captions


def test_a_run_that_has_nothing_yet_has_a_page_that_says_so() -> None:
    for made, records in ((manifest(), ()), (manifest(model_kind="synthetic"), run({"bf16": "E"}))):
        summary = text_of(parsed(html_page(made, records)), "//section[@id='view-summary']")
        assert "not complete" in summary
    assert "synthetic: speeds count" in summary


def test_a_page_says_what_to_know_first() -> None:
    made = manifest(model_kind="constructed", faults=("tap_noop",), concurrency=4)
    summary = text_of(parsed(html_page(made, run({"bf16": "S" * 12}))), "//ul[@class='caveats']")
    for words in ("CONSTRUCTED", "tap_noop", "4 episodes were in flight together", "not complete"):
        assert words in summary


def test_what_is_recommended_stands_with_its_reasons_and_what_they_rest_on() -> None:
    made = advice("because of 12 pairs")
    tree = parsed(html_page(*ordinary(), advice=made))
    cards = [" ".join(card.text_content().split()) for card in tree.xpath("//div[@class='card']")]
    assert [card.split()[0] for card in cards] == ["speed", "agentic", "fidelity"]
    assert "conclusive" in cards[0]
    assert "[because of 12 pairs: because of 12 pairs]" in cards[0]
    assert "nothing may be advised" in cards[1]
    assert "about 40 more pairs" in cards[2]


def test_a_large_run_stays_small() -> None:
    whole = len(html_page(*large(200)).encode()) - len(html_page(*large(1)).encode())
    assert whole / 398 < 4000  # bytes an episode of four steps


def write_run(folder: Path, made: RunManifest, records: tuple[EpisodeRecord, ...]) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text(made.model_dump_json(), "utf-8")
    lines = [record.model_dump_json() + "\n" for record in records]
    (folder / "episodes.jsonl").write_text("".join(lines), "utf-8")
    return folder


def test_the_command_writes_the_page_beside_the_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / "run", *ordinary())
    assert main(["html", str(folder)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{folder / PAGE_NAME}\n"
    assert re.search(r"\d+\.\d MB", printed.err)
    tree = parsed((folder / PAGE_NAME).read_text("utf-8"))
    assert text_of(tree, "//h1[starts-with(., 'What')]") == "What the run run shows"
    assert len(tree.xpath("//div[@class='card']")) == 3


def test_a_run_of_reference_agents_has_a_page_without_a_recommendation(tmp_path: Path) -> None:
    made = manifest(("oracle", "null"), tasks=2).model_copy(update={"agents": ("oracle", "null")})
    folder = write_run(tmp_path / "run", made, run({"oracle": "SS", "null": "NN"}))
    assert main(["html", str(folder), "--out", str(tmp_path / "page.html")]) == 0
    tree = parsed((tmp_path / "page.html").read_text("utf-8"))
    assert tree.xpath("//div[@class='card']") == []
    assert not (folder / PAGE_NAME).exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / "run", *ordinary())
    assert main(["html", str(folder), "--out", str(tmp_path / "nowhere" / "page.html")]) == 2
    said = capsys.readouterr().err
    assert "nowhere" in said
    assert "hint:" in said
