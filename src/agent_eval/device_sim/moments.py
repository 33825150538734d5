"""Points in time as apps keep them, seconds since the epoch, to days and minutes and back. The phone's zone is UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime

DAY_S = 24 * 60 * 60


def moment(day: date, minutes: int = 0) -> int:
    """Return the point in time so many minutes after the start of a day."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) + minutes * 60


def day_of(seconds: int) -> date:
    """Return the day that a point in time lies on."""
    return datetime.fromtimestamp(seconds, UTC).date()


def minutes_of(seconds: int) -> int:
    """Return the minutes since the start of its day."""
    return seconds % DAY_S // 60
