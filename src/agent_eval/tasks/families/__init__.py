"""The tasks, one file per family of apps, with what an expert knows of an app where that is long."""
