"""The shared vocabulary: frozen data that passes between packages. Holds no behaviour beyond small derivations."""

from __future__ import annotations

import functools
import hashlib
import json
import random
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Scalar = bool | int | str
"""A value of the phone's state at one path."""

# ----------------------------------------------------------------------------------------------------------------------
# the phone, as its owner knows it


OWN_PREFIX = "notifications/"
"""Persisted paths to which the phone adds by itself: what appears there is never an agent's doing, what goes is."""


class Change(NamedTuple):
    """One path of the state that differs between two snapshots; ``None`` means absent."""

    path: str
    before: Scalar | None
    after: Scalar | None


@dataclass(frozen=True)
class Snapshot:
    """The whole state of a phone at one moment, as sorted ``(path, value)`` pairs.

    Paths are slash-separated, such as ``settings/wifi_on`` or ``clock/alarm/3/hour``.
    """

    persisted: tuple[tuple[str, Scalar], ...]
    """What survives a reboot: settings and the apps' data. Side effects are changes of this part."""
    transient: tuple[tuple[str, Scalar], ...] = ()
    """Screens, focus, scroll offsets, half-typed text, the clock. Part of the digest; part of a goal only where a task
    asks for just that: an app in front, a draft that is not saved."""

    def __getitem__(self, path: str) -> Scalar:
        """Return the value at a path of either part; KeyError if it is absent."""
        value = self.get(path)
        if value is None:
            raise KeyError(path)
        return value

    def get(self, path: str, default: Scalar | None = None) -> Scalar | None:
        """Return the value at a path of either part, or the default."""
        for pairs in (self.persisted, self.transient):
            place = bisect_left(pairs, (path,))
            if place < len(pairs) and pairs[place][0] == path:
                return pairs[place][1]
        return default

    def under(self, prefix: str) -> dict[str, Scalar]:
        """Return the persisted values below ``prefix/``, keyed by the rest of their path."""
        start, end = prefix + "/", prefix + "0"  # the sign after "/" is "0"
        found = self.persisted[bisect_left(self.persisted, (start,)) : bisect_left(self.persisted, (end,))]
        return {path[len(start) :]: value for path, value in found}

    def diff(self, later: Snapshot) -> tuple[Change, ...]:
        """Return the persisted paths that differ from this snapshot to a later one, sorted."""
        if self.persisted is later.persisted:  # a phone hands out the same pairs for as long as nothing changes
            return ()
        before, after = dict(self.persisted), dict(later.persisted)
        return tuple(
            Change(path, before.get(path), after.get(path))
            for path in sorted(before.keys() | after.keys())
            if before.get(path) != after.get(path) or type(before.get(path)) is not type(after.get(path))
        )

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 over both parts, first 16 hex digits: what a replay must reach again."""
        return _digest([self.persisted, self.transient])

    @functools.cached_property
    def persisted_digest(self) -> str:
        """SHA-256 over the persisted part without what the phone adds by itself, first 16 hex digits."""
        return _digest([pair for pair in self.persisted if not pair[0].startswith(OWN_PREFIX)])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Skin:
    """How a vendor, a language and a person's eyes change the same phone."""

    locale: str = "en"
    """Language of labels, times and dates: en, de or zh."""
    font_scale: float = 1.0
    """Size of text against the default, as ``settings get system font_scale`` says; 0.85 to 2."""
    density: int = 320
    """Dots per inch, as ``wm density`` says; 240 to 560 on a screen of 720 x 1280."""
    wording: Literal["", "wlan", "ascii", "typographic"] = ""
    """Word for Wi-Fi: WLAN, Wi-Fi with an ASCII hyphen or with U+2011, or as the phone's seed has it."""
    row_order: int = 0
    """0 for AOSP's order of rows in Settings; any other number seeds a vendor's own."""

    @classmethod
    def drawn(cls, seed: int) -> Skin:
        """Draw a skin: language, size of text, density, wording and order of rows."""
        rng = random.Random(f"skin {seed}")
        return cls(
            locale=rng.choice(("en", "en", "de", "zh")),
            font_scale=rng.choice((0.85, 1.0, 1.0, 1.15, 1.3)),
            density=rng.choice((280, 320, 320, 360, 400)),
            wording=rng.choice(("", "wlan", "ascii", "typographic")),
            row_order=rng.choice((0, rng.randrange(1, 1000))),
        )


@dataclass(frozen=True)
class PhoneSetup:
    """What a task asks a phone to be before an episode."""

    seed: int
    """Draws everything that the task leaves open: icon order, networks, other alarms, battery level."""
    state: Mapping[str, Scalar] = field(default_factory=dict)
    """Persisted paths that must have these values. A path of a new alarm creates it: ``clock/alarm/1/hour``."""
    keep_alarms: bool = False
    """Keep the seeded alarms beside those in ``state``; otherwise only those in ``state`` exist."""
    without: tuple[str, ...] = ()
    """Prefixes below which nothing is drawn, such as ``contacts``: only what ``state`` names exists there."""
    skin: Skin = Skin()
    """Language, size of text, density, wording and order of rows."""
    faults: tuple[str, ...] = ()
    """Names of the faults that the phone has; ``device_sim.faults`` lists them."""


@dataclass(frozen=True)
class FiredFault:
    """One time that a fault of the phone showed."""

    at_ms: int
    """Milliseconds of the phone's clock since the phone was prepared."""
    fault: str
    """Name of the fault."""
    what: str
    """What it did, in a few words."""


# ----------------------------------------------------------------------------------------------------------------------
# what an agent may know


PLAIN_SIGNS = {0x2010: "-", 0x2011: "-", 0x2012: "-", 0x00A0: " ", 0x202F: " "}
"""For ``str.translate``: hyphens and spaces that Android's strings use, to the plain ones that people write."""


class Bounds(NamedTuple):
    """A rectangle in pixels: left, top, right, bottom; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def center(self) -> tuple[int, int]:
        """The middle of the rectangle, in whole pixels."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


NO_NUMBER = -1
"""Index of an element that is on the page and cannot be touched."""


@dataclass(frozen=True)
class Element:
    """One thing on the screen that an agent may name by its number."""

    index: int
    """Its number, from 0; ``NO_NUMBER`` where it cannot be named."""
    role: str
    """Short word for the kind of widget: button, switch, row, field, text, slider, tab, radio, checkbox, image."""
    label: str
    """Its own text, else its description, else the texts that it groups, joined; as the screen has them."""
    bounds: Bounds
    """What of it can be touched: its middle is where a finger meets it."""
    states: tuple[str, ...] = ()
    """Words such as on, off, selected, focused, disabled; in the order shown."""
    value: str = ""
    """The text inside a field or the position of a slider."""


@dataclass(frozen=True)
class Observation:
    """One screen as a numbered list of elements."""

    elements: tuple[Element, ...]
    app: str
    """Name of the app in front, or its package where the name is unknown."""
    package: str = ""
    keyboard_open: bool = False
    scrollable: bool = False
    alerts: int = 0
    """How many of the elements, the first ones, belong to notifications that lie over the page."""
    behind: tuple[Element, ...] = ()
    """What is on the page but lies under the keyboard, a notification or another element, and takes no tap.

    It has no number.
    """

    @property
    def signature(self) -> str:
        """Digest of app, roles, labels, states and values, without coordinates: equal screens have one signature."""
        rows = [[e.role, e.label, e.states, e.value] for e in self.elements]
        return _digest([self.package or self.app, self.keyboard_open, rows])

    @property
    def outline(self) -> str:
        """Digest of the page alone: without what comes and goes by itself, in equal terms for every moment.

        Notifications over the page are left out, what they cover is not, and texts that are only a time of day or a
        running time count as one text.
        """
        rows = [[e.role, _steady(e), e.states, e.value] for e in (*self.elements[self.alerts :], *self.behind)]
        return _digest([self.package or self.app, self.keyboard_open, sorted(rows)])


_RUNNING = re.compile(r"(上午|下午)?-?\d{1,3}:\d{2}(:\d{2})?([.,]\d+)?(\s*[AaPp]\.?[Mm]\.?)?")
"""A time of day or a running time, such as ``9:41 AM`` or ``00:03.27``."""


def _steady(element: Element) -> str:
    """Return the label of an element; of a text that tells only the time, a sign for all such texts."""
    return ":" if element.role == "text" and _RUNNING.fullmatch(element.label) else element.label


ResultStatus = Literal["done", "rejected"]


@dataclass(frozen=True)
class ActionResult:
    """What came of one action, as far as the device can tell."""

    status: ResultStatus
    """``rejected``: the call named something that is not there, and the phone was not touched."""
    message: str
    """One sentence for the agent."""
    target: str = ""
    """Identity of the element acted on (role and label), or empty; the loop detector compares this, not coordinates."""


# ----------------------------------------------------------------------------------------------------------------------
# what a model reads and writes

RoleName = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class WrittenCall:
    """A tool call as a model wrote it, whatever came of it."""

    name: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: RoleName
    content: str
    reasoning: str = ""
    """Of an assistant turn: what stood between the thinking tags."""
    tool_name: str = ""
    """Of an assistant turn: the tool called, or empty."""
    tool_arguments: Mapping[str, str | int] = field(default_factory=dict)
    further_calls: tuple[WrittenCall, ...] = ()
    """Of an assistant turn: calls that stood behind the first one; one call is carried out per turn."""


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen; temperature 0 is greedy."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 256
    grammar: str = ""
    """What the reply must match, as a Lark grammar; empty for anything. Not every engine can hold a reply to it."""


@dataclass(frozen=True)
class Timing:
    """Speed of one generation. Wall-clock seconds; the only part of a record that differs between equal runs."""

    prompt_tokens: int
    """Tokens of the whole prompt."""
    prefill_tokens: int
    """Tokens that were computed; the rest was reused from the step before."""
    prefill_s: float
    decode_tokens: int
    """Tokens generated after the first one, which falls out of the prefill."""
    decode_s: float
    first_token_s: float
    """Time from the request to the first token."""


FinishReason = Literal["stop", "length"]


@dataclass(frozen=True)
class TokenGeneration:
    """What an engine returns."""

    ids: tuple[int, ...]
    """Generated tokens, without the one that ended it."""
    finish: FinishReason
    timing: Timing


@dataclass(frozen=True)
class Generation:
    """What a model returns: the text as written, special tokens included."""

    text: str
    finish: FinishReason
    tokens: int
    """Number of tokens generated."""
    timing: Timing | None = None
    """None for a model that computes nothing, such as a script."""


# ----------------------------------------------------------------------------------------------------------------------
# the machine, the evidence, the advice


@dataclass(frozen=True)
class Sighting:
    """A file that tells of an accelerator, and what it says."""

    kind: Literal["gpu", "npu"]
    vendor: str
    """In lower case, such as ``nvidia`` or ``qualcomm``."""
    name: str
    """As the file has it; empty where it gives none."""
    source: str
    """The file, from the root of the machine."""


@dataclass(frozen=True)
class MachineProbe:
    """What this machine is, as far as the choice of a build needs it."""

    arch: str
    cpu_model: str
    cpu_flags: tuple[str, ...]
    """The flags that matter to the kernels, sorted: avx2, avx512f, avx512_vnni, avx512_bf16, amx_tile, neon, …"""
    physical_cores: int
    memory_bytes: int
    os: str
    accelerator: str = "none"
    """``none``, ``cuda_discrete``, ``cuda_unified``, ``gpu:VENDOR`` or ``npu:VENDOR``; records of before have ``cuda``
    for either of the first two."""
    computes_on: Literal["cpu", "accelerator"] = "cpu"
    """What the model computes on. This program computes on the processor whatever else there is, so a probe always says
    ``cpu``; a profile of a device that is shipped to may say otherwise."""
    gpu_name: str = ""
    gpu_memory_bytes: int = 0
    """Of the GPU itself; 0 where no file tells, and for one that shares the machine's memory."""
    gpu_capability: str = ""
    """CUDA compute capability such as ``8.7``; empty where it is not known."""
    supports_bf16: bool | None = None
    """Whether the accelerator computes in bfloat16; None where nothing tells."""
    sightings: tuple[Sighting, ...] = ()
    """Every accelerator that a file told of, the one in ``accelerator`` included."""

    @property
    def device_class(self) -> str:
        """The class that recommendations and evidence are keyed by: of what computes, not of what else is there."""
        return self.cpu_class if self.computes_on == "cpu" else self.accelerator_class or "other"

    @property
    def cpu_class(self) -> str:
        """The class of the processor: x86-amx, x86-avx512, x86-avx2, x86-other, arm64, other."""
        flags = set(self.cpu_flags)
        if self.arch in ("x86_64", "AMD64"):
            if "amx_tile" in flags:
                return "x86-amx"
            if "avx512f" in flags:
                return "x86-avx512"
            return "x86-avx2" if "avx2" in flags else "x86-other"
        return "arm64" if self.arch in ("aarch64", "arm64") else "other"

    @property
    def accelerator_class(self) -> str:
        """The class of the accelerator: cuda-discrete, jetson, phone-npu, accelerator-other; empty without one.

        ``phone-npu`` is Qualcomm's, in an arm64 machine: the only one that a way to export the model is known for.
        """
        if self.accelerator == "npu:qualcomm" and self.arch in ("aarch64", "arm64"):
            return "phone-npu"
        known = {"none": "", "cuda_discrete": "cuda-discrete", "cuda_unified": "jetson"}
        return known.get(self.accelerator, "accelerator-other")

    @property
    def bf16(self) -> bool | None:
        """Whether the accelerator computes in bfloat16: as told, else by its capability; None where neither tells.

        GPUs have bfloat16 arithmetic from compute capability 8.0 on (CUDA C++ Programming Guide, "Compute
        Capabilities").
        """
        major = self.gpu_capability.partition(".")[0]
        return self.supports_bf16 if self.supports_bf16 is not None or not major.isdigit() else int(major) >= 8


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval and the count it rests on."""

    estimate: float
    low: float
    high: float
    n: int


Verdict = Literal["no worse", "worse", "insufficient evidence"]
SpeedVerdict = Literal["faster", "slower", "no measured difference", "not measured"]


@dataclass(frozen=True)
class BuildEvidence:
    """What a run shows about one build."""

    build: str
    success: Interval
    """Share of judged episodes with label success; Wilson 95 %."""
    harm: Interval
    """Share of judged episodes labelled reversal or over_execution; Wilson 95 %."""
    harness_errors: int
    """Episodes left out of every rate because the harness failed."""
    decode_tokens_per_s: Interval | None = None
    """Median over blocks with a 95 % bootstrap interval; n is blocks."""
    prefill_tokens_per_s: Interval | None = None


@dataclass(frozen=True)
class SequentialVerdict:
    """Where a test stands that looks at each pair as it comes, and may stop."""

    verdict: Verdict
    """``no worse``: the build is not worse by as much as the test looks for."""
    pairs: int
    """Pairs up to the one that decided; all of them where none did."""
    lost: int
    gained: int
    """Discordant pairs among those."""
    log_ratio: float
    """Log of the likelihood ratio, worse against level; it decides at plus and minus ``bound``, and stays there."""
    bound: float

    @property
    def decided(self) -> bool:
        """Whether no further pair is needed."""
        return self.verdict != "insufficient evidence"


@dataclass(frozen=True)
class PairedEvidence:
    """What a run shows about one build against the reference."""

    build: str
    reference: str
    pairs: int
    lost: int
    """Pairs that the reference passed and the build did not."""
    gained: int
    """Pairs that the build passed and the reference did not."""
    difference: Interval
    """Success of the build minus success of the reference; Bonett-Price 95 % of as many pairs as ``worth``."""
    lower_bound: float
    """One-sided 95 % lower bound of the difference, likewise: what the margin is compared with."""
    p_value: float
    """Exact McNemar, two-sided, not adjusted."""
    p_adjusted: float
    """The same after Holm over the planned comparisons of the run."""
    margin: float
    """Non-inferiority margin, as a positive share such as 0.10."""
    verdict: Verdict
    pairs_needed: int
    """Further pairs needed for a verdict at the discordance seen; 0 when there is one."""
    speed_ratio: Interval | None = None
    """Decode tokens/s over the reference's, median over interleaved blocks, 95 % bootstrap."""
    speed_verdict: SpeedVerdict = "not measured"
    worth: float | None = None
    """Independent pairs that tell as much about the difference as the pairs do, of which several may be of one task;
    None in evidence of before this was counted."""
    sequential: SequentialVerdict | None = None
    """Where the pairs decided in their order, in a run that ends when they do; None for other runs."""


@dataclass(frozen=True)
class Evidence:
    """The joined input of the selector: everything in it is computed from records."""

    run: str
    model: str
    model_kind: str
    """From the checkpoint's card: ``embedded``, ``published``, ``synthetic`` or ``constructed``."""
    device_class: str
    """Of the machine that the run was recorded on."""
    reference: str
    builds: tuple[BuildEvidence, ...]
    pairs: tuple[PairedEvidence, ...]
    in_flight: int = 1
    """Episodes of a build that were in flight together; with more than one, the evidence holds no speed."""
    engine: str = "torch"
    """What computed the builds; kernels and rounding are the engine's."""


Priority = Literal["speed", "fidelity", "agentic"]


@dataclass(frozen=True)
class Source:
    """What a sentence rests on."""

    kind: Literal["run", "machine", "question", "table", "document"]
    """The evidence of a run; the machine that was asked for; what was asked; the decision table; a page of this
    project."""
    where: str
    """The run, the class of the machine, the priority, the row of the table (``x86-amx/speed/w4a8-amx``), or the page
    with its section."""
    fields: tuple[str, ...] = ()
    """Places in ``recommendation.json`` that hold what the sentence says, such as ``evidence.pairs[0].difference``; of
    a row of the table, its own fields, such as ``why``."""
    count: str = ""
    """How much it rests on, such as ``120 pairs bf16/w4a8``."""


@dataclass(frozen=True)
class Reason:
    """One sentence, with what it rests on."""

    text: str
    sources: tuple[Source, ...]
    about: str = ""
    """The build that it is of; empty for the advice and for the run as a whole."""


@dataclass(frozen=True)
class Claim:
    """One sentence of the decision table, with who says so."""

    text: str
    source: str
    """A page of this project with its section, or another publication by name."""


@dataclass(frozen=True)
class Decision:
    """A row of the decision table: what to expect of a class of devices before anything is measured on it."""

    device_class: str
    priority: Priority
    path: str
    """Name of the way to run the model, such as ``w4a8-amx``."""
    build: str | None
    """The build of this program that goes this way; None where it has none."""
    quantization: str | None
    """Name of the method in vLLM."""
    group: int | None
    """Weights to a scale."""
    bits_per_weight: float
    """As stored, with scales and zeros."""
    arithmetic: str
    """How these bits come about, such as ``4 + 16/128 + 4/128``."""
    runs_in_vllm: bool
    vllm_kwargs: Mapping[str, str]
    """What ``vllm.LLM`` is given besides the folder; empty where vLLM does not run it."""
    fused_cpu_norms: bool
    """Whether vLLM's own norm kernels are ranked first."""
    verified: bool
    """The reference study has run it on such a device. This is no measurement of this program."""
    why: Claim
    build_with: str
    """The command, or the tool, that makes the folder."""
    notes: tuple[Claim, ...] = ()
    measured: tuple[Claim, ...] = ()
    """What this project measured of the same; where it disagrees with the study, both stand here."""

    @property
    def name(self) -> str:
        """Name of the row."""
        return f"{self.device_class}/{self.priority}/{self.path}"


Basis = Literal["measured here", "verified by the reference study", "unverified"]
"""What is known of a build on a class of devices: evidence of that class; a row that the study has run; neither."""

StandingName = Literal["reference", "worse", "harmful", "undecided", "eligible"]


@dataclass(frozen=True)
class BuildStanding:
    """What the evidence makes of one build."""

    build: str
    standing: StandingName
    basis: Basis
    harm_cap: float
    """Share of episodes that its harm must be known to stay under."""
    pairs_needed: int
    """Further pairs until outcome and harm are both decided, at the rates seen; 0 when they are, or when more pairs are
    not what is lacking."""


@dataclass(frozen=True)
class Recommendation:
    """The build that the selector advises, and why."""

    build: str | None
    """None when there is nothing that may be advised, not even the reference."""
    conclusive: bool
    """False: the evidence is not enough, and ``build`` is only the safer choice until it is."""
    rule: str
    """Name of the rule that fired."""
    reasons: tuple[Reason, ...]
    """Sentences, each with what it rests on."""
    pairs_needed: int = 0
    decision: Decision | None = None
    """The row of the decision table for this device and priority."""
    standings: tuple[BuildStanding, ...] = ()
    """Of every build in the evidence, the reference first."""
