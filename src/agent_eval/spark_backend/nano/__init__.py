"""The embedded model: how a small Spark is trained. Knows demonstrations as text, not the phone that they come from."""
