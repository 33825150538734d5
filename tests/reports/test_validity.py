from __future__ import annotations

import pytest

from agent_eval.reports.validity import Holds, validity_of
from agent_eval.types import FiredFault
from tests.reports.builders import episode, manifest, run

SOUND = {"bf16": "SSNS", "bf16-again": "SSNS", "null": "PPPP", "random": "NLNP", "oracle": "SSSS"}


def standing(letters: dict[str, str]) -> dict[str, Holds]:
    builds = [build for build in letters if build != "bf16-again"]
    again = "bf16" if "bf16-again" in letters else ""
    found = validity_of(manifest(builds, 4, noise_band=again), run(letters))
    agents: dict[str, Holds] = {check.agent: check.holds for check in found.agents}
    return {**agents, "again": found.same_again, "harness": found.harness}


def test_a_sound_run_holds_in_everything() -> None:
    assert set(standing(SOUND).values()) == {"holds"}


def test_what_was_not_played_is_open() -> None:
    assert standing({"bf16": "SSNS"}) == {
        "null": "open", "random": "open", "oracle": "open", "again": "open", "harness": "holds",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("build", "letters", "broken"),
    [
        ("bf16-again", "SSNN", "again"),
        ("null", "PSPP", "null"),
        ("random", "SLNP", "random"),
        ("oracle", "SSSN", "oracle"),
        ("bf16", "SSNE", "harness"),
    ],
)
def test_each_thing_that_must_hold_can_be_broken_alone(build: str, letters: str, broken: str) -> None:
    found = standing({**SOUND, build: letters})
    assert [name for name, holds in found.items() if holds == "broken"] == [broken]


def test_doing_nothing_may_pass_what_was_so_already() -> None:
    already = episode("success", build="null", first_reach=0)
    assert validity_of(manifest(("null",)), [already]).agents[0].holds == "open"
    records = [already, episode("premature_completion", build="null", task="AlarmCreate", block=1)]
    null = validity_of(manifest(("null",)), records).agents[0]
    assert null.share is not None
    assert (null.share.n, null.holds) == (1, "holds")


def test_lost_episodes_attempts_and_faults_of_the_phone_are_counted() -> None:
    fired = (FiredFault(10, "promo_popup", "shown"), FiredFault(20, "promo_popup", "shown"))
    records = [
        episode("harness_error"),
        episode("success", attempt=1).model_copy(update={"faults": fired}),
        episode("harness_error", task="AlarmCreate", block=1),
    ]
    found = validity_of(manifest(("bf16",), faults=("promo_popup", "stale_tree")), records)
    assert (found.recorded, found.lost, found.retried) == (2, 1, 1)
    assert found.phone_faults == {"promo_popup": 2, "stale_tree": 0}
