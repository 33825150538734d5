"""Weights of few bits in vLLM compute what they compute in the torch engine, and the report says who computed it."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

pytest.importorskip("vllm")

from agent_eval import environment
from agent_eval.errors import AgentEvalError, CheckpointError
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.convert import conversion_of, convert
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.quant.formats import Gptq
from agent_eval.spark_backend.quant.formats.folder import READERS
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.name import GroupedName, parse_build
from agent_eval.spark_backend.vllm import quantisation
from agent_eval.spark_backend.vllm.engine import VllmEngine
from agent_eval.spark_backend.vllm.grouped_layer import Layout
from agent_eval.spark_backend.vllm.model import split_fused
from agent_eval.spark_backend.vllm.serving import serving
from agent_eval.types import Sampling

pytestmark = pytest.mark.vllm

BUILDS = ("w4a16", "w4a8", "w4a8-asym", "w4a16-sym")
TINY = SparkConfig(
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    vocab_size=328,  # no multiple of 64: vLLM adds rows
    max_position_embeddings=512,
    sliding_window=16,
    initializer_range=0.2,
)
CONTEXT = 512
CUT: Layout = "blocks" if library.available() else "tinygemm"
"""The layout that serves where nothing is said."""


class Folders(NamedTuple):
    """Checkpoint folders that tests share."""

    root: Path

    def of(self, build: str, *, vocabulary: int = TINY.vocab_size, **options: Any) -> Path:
        """Return the folder of a build of the tiny model, written when it is first asked for."""
        told = "-".join(sorted(options))
        folder = self.root / f"{build}-{vocabulary}-{told}"
        if not folder.exists():
            dense = self.root / f"dense-{vocabulary}"
            if not dense.exists():
                synthetic_checkpoint(dense, replace(TINY, vocab_size=vocabulary), seed=3)
            made = conversion_of(parse_build(build), **{"group": None, "method": "rtn", **options})
            convert(dense, folder, made)
        return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return Folders(tmp_path_factory.mktemp("quantised"))


def section_of(folder: Path) -> dict[str, Any]:
    section: dict[str, Any] = json.loads((folder / "config.json").read_text())["quantization_config"]
    return section


def ours(folder: Path, build: str, **fields: Any) -> dict[str, Any]:
    """Return the overrides by which a folder is served by this project."""
    name = parse_build(build)
    assert isinstance(name, GroupedName)
    return quantisation.overrides_for({**section_of(folder), **fields}, activation_bits=name.activation)


class Engines:
    """Engines over folders, each loaded once; tests only look at them, and generate."""

    def __init__(self) -> None:
        self._loaded: dict[str, VllmEngine] = {}

    def of(self, folder: Path, overrides: Mapping[str, Any] | None = None) -> VllmEngine:
        """Return the engine that serves a folder with overrides."""
        key = json.dumps([str(folder), overrides], sort_keys=True)
        if key not in self._loaded:
            self._loaded[key] = VllmEngine(folder, dtype="bfloat16", threads=1, context=CONTEXT, overrides=overrides)
        return self._loaded[key]


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    made = Engines()
    yield made
    del made
    gc.collect()


def of_vllm(model: Any, inputs: Tensor) -> dict[str, Tensor]:
    """Return what each linear layer of vLLM's model makes of inputs, cut to each layer's width."""
    found = {}
    with torch.inference_mode():
        for name, layer in model.named_modules():
            if name.endswith(("qkv_proj", "out_proj", "gate_up_proj", "down_proj")):
                found[name.removeprefix("model.")], _ = layer(inputs[:, : layer.input_size].contiguous())
        head = model.lm_head
        hidden = inputs[:, : TINY.hidden_size].contiguous()
        found["lm_head"] = head.quant_method.apply(head, hidden)[:, : head.org_vocab_size]
    return found


def of_torch(model: Any, inputs: Tensor) -> dict[str, Tensor]:
    """Return the same of the torch engine's model, under vLLM's names."""
    found: dict[str, Tensor] = {}
    with torch.inference_mode():
        for i, layer in enumerate(model.layers):
            products: dict[str, tuple[Any, int]] = {
                f"layers.{i}.self_attn.qkv_proj": (layer.self_attn.q_k_v_proj, TINY.hidden_size),
                f"layers.{i}.self_attn.out_proj": (layer.self_attn.out_proj, TINY.query_width),
                f"layers.{i}.mlp.gate_up_proj": (layer.mlp.gate_up_proj, TINY.hidden_size),
                f"layers.{i}.mlp.down_proj": (layer.mlp.down_proj, TINY.intermediate_size),
            }
            found |= {name: product(inputs[:, :width].contiguous()) for name, (product, width) in products.items()}
        found["lm_head"] = model.logits(inputs[:, : TINY.hidden_size].contiguous())
    return found


def drawn(rows: int) -> Tensor:
    width = max(TINY.hidden_size, TINY.intermediate_size, TINY.query_width)
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(rows)).bfloat16()


# ----------------------------------------------------------------------------------------------------------------------
# the same numbers


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("rows", [1, 5])
def test_every_layer_computes_bit_for_bit_what_the_torch_engine_computes(
    folders: Folders, engines: Engines, build: str, rows: int
) -> None:
    folder, inputs = folders.of(build), drawn(rows)
    expected = of_torch(load_build(folder, build, threads=1, context=CONTEXT).engine.model, inputs)
    engine = engines.of(folder, ours(folder, build))
    found = of_vllm(engine.model, inputs)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        wanted = expected[name]
        assert value.dtype == (torch.float32 if name == "lm_head" else torch.bfloat16)
        assert torch.equal(value, wanted.to(value.dtype)), name
    assert float(expected["lm_head"].abs().max()) > 0.1


@pytest.mark.parametrize("build", ["w4a16", "w4a8"])
def test_the_layers_of_torch_serve_where_the_compiled_kernels_do_not(
    folders: Folders, engines: Engines, build: str
) -> None:
    folder, inputs = folders.of(build), drawn(5)
    expected = of_torch(load_build(folder, build, threads=1, context=CONTEXT).engine.model, inputs)
    engine = engines.of(folder, ours(folder, build, layout="tinygemm"))
    found = of_vllm(engine.model, inputs)
    assert all("torch's packed 4-bit kernel" in phrase for phrase in serving(engine.model)[:2])
    for name, value in found.items():
        wanted = expected[name].float()
        torch.testing.assert_close(value.float(), wanted, rtol=2e-2, atol=2e-2 * float(wanted.abs().max()))


@pytest.mark.parametrize("layout", [CUT, "tinygemm"])
def test_both_paths_of_one_weight_agree(folders: Folders, engines: Engines, layout: str) -> None:
    folder = folders.of("w4a16")
    engine = engines.of(folder, ours(folder, "w4a16", layout=layout))
    with torch.inference_mode():
        layers: list[Any] = [layer.few_bits for layer in engine.model.modules() if hasattr(layer, "few_bits")]
        assert len(layers) == 4 * TINY.num_hidden_layers + 1
        for rows in (1, 2, 7, 16, 33, 40):
            for layer in layers:
                x = drawn(rows)[:, : layer.shape[1]].contiguous()
                packed, widened = layer.by_packed(x).float(), layer.by_widening(x).float()
                torch.testing.assert_close(packed, widened, rtol=1e-2, atol=1e-2 * float(packed.abs().max()))


@pytest.mark.parametrize("threshold", [1, 3, 4, 10_000])
def test_the_threshold_says_from_how_many_rows_on_weights_are_widened(
    folders: Folders, engines: Engines, threshold: int
) -> None:
    folder, x = folders.of("w4a16"), drawn(3)[:, : TINY.hidden_size].contiguous()
    engine = engines.of(folder, ours(folder, "w4a16", dequant_threshold=threshold))
    with torch.inference_mode():
        layer: Any = engine.model.get_submodule("model.layers.0.mlp.gate_up_proj").few_bits
        path = layer.by_widening if threshold <= 3 else layer.by_packed
        assert torch.equal(layer(x), path(x))
        assert not torch.equal(layer.by_widening(x).float(), layer.by_packed(x).float())


@pytest.mark.parametrize("build", BUILDS)
def test_greedy_tokens_begin_as_the_torch_engine_has_them(folders: Folders, engines: Engines, build: str) -> None:
    folder, prompt = folders.of(build), list(range(40))
    wanted = load_build(folder, build, threads=1, context=CONTEXT).engine.generate(
        prompt, frozenset(), Sampling(max_tokens=4)
    )
    engine = engines.of(folder, ours(folder, build))
    found = engine.generate(prompt, frozenset(), Sampling(max_tokens=4))
    assert found.ids[:1] == wanted.ids[:1]  # later ones may differ: vLLM's residual stream is bfloat16
    assert len(found.ids) == 4


# ----------------------------------------------------------------------------------------------------------------------
# vLLM's own path


@pytest.mark.parametrize("build", ["w4a8", "w4a8-asym"])
def test_vllm_loads_the_same_folder_by_itself_and_multiplies_by_the_same_weights(
    folders: Folders, engines: Engines, build: str
) -> None:
    folder, inputs = folders.of(build, vocabulary=320), drawn(5)  # its loader takes no vocabulary with rows to add
    exact = of_torch(load_build(folder, build.replace("a8", "a16") if build == "w4a8-asym" else "w4a16-sym", threads=1,
                                context=CONTEXT).engine.model, inputs)  # fmt: skip
    engine = engines.of(folder)
    said = serving(engine.model)
    if not any("cpu_gemm_wna16" in phrase for phrase in said):
        pytest.skip(f"vLLM has no product with 16-bit activations here: {said}")
    if not hasattr(torch.ops._C, "cpu_gemm_wna16"):
        pytest.skip("vLLM's library for this processor (AVX2) holds no cpu_gemm_wna16, though its loader chooses it")
    found = of_vllm(engine.model, inputs)
    assert said[0].startswith("vLLM's cpu_gemm_wna16")
    assert said[1].startswith("head: vLLM's cpu_gemm_wna16")
    for name, value in found.items():
        wanted = exact[name].float()
        torch.testing.assert_close(value.float(), wanted, rtol=2e-2, atol=2e-2 * float(wanted.abs().max()))


OWNERS = [
    ({"quant_method": "gptq", "sym": True}, 8, True, "vLLM"),
    ({"quant_method": "gptq"}, 8, True, "vLLM"),
    ({"quant_method": "awq"}, 8, True, "vLLM"),
    ({"quant_method": "gptq", "sym": False}, 8, True, "agent-eval"),  # vLLM refuses it
    ({"quant_method": "gptq", "sym": True}, 16, True, "agent-eval"),  # it would round activations
    ({"quant_method": "awq"}, 16, True, "agent-eval"),
    ({"quant_method": "cpu_int4"}, 8, True, "agent-eval"),  # vLLM has no such method
    ({"quant_method": "cpu_int4"}, 16, False, "agent-eval"),
    ({"quant_method": "gptq", "sym": True}, 8, False, "agent-eval"),
    ({"quant_method": "awq"}, 8, False, "agent-eval"),
]


@pytest.mark.parametrize(("section", "bits", "has", "owner"), OWNERS)
def test_vllm_serves_what_it_computes_as_the_build_says(
    section: dict[str, Any], bits: int, has: bool, owner: str
) -> None:
    assert quantisation.kernel_owner(section, activation_bits=bits, vllm_has_int4=has) == owner


def test_overrides_carry_the_whole_section_and_leave_the_given_one_alone() -> None:
    section = Gptq(64).section()
    before = dict(section)
    found = quantisation.overrides_for(section, activation_bits=16)["quantization_config"]
    assert section == before
    told = {"quant_method": quantisation.OWN, "folder_method": "gptq", "activation_bits": 16}
    assert found == {**before, **told}


# ----------------------------------------------------------------------------------------------------------------------
# what a folder may look like


@pytest.mark.parametrize(
    ("build", "options", "head", "table"),
    [
        ("w4a16", {}, "kernel", None),  # table and head are one
        ("w4a16", {"keep_embedding": True}, "kernel", "rows as they are"),
        ("w4a16", {"keep_head": True}, "vLLM's", None),
        ("w4a8", {}, "kernel", "rows as they are"),
        ("w4a8", {"keep_head": True}, "vLLM's", None),
        ("w4a8-asym", {"keep_head": True}, "vLLM's", None),
    ],
)
def test_heads_and_tables_are_served_as_the_folder_has_them_and_the_report_says_it(
    folders: Folders, engines: Engines, build: str, options: dict[str, Any], head: str, table: str | None
) -> None:
    folder = folders.of(build, **options)
    reference = load_build(folder, build, threads=1, context=CONTEXT).engine.model
    ids = torch.tensor([3, 0, 327, 3])
    engine = engines.of(folder, ours(folder, build))
    with torch.inference_mode():
        said = serving(engine.model)
        rows = engine.model.embed_input_ids(ids)  # type: ignore[operator]
        logits = engine.model.compute_logits(drawn(2)[:, : TINY.hidden_size].contiguous())  # type: ignore[operator]
    assert "in vLLM" in said[0]
    assert said[1].startswith("head: ")
    assert head in said[1]
    assert ("in vLLM" in said[1]) == (head == "kernel")
    assert said[2:] == (() if table is None else (f"embedding: {table}",))
    with torch.inference_mode():
        assert torch.equal(rows, reference.embedding(ids))
        wanted = reference.logits(drawn(2)[:, : TINY.hidden_size].contiguous())
    assert logits.shape == wanted.shape
    torch.testing.assert_close(logits.float(), wanted, rtol=1e-2, atol=1e-2 * float(wanted.abs().max()))


def test_loaded_tensors_are_given_up_once_they_are_packed(folders: Folders, engines: Engines) -> None:
    folder = folders.of("w4a8")
    engine = engines.of(folder, ours(folder, "w4a8"))
    layers: list[Any] = [layer for layer in engine.model.modules() if hasattr(layer, "few_bits")]
    assert len(layers) == 4 * TINY.num_hidden_layers + 1
    for layer in layers:
        assert list(layer.parameters()) == []
        rows, width = layer.few_bits.shape
        held = sum(b.numel() * b.element_size() for b in layer.buffers())
        codes = rows * width // 2 * (1 if CUT == "blocks" else 2)  # torch's layout cannot be read back
        assert held <= codes + 4 * rows * width // 32 + 64 * width  # scales and zeros, a block more


@pytest.mark.parametrize("build", ["w4a16", "w4a8", "w4a8-asym"])
@pytest.mark.parametrize("made", [True, False])
def test_fused_projections_are_taken_apart_along_their_rows(build: str, made: bool) -> None:
    heads, group = [64, 32, 32], 32
    form = READERS[{"w4a16": "cpu_int4", "w4a8": "gptq", "w4a8-asym": "awq"}[build]](
        {"bits": 4, "group_size": group, "desc_act": False}
    )
    codes = torch.randint(0, 16, (sum(heads), 64), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    scale = torch.full((sum(heads), 2), 0.5).bfloat16()
    weight = GroupedWeight(codes, scale, None if form.symmetric else -3 * scale, group, 4)
    tensors = form.tensors(weight) if made else {"weight": codes}
    named = [(f"model.layers.0.self_attn.q_k_v_proj.{suffix}", tensor) for suffix, tensor in tensors.items()]
    apart = dict(split_fused(named, heads))
    if not made:
        assert [len(tensor) for tensor in apart.values()] == heads
        return
    for part, (start, rows) in zip("qkv", [(0, 64), (64, 32), (96, 32)], strict=True):
        at = f"model.layers.0.self_attn.{part}_proj."
        mine = {name.removeprefix(at): tensor for name, tensor in apart.items() if name.startswith(at)}
        wanted = form.tensors(weight.rows(start, start + rows))
        assert {name: t.tolist() for name, t in mine.items()} == {
            name: t.tolist() for name, t in wanted.items() if name != "g_idx"
        }


QUANTISED = frozenset(
    ["model.embedding", "model.layers.0.self_attn.q_k_v_proj", "model.layers.1.self_attn.q_proj", "lm_head"]
    + [f"model.layers.1.self_attn.{part}_proj" for part in "kv"]
    + ["model.layers.0.mlp.gate_proj", "model.layers.1.mlp.gate_proj", "model.layers.1.mlp.up_proj"]
)
PREFIXES = [
    ("model.embed_tokens", True),
    ("lm_head", True),
    ("model.layers.0.self_attn.qkv_proj", True),
    ("model.layers.1.self_attn.qkv_proj", True),
    ("model.layers.2.self_attn.qkv_proj", False),
    ("model.layers.0.self_attn.out_proj", False),
    ("model.layers.1.mlp.gate_up_proj", True),
    ("model.layers.11.mlp.gate_up_proj", False),
]


@pytest.mark.parametrize(("prefix", "wanted"), PREFIXES)
def test_a_module_is_quantised_if_its_matrices_are(prefix: str, wanted: bool) -> None:
    assert quantisation.is_quantised(prefix, QUANTISED) == wanted


def test_a_module_that_is_quantised_in_part_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"gate_proj is quantised and model\.layers\.0\.mlp\.up_proj is not"):
        quantisation.is_quantised("model.layers.0.mlp.gate_up_proj", QUANTISED)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"dequant_threshold": 0}, "dequant_threshold is 0, expected a number of rows from 1"),
    ({"dequant_threshold": True}, "dequant_threshold is True"),
    ({"dequant_threshold": "2"}, "dequant_threshold is '2'"),
    ({"layout": "rows"}, "layout is 'rows', expected 'blocks' or 'tinygemm'"),
    ({"activation_bits": 4}, "activation_bits is 4, expected 8 or 16"),
    ({"group_size": 48}, "group_size is 48"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_a_section_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        quantisation.form_of({"quant_method": "cpu_int4", **fields}, "cpu_int4")
    assert caught.value.hint


def test_a_section_of_an_unknown_format_is_refused() -> None:
    with pytest.raises(CheckpointError, match="folder_method is 'None', expected one of: awq, cpu_int4, gptq"):
        quantisation.OwnConfig.from_config({"quant_method": quantisation.OWN})


VALUES = st.none() | st.booleans() | st.integers(-3, 600) | st.sampled_from(["blocks", "tinygemm", "gemm", ""])
FIELDS = st.dictionaries(
    st.sampled_from(["dequant_threshold", "layout", "activation_bits", "group_size", "bits", "sym", "zero_point"]),
    VALUES,
)


@given(FIELDS, st.sampled_from(["gptq", "awq", "cpu_int4", "fp8"]))
def test_any_section_is_read_or_refused_with_a_hint(fields: dict[str, Any], method: str) -> None:
    try:
        form = quantisation.form_of({"bits": 4, "group_size": 64, **fields}, method)
    except AgentEvalError as error:
        assert error.hint  # noqa: PT017  most sections are refused, some are read
    else:
        assert form.dequant_threshold >= 1
        assert form.activation in (8, 16)


def test_activations_in_float32_are_refused(folders: Folders) -> None:
    folder = folders.of("w4a16")
    with pytest.raises(AgentEvalError, match="float32"):
        VllmEngine(folder, dtype="float32", threads=1, context=CONTEXT, overrides=ours(folder, "w4a16"))


# ----------------------------------------------------------------------------------------------------------------------
# vLLM's registries and its key


def hash_of(folder: Path, overrides: Mapping[str, Any]) -> str:
    with environment.lent_to_vllm():
        from vllm import EngineArgs

        config = EngineArgs(
            model=str(folder), dtype="bfloat16", skip_tokenizer_init=True, max_model_len=256,
            kv_cache_memory_bytes=2**24, hf_overrides=dict(overrides),
        ).create_engine_config()  # fmt: skip
        return str(config.compute_hash())


def test_fields_that_say_how_layers_compute_are_in_the_key_of_compiled_models(folders: Folders) -> None:
    folder = folders.of("w4a16")
    default: dict[str, Any] = {
        "layout": CUT,
        "dequant_threshold": quantisation.default_threshold(CUT),
        "activation_bits": 16,
    }
    bare, said = hash_of(folder, {}), hash_of(folder, {"quantization_config": {**section_of(folder), **default}})
    assert bare == said  # what nobody wrote is in it too
    changed: list[dict[str, Any]] = [{"dequant_threshold": 7}, {"layout": "tinygemm"}, {"activation_bits": 8}]
    others = [
        hash_of(folder, {"quantization_config": {**section_of(folder), **default, **fields}})
        for fields in changed
        if default | fields != default
    ]
    assert len({bare, *others}) == 1 + len(others)


def test_registering_twice_changes_nothing() -> None:
    from vllm.model_executor.layers.quantization import QUANTIZATION_METHODS, get_quantization_config

    from agent_eval.spark_backend.vllm.registration import register

    register()
    before = list(QUANTIZATION_METHODS)
    register()
    assert before == QUANTIZATION_METHODS
    assert before.count("cpu_int4") == 1
    assert get_quantization_config("cpu_int4") is quantisation.CpuInt4Config
    assert get_quantization_config(quantisation.OWN) is quantisation.OwnConfig


# ----------------------------------------------------------------------------------------------------------------------
# compilers


def test_a_compiler_takes_the_operators_as_they_are(folders: Folders, engines: Engines) -> None:
    folder = folders.of("w4a16")
    engine = engines.of(folder, ours(folder, "w4a16"))
    model: Any = engine.model
    layer = model.model.layers[0].mlp.gate_up_proj

    def both(ids: Tensor) -> Tensor:
        return layer.quant_method.apply(layer, model.embed_input_ids(ids) * 2)  # type: ignore[no-any-return]

    with torch.no_grad():
        traced: Callable[[Tensor], Tensor] = torch.compile(both, backend="aot_eager", dynamic=True, fullgraph=True)
        for rows in (3, 9, 40):
            ids = torch.arange(rows)
            assert torch.equal(traced(ids), both(ids))


@pytest.mark.slow
def test_vllm_compiles_the_model(folders: Folders, engines: Engines) -> None:
    from agent_eval.spark_backend.vllm.switches import Switches

    folder, prompt = folders.of("w4a16"), list(range(40))
    engine = engines.of(folder, ours(folder, "w4a16"))
    eager = engine.generate(prompt, frozenset(), Sampling(max_tokens=8))
    compiled = VllmEngine(
        folder, dtype="bfloat16", threads=1, context=CONTEXT, overrides=ours(folder, "w4a16"),
        switches=Switches(compile=True),
    )  # fmt: skip
    found = compiled.generate(prompt, frozenset(), Sampling(max_tokens=8))
    assert found.ids[:1] == eager.ids[:1]
