from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.types import Scalar, Snapshot

PATHS = st.lists(st.sampled_from(["a", "a/b", "a/b/c", "a0", "a-", "ab", "b/", "\u00fc/1", "z"]), max_size=6).map(
    "".join
)
STATES = st.dictionaries(PATHS, st.one_of(st.booleans(), st.integers(), st.text(max_size=3)), max_size=8)


def snapshot(persisted: dict[str, Scalar], transient: dict[str, Scalar]) -> Snapshot:
    return Snapshot(tuple(sorted(persisted.items())), tuple(sorted(transient.items())))


@given(STATES, STATES, PATHS)
def test_a_snapshot_is_read_as_a_dictionary_in_which_what_persists_wins(
    persisted: dict[str, Scalar], transient: dict[str, Scalar], other: str
) -> None:
    now, expected = snapshot(persisted, transient), {**transient, **persisted}
    for path in (*expected, other):
        assert now.get(path, "none") == expected.get(path, "none")
        assert type(now.get(path)) is type(expected.get(path))
    for path, value in expected.items():
        assert now[path] == value


@given(STATES, PATHS)
def test_what_lies_below_a_path_is_found_by_the_rest_of_its_path(persisted: dict[str, Scalar], prefix: str) -> None:
    expected = {path[len(prefix) + 1 :]: value for path, value in persisted.items() if path.startswith(prefix + "/")}
    assert snapshot(persisted, {}).under(prefix) == expected


def test_a_path_that_is_absent_is_an_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="settings/nothing"):
        _ = snapshot({"settings/wifi_on": True}, {})["settings/nothing"]
