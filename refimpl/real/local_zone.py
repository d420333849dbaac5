"""The zone of this machine, its summer time included: in it an operator says when files are removed."""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from spec.override import override

_ZERO: Final = timedelta(0)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class LocalZone(tzinfo):
    """What `localtime` of the system says."""

    @override
    def utcoffset(self, dt: datetime | None) -> timedelta:
        """The distance from UTC at a local time; at one that occurs twice, the system chooses."""
        if dt is None:
            return _ZERO
        local = (dt.year, dt.month, dt.day, dt.hour, dt.minute, dt.second, 0, 0, -1)
        return _offset_at(time.mktime(local))

    @override
    def dst(self, dt: datetime | None) -> timedelta | None:  # noqa: ARG002 - the name that is called
        """Nothing that anybody here asks for."""
        return None

    @override
    def tzname(self, dt: datetime | None) -> str:  # noqa: ARG002 - the name that is called
        return "local"

    @override
    def fromutc(self, dt: datetime) -> datetime:
        """The local time of an instant."""
        seconds = (dt.replace(tzinfo=UTC) - _EPOCH).total_seconds()
        return dt + _offset_at(seconds)


def _offset_at(seconds: float) -> timedelta:
    return timedelta(seconds=time.localtime(seconds).tm_gmtoff)
