"""How the weights of a checkpoint become layers that compute: one scheme per build."""
