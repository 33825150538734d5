"""The phone as a shell sees it."""
