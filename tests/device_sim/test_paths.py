from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent_eval.device_sim.paths import Paths
from agent_eval.types import Scalar

PATHS = st.sampled_from(["a", "b", "a/1/x", "a/2/x", "a/10/x", "a/x/y", "ab/3/x", "c/7/deep/er"])
VALUES = st.booleans() | st.integers(0, 2) | st.text(max_size=2)


class PathsAgainstADictionary(RuleBasedStateMachine):
    """Every way to write a dictionary, with looks in between, leaves what it leaves in a plain one."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[str, Scalar] = {"a/1/x": 1}
        self.paths = Paths(self.plain)
        self.seen = (self.paths.version, dict(self.paths))

    @rule(path=PATHS, value=VALUES)
    def write(self, path: str, value: Scalar) -> None:
        self.plain[path] = value
        self.paths[path] = value

    @rule(path=PATHS)
    def remove(self, path: str) -> None:
        assert self.paths.pop(path, None) == self.plain.pop(path, None)

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        if path in self.plain:
            del self.plain[path]
            del self.paths[path]
        else:
            with pytest.raises(KeyError):
                del self.paths[path]

    @rule(path=PATHS, value=VALUES)
    def set_default(self, path: str, value: Scalar) -> None:
        assert self.paths.setdefault(path, value) == self.plain.setdefault(path, value)

    @rule(other=st.dictionaries(PATHS, VALUES, max_size=3), way=st.sampled_from(["update", "pairs", "or"]))
    def write_several(self, other: dict[str, Scalar], way: str) -> None:
        self.plain.update(other)
        if way == "or":
            self.paths |= other
        else:
            self.paths.update(other if way == "update" else list(other.items()))

    @rule()
    def remove_the_latest(self) -> None:
        if self.plain:
            assert self.paths.popitem() == self.plain.popitem()

    @rule()
    def clear(self) -> None:
        self.paths.clear()
        self.plain.clear()

    @invariant()
    def what_is_there_is_the_same_in_order_and_by_number(self) -> None:
        assert self.paths == self.plain
        items = self.paths.sorted_items()
        assert items == tuple(sorted(self.plain.items()))
        assert [type(value) for _, value in items] == [type(self.plain[path]) for path, _ in items]
        numbers = {path.split("/")[1] for path in self.plain if path.startswith("a/")}
        assert self.paths.numbers("a") == tuple(sorted(int(name) for name in numbers if name.isdigit()))

    @invariant()
    def whatever_differs_has_another_version(self) -> None:
        version, before = self.seen
        if before != self.paths:
            assert self.paths.version != version
        self.seen = (self.paths.version, dict(self.paths))


TestPaths = PathsAgainstADictionary.TestCase
