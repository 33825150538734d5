"""llama.cpp as a peer: builds of the same checkpoint that another engine computes, in the same run.

``builds`` is what other modules use; nothing is imported here, so that asking for a name stays cheap.
"""
