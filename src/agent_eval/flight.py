"""Several episodes over one engine, in lockstep: which of them runs when. Knows neither models, phones nor records.

Each episode runs in a thread of its own, as ``run_episode`` waits for its model in the middle of everything; but only
one thread runs at any time, and the order never depends on a clock. The lanes take their turns by number: each goes on
until it waits for a generation, or ends and the next episode takes its place. When all wait, the engine makes one step.
So the same episodes always ask for the same generations between the same steps, which is all that the numbers of a
batch depend on. The engine is used by the thread that called ``play``, and by no other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from agent_eval.contracts import ParallelEngine
from agent_eval.errors import EngineFault
from agent_eval.types import Sampling, TokenGeneration

GRACE_S = 10.0
"""How long an episode that is given up may take to notice; it does when it next asks for a generation."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Asked:
    """An episode waits for a generation."""

    prompt: Sequence[int]
    stop: frozenset[int]
    sampling: Sampling
    prefix: Sequence[int] | None
    """What the episode's prompts begin with; None but for its first prompt."""


@dataclass(frozen=True)
class _Landed:
    """An episode has ended."""

    tell: Callable[[], None]
    """Hands out its result."""


@dataclass(frozen=True)
class _Broke:
    """Something was raised out of an episode."""

    error: BaseException


class _GivenUp(BaseException):  # no Exception, or the episode would take it for a fault and go on
    """Ends the thread of an episode that nobody waits for any more."""


class _Episode:
    """An episode in a thread of its own, which runs only while ``go_on`` waits for it."""

    def __init__(self, play: Callable[[], Callable[[], None]]) -> None:
        self._play = play
        self._said: SimpleQueue[_Asked | _Landed | _Broke] = SimpleQueue()
        self._told: SimpleQueue[TokenGeneration | EngineFault | _GivenUp] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.ticket: int | None = None
        """Of the generation that it waits for; None while there is none in flight."""
        self.answer: TokenGeneration | EngineFault | None = None
        """What it is to be told when it goes on; None where it has asked nothing."""

    def go_on(self) -> _Asked | _Landed | _Broke:
        """Start it, or tell it the answer, and let it run until it asks or ends."""
        if self.answer is None:
            self._thread.start()
        else:
            self._told.put(self.answer)
        return self._said.get()

    def ask(self, asked: _Asked) -> TokenGeneration:
        """Wait for a generation; called in the thread of the episode."""
        self._said.put(asked)
        told = self._told.get()
        if isinstance(told, BaseException):
            raise told
        return told

    def give_up(self) -> None:
        """End its thread."""
        self._told.put(_GivenUp())
        if self._thread.is_alive():
            self._thread.join(GRACE_S)

    def _run(self) -> None:
        try:
            self._said.put(_Landed(self._play()))
        except _GivenUp:
            return
        except BaseException as error:  # noqa: BLE001  raised again by the thread that waits
            self._said.put(_Broke(error))


class LaneEngine:
    """An ``Engine`` for one episode at a time among several on a ``ParallelEngine``."""

    def __init__(self, ask: Callable[[_Asked], TokenGeneration]) -> None:
        self._ask = ask
        self._prefix: Sequence[int] | None = None

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Note what the episode begins with; the engine begins only if no other episode is in flight."""
        self._prefix = prefix

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt, while others go on with theirs.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the computation failed, or no flight is under way.
        """
        prefix, self._prefix = self._prefix, None
        return self._ask(_Asked(prompt, stop, sampling, prefix))


class Flight:
    """Plays episodes on the lanes of one engine.

    Args:
        engine: Computes them; as many are in flight as it takes.
    """

    def __init__(self, engine: ParallelEngine) -> None:
        self._engine = engine
        self._began = False
        self._flying: list[_Episode | None] = [None] * engine.in_flight
        self.lanes = tuple(LaneEngine(self._asker(number)) for number in range(engine.in_flight))
        """The engine as each lane sees it."""

    def play(self, episodes: Iterable[Callable[[int], Result]], landed: Callable[[Result], None]) -> None:
        """Play episodes from a fresh beginning of the engine; the next one begins when one ends, in its lane.

        The engine begins with the first prompt, and with the first prompt of an episode that has it to itself: so one
        lane plays as an engine of one generation at a time does. Whatever is raised, out of an episode, by ``landed``
        or by an interrupt, ends all episodes.

        Args:
            episodes: In order; each is told its lane.
            landed: Told of each result, in the order in which they end.
        """
        to_come = deque(episodes)
        self._began = False

        def next_in(lane: int) -> _Episode | None:
            if not to_come:
                return None
            episode = to_come.popleft()
            return _Episode(lambda: partial(landed, episode(lane)))

        try:
            while True:
                for lane in range(len(self._flying)):
                    self._take_turn(lane, next_in)
                if not self._asking():
                    return
                self._step()
        finally:
            for episode in filter(None, self._flying):
                episode.give_up()
            self._flying = [None] * len(self._flying)

    def _take_turn(self, lane: int, next_in: Callable[[int], _Episode | None]) -> None:
        """Go on in a lane until it waits for the engine, or nothing is to come."""
        while True:
            episode = self._flying[lane] = self._flying[lane] or next_in(lane)
            if episode is None or episode.ticket is not None:
                return
            match episode.go_on():
                case _Asked() as asked:
                    self._submit(episode, asked)
                case _Landed(tell=tell):
                    self._flying[lane] = None
                    tell()
                case _Broke(error=error):
                    raise error

    def _submit(self, episode: _Episode, asked: _Asked) -> None:
        alone = len([*filter(None, self._flying)]) == 1
        try:
            if not self._began or (asked.prefix is not None and alone):
                self._engine.begin(asked.prefix or ())
                self._began = True
            episode.ticket = self._engine.submit(asked.prompt, asked.stop, asked.sampling)
        except EngineFault as fault:
            episode.answer = fault

    def _step(self) -> None:
        """Let the engine compute, and hand out what has ended: a fault to everyone where it failed."""
        try:
            done = self._engine.step()
        except EngineFault as fault:
            for episode in self._asking():
                episode.ticket = None
                episode.answer = EngineFault(fault.message, hint=fault.hint)  # one each: raising one alters it
            return
        for episode in self._asking():
            if episode.ticket is not None and episode.ticket in done:
                episode.answer = done[episode.ticket]
                episode.ticket = None

    def _asking(self) -> list[_Episode]:
        return [episode for episode in self._flying if episode is not None and episode.ticket is not None]

    def _asker(self, lane: int) -> Callable[[_Asked], TokenGeneration]:
        def ask(asked: _Asked) -> TokenGeneration:
            episode = self._flying[lane]
            if episode is None:
                raise EngineFault(
                    f"lane {lane} was asked for a generation outside of a flight",
                    hint="this is a mistake of whoever drives the lanes; only `Flight.play` makes the engine compute",
                )
            return episode.ask(asked)

        return ask
