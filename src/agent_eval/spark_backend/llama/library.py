"""llama.cpp in this process: its C interface, as the extension of the ``xllamacpp`` package exports it.

The package's own interface is a server with a port, a queue and a sampler; here every build is to be sampled by the
same code and timed without a server, so the functions of ``llama.h`` and ``ggml.h`` are called themselves. Their
parameter structures grow between versions: what is read or set of them is checked against the defaults that the
library itself returns, and a library that lays them out otherwise is refused.

Knows no checkpoint and no builds.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections import deque
from importlib import import_module
from importlib.metadata import version
from typing import Any

from agent_eval import environment
from agent_eval.errors import EngineFault, OperatorError

PACKAGE = "xllamacpp"
EXTRA = "pip install 'agent-eval[llama]'"
KEPT_LINES = 4
"""Warnings and errors of llama.cpp that are kept to explain a failure."""

_WARNING = 3
"""ggml_log_level."""

ROOM = 512
"""Bytes behind the known fields of a structure: more than any version has had. A callee reads its own part of them."""

F32, F16 = 0, 1
"""ggml_type of keys and values."""

NOT_FUSED = 0
"""llama_flash_attn_type; -1 leaves it to llama.cpp."""


class ModelParameters(ctypes.Structure):
    """``llama_model_params``; only its defaults are used."""

    _fields_ = (("opaque", ctypes.c_byte * ROOM),)


class ContextParameters(ctypes.Structure):
    """``llama_context_params``: the fields up to the types of keys and values, then what differs between versions."""

    _fields_ = (
        ("n_ctx", ctypes.c_uint32),
        ("n_batch", ctypes.c_uint32),
        ("n_ubatch", ctypes.c_uint32),
        ("n_seq_max", ctypes.c_uint32),
        ("n_rs_seq", ctypes.c_uint32),
        ("n_outputs_max", ctypes.c_uint32),
        ("n_outputs_max_per_seq", ctypes.c_uint32),
        ("n_threads", ctypes.c_int32),
        ("n_threads_batch", ctypes.c_int32),
        ("ctx_type", ctypes.c_int),
        ("rope_scaling_type", ctypes.c_int),
        ("pooling_type", ctypes.c_int),
        ("attention_type", ctypes.c_int),
        ("flash_attn_type", ctypes.c_int),
        ("rope_freq_base", ctypes.c_float),
        ("rope_freq_scale", ctypes.c_float),
        ("yarn_ext_factor", ctypes.c_float),
        ("yarn_attn_factor", ctypes.c_float),
        ("yarn_beta_fast", ctypes.c_float),
        ("yarn_beta_slow", ctypes.c_float),
        ("yarn_orig_ctx", ctypes.c_uint32),
        ("defrag_thold", ctypes.c_float),
        ("cb_eval", ctypes.c_void_p),
        ("cb_eval_user_data", ctypes.c_void_p),
        ("type_k", ctypes.c_int),
        ("type_v", ctypes.c_int),
        ("rest", ctypes.c_ubyte * ROOM),
    )


_DEFAULTS = {
    "n_ctx": 512,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_seq_max": 1,
    "flash_attn_type": -1,
    "yarn_ext_factor": -1.0,
    "yarn_beta_slow": -1.0,
    "defrag_thold": -1.0,
    "type_k": F16,
    "type_v": F16,
}
"""What ``llama_context_default_params`` returns for the fields by which the layout is recognised."""

_SWITCHES = bytes((0, 1, 1, 1, 1, 0, 0, 0))
"""The switches in ``rest``: embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified and two bytes' gap."""
_SWA_FULL = 4


class Batch(ctypes.Structure):
    """``llama_batch``: tokens to compute; positions and sequences left out follow the memory."""

    _fields_ = (
        ("n_tokens", ctypes.c_int32),
        ("token", ctypes.POINTER(ctypes.c_int32)),
        ("embd", ctypes.c_void_p),
        ("pos", ctypes.POINTER(ctypes.c_int32)),
        ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
        ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("logits", ctypes.POINTER(ctypes.c_int8)),
    )


_VECTORS = re.compile(r"((?:AVX|AMX|NEON|SVE|DOTPROD|MATMUL)\w*) = 1")

_LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)

_int32, _int64, _size, _pointer, _text = (
    ctypes.c_int32,
    ctypes.c_int64,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_char_p,
)
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "llama_backend_init": (None, ()),
    "llama_context_default_params": (ContextParameters, ()),
    "llama_decode": (_int32, (_pointer, Batch)),
    "llama_free": (None, (_pointer,)),
    "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), (_pointer, _int32)),
    "llama_get_memory": (_pointer, (_pointer,)),
    "llama_init_from_model": (_pointer, (_pointer, ContextParameters)),
    "llama_log_set": (None, (_LOG, _pointer)),
    "llama_memory_clear": (None, (_pointer, ctypes.c_bool)),
    "llama_memory_seq_pos_min": (_int32, (_pointer, _int32)),
    "llama_memory_seq_rm": (ctypes.c_bool, (_pointer, _int32, _int32, _int32)),
    "llama_model_default_params": (ModelParameters, ()),
    "llama_model_free": (None, (_pointer,)),
    "llama_model_get_vocab": (_pointer, (_pointer,)),
    "llama_model_load_from_file": (_pointer, (_text, ModelParameters)),
    "llama_model_meta_val_str": (_int32, (_pointer, _text, _pointer, _size)),
    "llama_model_n_ctx_train": (_int32, (_pointer,)),
    "llama_model_n_params": (ctypes.c_uint64, (_pointer,)),
    "llama_model_n_swa": (_int32, (_pointer,)),
    "llama_print_system_info": (_text, ()),
    "llama_set_n_threads": (None, (_pointer, _int32, _int32)),
    "llama_state_seq_get_data": (_size, (_pointer, _pointer, _size, _int32)),
    "llama_state_seq_get_size": (_size, (_pointer, _int32)),
    "llama_state_seq_set_data": (_size, (_pointer, _pointer, _size, _int32)),
    "llama_vocab_n_tokens": (_int32, (_pointer,)),
    "ggml_quantize_chunk": (_size, (ctypes.c_int, _pointer, _pointer, _int64, _int64, _int64, _pointer)),
}
"""Function to the type of its result and of its arguments; from ``llama.h`` and ``ggml.h``."""


class Library:
    """The functions of llama.cpp, typed, by their C names.

    Args:
        path: The shared library that exports them.
        name: What it is, for messages and notes.

    Raises:
        OperatorError: it cannot be loaded, lacks a function, or lays out its parameters otherwise.
    """

    def __init__(self, path: str, name: str) -> None:
        self.name = name
        self._log: deque[str] = deque(maxlen=KEPT_LINES)
        try:
            self._functions = ctypes.CDLL(path)
            for function, (result, arguments) in _SIGNATURES.items():
                entry = getattr(self._functions, function)
                entry.restype, entry.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            raise self._unfit(str(error)) from None
        self._callback = _LOG(self._keep)  # held: the library calls it as long as it lives
        self.llama_log_set(self._callback, None)
        self.llama_backend_init()
        self._switches_at = self._check_layout(self.llama_context_default_params())

    def __getattr__(self, function: str) -> Any:
        return getattr(self.__dict__["_functions"], function)

    def context_parameters(self, *, full_sliding_cache: bool) -> ContextParameters:
        """Return the defaults, with the cache of sliding layers as long as the context or as the window."""
        parameters: ContextParameters = self.llama_context_default_params()
        parameters.rest[self._switches_at + _SWA_FULL] = full_sliding_cache
        return parameters

    @property
    def instructions(self) -> str:
        """Vector instructions that it was built with and this processor has, such as ``AVX AVX2``."""
        return " ".join(_VECTORS.findall(self.llama_print_system_info().decode()))

    @property
    def last_words(self) -> str:
        """What it logged last, for a message."""
        return " / ".join(self._log) or "nothing was logged"

    def _keep(self, level: int, text: bytes, _data: object) -> None:
        line = text.decode(errors="replace").strip()
        if level >= _WARNING and line:
            self._log.append(line)

    def _check_layout(self, defaults: ContextParameters) -> int:
        wrong = {name for name, value in _DEFAULTS.items() if getattr(defaults, name) != value}
        switches_at = bytes(defaults.rest).find(_SWITCHES)
        if wrong or switches_at < 0 or switches_at % 8:
            raise self._unfit(f"llama_context_params is laid out otherwise ({', '.join(sorted(wrong)) or 'swa_full'})")
        return switches_at

    def _unfit(self, reason: str) -> OperatorError:
        return OperatorError(
            f"{self.name} cannot be used: {reason}", hint=f"install a version that this one was tested with: {EXTRA}"
        )


@functools.cache
def load() -> Library:
    """Return the llama.cpp that ``AGENT_EVAL_LLAMA`` names, or the one that the installed package brings.

    Raises:
        OperatorError: it is not installed, or cannot be used.
    """
    own = environment.llama_library()
    if own is not None:
        return Library(str(own), f"llama.cpp of {own}")
    try:
        extension = import_module(f"{PACKAGE}.{PACKAGE}").__file__
    except ImportError as error:
        raise OperatorError(f"builds of llama.cpp need the package {PACKAGE}: {error}", hint=EXTRA) from None
    assert extension is not None, "an extension module is a file"
    return Library(extension, f"{PACKAGE} {version(PACKAGE)}")


def computed(library: Library, handle: int | None, what: str) -> int:
    """Return a pointer that a function returned, unless it is null.

    Raises:
        EngineFault: it is null; names what llama.cpp said.
    """
    if not handle:
        raise EngineFault(f"llama.cpp cannot {what}: {library.last_words}", hint="the file may be cut off or too new")
    return handle
