"""What all parts of the clock call themselves by."""

PACKAGE = "com.android.deskclock"
ACTIVITY = "com.android.deskclock.DeskClock"
ID = f"{PACKAGE}:id/"
