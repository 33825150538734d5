"""The selector: from a machine, a priority and the evidence of a run to the build that may be shipped. Needs no torch.

It reads evidence and computes none. ``candidates`` gives each build a standing, ``rules`` has the rule that decides,
``decisions`` what to expect where nothing was measured, ``sentences`` the words and what each of them rests on.
"""

from agent_eval.spark_backend.weight_path.candidates import STANDINGS, needed_for_harm
from agent_eval.spark_backend.weight_path.decisions import DECISIONS, REFERENCE, decide
from agent_eval.spark_backend.weight_path.rules import RULES, STATIC_RULE, select

__all__ = ["DECISIONS", "REFERENCE", "RULES", "STANDINGS", "STATIC_RULE", "decide", "needed_for_harm", "select"]
