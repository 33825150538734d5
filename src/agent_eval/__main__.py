"""``python -m agent_eval`` is ``agent-eval``."""

from agent_eval.cli import main

raise SystemExit(main())
