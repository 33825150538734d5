"""Spark in vLLM, in this process: its model, its quantised layers and the engine over it. See ``registration.py``.

Nothing here is imported where vLLM is not asked for, but ``builds.py``, which says what is missing.
"""
