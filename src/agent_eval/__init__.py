"""agent-eval: which build of a language model may I ship on this device, and how do I know?"""

__version__ = "0.1.0"

__all__ = ["__version__"]
